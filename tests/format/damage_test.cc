#include <catch2/catch.hpp>
#include <string>

#include "format/block_stream.h"
#include "format/columns.h"
#include "format/layout.h"
#include "tests/format/read_back.h"
#include "tests/format/recordings.h"

namespace heaprec::format::testing {
namespace {

// Two chunks, small enough to damage at every byte.
const RandomRecording& Small() {
  static const RandomRecording recording = [] {
    RandomRecording small(7);
    small.AddChunk(3, 6);
    small.AddChunk(2, 6, /*ending=*/true);
    return small;
  }();
  return recording;
}

size_t HeaderBytes() { return EncodeFileHeader(Small().header()).size(); }

// How many whole blocks lie before `offset`.
size_t BlocksBefore(size_t offset) {
  size_t blocks = 0;
  for (const size_t end : Small().block_ends()) blocks += end <= offset ? 1 : 0;
  return blocks;
}

// REQUIREs that `read` is exactly the given blocks.
void RequireBlocks(const ReadResult& read, const std::vector<size_t>& which) {
  REQUIRE(read.blocks.size() == which.size());
  for (size_t i = 0; i < which.size(); ++i) RequireSame(read.blocks[i], Small().blocks()[which[i]]);
}

bool Opens(Bytes bytes) {
  MemoryByteSource source(bytes);
  return Reader::Open(&source).ok();
}

TEST_CASE("cut at any byte, a recording gives every block before the cut and calls the rest an unfinished tail") {
  const ByteBuffer& whole = Small().bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    const ByteBuffer cut = Shrunk(whole, size);
    if (size < HeaderBytes()) {
      REQUIRE_FALSE(Opens(cut));
      continue;
    }
    const ReadResult read = Read(cut);
    const size_t blocks = BlocksBefore(size);
    REQUIRE(read.blocks.size() == blocks);
    if (blocks > 0) RequireSame(read.blocks.back(), Small().blocks()[blocks - 1]);
    REQUIRE(read.skipped.size() <= 1);
    for (const SkippedRange& range : read.skipped) {
      REQUIRE(range.at_end);
      REQUIRE(range.end == size);
      REQUIRE(range.why.starts_with("truncated"));
    }
  }
}

TEST_CASE("any flipped byte is noticed, and costs no more than the rest of its chunk") {
  const ByteBuffer& whole = Small().bytes();
  const size_t second_chunk = Small().chunk_begins()[1];
  for (size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    const ByteBuffer damaged = Flipped(whole, at);
    if (at < HeaderBytes()) {
      REQUIRE_FALSE(Opens(damaged));
      continue;
    }
    const ReadResult read = Read(damaged);
    std::vector<size_t> kept;
    for (size_t block = 0; block < BlocksBefore(at); ++block) kept.push_back(block);
    if (at < second_chunk) kept.insert(kept.end(), {3, 4});
    RequireBlocks(read, kept);
    REQUIRE(read.skipped.size() == 1);
    REQUIRE(read.skipped[0].begin <= at);
    REQUIRE(read.skipped[0].end > at);
    REQUIRE_FALSE(read.skipped[0].at_end);
    REQUIRE(read.skipped[0].end == (at < second_chunk ? second_chunk : whole.size()));
  }
}

TEST_CASE("a length that points beyond the end is an unfinished block only while its header is intact") {
  // The payload length of the first block: its header's hash no longer holds.
  const size_t length_at = Small().chunk_begins()[0] + kChunkHeaderBytes + 8;
  const ReadResult read = Read(Flipped(Small().bytes(), length_at + 3, 0x7f));
  RequireBlocks(read, {3, 4});
  CHECK(read.skipped.at(0).why == "block header hash differs");
}

TEST_CASE("a block taken out of a chunk costs the rest of that chunk") {
  const std::vector<size_t>& ends = Small().block_ends();
  const ReadResult read = Read(Dropped(Small().bytes(), ends[0], ends[1]));
  RequireBlocks(read, {0, 3, 4});
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].why == "block out of sequence");
  CHECK(read.skipped[0].begin == ends[0]);
}

