// Recordings for tests: seeded random ones, and a small vocabulary to damage them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "format/writer/chunk_writer.h"
#include "tests/format/memory_source.h"

namespace heaprec::format::testing {

// A block as a test sees it: dictionaries resolved, so that blocks of different files compare.
struct PlainSample {
  Sample sample;
  std::string thread, class_name;
  std::vector<std::string> stack;  // root first, "Class.method descriptor @bci :line [type]"
  bool truncated = false;
};
struct PlainBlock {
  Block block;
  std::vector<PlainSample> samples, live_checkpoint, rows;  // of the rows only the names
};

FileHeader SomeFileHeader(uint32_t seed = 1);

// Writes blocks with random content through a ChunkWriter and remembers what it gave.
class RandomRecording {
 public:
  // Without parity records it is as if killed before one was due: nothing that is damaged is repaired.
  explicit RandomRecording(uint32_t seed, bool has_parity = true);

  // Appends a whole chunk.
  void AddChunk(int blocks, int samples_per_block, bool ending = false);

  const FileHeader& header() const { return header_; }
  const ByteBuffer& bytes() const { return bytes_; }
  const std::vector<PlainBlock>& blocks() const { return blocks_; }
  // Where each block begins and ends in bytes(), without the header of its chunk in front of it and a parity record
  // behind it, and where each chunk begins.
  const std::vector<size_t>& block_begins() const { return block_begins_; }
  const std::vector<size_t>& block_ends() const { return block_ends_; }
  const std::vector<size_t>& chunk_begins() const { return chunk_begins_; }

 private:
  uint64_t Uniform(uint64_t below) { return std::uniform_int_distribution<uint64_t>(0, below - 1)(random_); }
  // Small and huge ones.
  uint64_t AnyInteger();
  std::string AnyString();
  PlainSample AddSample(ChunkWriter* writer, const std::vector<Window>& windows,
                        const std::vector<Interval>& intervals);
  PlainSample AddException(ChunkWriter* writer, const Window& window, const Interval& interval);
  // Id, time, thread, class and stack.
  void Fill(ChunkWriter* writer, PlainSample* plain);
  Index AddStack(ChunkWriter* writer, PlainSample* plain);
  // What a block has of the exceptions, which not every block has.
  void AddExceptions(ChunkWriter* writer, PlainBlock* plain, int samples);
  // Of a stream whose samples are tracked beside the allocations.
  void AddNative(ChunkWriter* writer, PlainBlock* plain, Stream stream, int samples);
  void AddStates(ChunkWriter* writer, PlainBlock* plain);
  void AddLifecycleEvents(ChunkWriter* writer, PlainBlock* plain);
  void AddCheckpoint(ChunkWriter* writer, PlainBlock* plain);
  void AddCensus(ChunkWriter* writer, PlainBlock* plain);
  // True: they wait for a later block, with those that do already.
  bool AddRows(ChunkWriter* writer, bool are_due, PlainBlock* plain);
  void AddBlock(ChunkWriter* writer, int samples, bool last, bool ending);

  std::mt19937_64 random_;
  const bool has_parity_;
  FileHeader header_;
  ByteBuffer bytes_;
  std::vector<PlainBlock> blocks_;
  std::vector<size_t> block_begins_, block_ends_, chunk_begins_;
  uint32_t next_chunk_ = 0, next_window_ = 1, next_exception_window_ = kWindowStreamBit + 1,
           next_native_window_ = kNativeWindowBit + 1, next_mapping_window_ = kMappingWindowBit + 1;
  uint64_t next_id_ = 1, next_state_ = 1, now_ns_ = 0;
  PerStream<StreamCounters> counters_;
  CensusCounters census_;
  std::map<std::pair<Index, Index>, std::pair<Row, PlainSample>> open_rows_;
  std::optional<uint32_t> open_since_;
};

std::vector<PlainBlock> ReadAll(Reader* reader);
// The vocabulary of damage.
ByteBuffer Flipped(ByteBuffer bytes, size_t at, uint8_t mask = 0x10);
ByteBuffer Shrunk(ByteBuffer bytes, size_t to);
ByteBuffer Appended(ByteBuffer bytes, Bytes more);
ByteBuffer Dropped(ByteBuffer bytes, size_t begin, size_t end);

}  // namespace heaprec::format::testing
