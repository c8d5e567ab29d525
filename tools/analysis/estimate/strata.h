// The strata of one recording, and the stratum of each class. A value type: copies share the strata, and scaled samples
// point to them.
//
// Threads:  one.
// Failure:  a sample whose class is in no stratum is not scaled.
// Maths:    docs/estimates.md#post-stratification
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/reader/reader.h"
#include "tools/analysis/estimate/weighted_sample.h"

namespace heaprec::tools {

// A class, or several rare ones together, with an amount known from a census. Its samples are scaled to that amount.
//
// Units:    bytes and objects.
// Threads:  any; it is constant.
// Maths:    docs/estimates.md#post-stratification, name for name
struct Stratum {
  uint32_t index = 0;  // within the recording
  double bytes = 0;    // T f: scaled bytes of all its samples
  double factor = 1;   // f: scales the bytes and objects of a sample
  double known = 0;    // k: 1 if everything was counted, 0 if the census says nothing
  double sampled = 0;  // F: variance of the bytes from the first stage
  double counted = 0;  // W: variance of the census's bytes
  bool is_exact() const { return known == 1; }
  double shared() const { return known * known * (sampled + counted); }  // G
};

// A class, by the JVM's spelling of its name.
struct ClassOfStratum {
  const Stratum* stratum = nullptr;
  // Set if everything was counted and no other class has the same name without generated suffixes: its counted bytes
  // and objects, and the sum of its samples' scaled bytes.
  struct Counted {
    double bytes = 0, objects = 0, scaled = 0;
  };
  std::optional<Counted> counted;
};

class Strata {
 public:
  // Strata, and their classes by the name in dictionaries.
  struct Table {
    std::deque<Stratum> strata;  // of_class points to them
    std::unordered_map<std::string, ClassOfStratum> of_class;
  };

  Strata() = default;  // none
  explicit Strata(Table table) : table_(std::make_shared<const Table>(std::move(table))) {}

  size_t count() const { return table_ != nullptr ? table_->strata.size() : 0; }
  // Scales the samples of the next block.
  void Scale(const format::Block& block, std::span<WeightedSample> drawn);

 private:
  const ClassOfStratum* Of(format::Index class_id);
  const ClassOfStratum* Find(const std::string& class_name) const;

  std::shared_ptr<const Table> table_;
  // Cache for the current chunk, by class index.
  struct Looked {
    bool done = false;
    const ClassOfStratum* found = nullptr;
  };
  const format::Dictionaries* dictionaries_ = nullptr;
  uint32_t chunk_ = format::kNone;
  std::vector<Looked> of_index_;
};

}  // namespace heaprec::tools
