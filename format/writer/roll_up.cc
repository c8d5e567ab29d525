#include "format/writer/roll_up.h"

#include "format/codec/block_rows.h"
#include "format/codec/dictionary_codec.h"
#include "format/codec/process_state_codec.h"
#include "format/codec/row_codec.h"
#include "format/codec/sample_codec.h"

namespace heaprec::format {
namespace {

class NameCopier {
 public:
  NameCopier(const ChunkNames& from, ChunkNames* to) : from_(from), to_(*to) {}
  Index Class(Index index) { return index == kNone ? kNone : to_.InternClass(from_.Text(from_.classes()[index])); }
  Index Thread(Index index) { return index == kNone ? kNone : to_.InternThread(from_.ThreadOf(index)); }
  // Of a whole stack, too.
  Index Path(Index leaf) {
    if (leaf == kNone) return kNone;
    bool truncated = false;
    std::vector<StackFrame> leaf_first = from_.Stack(leaf, &truncated);
    for (StackFrame& frame : leaf_first) frame.method = Method(frame.method);
    return to_.InternPath(leaf_first, truncated);
  }

 private:
  Index Method(Index index) {
    if (index == kNone) return kNone;
    const ChunkNames::NamedMethod& method = from_.methods()[index];
    return to_.InternMethod(from_.Text(method.class_name), from_.Text(method.name), from_.Text(method.descriptor));
  }

  const ChunkNames& from_;
  ChunkNames& to_;
};

}  // namespace

// Estimates need the largest distance of points, and the latest one.
void RollUp::Add(const Window& window) {
  if (StreamOfWindow(window.id) != Stream::kAllocations || !(window.lambda > 0)) return;
  if (!widest_ || window.lambda < widest_->lambda) widest_ = window;
  latest_ = window;
}

void RollUp::Add(std::span<const Row> rows) {
  for (const Row& row : rows) {
    rows_.Add(row);
    points_ += row.points;
  }
  if (rows_.size() <= kMaxRows && intervals_.size() <= kMaxBlockRows && states_.size() <= kMaxBlockRows) return;
  *this = {};
  GiveUp();
}

bool RollUp::empty() const {
  uint64_t buffered = 0;
  bool has_counted = false, has_uncounted = false;
  for (const Interval& interval : intervals_) {
    const bool is_lost = interval.kept == 0 && interval.tau == 0;
    if (interval.stream != Stream::kAllocations || interval.buffered == 0 || is_lost) continue;
    buffered += interval.buffered;
    (interval.bytes > 0 ? has_counted : has_uncounted) = true;
  }
  const bool is_mixed = has_counted && has_uncounted;
  return is_given_up_ || points_ == 0 || points_ != buffered || is_mixed;
}

void RollUp::Encode(const ChunkNames& names, const PerStream<StreamCounters>& counters, std::span<const uint64_t> lanes,
                    ByteBuffer* raw) {
  DictionaryEncoder dictionaries;
  NameCopier copier(names, &dictionaries.names());
  const auto renamed = [&copier](std::vector<Row> of) {
    RowTable rows;
    for (Row& row : of) {
      row.class_id = copier.Class(row.class_id);
      row.stack = copier.Path(row.stack);
      rows.Add(row);
    }
    return rows.Take();
  };
  const std::vector<Row> rows = renamed(rows_.Take()), outside = renamed(outside_.Take());
  for (ProcessState& state : states_) {
    state.thread = copier.Thread(state.thread);
    state.stack = copier.Path(state.stack);
    state.class_id = copier.Class(state.class_id);
  }
  EncodeOffsets(dictionaries.encoded(), raw);
  dictionaries.Encode(raw);
  PerStream<SampleEncoder> encoders = PerStreamOf([](Stream stream) { return SampleEncoder(stream); });
  if (widest_) encoders[Stream::kAllocations].Add(*widest_);
  if (latest_ && latest_->id != widest_->id) encoders[Stream::kAllocations].Add(*latest_);
  for (const Interval& interval : intervals_) encoders[interval.stream].Add(interval);
  for (const Stream stream : kAllStreams) {
    encoders[stream].Encode(dictionaries, raw);
    if (stream == Stream::kAllocations || !(counters[stream] == StreamCounters{}))
      EncodeCounters(counters[stream], stream, raw);
  }
  EncodeRows(Section::kRows, dictionaries.Numbered(rows), raw);
  EncodeRows(Section::kOutside, dictionaries.Numbered(outside), raw);
  for (ProcessState& state : states_) state.stack = dictionaries.NumberOfStack(state.stack);
  EncodeStates(states_, raw);
  EncodeLanes(lanes, raw);
}

}  // namespace heaprec::format