TEST_CASE("a whole chunk taken out is not missed") {
  const ReadResult read = Read(Dropped(Small().bytes(), Small().chunk_begins()[0], Small().chunk_begins()[1]));
  RequireBlocks(read, {3, 4});
  CHECK(read.skipped.empty());
}

TEST_CASE("a chunk without its header is skipped") {
  const size_t begin = Small().chunk_begins()[0];
  const ReadResult read = Read(Dropped(Small().bytes(), begin, begin + kChunkHeaderBytes));
  RequireBlocks(read, {3, 4});
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].why == "block outside of a chunk");
}

TEST_CASE("a block torn by a kill, with a chunk appended behind it, costs that block only") {
  const size_t cut = Small().block_ends()[2] - 5;
  const ByteBuffer torn = Dropped(Small().bytes(), cut, Small().block_ends()[2]);
  const ReadResult read = Read(torn);
  RequireBlocks(read, {0, 1, 3, 4});
  REQUIRE(read.skipped.size() == 1);
  CHECK_FALSE(read.skipped[0].at_end);
}

TEST_CASE("a torn block longer than all that was appended behind it does not hide the chunk") {
  RandomRecording recording(3);
  recording.AddChunk(1, 2000);
  const size_t big = recording.bytes().size();
  recording.AddChunk(1, 1);
  const ReadResult read = Read(Dropped(recording.bytes(), big - 5000, big));
  REQUIRE(read.blocks.size() == 1);
  RequireSame(read.blocks[0], recording.blocks()[1]);
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].why == "truncated block");
}

TEST_CASE("zeros at the end, as a power cut leaves them, are a tail") {
  const size_t at = Small().block_ends()[3];
  const ReadResult beside = Read(Appended(Shrunk(Small().bytes(), at), ByteBuffer(4096)));
  RequireBlocks(beside, {0, 1, 2, 3});
  REQUIRE(beside.skipped.size() == 1);
  CHECK(beside.skipped[0].at_end);
  // The last block's header came through, its payload did not.
  const size_t block = Small().bytes().size() - at;
  const ReadResult inside = Read(Appended(Shrunk(Small().bytes(), at + kBlockHeaderBytes), ByteBuffer(block)));
  RequireBlocks(inside, {0, 1, 2, 3});
  REQUIRE(inside.skipped.size() == 1);
  CHECK(inside.skipped[0].at_end);
}

TEST_CASE("chunks of another recording are skipped and named") {
  RandomRecording other(8);
  other.AddChunk(1, 3);
  const Bytes foreign = Bytes(other.bytes()).subspan(other.chunk_begins()[0]);
  const ReadResult read = Read(Appended(Small().bytes(), foreign));
  RequireBlocks(read, {0, 1, 2, 3, 4});
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].why == "chunk of another recording");
}

TEST_CASE("two recordings of the same id, concatenated, give the blocks of both") {
  const ReadResult read = Read(Appended(Small().bytes(), Small().bytes()));
  RequireBlocks(read, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].end - read.skipped[0].begin == HeaderBytes());
}

TEST_CASE("a file that grows byte by byte gives each block as soon as it is whole") {
  const ByteBuffer& whole = Small().bytes();
  MemoryByteSource source(Bytes(whole).first(HeaderBytes()));
  auto reader = Reader::Open(&source);
  REQUIRE(reader.ok());
  size_t read = 0;
  for (size_t size = HeaderBytes() + 1; size <= whole.size(); ++size) {
    source.Append(Bytes(whole).subspan(size - 1, 1));
    while (const auto block = (*reader)->Next()) {
      REQUIRE(Small().block_ends()[read] == size);
      REQUIRE((*reader)->position() == size);
      REQUIRE(block->samples.size() == Small().blocks()[read].samples.size());
      ++read;
    }
  }
  CHECK(read == Small().blocks().size());
  CHECK((*reader)->skipped().empty());
}

