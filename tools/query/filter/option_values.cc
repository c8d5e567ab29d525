#include "tools/query/filter/option_values.h"

#include <utility>

namespace heaprec::tools {

Result<std::optional<TimePoint>> TimeOption(const char* option, const std::string& text) {
  if (text.empty()) return std::optional<TimePoint>();
  const auto time = ParseTimePoint(text);
  if (!time.ok()) return Error{std::string(option) + " " + time.error().message};
  return std::optional<TimePoint>(*time);
}

Result<std::vector<Grouping>> GroupingsOption(const std::string& text, const std::vector<By>& usual) {
  if (text.empty()) return std::vector<Grouping>(usual.begin(), usual.end());
  auto one = Grouping::Parse(text);
  if (!one.ok()) return one.error();
  return std::vector<Grouping>{std::move(*one)};
}

}  // namespace heaprec::tools
