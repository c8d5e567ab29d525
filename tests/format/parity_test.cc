// What parity repairs: any flipped bit and any damaged run of up to the width, wherever it is.
//
// HEAPREC_DAMAGE=1 for each bit, and each place of a run, instead of some of them; =40: one in 40 of them.
#include "format/bytes/parity.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "format/bytes/layout.h"
#include "format/reader/recordings_in_file.h"
#include "format/reader/repaired_source.h"
#include "tests/format/programs.h"
#include "tests/format/read_back.h"
#include "tests/format/recordings.h"

namespace heaprec::format::testing {
namespace {

constexpr size_t kRun = 512;

// 0: some hundred places.
size_t OneIn() {
  const char* const asked = std::getenv("HEAPREC_DAMAGE");
  return asked == nullptr ? 0 : std::max(1, std::atoi(asked));
}
bool IsLong() { return OneIn() > 0; }

class Random {
 public:
  explicit Random(uint64_t seed) : random_(seed) {}
  uint64_t Below(uint64_t bound) { return random_() % bound; }
  std::byte Byte() { return static_cast<std::byte>(random_() & 0xff); }

 private:
  std::mt19937_64 random_;
};

// From one place to the next, of `places`.
size_t Step(size_t places, Random* random) {
  return IsLong() ? 1 + random->Below(2 * OneIn() - 1) : 1 + random->Below(places / 100);
}

// Bytes [at, at + size), each of them replaced by another one, or all by zeros.
ByteBuffer Overwritten(ByteBuffer bytes, size_t at, size_t size, Random* random) {
  const bool zeros = random->Below(2) == 0;
  for (size_t i = at; i < std::min(at + size, bytes.size()); ++i) {
    bytes[i] = zeros ? std::byte{0} : bytes[i] ^ static_cast<std::byte>(1 + random->Below(255));
  }
  return bytes;
}

// What a reader makes of a recording, to compare.
struct Reading {
  std::vector<Block> blocks;
  std::vector<Dictionaries> names;  // of each chunk
  std::vector<SkippedRange> skipped;

