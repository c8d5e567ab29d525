// Readers that decode on other threads: ParallelReader on a few, ReadAheadReader on one.
//
// ParallelReader decodes several chunks at once. It returns the blocks of the wrapped reader in the same order, except
// that the first block of a chunk may already have all of its names.
//
// Chunk headers show where chunks begin and end. The last chunk, and everything after a large or damaged one, is read
// ahead by one thread (ReadAheadReader); so is a recording with few chunks.
//
// Memory:   chunks for twice the number of threads, and four more.
// Threads:  one calls it. Several threads read the source.
// Failure:  as format/reader/reader.h.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "format/reader/chunk_span.h"
#include "format/reader/reader.h"
#include "tools/input/file_source.h"

namespace heaprec::tools {

// Decodes on a separate thread, a few blocks ahead of the caller. Returns the blocks of the wrapped reader in the same
// order.
//
// The thread starts after some blocks, so that small recordings do not need it, and ends at the current end of the
// file. Before and after that, blocks are read when they are requested, so later ones are not missed.
//
// Memory:   waiting blocks: kMaxWaiting samples or kMaxBlocks blocks; the names of the current chunk twice.
// Threads:  one calls it. The wrapped reader and its source belong to the other thread while it runs.
// Failure:  as format/reader/reader.h.

class ReadAheadReader final : public format::Reader {
 public:
  static constexpr size_t kBlocksBefore = 16;
  static constexpr size_t kMaxWaiting = 1 << 15, kMaxBlocks = 256;

  // `blocks_before`: number of blocks to read before the thread starts.
  explicit ReadAheadReader(std::unique_ptr<format::Reader> within, size_t blocks_before = kBlocksBefore);
  ~ReadAheadReader() override;

  const format::FileHeader& header() const override { return header_; }
  void JoinRowIntervals() override { within_->JoinRowIntervals(); }
  std::optional<format::Block> Next() override;
  const format::Block* open() const override { return is_direct_ ? within_->open() : nullptr; }
  std::optional<format::Block> TakeOpen() override;
  const std::vector<format::SkippedRange>& skipped() const override { return skipped_; }
  uint64_t position() const override { return position_; }

 private:
  // A block, and the changes that come with it.
  struct Step {
    format::Block block;

    format::Dictionaries names;  // entries that it adds
    std::vector<format::SkippedRange> skipped;
    uint64_t position = 0;
  };
  std::optional<Step> Read(std::optional<format::Block> block);
  std::optional<format::Block> GiveOut(std::optional<Step> step);
  void NoteNames(Step* step);
  void Run();
  std::optional<Step> TakeStep();
  format::Block Apply(Step step);

  // Used by the reading thread.
  const std::unique_ptr<format::Reader> within_;
  size_t ranges_sent_ = 0;
  struct Counts {
    size_t classes = 0, methods = 0, frames = 0, stacks = 0, threads = 0;
  } sent_;  // numbers of the chunk's names that were sent

  // Used by the caller's thread.
  const format::FileHeader header_;
  size_t blocks_before_;
  bool is_direct_ = true;  // there is no thread, or it has ended
  format::Dictionaries names_;
  std::vector<format::SkippedRange> skipped_;
  uint64_t position_ = 0;

  // Shared by both threads.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Step> waiting_;
  size_t samples_waiting_ = 0;
  bool at_end_ = false, stop_ = false;
  std::thread thread_;
};

class ParallelReader final : public format::Reader {
 public:
  // Larger chunks are not decoded in parallel: tens of thousands of samples, and the data derived from each, take some
  // megabytes.
  static constexpr uint64_t kMaxRawBytes = 1 << 20, kMaxRawBytesLeftOut = 16 << 20;
  static constexpr size_t kMaxSamples = 1 << 17;
  static constexpr size_t kFewChunks = 4;
  static constexpr size_t kMaxThreads = 8;

  using Known = std::shared_ptr<const format::ChunkSpans>;

  // `within`: at the beginning of `source`, which must outlive this. `threads`: 0: the number of cores. `known`: its
  // chunks, from RecordingsIn; null: searches for them.
  ParallelReader(format::ByteSource* source, std::unique_ptr<format::Reader> within, size_t threads = 0,
                 Known known = nullptr);
  ~ParallelReader() override;

  // Call before the first block, for chunks that are read in parallel. If it accepts a chunk's roll-up, that is the
  // chunk's only block.
  void LeaveOut(format::LeavesOut what) { leaves_out_ = std::move(what); }

  const format::FileHeader& header() const override { return header_; }
  void JoinRowIntervals() override { joins_ = true; }
  std::optional<format::Block> Next() override;
  const format::Block* open() const override { return rest_ ? rest_->open() : nullptr; }
  std::optional<format::Block> TakeOpen() override { return rest_ ? rest_->TakeOpen() : std::nullopt; }
  const std::vector<format::SkippedRange>& skipped() const override { return rest_ ? rest_->skipped() : no_ranges_; }
  uint64_t position() const override { return rest_ ? rest_->position() : position_; }

 private:
  struct Decoded {
    format::Block block;
    uint64_t position = 0;  // after the block
  };
  // A chunk in progress; one of its readers has its names.
  struct Chunk {
    format::ChunkSpan span;
    std::optional<SliceSource> bytes;
    std::unique_ptr<format::Reader> reader;
    std::optional<format::ChunkDecoder> roll_up;
    std::deque<Decoded> blocks;
    bool is_done = false, is_whole = false;
  };
  void Start();
  void Plan();
  std::optional<format::ChunkSpan> NextSpan();
  // Makes the next chunk the current one, or leaves the rest to rest_.
  void Enter();
  void ReadRest(std::unique_ptr<format::Reader> reader);
  void Stop();
  void Work();
  void Decode(Chunk* chunk) const;
  bool TakeRollUp(Chunk* chunk) const;

  format::ByteSource& source_;
  const format::FileHeader header_;
  const size_t threads_wanted_;
  format::LeavesOut leaves_out_;
  bool joins_ = false;

  // Used by the caller's thread.
  std::unique_ptr<format::Reader> within_;  // until the first block is taken
  std::unique_ptr<ReadAheadReader> rest_;   // after the last chunk that is read in parallel
  std::unique_ptr<Chunk> at_hand_;
  uint64_t position_;
  const Known known_;
  size_t taken_ = 0;  // number of chunks taken from known_
  uint64_t planned_;  // beginning of the next chunk to plan
  bool is_planned_ = false;
  const std::vector<format::SkippedRange> no_ranges_;

  // Shared by all threads.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Chunk>> chunks_;  // in order; the first `begun_` are being decoded, or finished
  size_t begun_ = 0;
  std::vector<std::unique_ptr<Chunk>> used_;  // freed later by an idle thread
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace heaprec::tools
