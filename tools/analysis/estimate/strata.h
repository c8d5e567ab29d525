// What a census counted of each class of a recording. A value type: copies share the counts, and scaled samples point to
// them.
//
// Threads:  one.
// Failure:  a sample whose class was not counted is not scaled.
// Maths:    docs/estimates.md#post-stratification
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/reader/reader.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

// A class, by the JVM's spelling of its name.
//
// Units:    bytes and objects.
struct CountedClass {
  double factor = 1;    // scales the bytes and objects of a sample to what was counted of the class's stratum
  bool is_one = false;  // no other class has the same name without generated suffixes
  double bytes = 0, objects = 0;  // counted
  double scaled = 0;              // bytes of all its samples, scaled
};

class Strata {
 public:
  struct Table {
    std::unordered_map<std::string, CountedClass> classes;  // by the name in dictionaries
    size_t strata = 0;  // classes, each of the rare ones together with others
    double bytes = 0;   // counted, of all
  };

  Strata() = default;  // none
  explicit Strata(Table table) : table_(std::make_shared<const Table>(std::move(table))) {}

  size_t count() const { return table_ != nullptr ? table_->strata : 0; }
  double bytes() const { return table_ != nullptr ? table_->bytes : 0; }
  // Scales the samples, or rows, of the next block.
  void Scale(const format::Block& block, std::span<WeightedSample> drawn);

 private:
  const CountedClass* Of(format::Index class_id);

  std::shared_ptr<const Table> table_;
  // Cache for the current chunk, by class index.
  struct Looked {
    bool done = false;
    const CountedClass* found = nullptr;
  };
  const format::Dictionaries* dictionaries_ = nullptr;
  uint32_t chunk_ = format::kNone;
  std::vector<Looked> of_index_;
};

}  // namespace heaprec::tools
