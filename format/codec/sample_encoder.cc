#include <algorithm>
#include <utility>

#include "format/bytes/columns.h"
#include "format/codec/sample_codec.h"
#include "format/codec/sample_columns.h"

namespace heaprec::format {

LambdaOfWindow LambdasOf(std::span<const Window> windows) {
  LambdaOfWindow lambdas;
  for (const Window& window : windows) lambdas[window.id] = window.lambda;
  return lambdas;
}

bool SampleEncoder::within_bounds() const {
  return samples_.size() <= kMaxBlockRows && windows_.size() <= kMaxBlockRows && intervals_.size() <= kMaxBlockRows;
}

uint64_t SampleEncoder::earliest_ns(uint64_t otherwise) const {
  if (samples_.empty()) return otherwise;
  return std::ranges::min_element(samples_, {}, &Sample::time_ns)->time_ns / kTickNs * kTickNs;
}

void SampleEncoder::Encode(const DictionaryEncoder& dictionaries, ByteBuffer* raw) {
  for (Sample& sample : samples_) sample.stack = dictionaries.NumberOfStack(sample.stack);
  EncodeWindows(raw);
  EncodeIntervals(raw);
  EncodeSamples(raw);
  windows_.clear();
  intervals_.clear();
  samples_.clear();
}

void SampleEncoder::EncodeWindows(ByteBuffer* raw) {
  lambdas_ = LambdasOf(windows_);
  ColumnWriter<4> columns;
  uint64_t last_id = 0, last_start = 0;
  for (const Window& window : windows_) {
    columns.Delta(0, window.id, std::exchange(last_id, window.id));
    columns.Delta(1, window.start_ns, std::exchange(last_start, window.start_ns));
    columns.F64(2, window.lambda);
    columns.F64(3, window.point_lambda);
  }
  columns.Finish(Section::kWindows, windows_.size(), raw, stream_);
}

void SampleEncoder::EncodeIntervals(ByteBuffer* raw) {
  taus_.clear();
  ColumnWriter<6> columns;
  uint64_t last_index = 0;
  for (const Interval& interval : intervals_) {
    columns.Delta(0, interval.index, std::exchange(last_index, interval.index));
    columns.Varint(1, interval.candidates);
    columns.Varint(2, interval.bytes);
    columns.Varint(3, interval.buffered);
    columns.Varint(4, interval.kept);
    columns.F64(5, interval.tau);
    if (interval.tau > 0) taus_.emplace_back(interval.tau, &interval - intervals_.data() + 1);
  }
  std::ranges::sort(taus_);
  columns.Finish(Section::kIntervals, intervals_.size(), raw, stream_);
}

SampleEncoder::WeightCode SampleEncoder::CodeOf(const Sample& sample, uint64_t last_interval) const {
  const auto window = lambdas_.find(sample.window);
  if (window == lambdas_.end()) return {WeightRule::kExplicit, last_interval};
  const double given = sample.weight;
  const WeightRule rule = stream_ == Stream::kExceptions ? WeightRule::kCount : WeightRule::kPerByte;
  const double first = FirstStageWeight(rule, window->second, sample.size);
  const double tau = last_interval == 0 ? 0 : intervals_[last_interval - 1].tau;
  if (WeightsAgree(given, std::max(first, tau))) return {rule, last_interval};
  if (WeightsAgree(given, first)) return {rule, 0};
  // Its weight was raised to the tau of another interval.
  const auto at = std::ranges::lower_bound(taus_, std::pair(given * (1 - kWeightTolerance), uint64_t{0}));
  if (at != taus_.end() && WeightsAgree(given, at->first) && first < at->first) return {rule, at->second};
  return {WeightRule::kExplicit, last_interval};
}

void SampleEncoder::EncodeSamples(ByteBuffer* raw) {
  std::ranges::stable_sort(samples_, {}, [](const Sample& sample) { return sample.time_ns / kTickNs; });
  ColumnWriter<kSampleColumns> columns;
  SampleContext context;
  std::unordered_map<Index, uint64_t> number_of_leaf;
  uint64_t last_tick = 0;
  uint64_t last_interval = 0;
  for (const Sample& sample : samples_) {
    const uint64_t tick = sample.time_ns / kTickNs;
    columns.Varint(kTime, tick - std::exchange(last_tick, tick));
    columns.Delta(kId, sample.id, std::exchange(context.last_id, sample.id));
    columns.Varint(kKind, static_cast<uint64_t>(sample.kind));
    columns.Delta(kWindow, sample.window, std::exchange(context.last_window, sample.window));

    const uint64_t fresh = context.stacks.size();
    const uint64_t number = sample.stack == kNone ? 0 : number_of_leaf.try_emplace(sample.stack, fresh).first->second;
    columns.Varint(kStack, number == 0 ? 0 : number == fresh ? 1 : number + 1);
    if (number == fresh) {
      context.stacks.push_back({.leaf = sample.stack});
      columns.Delta(kLeaf, sample.stack, std::exchange(context.last_leaf, sample.stack));
    }
    SampleContext::Stack& stack = context.stacks[number];
    const uint64_t class_code = sample.class_id == kNone ? 1 : sample.class_id + uint64_t{2};
    columns.Varint(kClass, std::exchange(stack.class_id, sample.class_id) == sample.class_id ? 0 : class_code);
    const uint64_t size = Rotated(sample.size);
    columns.Delta(kSize, size, std::exchange(stack.size, size));

    const uint64_t thread = sample.thread == kNone ? 0 : sample.thread + uint64_t{1};
    columns.Varint(kThread, thread);
    if (context.tlab_of_thread.size() <= thread) context.tlab_of_thread.resize(thread + 1);
    const uint64_t tlab = Rotated(sample.tlab_size);
    uint64_t& last_tlab = context.tlab_of_thread[thread][static_cast<size_t>(sample.kind)];
    columns.Delta(kTlab, tlab, std::exchange(last_tlab, tlab));

    const WeightCode code = CodeOf(sample, last_interval);
    columns.Varint(kRule, static_cast<uint64_t>(code.rule));
    columns.Delta(kRaisedBy, code.interval, std::exchange(last_interval, code.interval));
    if (code.rule == WeightRule::kExplicit) columns.F64(kExplicitWeight, sample.weight);
  }
  columns.Finish(Section::kSamples, samples_.size(), raw, stream_);
}

}  // namespace heaprec::format
