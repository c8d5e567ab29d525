#include "recorder/agent/options/program_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace heaprec::agent {
namespace {

constexpr std::array<std::string_view, 14> kValid{
    "file", "rate",    "only",   "native.mmap_rate", "duration", "throttle", "ring",
    "sync", "maxsize", "maxage", "rotate",           "loglevel", "service",  "labels"};

// native.rate: as the agent of a JVM has it, where `rate` is that of the heap.
bool IsValid(std::string_view key) { return key == "native.rate" || std::ranges::find(kValid, key) != kValid.end(); }

format::Result<ProgramOptions> Parse(const std::vector<Option>& given) {
  ProgramOptions plain;
  std::vector<Option> common;
  bool has_rate = false;
  for (const Option& option : given) {
    if (option.key == "only") {
      plain.only = option.value;
    } else if (option.key == "reply") {
      plain.reply_file = option.value;
    } else if (IsValid(option.key)) {
      common.push_back(option);
      has_rate = has_rate || option.key == "rate";
    } else {
      return format::Error{fmt::format("{}option `{}` is not available without a JVM; valid options: {}", option.where,
                                       option.key, fmt::join(kValid, ", "))};
    }
  }
  auto options = ParseOptions(common);
  if (!options.ok()) return options.error();
  plain.options = std::move(*options);
  plain.options.native = true;
  if (has_rate) plain.options.native_per_second = plain.options.rate_per_second;
  return plain;
}

}  // namespace

format::Result<ProgramOptions> ParseProgramOptions(std::string_view text) {
  const auto given = SplitOptions(text);
  if (!given.ok()) return given.error();
  return Parse(*given);
}

}  // namespace heaprec::agent
