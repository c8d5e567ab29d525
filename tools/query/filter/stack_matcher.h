// Which stacks of a chunk have a frame whose method passes a test, or a site that does: each method is asked once, each
// stack walked once.
//
// Threads:  one.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/input/dictionary_names.h"

namespace heaprec::tools {

// What is known of an entry of the chunk's dictionaries.
enum class Match : uint8_t { kNotLooked, kNo, kYes };
using Matches = std::vector<Match>;

class StackMatch {
 public:
  using Test = std::function<bool(std::string_view method)>;
  // `passes_over`: frames at a leaf that are no sites. Given, only the site counts (a stack of nothing else has its
  // leaf); empty: any frame.
  explicit StackMatch(Test test, Test passes_over = {})
      : test_(std::move(test)), passes_over_(std::move(passes_over)) {}

  // With every block. `is_new`: the entries are not those of the block before.
  void Enter(const format::Block& block, Names* names, bool is_new);
  // An unknown stack does not.
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
