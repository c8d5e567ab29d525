// What was allocated by class and by site, folded from the blocks of a recording in one pass: the tables of summary.
//
// A site is the method that allocated: the leaf of the stack.
//
// Units:    bytes and objects; shares of all bytes, from 0 to 1.
// Threads:  one.
// Maths:    docs/estimates.md#estimates
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/reader.h"
#include "tools/analysis/drawn.h"
#include "tools/analysis/estimator.h"
#include "tools/analysis/subset.h"
#include "tools/render/names.h"

namespace heaprec::tools {

class Breakdown {
 public:
  using Keeps = std::function<bool(const format::Sample&)>;

  // `keeps`: of which samples; empty: of all.
  explicit Breakdown(Keeps keeps = {}) : keeps_(std::move(keeps)) {}

  // The next block, what Design::Add gave for it, and its names: after they have entered it.
  void Add(const format::Block& block, std::span<const Drawn> drawn, Names* names);

  // After the last block: the `limit` classes and sites of most bytes (0: all), each estimate with its 95 % interval.
  // {"class_count": 2, "classes": [{"class": "byte[]", ...}], "site_count": ..., "sites": [...], "unseen": {...}}, and
  // "chosen": all that is kept, if not all is.
  nlohmann::json AsJson(const Estimator& estimator, size_t limit) const;
  std::string AsText(const Estimator& estimator, size_t limit) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  using Groups = std::unordered_map<std::string, Subset, Hash, std::equal_to<>>;
  using Ranked = std::vector<const Groups::value_type*>;
  void Enter(const format::Block& block);
  Subset* GroupOf(std::string_view name, Grain grain, Groups* groups);
  static Ranked RankedOf(const Groups& groups, size_t limit);
  static nlohmann::json Rows(const char* key, const Groups& groups, const Estimator& estimator, size_t limit);
  static void AppendRows(std::string_view title, const Groups& groups, const Estimator& estimator, size_t limit,
                         std::string* into);

  const Keeps keeps_;
  Subset chosen_;
  Groups classes_, sites_;
  // Of the chunk at hand, by class and by method; nullptr: not looked for yet.
  uint32_t chunk_ = format::kNone;
  std::vector<Subset*> class_of_, site_of_;
};

}  // namespace heaprec::tools
