#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "format/bytes/columns.h"
#include "format/bytes/varint_batch.h"
#include "format/codec/sample_codec.h"
#include "format/codec/sample_columns.h"

namespace heaprec::format {
namespace {

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
