// What was allocated by class and by site, folded from the blocks of a recording in one pass: the tables of summary.
//
// A site is the method that allocated: the first frame that does not only carry the allocation out for its caller
// (allocation_primitives.h), as in top.
//
// Units:    bytes and objects; shares of all bytes, from 0 to 1.
// Threads:  one.
// Maths:    docs/estimates.md#estimates
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/reader/reader.h"
#include "tools/analysis/estimate/weighted_sample.h"
#include "tools/analysis/groups/call_tree.h"
#include "tools/input/dictionary_names.h"

namespace heaprec::tools {

class ClassSiteTotals {
 public:
  using Keeps = std::function<bool(const format::Sample&)>;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  using Groups = std::unordered_map<std::string, Subset, Hash, std::equal_to<>>;

  // `keeps`: of which samples; empty: of all. `merged`: as NamePool.
  explicit ClassSiteTotals(Keeps keeps = {}, std::shared_ptr<MergedNames> merged = nullptr);
  MergedNames* merged() const { return site_names_.merged(); }

  // The next block, what Design::Add gave for it, and its names: after they have entered it.
  void Add(const format::Block& block, std::span<const WeightedSample> drawn, Names* names);

  // After the last block.
  const Groups& classes() const { return classes_; }
  const Groups& sites() const { return sites_; }
  // All that is kept; nullptr: everything is.
  const Subset* matched() const { return keeps_ ? &matched_ : nullptr; }

 private:
  void Enter(const format::Block& block, Names* names);
  static Subset* GroupOf(std::string_view name, Subset::Holds holds, Groups* groups);

  const Keeps keeps_;
  Subset matched_;
  Groups classes_, sites_;
  NamePool site_names_;
  CallTree stacks_;               // finds the sites
  std::vector<Subset*> site_of_;  // by name; nullptr: not looked for yet
  // Cache for the current chunk, by class; likewise.
  uint32_t chunk_ = format::kNone;
  std::vector<Subset*> class_of_;
};

}  // namespace heaprec::tools
