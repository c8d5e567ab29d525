#include "tools/input/parallel_reader.h"

#include <algorithm>
#include <utility>

namespace heaprec::tools {

ParallelReader::ParallelReader(format::ByteSource* source, std::unique_ptr<format::Reader> within, size_t threads,
                               Known known)
    : source_(*source),
      header_(within->header()),
      threads_wanted_(std::clamp<size_t>(threads > 0 ? threads : std::thread::hardware_concurrency(), 1, kMaxThreads)),
      within_(std::move(within)),
      position_(within_->position()),
      known_(std::move(known)),
      planned_(position_) {}

ParallelReader::~ParallelReader() { Stop(); }

std::optional<format::Block> ParallelReader::Next() {
  if (within_) Start();
  while (!rest_ && (!at_hand_ || at_hand_->blocks.empty())) Enter();
  if (rest_) return rest_->Next();
  Decoded decoded = std::move(at_hand_->blocks.front());
  at_hand_->blocks.pop_front();
  position_ = decoded.position;
  return std::move(decoded.block);
}

void ParallelReader::Start() {
  Plan();
  if (chunks_.size() < kFewChunks) {
    chunks_.clear();
    ReadRest(std::move(within_));
    return;
  }
  within_.reset();
  for (size_t i = 0; i < threads_wanted_; ++i) threads_.emplace_back([this] { Work(); });
}

std::optional<format::ChunkSpan> ParallelReader::NextSpan() {
  const uint64_t most = leaves_out_ ? kMaxRawBytesLeftOut : kMaxRawBytes;
  if (known_ == nullptr) return format::FindChunk(&source_, header_, planned_, most);
  if (taken_ == known_->size()) return std::nullopt;
  const format::ChunkSpan& next = (*known_)[taken_++];
  return next.begin == planned_ && next.raw_bytes <= most ? std::optional(next) : std::nullopt;
}

// Only this thread adds and removes chunks.
void ParallelReader::Plan() {
  const size_t most = std::max(threads_wanted_ + 1, kFewChunks);
  while (!is_planned_ && chunks_.size() < most) {
    auto span = NextSpan();
    is_planned_ = !span;
    if (!span) break;
    planned_ = span->next;
    auto chunk = std::make_unique<Chunk>();
    chunk->span = std::move(*span);
    const std::lock_guard lock(mutex_);
    chunks_.push_back(std::move(chunk));
    changed_.notify_all();
  }
}

void ParallelReader::Enter() {
  Plan();
  if (chunks_.empty()) return ReadRest(format::ReadFrom(&source_, header_, planned_));
  {
    std::unique_lock lock(mutex_);
    if (at_hand_) used_.push_back(std::move(at_hand_));
    changed_.wait(lock, [this] { return chunks_.front()->is_done; });
    if (chunks_.front()->is_whole) {
      at_hand_ = std::move(chunks_.front());
      chunks_.pop_front();
      --begun_;
      return;
    }
  }
  const uint64_t begin = chunks_.front()->span.begin;
  ReadRest(format::ReadFrom(&source_, header_, begin));
}

void ParallelReader::ReadRest(std::unique_ptr<format::Reader> reader) {
  Stop();
  at_hand_.reset();
  if (joins_) reader->JoinRowIntervals();
  rest_ = std::make_unique<ReadAheadReader>(std::move(reader));
}

void ParallelReader::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ParallelReader::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return begun_ < chunks_.size() || stop_; });
    if (stop_) return;
    Chunk* const chunk = chunks_[begun_++].get();
    std::vector<std::unique_ptr<Chunk>> used;
    used.swap(used_);
    lock.unlock();
    used.clear();
    Decode(chunk);
    lock.lock();
    chunk->is_done = true;
    changed_.notify_all();
  }
}

bool ParallelReader::TakeRollUp(Chunk* chunk) const {
  if (!leaves_out_) return false;
  auto block = format::ReadRollUp(&source_, header_, chunk->span, &chunk->roll_up.emplace());
  if (!block || !leaves_out_(*block)) return false;
  Decoded& decoded = chunk->blocks.emplace_back();
  decoded.block = std::move(*block);
  decoded.position = chunk->span.end;
  return true;
}

void ParallelReader::Decode(Chunk* chunk) const {
  chunk->is_whole = TakeRollUp(chunk);
  if (chunk->is_whole) return;
  chunk->bytes.emplace(&source_, 0, chunk->span.next);  // including what follows the last block
  chunk->reader = format::ReadFrom(&*chunk->bytes, header_, chunk->span.begin, leaves_out_);
  format::Reader& reader = *chunk->reader;
  if (joins_) reader.JoinRowIntervals();
  size_t samples = 0;
  while (auto block = reader.Next()) {
    if ((samples += block->samples.size()) > kMaxSamples) return;
    Decoded& decoded = chunk->blocks.emplace_back();
    decoded.block = std::move(*block);
    decoded.position = reader.position();
  }
  // For an abandoned chunk, whose rows are not in the file.
  while (auto block = reader.TakeOpen()) {
    Decoded& decoded = chunk->blocks.emplace_back();
    decoded.block = std::move(*block);
    decoded.position = reader.position();
  }
  chunk->is_whole = reader.skipped().empty();
}

}  // namespace heaprec::tools
