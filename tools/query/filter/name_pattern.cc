#include "tools/query/filter/name_pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <string>

#include "format/model/java_names.h"

namespace heaprec::tools {
namespace {

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

Result<NamePattern> NamePattern::ForFrames(std::string_view expression) {
  auto regex = std::make_shared<const re2::RE2>(re2::StringPiece(expression.data(), expression.size()), RE2::Quiet);
  if (regex->ok()) return NamePattern(std::move(regex));
  const size_t at = regex->error_arg().empty() ? std::string::npos : expression.find(regex->error_arg());
  const std::string where =
      at == std::string::npos ? "" : fmt::format(" at character {}: '{}'", at + 1, regex->error_arg());
  const std::string& why = regex->error();
  return Error{fmt::format("'{}': {}{}", expression, why.substr(0, why.find(": ")), where)};
}

Result<NamePattern> NamePattern::ForNames(std::string_view pattern) {
  if (IsSlashed(pattern)) return ForFrames(pattern.substr(1, pattern.size() - 2));
  const std::string text = IsArrayDescriptor(pattern) ? format::JavaClassName(pattern) : std::string(pattern);
  // Names of native functions may have parameters.
  const size_t parameters = text.ends_with(')') ? text.find('(') : std::string::npos;
  std::string expression = Quoted(text.substr(0, parameters));
  if (parameters != std::string::npos) expression += "(?:" + Quoted(text.substr(parameters)) + ")?";
  expression = "(?s)(?:^|[.$])" + expression + "$";
  re2::RE2::GlobalReplace(&expression, R"(\\\*)", ".*");
  re2::RE2::GlobalReplace(&expression, R"(\\\?)", ".");
  re2::RE2::GlobalReplace(&expression, R"(\\#)", "(?:#|[0-9]+)");
  return ForFrames(expression);
}

Result<NamePattern> NamePattern::ForFreeText(std::string_view pattern) {
  if (IsSlashed(pattern)) return ForNames(pattern);
  // "pool-1 (io" is no regular expression, but still text to look for.
  const std::string text = Quoted(pattern);
  return ForFrames(ForFrames(pattern).ok() ? fmt::format("(?:{})|{}", pattern, text) : text);
}

bool NamePattern::Matches(std::string_view name) const {
  return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *regex_);
}

}  // namespace heaprec::tools
