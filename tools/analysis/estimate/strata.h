// The strata of one recording: which of them a sample's class belongs to. A value: copies share them, and samples that
// were scaled point to them.
//
// Threads:  one.
// Failure:  a sample of a class that is in none stays as it is.
// Maths:    docs/estimates.md#post-stratification
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/reader/reader.h"
#include "tools/analysis/estimate/stratum.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

class Strata {
 public:
  // By name as dictionaries have it, of the classes of each stratum.
  struct Table {
    std::vector<Stratum> strata;
    std::unordered_map<std::string, size_t> of_class;
  };

  Strata() = default;  // none
  explicit Strata(Table table) : table_(std::make_shared<const Table>(std::move(table))) {}

  size_t count() const { return table_ != nullptr ? table_->strata.size() : 0; }
  // Samples of the next block.
  void Scale(const format::Block& block, std::span<WeightedSample> drawn);

 private:
  const Stratum* Of(format::Index class_id);
  const Stratum* Find(const std::string& class_name) const;

  std::shared_ptr<const Table> table_;
  // Of the chunk at hand, by class.
  struct Looked {
    bool done = false;
    const Stratum* stratum = nullptr;
  };
  const format::Dictionaries* dictionaries_ = nullptr;
  uint32_t chunk_ = format::kNone;
  std::vector<Looked> of_index_;
};

}  // namespace heaprec::tools
