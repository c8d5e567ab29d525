#include "tools/analysis/estimate/prepared_samples.h"

#include <algorithm>
#include <cmath>

#include "format/model/weights.h"
#include "tools/analysis/imported.h"

namespace heaprec::tools {
namespace {

constexpr uint64_t kDefaultIntervalNs = 1'000'000'000;  // if the header has none
// A weight is stored to 1e-9; less than this above the first stage's is no raise.
constexpr double kRounding = 1e-8;
// A quota of fewer samples is no line that goes round in a circle: whether it holds k or k + 1 of them matters.
constexpr uint64_t kFew = 10;

uint64_t IntervalNs(const format::FileHeader& header, format::Stream stream) {
  const uint64_t interval_ns = header.CapOf(stream).interval_ns;
  return interval_ns > 0 ? interval_ns : kDefaultIntervalNs;
}

OrderLevel PartedAt(const SiteKey& a, const SiteKey& b) {
  size_t level = 0;
  while (level < kNodes && a[level] == b[level]) ++level;
  return static_cast<OrderLevel>(level);
}

}  // namespace

bool HasQuota(const format::Interval& interval) { return interval.tau > 0 && std::isfinite(interval.tau); }

SamplePreparer::SamplePreparer(const format::FileHeader& header, format::Stream stream, OrderLevel finest)
    : stream_(stream),
      interval_ns_(IntervalNs(header, stream)),
      has_no_chances_(stream == format::Stream::kAllocations && IsBiased(header.source)),
      has_quotas_(stream == format::Stream::kAllocations && header.max_samples > 0),
      nodes_(std::min(static_cast<size_t>(finest) + 1, kNodes)) {}

void SamplePreparer::Make(const format::Block& block, PreparedSamples* draft, bool by_rows) {
  Enter(block);
  draft->by_rows = by_rows;
  draft->drawn.clear();
  draft->lines.clear();
  for (auto& nodes : draft->nodes) nodes.clear();
  if (by_rows) return MakeOfRows(block, draft);
  by_time_.clear();
  bool any_raised = false;
  for (uint32_t i = 0; i < block.samples.size(); ++i) {
    if (block.samples[i].stream() != stream_) continue;
    WeightedSample& drawn = by_time_.emplace_back(Of(block.samples[i]));
    drawn.index = i;
    drawn.SetChances();
    any_raised |= drawn.raised() > 0;
  }
  // Where the second stage raised nothing there is no line, and any order will do.
  if (!any_raised) {
    draft->drawn.swap(by_time_);
    return;
  }
  const std::span<const SystematicSort::Placed> order = order_.Of(block, by_time_, &keys_);
  draft->drawn.reserve(order.size());
  for (const SystematicSort::Placed& placed : order) draft->drawn.push_back(by_time_[placed.at]);
  AddLines(order, draft);
}

// No line: a row has all points. Its interval tells whether they were counted; a salvaged block has one.
void SamplePreparer::MakeOfRows(const format::Block& block, PreparedSamples* draft) const {
  const auto interval = std::ranges::find_if(
      block.intervals, [this](const format::Interval& one) { return one.stream == stream_ && one.buffered > 0; });
  for (uint32_t i = 0; i < block.rows.size(); ++i) {
    const format::Row& row = block.rows[i];
    WeightedSample& drawn = draft->drawn.emplace_back();
    drawn.index = i;
    drawn.class_id = row.class_id;
    drawn.stack = row.stack;
    if (interval != block.intervals.end()) drawn.interval = interval->index;
    drawn.weight = drawn.first_weight = row.bytes;
    drawn.objects = row.objects;
  }
}

void SamplePreparer::Enter(const format::Block& block) {
  if (block.chunk != chunk_) windows_.clear();
  chunk_ = block.chunk;
  for (const format::Window& window : block.windows) windows_[window.id] = window.lambda;
  lambda_ = 0;
  few_.clear();
  for (const format::Interval& interval : block.intervals) {
    if (has_quotas_ && interval.stream == stream_ && HasQuota(interval) && interval.kept < kFew) {
      few_.insert(interval.index);
    }
  }
  keys_.Enter(block);
}

WeightedSample SamplePreparer::Of(const format::Sample& sample) {
  WeightedSample drawn;
  drawn.class_id = sample.class_id;
  drawn.stack = sample.stack;
  drawn.weight = drawn.first_weight = sample.weight;
  drawn.objects = sample.weight_objects();
  drawn.interval = IntervalOf(sample.time_ns);
  if (has_no_chances_) return drawn;
  const double size = format::CountsEvents(stream_) ? 1 : static_cast<double>(sample.size);
  drawn.size = std::min(size, sample.weight);
  if (!few_.empty() && few_.count(drawn.interval) > 0) return drawn;
  const double lambda = LambdaOf(sample.window);
  if (!(lambda > 0)) return drawn;
  const double first = FirstWeight(drawn.size, lambda);
  if (first < sample.weight * (1 - kRounding)) drawn.first_weight = first;
  return drawn;
}

uint64_t SamplePreparer::IntervalOf(uint64_t time_ns) {
  if (time_ns - interval_begin_ns_ >= interval_ns_) {
    interval_ = time_ns / interval_ns_;
    interval_begin_ns_ = interval_ * interval_ns_;
  }
  return interval_;
}

double SamplePreparer::LambdaOf(uint32_t window) {
  if (window == window_ && lambda_ > 0) return lambda_;
  const auto known = windows_.find(window);
  window_ = window;
  return lambda_ = known == windows_.end() ? 0 : known->second;
}

double SamplePreparer::FirstWeight(double size, double lambda) const {
  return format::CountsEvents(stream_) ? 1 / lambda : size / format::PoissonInclusion(lambda * size);
}

void SamplePreparer::AddLines(std::span<const SystematicSort::Placed> order, PreparedSamples* draft) {
  const auto& drawn = draft->drawn;
  for (uint32_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const float tau = order[begin].tau;
    double surplus = 0;  // a sample of length w1/w stands for w/w1 held ones
    for (; end < order.size() && drawn[end].interval == drawn[begin].interval && order[end].tau == tau; ++end) {
      surplus += drawn[end].weight / drawn[end].first_weight;
    }
    if (tau == kNoLine) continue;
    draft->lines.push_back({begin, end, surplus / (end - begin)});
    AddNodes(order.subspan(begin, end - begin), draft);
  }
}

void SamplePreparer::AddNodes(std::span<const SystematicSort::Placed> line, PreparedSamples* draft) {
  line_keys_.clear();
  for (const SystematicSort::Placed& placed : line) line_keys_.push_back(KeyOf(placed));
  const std::span<WeightedSample> drawn = std::span(draft->drawn).subspan(draft->lines.back().begin, line.size());
  for (size_t i = 0; i < line.size(); ++i) {
    const size_t beyond = i + 1 < line.size() ? i + 1 : 0;
    const OrderLevel parted = PartedAt(line_keys_[i], line_keys_[beyond]);
    drawn[i].rank = static_cast<uint32_t>(i);
    drawn[i].in_line = static_cast<uint32_t>(line.size());
    drawn[i].after.parted = drawn[beyond].before.parted = parted;
    const auto first_new = i == 0 ? size_t{0} : static_cast<size_t>(drawn[i].before.parted);
    for (size_t level = 0; level < nodes_; ++level) {
      if (level >= first_new) draft->nodes[level].push_back({line_keys_[i][level], 0});
      ++draft->nodes[level].back().samples;
    }
  }
}

SiteKey SamplePreparer::KeyOf(const SystematicSort::Placed& placed) const {
  const SiteKeys::Site& place = keys_.At(placed.place);
  return {place.of_class, place.of_method, place.of_stack, placed.of_thread};
}

}  // namespace heaprec::tools
