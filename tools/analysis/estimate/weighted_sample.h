// Weighted samples, the strata by which a census scales them, and their sums over a subset.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/model/row.h"
#include "format/reader/reader.h"

namespace heaprec::tools {

struct CountedClass;

inline constexpr uint32_t kNoSite = 0xffffffff;

// A sample for the estimators: its size, and what it represents. Or a row, which represents all points of a class and
// path in a block, as one sample.
//
// Units:    the stream's: bytes, or events. An event counts as an object of one byte.
// Maths:    docs/estimates.md#estimates
struct WeightedSample {
  uint32_t index = 0;                // index into the samples of its block, or into its rows
  const format::Row* row = nullptr;  // a row of the block; null: this is a sample
  format::Index class_id = format::kNone, stack = format::kNone;
  uint64_t interval = 0;  // interval in which it was drawn
  double size = 0;        // size of the object, 1 for an event; 0: the inclusion probability is unknown
  double weight = 0;      // after both stages; the inclusion probability is size / weight
  double objects = 0;     // number of objects that it represents

  const CountedClass* of_class = nullptr;  // to whose count it was scaled
  // Of a calibration to rows, whose factors are not in weight and objects yet; a row is of it if the site has no
  // samples at the end. kNoSite: as it is.
  uint32_t site = kNoSite;

  uint64_t points() const { return row != nullptr ? row->points : 1; }
};

// A class, identified by the JVM's spelling of its name.
//
// Units:    bytes and objects.
struct CountedClass {
  // by which a sample's bytes and objects are multiplied to match the count of the class's stratum
  double factor = 1;
  bool is_one = false;            // no other class has the same name without generated suffixes
  double bytes = 0, objects = 0;  // counted
  double scaled = 0;              // sum of the scaled bytes of all its samples
};

// What a census counted of each class of a recording. A value type: copies share the counts, and scaled samples point
// to them.
//
// Failure:  a sample whose class was not counted is not scaled.
// Maths:    docs/estimates.md#post-stratification
class Strata {
 public:
  struct Table {
    std::unordered_map<std::string, CountedClass> classes;  // by name in the dictionaries
    size_t strata = 0;                                      // number of strata; rare classes share one
    double bytes = 0;                                       // counted bytes of all classes
  };

  Strata() = default;  // no strata
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

// Variances and covariance of two totals of the same samples.
//
// Maths:    docs/estimates.md#variance
struct Spread {
  double bytes = 0, objects = 0, both = 0;
  Spread& operator+=(const Spread& other) {
    bytes += other.bytes, objects += other.objects, both += other.both;
    return *this;
  }
};

inline Spread operator*(double factor, const Spread& of) {
  return {factor * of.bytes, factor * of.objects, factor * of.both};
}

// Running sums over the samples of a subset (a class, a site, a thread, a time range), used to estimate it.
//
// Samples may be added in any order. Uses no heap, because a table has one Subset per site.
//
// Units:    bytes and objects.
// Maths:    docs/estimates.md#variance, name for name
class Subset {
 public:
  // kOneClass: the subset is all objects of one class, whose total a census may know exactly.
  enum class Holds : bool { kAny, kOneClass };
  explicit Subset(Holds holds = Holds::kAny) : is_class_(holds == Holds::kOneClass) {}
  void Add(const WeightedSample& sample);
  // Adds the samples of another subset.
  Subset& operator+=(const Subset& other);
  // As if the weights of its samples, in bytes and in objects, were so many times what they are. Factors are known, as
  // those of a census: the chances of inclusion are not changed.
  friend Subset Scaled(const Subset& of, double bytes, double objects);

  uint64_t samples() const { return samples_; }  // for rows: their points
  double bytes() const { return bytes_; }        // sum of weights: unbiased
  double objects() const { return objects_; }    // sum of weight / size: unbiased
  // Number of samples without a size; objects() lacks their objects.
  uint64_t unsized() const { return unsized_; }
  double seen() const { return seen_; }  // bytes of the sampled objects themselves: a lower limit of the total
  // Computed as if all were drawn independently: unbiased for rows; an upper estimate for samples after both stages.
  const Spread& variance() const { return variance_; }
  // Sums of the squares of the terms of variance(), which give its own uncertainty.
  double bytes_fourth() const { return bytes_fourth_; }
  double objects_fourth() const { return objects_fourth_; }
  // If the subset is one complete class that a census counted, that class; otherwise null.
  const CountedClass* counted() const;

 private:
  bool is_class_;
  const CountedClass* class_ = nullptr;  // class of all samples; null: there are several, or it was not counted
  uint64_t samples_ = 0, unsized_ = 0;
  double bytes_ = 0, objects_ = 0, seen_ = 0;
  Spread variance_;
  double bytes_fourth_ = 0, objects_fourth_ = 0;
};

}  // namespace heaprec::tools
