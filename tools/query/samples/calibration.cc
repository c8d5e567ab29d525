#include "tools/query/samples/calibration.h"

#include <optional>

#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/estimate/rows.h"
#include "tools/query/scan/census_strata.h"
#include "tools/text/progress.h"

namespace heaprec::tools {

using format::Stream;

Calibration Calibration::Of(const Recording& recording, const Filter& filter, CalibratedTo to) {
  Calibration calibration;
  auto again = recording.Again();
  if (!again.ok() || to == CalibratedTo::kNothing) return calibration;
  const auto wants = [&](Stream stream) { return filter.TakesAny(stream); };
  const uint64_t interval_ns = calibration.interval_ns_ = recording.header().interval_ns;
  const bool to_rows = to == CalibratedTo::kRows && wants(Stream::kAllocations);
  const ByRows by_rows = to_rows ? filter.RowsBeside(interval_ns) : [](const format::Block&) { return false; };
  RowCalibration rows(filter.RowsWithin(interval_ns));
  if (wants(Stream::kAllocations))
    calibration.strata_ = StrataOf(recording, {true, by_rows, to_rows ? &rows : nullptr}).strata;
  if (rows.points() > 0) calibration.rows_ = rows;
  std::array<std::optional<Design>, format::kStreams> designs;
  for (const Stream stream : format::kAllStreams) {
    if (wants(stream)) designs[static_cast<size_t>(stream)].emplace(recording.header(), stream);
  }
  auto& allocations = designs[static_cast<size_t>(Stream::kAllocations)];
  if (allocations) {
    allocations->SetStrata(calibration.strata_);
    allocations->SetCalibration(calibration.rows_);
  }
  Progress progress(recording.source().name(), recording.source().size());
  while (const auto block = (*again)->Next()) {
    const bool is_by_rows = by_rows(*block);
    for (auto& design : designs) {
      if (design) design->Add(*block, is_by_rows && &design == &allocations);
    }
    progress.At((*again)->bytes_read());
  }
  for (const Stream stream : format::kAllStreams) {
    auto& design = designs[static_cast<size_t>(stream)];
    if (!design) continue;
    const format::StreamCounters& counters = (*again)->counters(stream);
    if (format::CountsEvents(stream)) design->SetCounted(counters.candidates);
    design->CountUnwritten(counters);
    calibration.factors_[static_cast<size_t>(stream)] = Estimator(*design, counters).factor();
  }
  return calibration;
}

void Calibration::Enter(const format::Block& block) {
  block_ = &block;
  is_by_rows_ = rows_.Enter(block);
}

double Calibration::FactorOf(Stream stream, format::Index class_id) {
  const double factor = this->factor(stream);
  if (strata_.count() == 0 || stream != Stream::kAllocations) return factor;
  WeightedSample drawn;
  drawn.class_id = class_id;
  drawn.weight = factor;
  strata_.Scale(*block_, {&drawn, 1});
  return drawn.weight;
}

Calibration::Weight Calibration::WeightOf(const format::Sample& sample) {
  const double factor = FactorOf(sample.stream(), sample.class_id);
  RowCalibration::Factors of_site;
  if (is_by_rows_ && sample.stream() == Stream::kAllocations) of_site = rows_.Of(sample.class_id, sample.stack);
  return {factor * of_site.bytes * sample.weight_bytes(), factor * of_site.objects * sample.weight_objects()};
}

Calibration::Weight Calibration::WeightOf(const format::Row& row) {
  const double factor = FactorOf(Stream::kAllocations, row.class_id);
  return {factor * row.bytes, factor * row.objects};
}

std::vector<const format::Row*> Calibration::RowsAlone(Filter* filter) {
  std::vector<const format::Row*> alone;
  if (!is_by_rows_) return alone;
  const std::vector<format::Sample> judged = SamplesOfRows(*block_, interval_ns_);
  for (size_t i = 0; i < judged.size(); ++i) {
    const format::Row& row = block_->rows[i];
    if (rows_.IsAlone(row) && filter->Judge(judged[i]) == Filter::OfRow::kKept) alone.push_back(&row);
  }
  return alone;
}

}  // namespace heaprec::tools
