#include "tools/analysis/totals/totals.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "tools/analysis/estimate/estimator.h"

namespace heaprec::tools {
namespace {

constexpr double kSigmas = 5;

// The losses of each reason are a sum of equal weights, drawn like those of the samples.
double VarianceOfLosses(const format::StreamCounters& counters) {
  double variance = 0;
  for (size_t reason = 0; reason < counters.lost.size(); ++reason) {
    if (counters.lost[reason] > 0 && format::IsLoss(static_cast<format::LossReason>(reason))) {
      variance +=
          counters.lost_weight[reason] * counters.lost_weight[reason] / static_cast<double>(counters.lost[reason]);
    }
  }
  return variance;
}

std::string SiteOf(format::Index stack, Names* names) {
  const format::StackNode* leaf = names->NodeOf(stack);
  const format::Frame* frame = leaf != nullptr ? names->FrameOf(leaf->frame) : nullptr;
  if (frame == nullptr) return std::string(kUnknown);
  std::string site(names->Method(frame->method));
  if (frame->line >= 0) site += ":" + std::to_string(frame->line);
  return site;
}

}  // namespace

CountCheck CheckCounts(const Design& design, const format::StreamCounters& counters) {
  const double lost = LostWeight(counters);
  const Subset& all = design.all();
  CountCheck balance;
  balance.raw_bytes = Estimator(design, counters, Weights::kRaw).Total();
  balance.counted = static_cast<double>(design.counted_bytes());
  balance.accounted = all.bytes() - design.uncounted().bytes() + lost;
  const double variance = all.variance().bytes + VarianceOfLosses(counters);
  // A program that allocates hardly anything may have no sample by chance.
  const double typical = all.bytes() > 0 ? all.variance().bytes / all.bytes() : design.widest_spacing();
  balance.slack = std::max(kSigmas * std::sqrt(variance) + kSigmas * kSigmas * typical,
                           kSigmas * std::sqrt(design.VarianceOfCounted()));
  return balance;
}

VolumeOfBlocks::VolumeOfBlocks(const format::FileHeader& header, const Strata& strata, ByRows by_rows)
    : by_rows_(std::move(by_rows)), has_strata_(strata.count() > 0), design_(header) {
  if (!has_strata_) return;
  parts_.emplace(header);
  parts_->SetStrata(strata);
}

std::span<const WeightedSample> VolumeOfBlocks::Add(const format::Block& block) {
  const bool by_rows = takes_rows(block);
  if (by_rows && !parts_) parts_.emplace(design_);
  const std::span<const WeightedSample> all = design_.Add(block);
  for (const WeightedSample& drawn : all) kinds_[static_cast<size_t>(block.samples[drawn.index].kind)].Add(drawn);
  return parts_ ? parts_->Add(block, by_rows) : all;
}

AllocationTotals VolumeOfBlocks::Close(const format::StreamCounters& counters) {
  design_.CountUnwritten(counters);
  if (parts_) parts_->CountUnwritten(counters);
  const Estimator estimator(design_, counters);
  AllocationTotals volume;
  static_cast<CountCheck&>(volume) = CheckCounts(design_, counters);
  volume.calibrated = estimator.calibrated();
  volume.factor = estimator.factor();
  volume.bytes = estimator.Total();
  const Design& best = has_strata_ ? design_ : design();
  volume.objects = Estimator(best, counters).Objects(best.all());
  for (size_t kind = 0; kind < kinds_.size(); ++kind) {
    const Subset& of = kinds_[kind];
    volume.kinds[kind] = {estimator.Bytes(of), estimator.Objects(of), estimator.Share(of)};
  }
  return volume;
}

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

format::PerStream<StreamTotals> TotalsOfStreams(const format::FileHeader& header) {
  const auto of = [&header](format::Stream stream) { return StreamTotals(header.CapOf(stream).interval_ns, stream); };
  return {{of(format::Stream::kAllocations), of(format::Stream::kExceptions), of(format::Stream::kNative),
           of(format::Stream::kMapping)}};
}

void StreamTotals::Add(const format::Block& block, bool by_rows) {
  if (by_rows) CountRows(block);
  for (const format::Sample& sample : block.samples) {
    if (!by_rows && sample.stream() == stream_) Count(sample);
  }
  CountWindows(block);
  for (const format::Interval& interval : block.intervals) {
    if (interval.stream != stream_) continue;
    ++intervals;
    if (interval.tau > 0) ++intervals_thinned;
  }
  last_ns = std::max(last_ns, block.end_ns);
}

void StreamTotals::CountWindows(const format::Block& block) {
  if (block.chunk != chunk_) last_of_earlier_chunks_ = last_window_;
  chunk_ = block.chunk;
  for (const format::Window& window : block.windows) {
    if (format::StreamOfWindow(window.id) != stream_) continue;
    if (window.id > last_of_earlier_chunks_) ++windows;
    last_window_ = std::max(last_window_, window.id);
  }
}

// Blocks have complete intervals in order, so one counter is sufficient.
void StreamTotals::Count(const format::Sample& sample) {
  KindTotals& kind = kinds[static_cast<size_t>(sample.kind)];
  ++kind.events;
  kind.bytes += sample.weight_bytes();
  kind.objects += sample.weight_objects();
  const uint64_t interval = sample.time_ns / interval_ns_;
  if (interval != interval_) in_interval_ = 0;
  interval_ = interval;
  most_in_interval = std::max(most_in_interval, ++in_interval_);
  last_ns = std::max(last_ns, sample.time_ns);
}

void StreamTotals::CountRows(const format::Block& block) {
  KindTotals& all = kinds.front();
  for (const format::Row& row : block.rows) {
    all.bytes += row.bytes;
    all.objects += row.objects;
  }
  for (const format::Interval& interval : block.intervals) {
    if (interval.stream != stream_) continue;
    all.events += interval.kept;
    most_in_interval = std::max(most_in_interval, interval.kept);
  }
}

uint64_t StreamTotals::events() const {
  uint64_t sum = 0;
  for (const KindTotals& kind : kinds) sum += kind.events;
  return sum;
}

double StreamTotals::bytes() const {
  double sum = 0;
  for (const KindTotals& kind : kinds) sum += kind.bytes;
  return sum;
}

double StreamTotals::objects() const {
  double sum = 0;
  for (const KindTotals& kind : kinds) sum += kind.objects;
  return sum;
}

}  // namespace heaprec::tools
