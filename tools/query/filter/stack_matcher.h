// Which stacks of a chunk have a frame whose method passes a test: each method is asked once, each stack walked once.
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
  explicit StackMatch(Test test) : test_(std::move(test)) {}

  // With every block. `is_new`: the entries are not those of the block before.
  void Enter(const format::Block& block, Names* names, bool is_new);
  // An unknown stack has no such frame.
  bool AnyFrame(format::Index stack);

 private:
  bool OfFrame(format::Index index);

  Test test_;
  Names* names_ = nullptr;
  Matches frames_, stacks_;
};

}  // namespace heaprec::tools