  size_t samples() const {
    size_t samples = 0;
    for (const Block& block : blocks) samples += block.samples.size();
    return samples;
  }
};

Reading ReadingOf(const ByteBuffer& bytes) {
  Reading reading;
  const Opened file(bytes);
  while (auto block = file.reader->Next()) {
    if (reading.blocks.empty() || reading.blocks.back().chunk != block->chunk) reading.names.emplace_back();
    reading.names.back() = *block->dictionaries;
    block->dictionaries = nullptr;
    reading.blocks.push_back(std::move(*block));
  }
  reading.skipped = file.reader->skipped();
  return reading;
}

bool SameNames(const Dictionaries& a, const Dictionaries& b) {
  return a.classes == b.classes && a.methods == b.methods && a.frames == b.frames && a.stacks == b.stacks &&
         a.threads == b.threads;
}

bool Same(const Reading& read, const Reading& whole) {
  return std::ranges::equal(read.blocks, whole.blocks,
                            [](const Block& a, const Block& b) {
                              return a.chunk == b.chunk && a.end_ns == b.end_ns && a.samples == b.samples &&
                                     a.windows == b.windows && a.counters == b.counters &&
                                     a.lost_names == b.lost_names && a.ending.has_value() == b.ending.has_value();
                            }) &&
         std::ranges::equal(read.names, whole.names, SameNames);
}

// Reads what is left of the file after `damage`, and REQUIREs that nothing is missing and that damage is noticed.
void RequireAllOf(const Reading& whole, const ByteBuffer& file, const ByteBuffer& damaged) {
  const Reading read = ReadingOf(damaged);
  REQUIRE(Same(read, whole));
  if (damaged == file) return;
  REQUIRE_FALSE(read.skipped.empty());
  uint64_t end = 0;
  for (const SkippedRange& range : read.skipped) {
    REQUIRE_FALSE(range.at_end);
    REQUIRE(range.begin >= end);
    end = range.end;
  }
}

ByteBuffer CompilerRecording(int seconds, int chunk_seconds = 60, bool ends = true) {
  Compiler program(3);
  return RecordingOf(&program, seconds, chunk_seconds, ends);
}

size_t FileHeaderSize() { return EncodeFileHeader(SomeFileHeader()).size(); }

// Where the last parity record ends.
size_t EndOfParity(Bytes file) {
  size_t end = 0;
  for (size_t at = 0; at < file.size(); ++at) {
    if (const auto shape = DecodeParityHead(file.subspan(at))) end = at + shape->record_bytes();
  }
  return end;
}

// Of all parity records.
size_t LeastWidth(Bytes file) {
  size_t least = kMaxParityWidth;
  for (size_t at = 0; at < file.size(); ++at) {
    if (const auto shape = DecodeParityHead(file.subspan(at))) least = std::min<size_t>(least, shape->width);
  }
  return least;
}

TEST_CASE("A run as long as the width is repaired anywhere in a codeword of any size") {
  Random random(1);
  for (int round = 0; round < (IsLong() ? 3000 : 60); ++round) {
    // Bare bytes in front, which a record says nothing of.
    const size_t size = 1 + random.Below(20'000), bare = random.Below(100);
    ByteBuffer region(size);
    for (std::byte& byte : region) byte = random.Byte();
    ParityWriter writer;
    ByteBuffer record;
    writer.Add(region);
    writer.AppendLast(&record);
    if (record.empty()) continue;
    REQUIRE(record.size() <= size / 20);
    const auto shape = DecodeParityHead(record);
    REQUIRE(shape);
    REQUIRE(shape->region_bytes == size);
    REQUIRE(WhyBadParityRecord(*shape, record) == nullptr);
    const ByteBuffer file = Appended(Appended(ByteBuffer(bare), region), record);
    for (int run = 0; run < 40; ++run) {
      const size_t length = 1 + random.Below(shape->width);
      const size_t at = bare + random.Below(shape->codeword_bytes() - length + 1);
      CAPTURE(size, shape->width, at, length);
      const ByteBuffer damaged = Overwritten(file, at, length, &random);
      MemoryByteSource source(damaged);
      RepairedSource repaired(&source);
      const auto wrong = repaired.RepairBehind(0);
      REQUIRE(wrong.has_value() == (damaged != file));
      if (wrong) REQUIRE((wrong->begin >= at && wrong->end <= at + length));
      ByteBuffer read(file.size());
      REQUIRE(*repaired.ReadAt(0, read.data(), read.size()) == file.size());
      REQUIRE(read == file);
    }
  }
}

// A chunk of blocks of random sizes, written at a random pace.
struct Regions {
  size_t bytes = 0;                 // without records
  size_t parity = 0;                // the records
  std::vector<ParityShape> shapes;  // of its records, in order
  size_t scanned = 0;
};

Regions RegionsOfChunk(size_t bytes, Random* random) {
  Regions chunk{.bytes = bytes, .parity = 0, .shapes = {}, .scanned = 0};
  const size_t block = 300 + random->Below(6000);
  const uint64_t step_ns = 250'000'000ULL << random->Below(6);
  ParityWriter writer;
  uint64_t now_ns = 0;
  for (size_t done = 0; done < bytes;) {
    const size_t size = std::min(block / 2 + random->Below(block), bytes - done);
    done += size;
    now_ns += step_ns;
    writer.Add(ByteBuffer(size));
    ByteBuffer record;
    done < bytes ? writer.AppendIfDue(now_ns, &record) : writer.AppendLast(&record);
    if (record.empty()) continue;
    chunk.shapes.push_back(*DecodeParityHead(record));
    chunk.scanned += chunk.shapes.back().region_bytes;
    chunk.parity += record.size();
  }
  return chunk;
}

// docs/format/recording.md#parity has these estimates.
TEST_CASE("Every byte of a chunk is in a region, and all regions but the last have the full width") {
  Random random(8);
  for (int round = 0; round < (IsLong() ? 200'000 : 4000); ++round) {
    // As many small ones as large ones.
    const size_t bytes = (1 << random.Below(8)) * (1300 + random.Below(1300));
    const Regions chunk = RegionsOfChunk(bytes, &random);
    CAPTURE(bytes, chunk.shapes.size());
    REQUIRE(chunk.scanned == bytes);
    REQUIRE(chunk.parity <= bytes / 20);
    for (size_t i = 0; i + 1 < chunk.shapes.size(); ++i) REQUIRE(chunk.shapes[i].width == kMaxParityWidth);
    const ParityShape& last = chunk.shapes.back();
    if (last.region_bytes >= 13'200) REQUIRE(last.width == kMaxParityWidth);
    if (last.region_bytes >= 7'200) REQUIRE(last.width >= 256);
  }
}

TEST_CASE("Two runs in one region cannot be repaired, and nothing is changed") {
  ParityWriter writer;
  const ByteBuffer region(15'000, std::byte{1});
  ByteBuffer record;
  writer.Add(region);
  writer.AppendLast(&record);
  const ByteBuffer file = Flipped(Flipped(Appended(region, record), 10), 5000);
  MemoryByteSource source(file);
  RepairedSource repaired(&source);
  CHECK_FALSE(repaired.RepairBehind(0));
  CHECK_FALSE(repaired.RepairBehind(0));
  ByteBuffer read(file.size());
  REQUIRE(*repaired.ReadAt(0, read.data(), read.size()) == file.size());
  CHECK(read == file);
}

TEST_CASE("A flipped bit loses nothing") {
  Random random(2);
  for (const ByteBuffer& file : {CompilerRecording(2), CompilerRecording(5, 2), CompilerRecording(1)}) {
    const Reading whole = ReadingOf(file);
    REQUIRE(whole.skipped.empty());
    const size_t bits = file.size() * 8;
    size_t flipped = 0;
    for (size_t bit = 0; bit < bits; bit += Step(bits, &random)) {
      CAPTURE(file.size(), bit);
      RequireAllOf(whole, file, Flipped(file, bit / 8, static_cast<uint8_t>(1 << bit % 8)));
      ++flipped;
    }
    if (IsLong()) WARN(flipped << " of " << bits << " bits flipped, one at a time: nothing lost");
  }
}

TEST_CASE("A damaged run of 512 bytes loses nothing if each region has the full width") {
  Random random(3);
  for (const ByteBuffer& file : {CompilerRecording(4), CompilerRecording(15, 5)}) {
    const Reading whole = ReadingOf(file);
    REQUIRE(LeastWidth(file) == kRun);
    size_t damaged = 0;
    for (size_t at = 0; at + kRun <= file.size(); at += Step(file.size(), &random)) {
      CAPTURE(file.size(), at);
      RequireAllOf(whole, file, Overwritten(file, at, kRun, &random));
      ++damaged;
    }
    if (IsLong()) WARN(damaged << " of " << file.size() - kRun + 1 << " runs damaged, one at a time: nothing lost");
  }
}

TEST_CASE("The borders of headers, blocks and parity records are protected, too") {
  Random random(4);
  const ByteBuffer file = CompilerRecording(6, 3);
  const Reading whole = ReadingOf(file);
  std::vector<size_t> borders{0, FileHeaderSize(), FileHeaderSize() + kChunkHeaderBytes, file.size()};
  for (size_t at = 0; at < file.size(); ++at) {
    const Bytes here = Bytes(file).subspan(at);
    if (const auto shape = DecodeParityHead(here)) {
      const size_t parity = at + kParityHeadBytes;
      borders.insert(borders.end(), {at, parity, parity + shape->width, at + shape->record_bytes()});
    }
    if (DecodeChunkHeader(here)) borders.push_back(at);
  }
  REQUIRE(borders.size() >= 15);
  for (const size_t border : borders) {
    for (const size_t before : {0, 1, 19, 40, 300, 511, 512}) {
      if (before > border) continue;
      CAPTURE(border, before);
      RequireAllOf(whole, file, Overwritten(file, border - before, kRun, &random));
    }
  }
}

TEST_CASE("A flipped bit in a chunk's first block keeps all names") {
  const ByteBuffer file = CompilerRecording(8);
  const Reading whole = ReadingOf(file);
  const size_t at = FileHeaderSize() + kChunkHeaderBytes + kBlockHeaderBytes + 1000;
  const Reading read = ReadingOf(Flipped(file, at));
  CHECK(Same(read, whole));
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].repaired);
  CHECK(read.skipped[0].begin == at);
  CHECK(read.skipped[0].end == at + 1);
  CHECK(read.skipped[0].why == "block payload hash differs");
}

TEST_CASE("Damage in the tail of a killed recording loses no block before it and no other chunk") {
  Random random(5);
  const ByteBuffer file = CompilerRecording(18, 7, /*ends=*/false);
  const Reading whole = ReadingOf(file);
  const size_t safe = EndOfParity(file);
  REQUIRE(safe > file.size() / 2);
  for (int round = 0; round < 40; ++round) {
    const size_t at = safe + random.Below(file.size() - safe);
    const Reading read = ReadingOf(Flipped(file, at));
    CAPTURE(at);
    for (size_t block = 0; block < whole.blocks.size(); ++block) {
      if (whole.blocks[block].offset >= safe) continue;
      REQUIRE(read.blocks.size() > block);
      REQUIRE(read.blocks[block].samples == whole.blocks[block].samples);
    }
    REQUIRE(read.samples() + kProgramRate >= whole.samples());
  }
}

TEST_CASE("A block that is lost completely does not affect other chunks") {
  const ByteBuffer file = CompilerRecording(9, 3);
  const Reading whole = ReadingOf(file);
  for (size_t lost = 0; lost < whole.blocks.size(); ++lost) {
    CAPTURE(lost);
    const uint64_t begin = whole.blocks[lost].offset;
    // More than a run: all of it.
    const size_t size = lost + 1 < whole.blocks.size() ? whole.blocks[lost + 1].offset - begin : file.size() - begin;
    Random random(6);
    const Reading read = ReadingOf(Overwritten(file, begin, std::min<size_t>(size, 8000), &random));
    REQUIRE(read.blocks.size() + 1 == whole.blocks.size());
    size_t next = 0;
    for (const Block& block : whole.blocks) {
      if (block.offset == begin) continue;
      REQUIRE(read.blocks[next].samples.size() == block.samples.size());
      if (block.chunk != whole.blocks[lost].chunk) {
        REQUIRE(read.blocks[next].samples == block.samples);
        REQUIRE(read.blocks[next].lost_names == 0);
      }
      ++next;
    }
  }
}

TEST_CASE("Truncated at any byte of a parity record, all blocks are there and the rest is unfinished") {
  const ByteBuffer file = CompilerRecording(4, 60, /*ends=*/false);
  const size_t end = EndOfParity(file);
  const Reading whole = ReadingOf(Shrunk(file, end));
  REQUIRE(whole.skipped.empty());
  const auto last = std::ranges::find_if(whole.blocks, [](const Block& block) { return block.offset > 0; });
  REQUIRE(last != whole.blocks.end());
  for (size_t size = end - 600; size < end; ++size) {
    CAPTURE(size);
    const Reading read = ReadingOf(Shrunk(file, size));
    REQUIRE(Same(read, whole));
    REQUIRE(read.skipped.size() == 1);
    REQUIRE(read.skipped[0].at_end);
    REQUIRE(read.skipped[0].why == "truncated parity record");
  }
}

TEST_CASE("Merged recordings are found after one with a damaged header") {
  Random random(7);
  ByteBuffer file;
  std::vector<uint64_t> begins;
  for (const uint32_t seed : {1, 2, 3}) {
    RandomRecording recording(seed);
    recording.AddChunk(4, 60);
    recording.AddChunk(2, 60, /*ending=*/true);
    begins.push_back(file.size());
    ByteSink(&file).Append(recording.bytes());
  }
  const auto begins_of = [](const ByteBuffer& bytes) {
    MemoryByteSource source(bytes);
    std::vector<uint64_t> found;
    for (const RecordingSpan& one : RecordingsIn(&source)) found.push_back(one.begin);
    return found;
  };
  REQUIRE(begins_of(file) == begins);
  for (const uint64_t begin : begins) {
    for (size_t at = begin; at < begin + FileHeaderSize(); at += 37) {
      CAPTURE(begin, at);
      REQUIRE(begins_of(Flipped(file, at)) == begins);
    }
    REQUIRE(begins_of(Overwritten(file, begin + 100, kRun, &random)) == begins);
  }
  for (size_t at = 0; at < file.size(); at += IsLong() ? 1 : 97) {
    CAPTURE(at);
    REQUIRE(begins_of(Flipped(file, at)) == begins);
  }
}

TEST_CASE("Searching a file full of magic numbers reads it at most a few times") {
  struct Counted : MemoryByteSource {
    using MemoryByteSource::MemoryByteSource;
    Result<size_t> ReadAt(uint64_t offset, std::byte* into, size_t size) override {
      auto read = MemoryByteSource::ReadAt(offset, into, size);
      if (read.ok()) bytes += *read;
      return read;
    }
    uint64_t bytes = 0;
  };
  RandomRecording recording(1);
  recording.AddChunk(4, 60, /*ending=*/true);
  ByteBuffer file;
  ByteSink(&file).Append(recording.bytes());
  ByteBuffer claim;
  ByteSink sink(&claim);
  sink.U64(kFileMagic);
  sink.U32(kFileVersion);
  sink.U32(kMaxFileFieldsBytes);
  while (file.size() < (4 << 20)) ByteSink(&file).Append(claim);
  Counted source(file);
  CHECK(RecordingsIn(&source).size() == 1);
  CHECK(source.bytes < (20 << 20) + 16 * file.size());  // a few hundred bytes for each magic number
}

}  // namespace
}  // namespace heaprec::format::testing
