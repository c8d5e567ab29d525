// Patterns for names on the command line, and regular expressions with pprof's words for them and RE2's syntax.
//
// In time linear in the name: names come from recordings that may have been made to hurt.
//
// Failure:  what parses returns the sentence for the user, which says where the expression goes wrong.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "format/bytes/result.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace heaprec::tools {

// For frames of a stack: --focus, --ignore and --hide.
class FramePattern {
 public:
  // `option`: "--focus", for the sentence.
  static format::Result<FramePattern> Parse(std::string_view option, std::string_view expression);

  // Found anywhere in "java.util.HashMap.resize".
  bool Matches(std::string_view method) const;

 private:
  explicit FramePattern(std::shared_ptr<const re2::RE2> regex) : regex_(std::move(regex)) {}
  std::shared_ptr<const re2::RE2> regex_;
};

// /regex/   a regular expression (RE2's syntax, as in --focus), found anywhere in the name
// glob      with * (any characters, dots too) or ?: the whole name, or all of it behind a dot or a dollar sign
// text      the whole name, or all of it behind a dot or a dollar sign: "Entry.<init>" is "java.util.Map$Entry.<init>"
//
// "#" in either is a number of a generated name (generated_names.h), or "#" itself. "[B" and "[Ljava/lang/String;" are
// "byte[]" and "java.lang.String[]", and "A.m(int)" is "A.m": names have no parameters.
//
// A pattern for free text (thread names) is instead found anywhere in it, as text or as a regular expression.
class NamePattern {
 public:
  static format::Result<NamePattern> ForNames(std::string_view pattern);
  static format::Result<NamePattern> ForFreeText(std::string_view pattern);

  bool Matches(std::string_view name) const { return regex_.Matches(name); }

 private:
  explicit NamePattern(FramePattern regex) : regex_(std::move(regex)) {}
  FramePattern regex_;
};

}  // namespace heaprec::tools
