#include "tools/rewrite/redaction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <span>

#include "format/model/names.h"
#include "tools/input/stream_traits.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

constexpr std::string_view kKept[] = {"java/", "jdk/"};
// Classes in JDK packages that belong to the program: implementations of its interfaces, and its scripts.
constexpr std::string_view kOfProgram[] = {"jdk/MHProxy", "jdk/nashorn/internal/scripts/", "jdk/nashorn/javaadapters/"};
// "jdk/proxy1/$Proxy0": dynamic proxies, whose methods are those of the program's interfaces.
constexpr std::string_view kProxies = "jdk/proxy";
constexpr size_t kDigits = 16, kPackageDigits = 8;
constexpr size_t kMinKeyBytes = 16;

Result<std::string> ReadKey(const std::string& path) {
  if (path.empty()) {
    std::array<char, 32> random{};
    if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
      return Error{"cannot get random bytes for a key: give a key file with --key"};
    }
    return std::string(random.data(), random.size());
  }
  std::ifstream file(path, std::ios::binary);
  std::string key((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return Error{fmt::format("{}: cannot read the key", path)};
  if (key.size() < kMinKeyBytes) {
    return Error{fmt::format("{}: the key is too short; at least {} bytes are needed", path, kMinKeyBytes)};
  }
  return key;
}

bool StartsWithAny(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [name](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

Result<Redaction> Redaction::Parse(const std::string& key_file, const std::vector<std::string>& patterns) {
  const auto key = ReadKey(key_file);
  if (!key.ok()) return key.error();
  std::vector<NamePattern> parsed;
  for (const std::string& text : patterns) {
    auto pattern = NamePattern::ForFrames(text);
    if (!pattern.ok()) return Error{"--pattern " + pattern.error().message};
    parsed.push_back(std::move(*pattern));
  }
  return Redaction(*key, std::move(parsed));
}

Redaction::Redaction(std::string key, std::vector<NamePattern> patterns)
    : key_(std::move(key)), patterns_(std::move(patterns)) {}

std::string Redaction::Hex(std::string_view kind, std::string_view name, size_t digits) const {
  std::string text(kind);
  text += '\0';
  text += name;
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int bytes = 0;
  HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), hash.data(), &bytes);
  return fmt::format("{:02x}", fmt::join(std::span(hash).first(digits / 2), ""));
}

bool Redaction::Matches(const std::string& text) const {
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [&text](const NamePattern& pattern) { return pattern.Matches(text); });
}

std::string Redaction::Class(const std::string& name) {
  const size_t dimensions = std::min(name.find_first_not_of('['), name.size());
  if (dimensions == 0) return ClassAlone(name);
  const std::string element = name.substr(dimensions);
  if (element.size() < 2 || element.front() != 'L') return name;  // an array of a primitive type
  return name.substr(0, dimensions) + "L" + ClassAlone(element.substr(1, element.size() - 2)) + ";";
}

std::string Redaction::ClassAlone(const std::string& name) {
  const std::string java = ToUtf8(format::JavaClassName(name));
  const bool kept = patterns_.empty() ? StartsWithAny(name, kKept) && !StartsWithAny(name, kOfProgram) : !Matches(java);
  if (kept) return name;
  const size_t address = name.rfind("+0x");
  const std::string own = name.substr(0, address);
  const size_t slash = own.rfind('/');
  std::string hashed;
  if (slash != std::string::npos) hashed = "p" + Hex("package", own.substr(0, slash), kPackageDigits) + "/";
  hashed += "C" + Hex("class", own, kDigits);
  if (address != std::string::npos) hashed += name.substr(address);
  mapping_[{"class", java}] = ToUtf8(format::JavaClassName(hashed));
  return hashed;
}

// "(ILp/C;[Lp/D;)V": replaces every class between an L and a semicolon.
std::string Redaction::Descriptor(const std::string& descriptor) {
  std::string result;
  for (size_t at = 0; at < descriptor.size();) {
    const size_t end = descriptor[at] == 'L' ? descriptor.find(';', at) : std::string::npos;
    if (end == std::string::npos) {
      result += descriptor[at++];
      continue;
    }
    result += "L" + ClassAlone(descriptor.substr(at + 1, end - at - 1)) + ";";
    at = end + 1;
  }
  return result;
}

format::Method Redaction::Method(const format::Method& method) {
  format::Method result{Class(method.class_name), method.name, Descriptor(method.descriptor)};
  const std::string java = ToUtf8(format::JavaClassName(method.class_name) + "." + method.name);
  const bool is_of_program = result.class_name != method.class_name || method.class_name.starts_with(kProxies);
  const bool wanted = patterns_.empty() ? is_of_program : Matches(java);
  if (!wanted || method.name.starts_with('<')) return result;
  result.name = "m" + Hex("method", method.name, kDigits);
  mapping_[{"method", ToUtf8(method.name)}] = result.name;
  return result;
}

format::Thread Redaction::Thread(const format::Thread& thread) {
  const auto hashed = [this](const char* kind, std::string_view text) -> std::string {
    const std::string hash = kind[0] + Hex(kind, text, kDigits);
    mapping_[{kind, ToUtf8(text)}] = hash;
    return hash;
  };
  const auto wanted = [this](std::string_view text) { return patterns_.empty() || Matches(ToUtf8(text)); };
  format::Thread result = thread;
  const std::string_view name = format::NameOfThread(thread.name);
  result.name = wanted(name) ? hashed("thread", name) : std::string(name);
  format::ForEachLabel(thread.name, [&](std::string_view key, std::string_view value) {
    const std::string label = std::string(key) + "=" + std::string(value);
    result.name += '\0';
    result.name += wanted(label) ? hashed("label", key) + "=" + hashed("label", value) : label;
  });
  return result;
}

std::string Redaction::Message(const std::string& text) {
  if (text.empty() || !(patterns_.empty() || Matches(ToUtf8(text)))) return text;
  const std::string hash = "message" + Hex("message", text, kDigits);
  mapping_[{"message", ToUtf8(text)}] = hash;
  return hash;
}

format::FileHeader Redaction::Header(format::FileHeader header) const {
  header.agent_options.clear();
  header.ring_path.clear();
  // contains library names
  if (!header.native_unavailable_reason.empty()) header.native_unavailable_reason = "redacted";
  if (const std::string program = ProgramOf(header); !program.empty())
    header.jvm_name = Hex("program", program, kDigits);
  for (format::ServiceLabel& label : header.service_labels) label.value = Hex("service", label.value, kDigits);
  if (!header.boot_id.empty()) header.boot_id = Hex("boot", header.boot_id, kDigits);
  if (!header.container_id.empty()) header.container_id = Hex("container", header.container_id, kDigits);
  return header;
}

void Redaction::AppendMapping(Output* output) const {
  output->Append("kind\tname\thash\n");
  for (const auto& [name, hash] : mapping_) {
    Append(output->text(), name.first + "\t");
    AppendPrintable(output->text(), name.second);
    Append(output->text(), "\t" + hash + "\n");
    output->Tick();
  }
}

}  // namespace heaprec::tools
