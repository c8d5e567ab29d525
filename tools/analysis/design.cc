#include "tools/analysis/design.h"

#include <algorithm>
#include <cmath>

#include "format/weights.h"
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

}  // namespace

Design::Design(const format::FileHeader& header, format::Stream stream, Grain finest)
    : stream_(stream),
      interval_ns_(IntervalNs(header, stream)),
      has_no_chances_(stream == format::Stream::kAllocations && IsBiased(header.source)),
      has_quotas_(stream == format::Stream::kAllocations && header.max_samples > 0),
      line_(finest) {}

std::span<const Drawn> Design::Add(const format::Block& block) {
  if (block.chunk != chunk_) windows_.clear();
  chunk_ = block.chunk;
  for (const format::Window& window : block.windows) windows_[window.id] = window.lambda;
  lambda_ = 0;
  not_counted_.clear();
  few_.clear();
  for (const format::Interval& interval : block.intervals) {
    if (interval.stream == stream_) Count(interval);
  }
  drawn_.clear();
  for (size_t i = 0; i < block.samples.size(); ++i) {
    if (block.samples[i].stream() != stream_) continue;
    drawn_.push_back(Of(block.samples[i]));
    drawn_.back().index = i;
    drawn_.back().SetChances();
  }
  line_.Lay(block, &drawn_);
  for (const Drawn& drawn : drawn_) {
    all_.Add(drawn);
    if (!not_counted_.empty() && not_counted_.count(drawn.interval) > 0) uncounted_.Add(drawn);
  }
  return drawn_;
}

// Where points were held, bytes or events were counted, if there was anybody to count them.
void Design::Count(const format::Interval& interval) {
  const uint64_t counted = stream_ == format::Stream::kAllocations ? interval.bytes : interval.candidates;
  counted_ += counted;
  if (counted == 0 && interval.held > 0) not_counted_.insert(interval.index);
  if (has_quotas_ && interval.tau > 0 && std::isfinite(interval.tau)) NoteQuota(interval);
}

// The quota was bytes / tau samples, and what was kept is that, rounded down or up at random.
void Design::NoteQuota(const format::Interval& interval) {
  if (interval.kept < kFew) few_.insert(interval.index);
  const double quota = static_cast<double>(interval.bytes) / interval.tau;
  variance_of_quotas_ += interval.tau * interval.tau * (quota < 0.5 ? quota * (1 - quota) : 0.25);
}

// Where quotas are small both are estimates of the same; where they are large, their part is small.
double Design::VarianceOfBytes() const { return std::max({all_.bytes_with_all(), variance_of_quotas_, 0.0}); }

Drawn Design::Of(const format::Sample& sample) {
  Drawn drawn;
  drawn.weight = drawn.first_weight = sample.weight;
  drawn.objects = sample.weight_objects();
  drawn.interval = IntervalOf(sample.time_ns);
  if (has_no_chances_) return drawn;
  const double size = stream_ == format::Stream::kAllocations ? static_cast<double>(sample.size) : 1;
  drawn.size = std::min(size, sample.weight);
  if (!few_.empty() && few_.count(drawn.interval) > 0) return drawn;
  const double lambda = LambdaOf(sample.window);
  if (!(lambda > 0)) return drawn;
  const double first = FirstWeight(drawn.size, lambda);
  if (first < sample.weight * (1 - kRounding)) drawn.first_weight = first;
  return drawn;
}

uint64_t Design::IntervalOf(uint64_t time_ns) {
  if (time_ns - interval_begin_ns_ >= interval_ns_) {
    interval_ = time_ns / interval_ns_;
    interval_begin_ns_ = interval_ * interval_ns_;
  }
  return interval_;
}

double Design::LambdaOf(uint32_t window) {
  if (window == window_ && lambda_ > 0) return lambda_;
  const auto known = windows_.find(window);
  window_ = window;
  return lambda_ = known == windows_.end() ? 0 : known->second;
}

double Design::FirstWeight(double size, double lambda) const {
  return stream_ == format::Stream::kAllocations ? size / format::InclusionProbability(lambda * size) : 1 / lambda;
}

}  // namespace heaprec::tools
