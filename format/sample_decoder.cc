#include <algorithm>

#include "format/columns.h"
#include "format/sample_codec.h"
#include "format/sample_columns.h"

namespace heaprec::format {
namespace {

bool Fits(uint64_t rows, size_t beside) { return rows <= kMaxBlockRows && rows + beside <= kMaxBlockRows; }

// Decodes one section of samples, row by row from all columns at once.
class SampleRows {
 public:
  SampleRows(Bytes body, Stream stream, const Dictionaries& dictionaries, std::span<const Interval> intervals,
             SampleContext* context)
      : columns_(body), stream_(stream), dictionaries_(dictionaries), intervals_(intervals), context_(*context) {}

  const ColumnReader<kSampleColumns>& columns() const { return columns_; }
  // False as soon as a row cannot be true. `known` tells whether the sample is of a kind that the stream has.
  bool Next(Sample* sample, bool* known) {
    const uint64_t gap = columns_[kTime].Varint();
    if (gap > kLastTick - tick_) return false;
    tick_ += gap;
    sample->time_ns = tick_ * kTickNs;
    sample->id = context_.last_id = columns_[kId].Delta(context_.last_id);
    context_.last_window = columns_[kWindow].Delta(context_.last_window);
    sample->window = static_cast<uint32_t>(context_.last_window);
    if (context_.last_window != sample->window) return false;
    sample->kind = static_cast<Kind>(std::min<uint64_t>(columns_[kKind].Varint(), kKinds));
    *known = sample->kind < static_cast<Kind>(kKinds) && sample->stream() == stream_;
    return DecodeObject(sample) && DecodeThread(sample) && DecodeWeight(sample);
  }

 private:
  static constexpr uint64_t kLastTick = UINT64_MAX / kTickNs;

  bool DecodeObject(Sample* sample) {
    const uint64_t code = columns_[kStack].Varint();
    uint64_t number = code - 1;
    if (code == 0) number = 0;
    if (code == 1) {
      number = context_.stacks.size();
      context_.last_leaf = columns_[kLeaf].Delta(context_.last_leaf);
      // Each stack is announced once, so there are not more of them than nodes.
      if (context_.last_leaf >= dictionaries_.stacks.size() || number > dictionaries_.stacks.size()) return false;
      context_.stacks.push_back({.leaf = static_cast<Index>(context_.last_leaf)});
    }
    if (number >= context_.stacks.size()) return false;
    SampleContext::Stack& stack = context_.stacks[number];
    sample->stack = stack.leaf;
    const uint64_t class_code = columns_[kClass].Varint();
    if (class_code == 1) stack.class_id = kNone;
    if (class_code >= 2) {
      if (class_code - 2 >= dictionaries_.classes.size()) return false;
      stack.class_id = static_cast<Index>(class_code - 2);
    }
    sample->class_id = stack.class_id;
    stack.size = columns_[kSize].Delta(stack.size);
    sample->size = Unrotated(stack.size);
    return true;
  }

  bool DecodeThread(Sample* sample) {
    const uint64_t thread = columns_[kThread].Varint();
    if (thread > dictionaries_.threads.size()) return false;
    sample->thread = thread == 0 ? kNone : static_cast<Index>(thread - 1);
    if (context_.tlab_of_thread.size() <= thread) context_.tlab_of_thread.resize(thread + 1);
    uint64_t& tlab = context_.tlab_of_thread[thread][static_cast<size_t>(sample->kind)];
    tlab = columns_[kTlab].Delta(tlab);
    sample->tlab_size = Unrotated(tlab);
    return true;
  }

  bool DecodeWeight(Sample* sample) {
    const uint64_t rule = columns_[kRule].Varint();
    raised_by_ = columns_[kRaisedBy].Delta(raised_by_);
    if (rule >= kWeightRules || raised_by_ > intervals_.size()) return false;
    if (rule == static_cast<uint64_t>(WeightRule::kExplicit)) {
      sample->weight = columns_[kExplicitWeight].F64();
      return true;
    }
    if (!has_lambda_ || sample->window != lambda_window_) {
      const auto window = context_.lambda_of_window.find(sample->window);
      if (window == context_.lambda_of_window.end()) return false;
      has_lambda_ = true;
      lambda_window_ = sample->window;
      lambda_ = window->second;
    }
    const double first = FirstStageWeight(static_cast<WeightRule>(rule), lambda_, sample->size, sample->tlab_size);
    sample->weight = raised_by_ == 0 ? first : std::max(first, intervals_[raised_by_ - 1].tau);
    return true;
  }

  ColumnReader<kSampleColumns> columns_;
  const Stream stream_;
  const Dictionaries& dictionaries_;
  std::span<const Interval> intervals_;
  SampleContext& context_;
  uint64_t tick_ = 0;
  uint64_t raised_by_ = 0;
  bool has_lambda_ = false;
  uint32_t lambda_window_ = 0;
  double lambda_ = 0;
};

}  // namespace

bool SampleDecoder::DecodeWindows(Bytes body, std::vector<Window>* windows, bool* refused) {
  ColumnReader<3> columns(body);
  *refused |= columns.unknown_critical();
  if (!Fits(columns.rows(), windows->size())) return false;
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    Window window;
    context_.last_window_id = columns[0].Delta(context_.last_window_id);
    window.id = static_cast<uint32_t>(context_.last_window_id);
    if (window.id != context_.last_window_id) return false;
    window.start_ns = context_.last_window_start = columns[1].Delta(context_.last_window_start);
    window.lambda = columns[2].F64();
    windows->push_back(window);
    context_.lambda_of_window[window.id] = window.lambda;
    if (context_.lambda_of_window.size() > kMaxChunkWindows) return false;
  }
  return columns.ok();
}

bool SampleDecoder::DecodeIntervals(Bytes body, std::vector<Interval>* intervals, bool* refused) {
  ColumnReader<6> columns(body);
  *refused |= columns.unknown_critical();
  if (!Fits(columns.rows(), intervals->size())) return false;
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    Interval interval;
    interval.index = context_.last_interval = columns[0].Delta(context_.last_interval);
    interval.candidates = columns[1].Varint();
    interval.bytes = columns[2].Varint();
    interval.held = columns[3].Varint();
    interval.kept = columns[4].Varint();
    interval.tau = columns[5].F64();
    interval.stream = stream_;
    intervals->push_back(interval);
  }
  return columns.ok();
}

bool SampleDecoder::DecodeSamples(Bytes body, const Dictionaries& dictionaries, std::span<const Interval> intervals,
                                  std::vector<Sample>* samples, bool* refused) {
  SampleRows rows(body, stream_, dictionaries, intervals, &context_);
  *refused |= rows.columns().unknown_critical();
  if (!Fits(rows.columns().rows(), samples->size())) return false;
  for (uint64_t row = 0; row < rows.columns().rows(); ++row) {
    Sample sample;
    bool known = false;
    if (!rows.Next(&sample, &known)) return false;
    if (known) samples->push_back(sample);
  }
  return rows.columns().ok();
}

}  // namespace heaprec::format