TEST_CASE("a damaged file that grows byte by byte goes on at the next chunk") {
  const ByteBuffer whole = Flipped(Small().bytes(), Small().block_ends()[0] + kBlockHeaderBytes + 3);
  MemoryByteSource source(Bytes(whole).first(HeaderBytes()));
  auto reader = Reader::Open(&source);
  REQUIRE(reader.ok());
  std::vector<PlainBlock> blocks;
  for (size_t size = HeaderBytes() + 1; size <= whole.size(); ++size) {
    source.Append(Bytes(whole).subspan(size - 1, 1));
    for (PlainBlock& block : ReadAll(reader->get())) blocks.push_back(std::move(block));
  }
  RequireBlocks({std::move(blocks), {}}, {0, 3, 4});
  REQUIRE((*reader)->skipped().size() == 1);
  CHECK((*reader)->skipped()[0].why == "block payload hash differs");
}

// A chunk of blocks with raw bytes of the test's own making.
class RawChunk {
 public:
  RawChunk() : packer_(0, 3), bytes_(EncodeFileHeader(SomeFileHeader())) {
    AppendTo(&bytes_, ChunkHeader{0, SomeFileHeader().recording_id});
  }
  RawChunk& Add(Bytes raw) {
    REQUIRE(packer_.Pack(raw, {}, &bytes_).ok());
    return *this;
  }
  const ByteBuffer& bytes() const { return bytes_; }

 private:
  BlockPacker packer_;
  ByteBuffer bytes_;
};

constexpr uint64_t kUnknownSection = 60;

ByteBuffer UnknownSection(bool critical) {
  ByteBuffer raw;
  AppendFramed(&raw, kUnknownSection, critical, AsBytes("from the future"));
  return raw;
}

TEST_CASE("a section that this reader does not know is skipped") {
  const ReadResult read = Read(RawChunk().Add(UnknownSection(false)).Add({}).bytes());
  CHECK(read.blocks.size() == 2);
  CHECK(read.skipped.empty());
}

TEST_CASE("a critical section that this reader does not know refuses its block and no other") {
  const ReadResult read = Read(RawChunk().Add({}).Add(UnknownSection(true)).Add({}).bytes());
  CHECK(read.blocks.size() == 2);
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].why == "block needs a newer reader");
}

TEST_CASE("names in a refused block are known to the blocks behind it") {
  ByteBuffer names = UnknownSection(true);
  ColumnWriter<2> strings;
  strings.Varint(0, 3);
  strings.Append(1, AsBytes("abc"));
  strings.Finish(Section::kStrings, 1, &names);
  ByteBuffer classes;
  ByteSink(&classes).Varint(1);  // one row, its only column absent: the next new string
  ByteBuffer use;
  AppendFramed(&use, static_cast<uint64_t>(Section::kClasses), true, classes);
  RawChunk chunk;
  chunk.Add(names).Add(use);
  MemoryByteSource source(chunk.bytes());
  auto reader = Reader::Open(&source);
  REQUIRE(reader.ok());
  const auto block = (*reader)->Next();
  REQUIRE(block);
  CHECK(block->dictionaries->classes == std::vector<std::string>{"abc"});
}

TEST_CASE("an unknown column is skipped, a critical one refuses the block") {
  for (const bool critical : {false, true}) {
    CAPTURE(critical);
    ByteBuffer body;
    ByteSink(&body).Varint(0);
    AppendFramed(&body, 40, critical, AsBytes("x"));
    ByteBuffer raw;
    AppendFramed(&raw, static_cast<uint64_t>(Section::kSamples), true, body);
    const ReadResult read = Read(RawChunk().Add(raw).bytes());
    CHECK(read.blocks.size() == (critical ? 0 : 1));
    CHECK(read.skipped.size() == (critical ? 1 : 0));
  }
}

