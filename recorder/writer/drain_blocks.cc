// Blocks and chunks: what Drain does with what it has gathered, and when it cannot be written.
#include <algorithm>
#include <utility>

#include "recorder/writer/drain.h"

namespace heaprec::writer {
namespace {

// On the heap, while blocks cannot be written.
constexpr uint64_t kMostWaitingBytes = 1 << 20;
constexpr uint64_t kChunkRawBytes = 8 << 20;
// Bounds the heap where every stack is new: it is the dictionaries that take most of it.
constexpr uint64_t kChunkDefinitionBytes = 2 << 20;

}  // namespace

// The block's books count the block itself; the ring's follow when it is in the file.
format::PerStream<format::Books> Drain::BooksWithPending() const {
  format::PerStream<format::Books> all;
  for (const format::Stream stream : streams_) {
    Pending counted = pending_[stream];
    if (waiting_) counted += waiting_->counted[stream];
    all[stream] = ledgers_[stream].Snapshot();
    all[stream].written += counted.written;
    all[stream].second_stage += counted.second_stage;
    all[stream].not_followed = counted.not_followed + not_followed_[stream];
  }
  const format::RingStacks& stacks = ring_.header().stacks;
  format::Books& books = all[format::Stream::kAllocations];
  books.stacks_walked = stacks.walked.load(std::memory_order_relaxed);
  books.stacks_asked = stacks.asked.load(std::memory_order_relaxed);
  books.stacks_differed = stacks.differed.load(std::memory_order_relaxed);
  return all;
}

bool Drain::Flush(uint64_t now_ns, const format::Ending* ending) {
  last_flush_ns_ = now_ns;
  if (waiting_ && !WriteWaiting()) {
    if (ending == nullptr && TooMuchWaits()) LoseWaiting(now_ns);
    return false;
  }
  AddFates();
  AddCensus();
  const std::vector<uint64_t> positions = collector_.Positions(live_);
  const format::PerStream<format::Books> books = BooksWithPending();
  const bool rotates = ending == nullptr && store_.OpenNext(SinceStart(now_ns), StartBehind(now_ns, books, positions));
  const bool last = ending != nullptr || (!rotates && ChunkIsFull(now_ns));
  auto block = last ? chunk_->Finish(books, positions, SinceStart(now_ns), ending)
                    : chunk_->Flush(books, positions, SinceStart(now_ns));
  const bool written = block.ok() && store_.Append(*block);
  if (!written && ending != nullptr) return false;
  if (written) {
    Account(std::exchange(pending_, {}), true);
    pending_census_ = {};
    if (rotates && EndFile(now_ns, books, positions)) {
      callbacks_.on_new_chunk();
    } else if (ending == nullptr && (rotates || last)) {
      BeginChunk(now_ns);
    }
    collector_.Release(positions);
    return true;
  }
  if (rotates) store_.GoOn(/*ended=*/false);
  waiting_ = Waiting{block.ok() ? std::move(*block) : format::ByteBuffer(),
                     std::exchange(pending_, {}),
                     std::exchange(pending_census_, {}),
                     positions,
                     {}};
  // What the compressor refuses will not be written ever.
  if (!block.ok() || TooMuchWaits()) {
    LoseWaiting(now_ns);
  } else if (last) {
    BeginChunk(now_ns);
  }
  return false;
}

bool Drain::ChunkIsFull(uint64_t now_ns) const {
  return store_.ChunkIsFull(SinceStart(now_ns)) || chunk_->raw_bytes() >= kChunkRawBytes ||
         name_bytes() - survivor_bytes_ >= kChunkDefinitionBytes;
}

// A block of its own, which nothing depends on: if it cannot be written, this file goes on. Before it, the next file is
// begun with the names that were announced: samples that come before their writers know of the new chunk refer to them,
// their definitions may have left the ring, and a reader of that file has no other.
bool Drain::EndFile(uint64_t now_ns, const format::PerStream<format::Books>& books,
                    const std::vector<uint64_t>& positions) {
  const format::Ending rotation{SinceStart(now_ns), "rotated"};
  const auto last = chunk_->Finish(books, positions, SinceStart(now_ns), &rotation);
  AdoptChunk(store_.NextHeader(), now_ns);
  collector_.CarryDefinitionsOver();
  const auto names = chunk_->Flush(books, positions, SinceStart(now_ns));
  const bool has_names = names.ok() && store_.BeginNext(*names);
  const bool ended = (has_names || store_.BeginNext({})) && last.ok() && store_.Append(*last);
  store_.GoOn(ended);
  const std::lock_guard lock(mutex_);
  path_ = store_.path();
  return ended && has_names;
}

bool Drain::WriteWaiting() {
  if (!store_.Append(waiting_->block)) return false;
  const Waiting written = *std::exchange(waiting_, std::nullopt);
  Account(written.counted, true);
  if (written.next_chunk) store_.BeginChunk(*written.next_chunk);
  collector_.Release(written.positions);
  return true;
}

bool Drain::TooMuchWaits() const {
  uint64_t samples = 0;
  for (const format::Stream stream : streams_) samples += pending_[stream].written;
  return collector_.IsShortOfRoom(live_) ||
         waiting_->block.size() + samples * sizeof(format::Sample) > kMostWaitingBytes ||
         name_bytes() - survivor_bytes_ > kChunkDefinitionBytes + kMostWaitingBytes;
}

void Drain::LoseWaiting(uint64_t now_ns) {
  const Waiting lost = *std::exchange(waiting_, std::nullopt);
  Account(lost.counted, false);
  Account(std::exchange(pending_, {}), false);
  LoseCensus(lost.census);
  LoseCensus(std::exchange(pending_census_, {}));
  LoseCensus(collector_.DropCensus());  // what came since would grow as long as nothing can be written
  census_positions_ = collector_.Scanned();
  for (LiveSet& live : live_.of) (void)live.TakeFates();  // of samples that the next chunk does not have
  BeginChunk(now_ns);
  collector_.Release(collector_.Positions(live_));
}

void Drain::Account(const format::PerStream<Pending>& counted, bool written) {
  for (const format::Stream stream : streams_) {
    const Pending& pending = counted[stream];
    if (written) {
      ledgers_[stream].Written(pending.written);
    } else {
      ledgers_[stream].Lost(format::Loss::kWriteFailed, pending.written, pending.weight);
    }
    ledgers_[stream].SecondStage(pending.second_stage);
    if (written) not_followed_[stream] += pending.not_followed;
  }
}

// What was counted of intervals that are still open will be told by the blocks to come.
format::FileStart Drain::StartBehind(uint64_t now_ns, const format::PerStream<format::Books>& books,
                                     const std::vector<uint64_t>& positions) const {
  format::FileStart start;
  start.begin_ns = SinceStart(now_ns);
  start.lane_positions = positions;
  start.next_interval = closed_intervals_;
  start.held_intervals = held_intervals_;
  for (const format::Stream stream : streams_) {
    format::Books& before = start.books[stream] = books[stream];
    const uint64_t settled =
        before.written + before.second_stage + before.lost[static_cast<size_t>(format::Loss::kWriteFailed)];
    const uint64_t open = before.committed - std::min(before.committed, settled);
    before.committed -= open;
    before.points -= std::min(before.points, open);
    before.candidates = at_last_close_[stream].candidates;
    before.candidate_bytes = at_last_close_[stream].candidate_bytes;
  }
  return start;
}

void Drain::BeginChunk(uint64_t now_ns) {
  const format::FileStart start = StartBehind(now_ns, BooksWithPending(), {});
  AdoptChunk(store_.HeaderFor(start), now_ns);
  if (waiting_) {
    waiting_->next_chunk = start;
  } else {
    store_.BeginChunk(start);
  }
  callbacks_.on_new_chunk();
}

void Drain::AdoptChunk(const format::FileHeader& header, uint64_t now_ns) {
  collector_.EndChunk();
  chunk_.reset();  // one compressor at a time
  chunk_ = std::make_unique<format::ChunkWriter>(header, next_chunk_);
  chunk_start_ns_ = now_ns;
  collector_.NewChunk(chunk_.get(), next_chunk_++);
  chunk_->SetCensus(format::BooksOf(ring_.header().census), census_positions_);
  AddSurvivors();
}

}  // namespace heaprec::writer
