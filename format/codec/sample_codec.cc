#include "format/codec/sample_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/bytes/columns.h"

namespace heaprec::format {
namespace {

// docs/format/recording.md#samples
enum SampleColumn : size_t {
  kTime = 0,
  kId = 1,
  kStack = 2,
  kLeaf = 3,
  kThread = 4,
  kClass = 5,
  kSize = 6,
  kTlab = 7,
  kKind = 8,
  kWindow = 9,
  kRule = 10,
  kRaisedBy = 11,
  kExplicitWeight = 12,
};
constexpr size_t kSampleColumns = 13;

// HotSpot's sizes are multiples of 8: rotating moves the three zero bits to where a varint does not store them.
constexpr uint64_t Rotated(uint64_t size) { return std::rotr(size, 3); }
constexpr uint64_t Unrotated(uint64_t rotated) { return std::rotl(rotated, 3); }

// State that encoder and decoder share after each sample, so that the next one is encoded as a difference.
struct SampleContext {
  // Stacks are numbered in the order in which samples first name them; entry 0 is the unknown stack.
  struct Stack {
    Index leaf = kNone, class_id = kNone;
    uint64_t size = 0;  // rotated, as stored
  };
  std::vector<Stack> stacks{1};
  // TLAB size of thread t at index t + 1, rotated. All unknown kinds share the last entry: their samples are skipped.
  std::vector<std::array<uint64_t, kKinds + 1>> tlab_of_thread;
  uint64_t last_id = 0, last_leaf = 0, last_window = 0;
};

LambdaOfWindow LambdasOf(std::span<const Window> windows) {
  LambdaOfWindow lambdas;
  for (const Window& window : windows) lambdas[window.id] = window.lambda;
  return lambdas;
}

// Decodes one section of samples: a batch of rows of each column, then row by row.
class SampleRows {
 public:
  SampleRows(Bytes body, Stream stream, const Dictionaries& dictionaries, std::span<const Window> windows,
             std::span<const Interval> intervals)
      : columns_(body),
        stream_(stream),
        dictionaries_(dictionaries),
        intervals_(intervals),
        lambdas_(LambdasOf(windows)) {}

  const ColumnReader<kSampleColumns>& columns() const { return columns_; }
  // False at the first invalid row. Skips rows of a kind that the stream does not have.
  bool AppendTo(std::vector<Sample>* samples) {
    if (columns_.HasBytesForRows()) samples->reserve(samples->size() + columns_.rows());
    for (uint64_t left = columns_.rows(); left > 0;) {
      const size_t rows = std::min<uint64_t>(left, kBatch);
      for (const SampleColumn column : kOfEveryRow)
        TakeVarints(&columns_[column], std::span(batch_[column]).first(rows));
      for (size_t row = 0; row < rows; ++row) {
        Sample sample;
        if (!Decode(row, &sample)) return false;
        if (sample.kind < static_cast<Kind>(kKinds) && sample.stream() == stream_) samples->push_back(sample);
      }
      left -= rows;
    }
    return columns_.ok();
  }

 private:
  static constexpr size_t kBatch = 256;
  static constexpr uint64_t kLastTick = UINT64_MAX / kTickNs;
  static constexpr std::array kOfEveryRow{kTime, kId,   kStack,  kThread, kClass,   kSize,
                                          kTlab, kKind, kWindow, kRule,   kRaisedBy};

  uint64_t At(SampleColumn column, size_t row) const { return batch_[column][row]; }
  // Applies the row's value to `*base`.
  uint64_t Step(SampleColumn column, size_t row, uint64_t* base) const {
    return *base += static_cast<uint64_t>(Unzigzag(At(column, row)));
  }

  bool Decode(size_t row, Sample* sample) {
    const uint64_t gap = At(kTime, row);
    if (gap > kLastTick - tick_) return false;
    tick_ += gap;
    sample->time_ns = tick_ * kTickNs;
    sample->id = Step(kId, row, &context_.last_id);
    sample->window = static_cast<uint32_t>(Step(kWindow, row, &context_.last_window));
    if (context_.last_window != sample->window) return false;
    sample->kind = static_cast<Kind>(std::min<uint64_t>(At(kKind, row), kKinds));
    return DecodeObject(row, sample) && DecodeThread(row, sample) && DecodeWeight(row, sample);
  }

