// Regular expressions for frames of a stack: --focus, --ignore and --hide, with pprof's words and RE2's syntax.
//
// In time linear in the name: names come from recordings that may have been made to hurt.
//
// Failure:  Parse returns the sentence for the user, which says where the expression goes wrong.
#pragma once

#include <memory>
#include <string_view>

#include "format/bytes/result.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace heaprec::tools {

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

}  // namespace heaprec::tools
