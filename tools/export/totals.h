// Sums of samples, the measures that profiles show, and the rounding of weights to whole numbers.
//
// Units:    bytes, objects, events.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "format/codec/index_table.h"
#include "format/model/model.h"
#include "tools/analysis/live/lifetimes.h"
#include "tools/export/catalogue.h"
#include "tools/export/exporter.h"
#include "tools/export/live_samples.h"

namespace heaprec::tools {

struct Totals {
  double bytes = 0, objects = 0, exceptions = 0;
  double live_bytes = 0, live_objects = 0;  // live at the end
  uint64_t samples = 0;

  // Adds a row.
  void Add(const Calibration::Weight& weight) {
    bytes += weight.bytes;
    objects += weight.objects;
  }
  void Add(const format::Sample& sample, const Calibration::Weight& weight) {
    ++samples;
    bytes += weight.bytes;
    (sample.stream() == format::Stream::kExceptions ? exceptions : objects) += weight.objects;
  }
};

// A value of each sample, with its name in pprof.
struct Measure {
  const char* name;
  const char* unit;
  double (*of)(const Totals&);
};
inline constexpr Measure kSpace{"alloc_space", "bytes", [](const Totals& totals) { return totals.bytes; }};
inline constexpr Measure kObjects{"alloc_objects", "count", [](const Totals& totals) { return totals.objects; }};
inline constexpr Measure kThrows{"exceptions", "count", [](const Totals& totals) { return totals.exceptions; }};
inline constexpr Measure kLiveSpace{"inuse_space", "bytes", [](const Totals& totals) { return totals.live_bytes; }};
inline constexpr Measure kLiveObjects{"inuse_objects", "count",
                                      [](const Totals& totals) { return totals.live_objects; }};
inline constexpr Measure kSamples{"samples", "count",
                                  [](const Totals& totals) { return static_cast<double>(totals.samples); }};

// The measures of the exported kinds, as in heap profiles of Go: allocated and live; or only live.
inline std::vector<Measure> MeasuresOf(const ExportSettings& settings) {
  if (settings.live_filter) {
    return {
        {kLiveObjects.name, kLiveObjects.unit, kObjects.of}, {kLiveSpace.name, kLiveSpace.unit, kSpace.of}, kSamples};
  }
  std::vector<Measure> measures;
  if (settings.allocations) measures = {kObjects, kSpace};
  if (settings.allocations && settings.live) measures.insert(measures.end(), {kLiveObjects, kLiveSpace});
  if (settings.exceptions) measures.push_back(kThrows);
  measures.push_back(kSamples);
  return measures;
}

// The mean number of bytes (or throws) between samples, used as a profile's period, because points are random.
class MeanPeriod {
 public:
  void Add(const format::Sample& sample, const Calibration::Weight& weight) {
    (format::CountsEvents(sample.stream()) ? exceptions_ : allocations_).Add(sample, weight);
  }
  // The unit of the period for `measure`: bytes, or throws if there are only exceptions.
  const Measure& UnitFor(const Measure& measure) const {
    const bool has_throws_only = allocations_.samples == 0 && exceptions_.samples > 0;
    return has_throws_only || measure.of == kThrows.of ? kThrows : kSpace;
  }
  // The period in that unit; at least 1, because readers reject 0.
  int64_t For(const Measure& measure) const {
    const Measure& unit = UnitFor(measure);
    const Totals& totals = unit.of == kThrows.of ? exceptions_ : allocations_;
    const double mean = totals.samples > 0 ? unit.of(totals) / static_cast<double>(totals.samples) : 0;
    return std::max<int64_t>(std::llround(std::min(mean, 0x1p62)), 1);
  }
  const Totals& allocations() const { return allocations_; }

 private:
  Totals allocations_, exceptions_;
};

// Rounds to whole numbers for formats without others. Each number makes the sum so far the rounded sum, so that sums do
// not drift: a sum is off by at most 1/2, a number by less than 1.
class WholeNumbers {
 public:
  int64_t Next(double weight) {
    sum_ = std::min(sum_ + weight, kMax);
    const int64_t whole = std::llround(sum_) - given_;
    given_ += whole;
    return whole;
  }

 private:
  static constexpr double kMax = 9e18;  // nearly the maximum of an int64_t
  double sum_ = 0;
  int64_t given_ = 0;
};

// Sums of samples per stack.
//
// Memory:   bounded by the distinct stacks.
class StackTotals {
 public:
  explicit StackTotals(const ExportSettings& settings)
      : catalogue_(settings.lines ? Catalogue::Detail::kLine : Catalogue::Detail::kName, settings.hides) {}

  // Call before the first block of a recording.
  void StartRecording() { catalogue_.StartRecording(); }
  void Add(const FilteredBlock& block);
  // Resets the sums to zero; names stay.
  void Clear() { of_.clear(); }

