#include "recorder/hotspot/usage/nmt_summary.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace heaprec::hotspot {
namespace {

constexpr const char* kCommand = "VM.native_memory summary scale=b";

uint64_t FactorOf(std::string_view unit) {
  if (unit.starts_with("KB")) return uint64_t{1} << 10;
  if (unit.starts_with("MB")) return uint64_t{1} << 20;
  if (unit.starts_with("GB")) return uint64_t{1} << 30;
  return 1;
}

// Returns the number after `key` in the line.
std::optional<uint64_t> NumberAfter(std::string_view key, std::string_view line) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + key.size());
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  return value * FactorOf(line);
}

// "Total: reserved=..." and "-   Java Heap (reserved=...".
std::string_view NameIn(std::string_view line) {
  if (line.starts_with("Total:")) return "Total";
  const size_t end = line.find(" (reserved=");
  if (!line.starts_with("-") || end == std::string_view::npos) return {};
  const size_t begin = line.find_first_not_of(" -");
  return begin < end ? line.substr(begin, end - begin) : std::string_view();
}

}  // namespace

bool NmtEnabled(const VmStructs& structs) {
  const auto flag = structs.TextFlag("NativeMemoryTracking");
  return flag && !flag->empty() && *flag != "off";
}

Result<NmtSummary> NmtSummary::Find(const SymbolTable& symbols) {
  const auto execute = symbols.FindByPrefix(kDiagnosticCommand);
  if (!execute) return Error{"libjvm has no symbol " + std::string(kDiagnosticCommand)};
  return NmtSummary(reinterpret_cast<Execute>(*execute));
}

Result<std::vector<MemoryCategory>> NmtSummary::Ask(JNIEnv* jni) const {
  if (jni->PushLocalFrame(4) != JNI_OK) return Error{"no room for a local reference"};
  std::string text;
  const jstring command = jni->NewStringUTF(kCommand);
  const jstring said = command != nullptr ? execute_(jni, command) : nullptr;
  if (said != nullptr && jni->ExceptionCheck() == JNI_FALSE) {
    if (const char* const bytes = jni->GetStringUTFChars(said, nullptr)) {
      text = bytes;
      jni->ReleaseStringUTFChars(said, bytes);
    }
  }
  jni->ExceptionClear();
  jni->PopLocalFrame(nullptr);
  std::vector<MemoryCategory> categories = ParseMemorySummary(text);
  if (categories.empty()) return Error{text.empty() ? "the JVM did not answer" : text.substr(0, text.find('\n'))};
  return categories;
}

std::vector<MemoryCategory> ParseMemorySummary(std::string_view text) {
  std::vector<MemoryCategory> categories;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view name = NameIn(line);
    const auto reserved = NumberAfter("reserved=", line), committed = NumberAfter("committed=", line);
    if (!name.empty() && reserved && committed) categories.push_back({std::string(name), *reserved, *committed});
  }
  return categories;
}

}  // namespace heaprec::hotspot
