#include "tools/query/filter/name_pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <string>

#include "format/model/java_names.h"

namespace heaprec::tools {
namespace {

using format::Result;

// The text as it stands.
std::string Quoted(std::string_view text) { return re2::RE2::QuoteMeta(re2::StringPiece(text.data(), text.size())); }

bool IsSlashed(std::string_view pattern) {
  return pattern.size() > 2 && pattern.front() == '/' && pattern.back() == '/';
}

// "[B", "[[Lp/A;", but not "[unknown]".
bool IsArrayDescriptor(std::string_view pattern) {
  static const auto* const kDescriptor = new re2::RE2("\\[+([BCDFIJSZ]|L[^;]+;)");
  return re2::RE2::FullMatch(re2::StringPiece(pattern.data(), pattern.size()), *kDescriptor);
}

}  // namespace

Result<FramePattern> FramePattern::Parse(std::string_view option, std::string_view expression) {
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

Result<NamePattern> NamePattern::ForNames(std::string_view pattern) {
  std::string expression(IsSlashed(pattern) ? pattern.substr(1, pattern.size() - 2) : pattern);
  if (!IsSlashed(pattern)) {
    const std::string text = IsArrayDescriptor(pattern) ? format::JavaClassName(pattern) : std::string(pattern);
    // Names of native functions may have parameters.
    const size_t parameters = text.ends_with(')') ? text.find('(') : std::string::npos;
    expression = Quoted(text.substr(0, parameters));
    if (parameters != std::string::npos) expression += "(?:" + Quoted(text.substr(parameters)) + ")?";
    expression = "(?s)(?:^|[.$])" + expression + "$";
    re2::RE2::GlobalReplace(&expression, R"(\\\*)", ".*");
    re2::RE2::GlobalReplace(&expression, R"(\\\?)", ".");
    re2::RE2::GlobalReplace(&expression, R"(\\#)", "(?:#|[0-9]+)");
  }
  auto regex = FramePattern::Parse("pattern", expression);
  if (!regex.ok()) return regex.error();
  return NamePattern(std::move(*regex));
}

Result<NamePattern> NamePattern::ForFreeText(std::string_view pattern) {
  if (IsSlashed(pattern)) return ForNames(pattern);
  // "pool-1 (io" is no regular expression, but still text to look for.
  const bool is_regex = FramePattern::Parse("pattern", pattern).ok();
  const std::string text = Quoted(pattern);
  auto regex = FramePattern::Parse("pattern", is_regex ? fmt::format("(?:{})|{}", pattern, text) : text);
  if (!regex.ok()) return regex.error();
  return NamePattern(std::move(*regex));
}

}  // namespace heaprec::tools
