// What profiles whose samples have labels (pprof, OTLP) have in common: they gather the samples, and what is live at
// the end, by label, and write the rows whenever there are many.
//
// Memory:   as LabelledTotals, TrackedSamples and Catalogue.
// Threads:  one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/export/catalogue.h"
#include "tools/export/exporter.h"
#include "tools/export/live_samples.h"
#include "tools/export/provenance.h"
#include "tools/export/totals.h"

namespace heaprec::tools {

class LabelledExporter : public Exporter {
 public:
  // `with_size`: as LabelledTotals.
  LabelledExporter(const ExportSettings& settings, bool with_size)
      : at_(settings.live_at),
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
      rows_.AddAlive(lives, life, std::min(at_ns, lives.end_ns()), key);
    });
  }

 private:
  // Writes the rows and clears them.
  virtual void WriteRows() = 0;

  const std::optional<TimePoint> at_;
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