// A block of samples with one column of kinds, under a window that all of them name.
ByteBuffer SamplesOfKinds(Stream stream, std::initializer_list<uint64_t> kinds) {
  ByteBuffer raw;
  ColumnWriter<3> windows;
  windows.F64(2, 0.5);
  windows.Finish(Section::kWindows, 1, &raw, stream);
  ColumnWriter<9> samples;
  for (const uint64_t kind : kinds) samples.Varint(8, kind);
  samples.Finish(Section::kSamples, kinds.size(), &raw, stream);
  return raw;
}

TEST_CASE("samples of a kind that this reader does not know, or that is another stream's, are left out") {
  const auto kinds_of = [](Stream stream, std::initializer_list<uint64_t> kinds) {
    const ReadResult read = Read(RawChunk().Add(SamplesOfKinds(stream, kinds)).bytes());
    CHECK(read.skipped.empty());
    REQUIRE(read.blocks.size() == 1);
    std::vector<Kind> found;
    for (const PlainSample& plain : read.blocks[0].samples) found.push_back(plain.sample.kind);
    return found;
  };
  CHECK(kinds_of(Stream::kAllocations, {0, 3, 1, 2, 1'000'000, 0}) ==
        std::vector{Kind::kTlab, Kind::kOutside, Kind::kTlab});
  CHECK(kinds_of(Stream::kExceptions, {2, 0, 3, 2}) == std::vector{Kind::kException, Kind::kException});
}

TEST_CASE("a stream that this reader does not know is skipped") {
  ByteBuffer raw;
  for (const uint64_t section : {7, 8, 9, 10}) AppendFramed(&raw, section + 32, false, AsBytes("from the future"));
  const ReadResult read = Read(RawChunk().Add(raw).bytes());
  CHECK(read.blocks.size() == 1);
  CHECK(read.skipped.empty());
}

TEST_CASE("the same section twice in a block is damage") {
  ByteBuffer twice = UnknownSection(false);
  ByteSink(&twice).Append(UnknownSection(false));
  const ReadResult read = Read(RawChunk().Add(twice).bytes());
  CHECK(read.blocks.empty());
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].why == "section twice in a block");
}

TEST_CASE("counts without bytes behind them cost no memory") {
  for (const uint32_t section : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U, 11U, 23U, 24U, 25U, 26U}) {
    CAPTURE(section);
    ByteBuffer body;
    ByteSink(&body).Varint(uint64_t{1} << 62);
    ByteBuffer raw;
    AppendFramed(&raw, section, true, body);
    const ReadResult read = Read(RawChunk().Add(raw).bytes());
    CHECK(read.blocks.empty());
    REQUIRE(read.skipped.size() == 1);
    CHECK(read.skipped[0].why == "malformed section in a block");
  }
}

TEST_CASE("a block whose frame holds more or less than its header says is damage") {
  ByteBuffer file = EncodeFileHeader(SomeFileHeader());
  AppendTo(&file, ChunkHeader{0, SomeFileHeader().recording_id});
  const size_t begin = file.size();
  BlockPacker packer(0, 3);
  REQUIRE(packer.Pack(UnknownSection(false), {}, &file).ok());
  const BlockHeader honest = *DecodeBlockHeader(Bytes(file).subspan(begin, kBlockHeaderBytes));
  for (const int wrong : {-1, 1}) {
    BlockHeader header = honest;
    header.raw_bytes += static_cast<uint32_t>(wrong);
    ByteBuffer lying = Shrunk(file, begin);
    AppendTo(&lying, header);
    const ReadResult read = Read(Appended(lying, Bytes(file).subspan(begin + kBlockHeaderBytes)));
    CHECK(read.blocks.empty());
    CHECK(read.skipped.size() == 1);
  }
}

TEST_CASE("what is no recording is refused with a sentence that names it") {
  MemoryByteSource source(AsBytes("PK\x03\x04 and some more bytes, as many as needed"), "that.zip");
  const auto reader = Reader::Open(&source);
  REQUIRE_FALSE(reader.ok());
  CHECK(reader.error().message == "that.zip: not a heaprec recording");
}

}  // namespace
}  // namespace heaprec::format::testing
