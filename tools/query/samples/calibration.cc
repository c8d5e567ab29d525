#include "tools/query/samples/calibration.h"

#include <algorithm>
#include <optional>

#include "tools/analysis/estimate/design.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/query/scan/census_strata.h"
#include "tools/text/progress.h"

namespace heaprec::tools {

using format::Stream;

Calibration Calibration::Of(const Recording& recording, const std::function<bool(Stream)>& wants) {
  Calibration calibration;
  auto again = recording.Again();
  if (!again.ok()) return calibration;
  if (wants(Stream::kAllocations)) calibration.strata_ = StrataOf(recording).strata;
  std::array<std::optional<Design>, format::kStreams> designs;
  for (const Stream stream : format::kAllStreams) {
    if (wants(stream)) designs[static_cast<size_t>(stream)].emplace(recording.header(), stream);
  }
  auto& allocations = designs[static_cast<size_t>(Stream::kAllocations)];
  if (allocations) allocations->SetStrata(calibration.strata_);
  Progress progress(recording.source().name(), recording.source().size());
  while (const auto block = (*again)->Next()) {
    for (auto& design : designs) {
      if (design) design->Add(*block);
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

Calibration::Weight Calibration::WeightOf(const format::Sample& sample) {
  double factor = this->factor(sample.stream());
  if (strata_.count() > 0 && sample.stream() == Stream::kAllocations) {
    WeightedSample drawn;
    drawn.class_id = sample.class_id;
    drawn.weight = factor;
    strata_.Scale(*block_, {&drawn, 1});
    factor = drawn.weight;
  }
  return {factor * sample.weight_bytes(), factor * sample.weight_objects()};
}

}  // namespace heaprec::tools