  bool DecodeObject(size_t row, Sample* sample) {
    const uint64_t code = At(kStack, row);
    uint64_t number = code == 0 ? 0 : code - 1;
    if (code == 1) {
      number = context_.stacks.size();
      context_.last_leaf = columns_[kLeaf].Delta(context_.last_leaf);
      // Each stack is emitted once, so there are not more of them than nodes.
      if (context_.last_leaf >= dictionaries_.stacks.size() || number > dictionaries_.stacks.size()) return false;
      context_.stacks.push_back({.leaf = static_cast<Index>(context_.last_leaf)});
    }
    if (number >= context_.stacks.size()) return false;
    SampleContext::Stack& stack = context_.stacks[number];
    sample->stack = stack.leaf;
    const uint64_t class_code = At(kClass, row);
    if (class_code == 1) stack.class_id = kNone;
    if (class_code >= 2) {
      if (class_code - 2 >= dictionaries_.classes.size()) return false;
      stack.class_id = static_cast<Index>(class_code - 2);
    }
    sample->class_id = stack.class_id;
    sample->size = Unrotated(Step(kSize, row, &stack.size));
    return true;
  }

  bool DecodeThread(size_t row, Sample* sample) {
    const uint64_t thread = At(kThread, row);
    if (thread > dictionaries_.threads.size()) return false;
    sample->thread = thread == 0 ? kNone : static_cast<Index>(thread - 1);
    if (context_.tlab_of_thread.size() <= thread) context_.tlab_of_thread.resize(thread + 1);
    sample->tlab_size =
        Unrotated(Step(kTlab, row, &context_.tlab_of_thread[thread][static_cast<size_t>(sample->kind)]));
    return true;
  }

  bool DecodeWeight(size_t row, Sample* sample) {
    const uint64_t rule = At(kRule, row);
    const uint64_t raised_by = Step(kRaisedBy, row, &raised_by_);
    if (rule >= kWeightRules || raised_by > intervals_.size()) return false;
    if (rule == static_cast<uint64_t>(WeightRule::kExplicit)) {
      sample->weight = columns_[kExplicitWeight].F64();
      return true;
    }
    if (!has_lambda_ || sample->window != lambda_window_) {
      const auto window = lambdas_.find(sample->window);
      if (window == lambdas_.end()) return false;
      has_lambda_ = true;
      lambda_window_ = sample->window;
      lambda_ = window->second;
    }
    const double first = FirstStageWeight(static_cast<WeightRule>(rule), lambda_, sample->size);
    sample->weight = raised_by == 0 ? first : std::max(first, intervals_[raised_by - 1].tau);
    return true;
  }

  ColumnReader<kSampleColumns> columns_;
  const Stream stream_;
  const Dictionaries& dictionaries_;
  std::span<const Interval> intervals_;
  const LambdaOfWindow lambdas_;
  SampleContext context_;
  std::array<std::array<uint64_t, kBatch>, kSampleColumns> batch_;
  uint64_t tick_ = 0;
  uint64_t raised_by_ = 0;
  bool has_lambda_ = false;
  uint32_t lambda_window_ = 0;
  double lambda_ = 0;
};

}  // namespace

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

bool DecodeWindows(Bytes body, std::vector<Window>* windows, bool* refused) {
  ColumnReader<4> columns(body);
  *refused |= columns.unknown_critical();
  if (columns.rows() > kMaxBlockRows) return false;
  uint64_t id = 0, start_ns = 0;
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    id = columns[0].Delta(id);
    start_ns = columns[1].Delta(start_ns);
    if (id > UINT32_MAX) return false;
    windows->push_back({static_cast<uint32_t>(id), start_ns, columns[2].F64(), columns[3].F64()});
  }
  return columns.ok();
}

bool DecodeIntervals(Bytes body, Stream stream, std::vector<Interval>* intervals, bool* refused) {
  ColumnReader<6> columns(body);
  *refused |= columns.unknown_critical();
  if (columns.rows() > kMaxBlockRows) return false;
  uint64_t index = 0;
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    Interval interval;
    interval.index = index = columns[0].Delta(index);
    interval.candidates = columns[1].Varint();
    interval.bytes = columns[2].Varint();
    interval.buffered = columns[3].Varint();
    interval.kept = columns[4].Varint();
    interval.tau = columns[5].F64();
    interval.stream = stream;
    intervals->push_back(interval);
  }
  return columns.ok();
}

bool DecodeSamples(Bytes body, Stream stream, const Dictionaries& dictionaries, std::span<const Window> windows,
                   std::span<const Interval> intervals, std::vector<Sample>* samples, bool* refused) {
  SampleRows rows(body, stream, dictionaries, windows, intervals);
  *refused |= rows.columns().unknown_critical();
  if (rows.columns().rows() > kMaxBlockRows) return false;
  return rows.AppendTo(samples);
}

}  // namespace heaprec::format
