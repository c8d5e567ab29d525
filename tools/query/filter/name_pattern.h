// Patterns for names on the command line.
//
// /regex/   a regular expression (RE2's syntax, as in --focus), found anywhere in the name
// glob      with * (any characters, dots too) or ?: the whole name, or all of it after one of its dots
// text      the whole name, or all of it after one of its dots: "HashMap.resize" is "java.util.HashMap.resize"
//
// A pattern for free text (thread names) is instead found anywhere in it, as text or as a regular expression.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "format/bytes/result.h"
#include "tools/query/filter/frame_pattern.h"

namespace heaprec::tools {

class NamePattern {
 public:
  static format::Result<NamePattern> ForNames(std::string_view pattern);
  static format::Result<NamePattern> ForFreeText(std::string_view pattern);

  bool Matches(std::string_view name) const;

 private:
  enum class How { kText, kGlob, kFind };
  std::string text_;
  How how_ = How::kText;
  std::optional<FramePattern> regex_;
};

}  // namespace heaprec::tools
