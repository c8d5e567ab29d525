#include "tools/query/filter/frame_pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <string>
#include <utility>

namespace heaprec::tools {

format::Result<FramePattern> FramePattern::Parse(std::string_view option, std::string_view expression) {
  auto regex = std::make_shared<const re2::RE2>(re2::StringPiece(expression.data(), expression.size()), RE2::Quiet);
  if (regex->ok()) return FramePattern(std::move(regex));
  const size_t at = regex->error_arg().empty() ? std::string::npos : expression.find(regex->error_arg());
  const std::string where =
      at == std::string::npos ? "" : fmt::format(" at character {}: '{}'", at + 1, regex->error_arg());
  const std::string& why = regex->error();
  return format::Error{fmt::format("{} '{}': {}{}", option, expression, why.substr(0, why.find(": ")), where)};
}

bool FramePattern::Matches(std::string_view method) const {
  return re2::RE2::PartialMatch(re2::StringPiece(method.data(), method.size()), *regex_);
}

}  // namespace heaprec::tools
