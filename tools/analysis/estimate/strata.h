// The strata of one recording: which of them a sample's class belongs to. A value: copies share them, and samples that
// were scaled point to them.
//
// Threads:  one.
// Failure:  a sample of a class that is in none stays as it is.
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

// A class, or several rare ones together, of which a census knows how much there was: the samples of it are scaled to
// that.
//
// Units:    bytes and objects.
// Threads:  any; it is constant.
// Maths:    docs/estimates.md#post-stratification, name for name
struct Stratum {
  uint32_t index = 0;  // among those of the recording
  double bytes = 0;    // T f: of all its samples, scaled
  double factor = 1;   // f: scales the bytes and objects of one
  double known = 0;    // k: 1 if everything was counted, 0 if the census says nothing
  double sampled = 0;  // F: variance of bytes by the first stage
  double counted = 0;  // W: of what the census says of bytes
  bool is_exact() const { return known == 1; }
  double shared() const { return known * known * (sampled + counted); }  // G
};

// A class, by its name as the JVM has it.
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
  // By name as dictionaries have it, of the classes of each stratum.
  struct Table {
    std::deque<Stratum> strata;  // classes point to them
    std::unordered_map<std::string, ClassOfStratum> of_class;
  };

  Strata() = default;  // none
  explicit Strata(Table table) : table_(std::make_shared<const Table>(std::move(table))) {}

  size_t count() const { return table_ != nullptr ? table_->strata.size() : 0; }
  // Samples of the next block.
  void Scale(const format::Block& block, std::span<WeightedSample> drawn);

 private:
  const ClassOfStratum* Of(format::Index class_id);
  const ClassOfStratum* Find(const std::string& class_name) const;

  std::shared_ptr<const Table> table_;
  // Of the chunk at hand, by class.
  struct Looked {
    bool done = false;
    const ClassOfStratum* found = nullptr;
  };
  const format::Dictionaries* dictionaries_ = nullptr;
  uint32_t chunk_ = format::kNone;
  std::vector<Looked> of_index_;
};

}  // namespace heaprec::tools
