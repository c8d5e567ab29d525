// Decodes several chunks at once on a few threads. Returns the blocks of the wrapped reader in the same order, except
// that the first block of a chunk may already have all of its names.
//
// Chunk headers show where chunks begin and end. The last chunk, and everything after a large or damaged one, is read
// ahead by one thread (read_ahead_reader.h); so is a recording with few chunks.
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
#include <vector>

#include "format/reader/chunk_span.h"
#include "format/reader/reader.h"
#include "tools/input/file_source.h"
#include "tools/input/read_ahead_reader.h"

namespace heaprec::tools {

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