  const Catalogue& catalogue() const { return catalogue_; }
  // Totals of a stack in catalogue().stacks().
  Totals Of(Catalogue::Id stack) const { return stack < of_.size() ? of_[stack] : Totals(); }

 private:
  Totals& At(Catalogue::Id stack);

  Catalogue catalogue_;
  std::vector<Totals> of_;
};

// Sums of samples per stack, class, thread, kind and size: the samples of profiles with labels.
//
// Memory:   bounded: the caller takes the rows out when it is full(); the same key may then come again.
class LabelledTotals {
 public:
  struct Key {
    Catalogue::Id stack = 0, class_id = 0, thread = 0;
    uint32_t kind = 0;
    uint64_t size = 0;  // of the object
    bool operator==(const Key&) const = default;
  };
  struct Row {
    Key key;
    Totals totals;
  };

  // `with_size`: whether rows differ by size.
  explicit LabelledTotals(bool with_size) : with_size_(with_size) {}

  Key KeyOf(const format::Sample& sample, Catalogue* catalogue) const;
  // For a row instead of samples: its thread, kind and sizes are unknown.
  static Key KeyOf(const format::Row& row, Catalogue* catalogue) {
    return {catalogue->StackOfRow(row.stack), catalogue->ClassOf(row.class_id), Catalogue::kNone, format::kKinds};
  }
  // Totals of the row with that key.
  Totals& At(const Key& key);
  void Add(const format::Sample& sample, const Calibration::Weight& weight, Catalogue* catalogue) {
    At(KeyOf(sample, catalogue)).Add(sample, weight);
  }
  // Adds what `life` represents, if it is tracked at the time.
  void AddAlive(const Lifetimes& lives, const Lifetime& life, uint64_t at_ns, uint64_t survived, const Key& key);
  bool full() const { return rows_.size() >= kMaxRows; }
  // In the order of first use.
  const std::vector<Row>& rows() const { return rows_; }
  void Clear();

 private:
  static constexpr size_t kMaxRows = 1 << 18;
  const bool with_size_;
  std::vector<Row> rows_;
  format::IndexTable known_;  // rows_ by key
};

// Common part of exporters whose samples have labels (pprof, OTLP): they collect samples, and what is live at the end,
// by label, and write the rows when there are many.
//
// Memory:   as LabelledTotals, TrackedSamples and Catalogue.
class LabelledExporter : public Exporter {
 public:
  // `with_size`: as in LabelledTotals.
  LabelledExporter(const ExportSettings& settings, bool with_size)
      : at_(settings.live_at),
        survived_(settings.live_survived),
        live_filter_(settings.live_filter),
        weights_(WeightsName(settings)),
        measures_(MeasuresOf(settings)),
        whole_(measures_.size()),
        catalogue_(Catalogue::Detail::kLine, settings.hides),
        rows_(with_size) {}

  void Begin(const Recording& recording) override {
    catalogue_.StartRecording();
    if (!live_filter_) tracked_.Begin(recording.header());
    last_ns_ = 0;
  }

  void Add(const FilteredBlock& block) override {
    last_ns_ = std::max(last_ns_, block.block.end_ns);
    catalogue_.Enter(block.block, &block.names);
    for (const format::Sample* const sample : block.samples) {
      const Calibration::Weight weight = block.calibration.WeightOf(*sample);
      rows_.Add(*sample, weight, &catalogue_);
      period_.Add(*sample, weight);
      if (rows_.full()) WriteRows();
    }
    for (const format::Row* const row : block.rows) {
      rows_.At(LabelledTotals::KeyOf(*row, &catalogue_)).Add(block.calibration.WeightOf(*row));
      if (rows_.full()) WriteRows();
    }
    tracked_.Add(block, [this](const format::Sample& sample) { return rows_.KeyOf(sample, &catalogue_); });
  }

  void End(const Recording& recording, AskedRange) override {
    const uint64_t end_ns = SpanOf(recording, last_ns_).end_ns;
    const uint64_t at_ns = MomentOf(at_, recording.header().start_epoch_ns, end_ns);
    tracked_.End(end_ns, [&](const Lifetimes& lives, const Lifetime& life, const LabelledTotals::Key& key) {
      if (rows_.full()) WriteRows();
      rows_.AddAlive(lives, life, std::min(at_ns, lives.end_ns()), survived_, key);
    });
  }

 private:
  // Writes the rows and clears them.
  virtual void WriteRows() = 0;

  const std::optional<TimePoint> at_;
  const uint64_t survived_;
  const bool live_filter_;
  uint64_t last_ns_ = 0;
  TrackedSamples<LabelledTotals::Key> tracked_;

 protected:
  const std::string_view weights_;
  const std::vector<Measure> measures_;
  std::vector<WholeNumbers> whole_;  // by measure
  Catalogue catalogue_;
  LabelledTotals rows_;
  MeanPeriod period_;
};

}  // namespace heaprec::tools
