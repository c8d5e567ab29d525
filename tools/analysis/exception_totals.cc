#include "tools/analysis/exception_totals.h"

#include <algorithm>
#include <tuple>

#include "tools/analysis/estimate/estimator.h"

namespace heaprec::tools {
namespace {

std::string SiteOf(format::Index stack, Names* names) {
  const format::StackNode* leaf = names->NodeOf(stack);
  const format::Frame* frame = leaf != nullptr ? names->FrameOf(leaf->frame) : nullptr;
  if (frame == nullptr) return std::string(kUnknown);
  std::string site(names->Method(frame->method));
  if (frame->line >= 0) site += ":" + std::to_string(frame->line);
  return site;
}

}  // namespace

void ExceptionTotalsBuilder::Add(const format::Block& block, Names* names) {
  for (const WeightedSample& drawn : design_.Add(block)) {
    const format::Sample& sample = block.samples[drawn.index];
    if (keeps_ && !keeps_(sample)) continue;
    classes_[std::string(names->Class(sample.class_id))].Add(drawn);
    sites_[SiteOf(sample.stack, names)].Add(drawn);
  }
}

ExceptionTotals ExceptionTotalsBuilder::Close(const format::StreamCounters& counters) {
  design_.SetCounted(counters.candidates);
  const Estimator estimator(design_, counters);
  ExceptionTotals thrown;
  thrown.counted = counters.candidates;
  thrown.samples = design_.all().samples();
  thrown.calibrated = estimator.calibrated();
  thrown.factor = estimator.factor();
  thrown.estimated = Estimator(design_, counters, Weights::kRaw).Total();
  for (const auto& [from, to] : {std::tuple(&classes_, &thrown.classes), std::tuple(&sites_, &thrown.sites)}) {
    for (const auto& [name, of] : *from) {
      to->push_back({name, of.samples(), estimator.Bytes(of), estimator.Share(of)});
    }
    std::sort(to->begin(), to->end(), [](const ExceptionTotals::Group& a, const ExceptionTotals::Group& b) {
      return std::tie(b.events.value, a.name) < std::tie(a.events.value, b.name);
    });
  }
  return thrown;
}

}  // namespace heaprec::tools
