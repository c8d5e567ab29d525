// Patterns for names on the command line, and regular expressions with pprof's words for them and RE2's syntax.
//
// In time linear in the name: names come from recordings that may have been made to hurt.
//
// Failure:  what parses returns what is wrong with the pattern, and where: "'a(b': missing )".
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace heaprec::tools {

class NamePattern {
 public:
  // /regex/   a regular expression (RE2's syntax, as in --focus), found anywhere in the name
  // glob      with * (any characters, dots too) or ?: the whole name, or all of it behind a dot or a dollar sign
  // text      the whole name, or all of it behind a dot or a dollar sign: "Entry.<init>" is
  // "java.util.Map$Entry.<init>"
  //
  // "#" in either is a number of a generated name (generated_names.h), or "#" itself. "[B" and "[Ljava/lang/String;"
  // are "byte[]" and "java.lang.String[]", and "A.m(int)" is "A.m": names have no parameters.
  static Result<NamePattern> ForNames(std::string_view pattern);
  // For thread names: found anywhere, as text or as a regular expression.
  static Result<NamePattern> ForFreeText(std::string_view pattern);
  // For --focus, --ignore and --hide: a regular expression, found anywhere in "java.util.HashMap.resize".
  static Result<NamePattern> ForFrames(std::string_view expression);

  bool Matches(std::string_view name) const;

 private:
  explicit NamePattern(std::shared_ptr<const re2::RE2> regex) : regex_(std::move(regex)) {}
  std::shared_ptr<const re2::RE2> regex_;
};

}  // namespace heaprec::tools
