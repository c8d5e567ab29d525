// What was allocated by class and by site, folded from the blocks of a recording in one pass: the tables of summary.
//
// A site is the method that allocated: the leaf of the stack.
//
// Units:    bytes and objects; shares of all bytes, from 0 to 1.
// Threads:  one.
// Maths:    docs/estimates.md#estimates
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/reader.h"
#include "tools/analysis/estimate/subset.h"
#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/input/dictionary_names.h"

namespace heaprec::tools {

class Breakdown {
 public:
  using Keeps = std::function<bool(const format::Sample&)>;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  using Groups = std::unordered_map<std::string, Subset, Hash, std::equal_to<>>;

  // `keeps`: of which samples; empty: of all.
  explicit Breakdown(Keeps keeps = {}) : keeps_(std::move(keeps)) {}

  // The next block, what Design::Add gave for it, and its names: after they have entered it.
  void Add(const format::Block& block, std::span<const Drawn> drawn, Names* names);

  // After the last block.
  const Groups& classes() const { return classes_; }
  const Groups& sites() const { return sites_; }
  // All that is kept; nullptr: everything is.
  const Subset* chosen() const { return keeps_ ? &chosen_ : nullptr; }

 private:
  void Enter(const format::Block& block);
  Subset* GroupOf(std::string_view name, Grain grain, Groups* groups);

  const Keeps keeps_;
  Subset chosen_;
  Groups classes_, sites_;
  // Of the chunk at hand, by class and by method; nullptr: not looked for yet.
  uint32_t chunk_ = format::kNone;
  std::vector<Subset*> class_of_, site_of_;
};

}  // namespace heaprec::tools
