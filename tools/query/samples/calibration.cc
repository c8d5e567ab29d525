#include "tools/query/samples/calibration.h"

#include <optional>

#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/estimate/row_calibration.h"
#include "tools/input/recording.h"
#include "tools/query/scan/census_strata.h"

namespace heaprec::tools {

using format::Stream;

Calibration Calibration::Of(const Recording& recording, const Filter& filter, CalibratedTo to) {
  Calibration calibration;
  if (to == CalibratedTo::kNothing) return calibration;
  const auto wants = [&](Stream stream) { return filter.TakesAny(stream); };
  const uint64_t interval_ns = calibration.interval_ns_ = recording.header().interval_ns;
  const bool to_rows = to == CalibratedTo::kRows && wants(Stream::kAllocations);
  const ByRows by_rows = to_rows ? filter.RowsBeside(interval_ns) : [](const format::Block&) { return false; };
  const ByRows within = filter.RowsWithin(interval_ns);
  if (to_rows) calibration.rows_ = RowCalibration(within);
  if (wants(Stream::kAllocations)) {
    calibration.strata_ = StrataOf(recording, [=](const format::Block& block) {
                            return by_rows(block) || (to_rows && within(block));
                          }).strata;
  }
  std::optional<Design> apart;
  if (to == CalibratedTo::kCountsApart && wants(Stream::kAllocations)) {
    calibration.apart_ = filter.RowsTaken(interval_ns);
    calibration.strata_apart_ = StrataOf(recording, calibration.apart_).strata;
    apart.emplace(recording.header()).SetStrata(calibration.strata_apart_);
  }
  std::array<std::optional<Design>, format::kStreams> designs;
  for (const Stream stream : format::kAllStreams) {
    if (wants(stream)) designs[static_cast<size_t>(stream)].emplace(recording.header(), stream);
  }
  auto& allocations = designs[static_cast<size_t>(Stream::kAllocations)];
  if (allocations) {
    allocations->SetStrata(calibration.strata_);
    allocations->SetCalibration(calibration.rows_);
  }
  const auto again = WalkAgain(recording, [&](const format::Block& block) {
    const bool is_by_rows = by_rows(block);
    for (auto& design : designs) {
      if (design) design->Add(block, is_by_rows && &design == &allocations);
    }
    if (apart) apart->Add(block, calibration.apart_(block));
  });
  if (!again.ok()) return Calibration();
  for (const Stream stream : format::kAllStreams) {
    auto& design = designs[static_cast<size_t>(stream)];
    if (!design) continue;
    const format::StreamCounters& counters = (*again)->counters(stream);
    if (format::CountsEvents(stream)) design->SetCounted(counters.candidates);
    design->CountUnwritten(counters);
    calibration.factors_[static_cast<size_t>(stream)] = Estimator(*design, counters).factor();
  }
  if (apart) {
    apart->CountUnwritten((*again)->counters());
    calibration.factor_apart_ = Estimator(*apart, (*again)->counters()).factor();
  }
  return calibration;
}

void Calibration::Enter(const format::Block& block) {
  block_ = &block;
  is_by_rows_ = rows_.Enter(block);
  is_apart_ = apart_ && apart_(block);
}

double Calibration::Adjusted(double factor, Strata* strata, format::Index class_id) {
  if (strata->count() == 0) return factor;
  WeightedSample drawn;
  drawn.class_id = class_id;
  drawn.weight = factor;
  strata->Scale(*block_, {&drawn, 1});
  return drawn.weight;
}

Calibration::Weight Calibration::WeightOf(const format::Sample& sample) {
  double factor = this->factor(sample.stream());
  RowCalibration::Factors of_site;
  if (sample.stream() == Stream::kAllocations) {
    factor = Adjusted(factor, &strata_, sample.class_id);
    if (is_by_rows_) of_site = rows_.Of(rows_.SiteOf(sample.class_id, sample.stack));
  }
  return {factor * of_site.bytes * sample.weight_bytes(), factor * of_site.objects * sample.weight_objects()};
}

Calibration::Weight Calibration::WeightOf(const format::Row& row) {
  const double factor = is_apart_ ? Adjusted(factor_apart_, &strata_apart_, row.class_id)
                                  : Adjusted(this->factor(Stream::kAllocations), &strata_, row.class_id);
  return {factor * row.bytes, factor * row.objects};
}

std::vector<const format::Row*> Calibration::RowsOf(Filter* filter) {
  std::vector<const format::Row*> kept;
  if (!is_by_rows_ && !is_apart_) return kept;
  const std::vector<format::Sample> judged = SamplesOfRows(*block_, interval_ns_);
  for (size_t i = 0; i < judged.size(); ++i) {
    const format::Row& row = block_->rows[i];
    const bool is_shown = is_apart_ || rows_.IsAlone(rows_.SiteOf(row.class_id, row.stack));
    if (is_shown && filter->Judge(judged[i]) == Filter::OfRow::kKept) kept.push_back(&row);
  }
  return kept;
}

}  // namespace heaprec::tools
