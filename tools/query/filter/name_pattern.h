// Patterns for names, searches by name, and patterns for the frames of a stack.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/input/dictionary_names.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace heaprec::tools {

// Patterns for names on the command line, and regular expressions with pprof's option names and RE2's syntax.
//
// Matching takes linear time, because names may come from malicious recordings.
//
// Failure:  parsing returns the error and its position in the pattern: "'a(b': missing )".
class NamePattern {
 public:
  // /regex/   a regular expression (RE2's syntax, as in --focus), found anywhere in the name
  // glob      with * (any characters, dots too) or ?: the whole name, or all of it behind a dot or a dollar sign
  // text      the whole name, or all of it behind a dot or a dollar sign: "Entry.<init>" is
  // "java.util.Map$Entry.<init>"
  //
  // "#" in either is a number of a generated name (dictionary_names.h), or "#" itself. "[B" and "[Ljava/lang/String;"
  // are "byte[]" and "java.lang.String[]", and "A.m(int)" is "A.m": names have no parameters.
  static Result<NamePattern> ForNames(std::string_view pattern);
  // For thread names: matches anywhere, as text or as a regular expression.
  static Result<NamePattern> ForFreeText(std::string_view pattern);
  // For --focus, --ignore and --hide: a regular expression that matches anywhere in "java.util.HashMap.resize".
  static Result<NamePattern> ForFrames(std::string_view expression);

  bool Matches(std::string_view name) const;

 private:
  explicit NamePattern(std::shared_ptr<const re2::RE2> regex) : regex_(std::move(regex)) {}
  std::shared_ptr<const re2::RE2> regex_;
};

// Whether a pattern that matched no sample matches any name of the recordings, and which names are nearest: a mistyped
// or renamed name must not look like one that allocates nothing.
//
// Failure:  inputs that cannot be read again, such as standard input, have no names.

enum class Named : uint8_t { kClass, kMethod, kPackage, kThread, kLabel };

struct AskedName {
  Named kind = Named::kClass;
  std::string asked;  // "--class Foo"
  std::string text;   // the pattern
  std::function<bool(std::string_view name)> matches;
};

// Returns at most three of `names` whose ends or beginnings are most similar to the pattern `text`; the nearest first.
std::vector<std::string> NearestNames(std::string_view text, const std::set<std::string>& names);

// "no class matches", or "no class matches; nearest: A, B".
std::string NoMatchText(std::string_view what, const std::vector<std::string>& nearest);

// Returns NoMatchText for `asked`, from the dictionaries of all recordings; nullopt: a name matches.
std::optional<std::string> WhyNoMatch(const AskedName& asked, const std::vector<std::string>& files);

// Prints one line on stderr for each pattern that matches no name.
void ReportUnmatched(const std::vector<AskedName>& asked, const std::vector<std::string>& files);

// Finds the stacks of a chunk with a frame, or a site, whose method passes a test. Tests each method once, and walks
// each stack once.

// The result for an entry of the chunk's dictionaries.
enum class Match : uint8_t { kNotLooked, kNo, kYes };
using Matches = std::vector<Match>;

// Returns the entry's result, for which `ask` is called once; false for an unknown entry.
template <typename Ask>
bool IsMatch(Matches* known, format::Index index, Ask ask) {
  if (index >= known->size()) return false;
  Match& match = (*known)[index];
  if (match == Match::kNotLooked) match = ask() ? Match::kYes : Match::kNo;
  return match == Match::kYes;
}

class StackMatch {
 public:
  using Test = std::function<bool(std::string_view method)>;
  // `passes_over`: frames at a leaf that are not sites. If given, only the site is tested (a stack with only such
  // frames has its leaf as site); empty: tests any frame.
  explicit StackMatch(Test test, Test passes_over = {})
      : test_(std::move(test)), passes_over_(std::move(passes_over)) {}

  // Call for every block. `is_new`: the entries differ from those of the previous block.
  void Enter(const format::Block& block, Names* names, bool is_new);
  // Returns false for an unknown stack.
  bool Passes(format::Index stack) { return passes_over_ ? Site(stack) : AnyFrame(stack); }

 private:
  bool AnyFrame(format::Index stack);
  bool Site(format::Index stack);
  bool OfFrame(format::Index frame) { return Ask(test_, frame, &frames_); }
  bool Ask(const Test& test, format::Index frame, Matches* known);

  Test test_, passes_over_;
  Names* names_ = nullptr;
  Matches frames_, passed_over_, stacks_;
};

}  // namespace heaprec::tools
