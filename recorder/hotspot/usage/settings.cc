#include "recorder/hotspot/usage/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "recorder/hotspot/memory.h"

namespace heaprec::hotspot {
namespace {

// Their texts may name files and commands, which are nobody's business.
constexpr std::array<std::string_view, 4> kOnlyWhetherSet{"OnOutOfMemoryError", "OnError", "ErrorFile", "HeapDumpPath"};

template <typename T>
std::string Decimal(T value) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

// nullopt: it has no value.
std::optional<std::string> ValueOf(std::string_view name, const VmStructs::Flag& flag) {
  using Type = VmStructs::Flag::Type;
  switch (flag.type) {
    case Type::kBool:
      return Load<uint8_t>(flag.value) != 0 ? "true" : "false";
    case Type::kInt32:
      return Decimal(Load<int32_t>(flag.value));
    case Type::kUint32:
      return Decimal(Load<uint32_t>(flag.value));
    case Type::kInt64:
      return Decimal(Load<int64_t>(flag.value));
    case Type::kUint64:
      return Decimal(Load<uint64_t>(flag.value));
    case Type::kDouble:
      return Decimal(Load<double>(flag.value));
    case Type::kText: {
      const char* const text = Load<const char*>(flag.value);
      if (text == nullptr || *text == 0) return std::nullopt;
      return std::ranges::count(kOnlyWhetherSet, name) > 0 ? "true" : text;
    }
    case Type::kOther:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::vector<format::Setting> ReadSettings(const VmStructs& structs) {
  std::vector<format::Setting> settings;
  for (const std::string_view name : format::kJvmSettings) {
    const auto flag = structs.FlagNamed(name);
    auto value = flag ? ValueOf(name, *flag) : std::nullopt;
    if (value) settings.push_back({std::string(name), std::move(*value), flag->origin});
  }
  return settings;
}

}  // namespace heaprec::hotspot
