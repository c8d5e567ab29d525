#include <catch2/catch.hpp>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "format/bytes/layout.h"
#include "tests/format/read_back.h"
#include "tests/format/recordings.h"

namespace heaprec::format::testing {
namespace {

// Two chunks, small enough to damage at every byte.
const RandomRecording& Small() {
  static const RandomRecording recording = [] {
    RandomRecording small(7, /*has_parity=*/false);
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
  for (size_t i = 0; i < which.size(); ++i) {
    const PlainBlock& given = Small().blocks()[which[i]];
    if (read.blocks[i].block.lost_names == 0) {
      RequireSame(read.blocks[i], given);
    } else {
      REQUIRE(SameButLostNames(read.blocks[i], given));
    }
  }
}

bool Opens(Bytes bytes) {
  MemoryByteSource source(bytes);
  return Reader::Open(&source).ok();
}

TEST_CASE("Truncated at any byte, a recording returns every block before, and reports an unfinished tail") {
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

// The block that has the byte; none: a header of the file or of a chunk.
std::optional<size_t> BlockAt(size_t at) {
  for (size_t block = 0; block < Small().block_ends().size(); ++block) {
    const bool first = block == 0 || block == 3;
    const size_t begin =
        first ? Small().chunk_begins()[block == 0 ? 0 : 1] + kChunkHeaderBytes : Small().block_ends()[block - 1];
    if (begin <= at && at < Small().block_ends()[block]) return block;
  }
  return std::nullopt;
}

TEST_CASE("Any flipped byte is detected, and loses at most its block") {
  const ByteBuffer& whole = Small().bytes();
  for (size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    const ReadResult read = Read(Flipped(whole, at));
    std::vector<size_t> kept{0, 1, 2, 3, 4};
    if (const auto lost = BlockAt(at)) kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(*lost));
    RequireBlocks(read, kept);
    REQUIRE(read.skipped.size() == 1);
    REQUIRE(read.skipped[0].begin <= at);
    REQUIRE(read.skipped[0].end > at);
    REQUIRE_FALSE(read.skipped[0].at_end);
  }
}

TEST_CASE("A file without its header is read with the copy in its chunks") {
  const ByteBuffer& whole = Small().bytes();
  const size_t chunk = Small().chunk_begins()[0];
  const ByteBuffer headless = Appended(ByteBuffer(chunk), Bytes(whole).subspan(chunk));
  MemoryByteSource source(headless);
  const auto reader = Reader::Open(&source);
  REQUIRE(reader.ok());
  CHECK((*reader)->header().recording_id == Small().header().recording_id);
  CHECK((*reader)->header().jvm_version == Small().header().jvm_version);
  CHECK((*reader)->header().interval_ns == Small().header().interval_ns);
  const ReadResult read = Read(headless);
  RequireBlocks(read, {0, 1, 2, 3, 4});
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].why == "not a heaprec recording");
}

TEST_CASE("A recording of another version is refused, and no copy is searched for") {
  ByteBuffer other = Small().bytes();
  other[8] = std::byte{kFileVersion + 1};
  ByteBuffer hashed(other.begin(), other.begin() + 16);
  ByteSink(&hashed).Append(Bytes(other).subspan(24, HeaderBytes() - 24));
  const uint64_t hash = Hash(hashed);
  std::memcpy(other.data() + 16, &hash, sizeof(hash));
  MemoryByteSource source(other);
  const auto reader = Reader::Open(&source);
  REQUIRE_FALSE(reader.ok());
  CHECK(reader.error().message == "memory: recording of format version 2, this heaprec reads 1");
}

TEST_CASE("A length beyond the end is an unfinished block only if its header is valid") {
  // The payload length of the first block: its header's hash no longer holds.
  const size_t length_at = Small().chunk_begins()[0] + kChunkHeaderBytes + 8;
  const ReadResult read = Read(Flipped(Small().bytes(), length_at + 3, 0x7f));
  RequireBlocks(read, {1, 2, 3, 4});
  CHECK(read.skipped.at(0).why == "block header hash differs");
}

TEST_CASE("A missing block is detected, and those after it are read") {
  const std::vector<size_t>& ends = Small().block_ends();
  const ReadResult read = Read(Dropped(Small().bytes(), ends[0], ends[1]));
  RequireBlocks(read, {0, 2, 3, 4});
  CHECK(read.blocks[1].block.lost_names > 0);
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].why == "blocks are missing");
  CHECK(read.skipped[0].begin == ends[0]);
  CHECK(read.skipped[0].end == ends[0]);
}

// A sample whose stack has these frames, root first.
void AddSample(ChunkWriter* writer, const std::vector<std::string>& stack) {
  std::vector<StackFrame> leaf_first;
  for (auto name = stack.rbegin(); name != stack.rend(); ++name) {
    leaf_first.push_back({writer->InternMethod({"C", *name, "()V"}), 0, 1});
  }
  Sample sample;
  sample.size = 16;
  sample.weight = 16;
  if (!stack.empty()) sample.stack = writer->InternStack(leaf_first, /*truncated=*/false);
  writer->Add(sample);
}

// The second block of a chunk whose first, with `lost` in it, is not there.
PlainBlock BehindALostBlock(const std::vector<std::vector<std::string>>& lost,
                            const std::vector<std::vector<std::string>>& kept) {
  ChunkWriter writer(SomeFileHeader(), 0);
  for (const auto& stack : lost) AddSample(&writer, stack);
  REQUIRE(writer.Flush({}, {}, 1000).ok());
  for (const auto& stack : kept) AddSample(&writer, stack);
  const auto second = writer.Finish({}, {}, 2000, nullptr);
  REQUIRE(second.ok());
  const ReadResult read = Read(Appended(EncodeFileHeader(SomeFileHeader()), *second));
  REQUIRE(read.blocks.size() == 1);
  return read.blocks[0];
}

TEST_CASE("The callers of a lost frame are lost, and not confused with those of another lost frame") {
  // b called y in the lost block. Of the callers in the other block only that they are lost is known.
  const PlainBlock block = BehindALostBlock({{"a", "x"}, {"b", "y"}, {"c", "b"}}, {{"a", "new"}, {"c", "b", "y"}});
  const std::string gap = ". @-1 :-2";
  REQUIRE(block.samples.size() == 2);
  CHECK(block.samples[0].stack == std::vector<std::string>{gap, "[lost].new[lost] @0 :1"});
  CHECK(block.samples[1].stack == std::vector<std::string>{gap, gap});
}

TEST_CASE("A block after a lost one without names is read") {
  const PlainBlock block = BehindALostBlock({{}}, {{"a"}});
  CHECK(block.block.lost_names == 0);
  REQUIRE(block.samples.size() == 1);
  CHECK(block.samples[0].stack == std::vector<std::string>{"C.a()V @0 :1"});
}

TEST_CASE("A missing chunk is not an error") {
  const ReadResult read = Read(Dropped(Small().bytes(), Small().chunk_begins()[0], Small().chunk_begins()[1]));
  RequireBlocks(read, {3, 4});
  CHECK(read.skipped.empty());
}

TEST_CASE("A chunk without its header is read") {
  const size_t begin = Small().chunk_begins()[0];
  const ReadResult read = Read(Dropped(Small().bytes(), begin, begin + kChunkHeaderBytes));
  RequireBlocks(read, {0, 1, 2, 3, 4});
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].why == "the header of a chunk is missing");
}

TEST_CASE("A partial block before an appended chunk loses only that block") {
  const size_t cut = Small().block_ends()[2] - 5;
  const ByteBuffer torn = Dropped(Small().bytes(), cut, Small().block_ends()[2]);
  const ReadResult read = Read(torn);
  RequireBlocks(read, {0, 1, 3, 4});
  REQUIRE(read.skipped.size() == 1);
  CHECK_FALSE(read.skipped[0].at_end);
}

TEST_CASE("A partial block that is longer than all appended bytes does not hide the appended chunk") {
  RandomRecording recording(3, /*has_parity=*/false);
  recording.AddChunk(1, 2000);
  const size_t big = recording.bytes().size();
  recording.AddChunk(1, 1);
  const ReadResult read = Read(Dropped(recording.bytes(), big - 5000, big));
  REQUIRE(read.blocks.size() == 1);
  RequireSame(read.blocks[0], recording.blocks()[1]);
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].why == "truncated block");
}

TEST_CASE("Zeros at the end, as after a power cut, are a tail") {
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

TEST_CASE("A duplicate block is read once") {
  const size_t begin = Small().block_ends()[0];
  const size_t end = Small().block_ends()[1];
  ByteBuffer twice = Shrunk(Small().bytes(), end);
  ByteSink(&twice).Append(Bytes(Small().bytes()).subspan(begin));
  const ReadResult read = Read(twice);
  RequireBlocks(read, {0, 1, 2, 3, 4});
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].why == "block out of sequence");
}

TEST_CASE("A duplicate chunk header between its blocks loses no names") {
  const size_t begin = Small().chunk_begins()[0], end = Small().block_ends()[0];
  ByteBuffer bytes = Shrunk(Small().bytes(), end);
  ByteSink(&bytes).Append(Bytes(Small().bytes()).subspan(begin, kChunkHeaderBytes));
  ByteSink(&bytes).Append(Bytes(Small().bytes()).subspan(end));
  const ReadResult read = Read(bytes);
  RequireBlocks(read, {0, 1, 2, 3, 4});
  for (const PlainBlock& block : read.blocks) CHECK(block.block.lost_names == 0);
  CHECK(read.skipped.empty());
}

TEST_CASE("Chunks of another recording are skipped and named") {
  RandomRecording other(8);
  other.AddChunk(1, 3);
  const Bytes foreign = Bytes(other.bytes()).subspan(other.chunk_begins()[0]);
  const ReadResult read = Read(Appended(Small().bytes(), foreign));
  RequireBlocks(read, {0, 1, 2, 3, 4});
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].why == "chunk of another recording");
}

TEST_CASE("Two recordings with the same id, concatenated, return the blocks of both") {
  const ReadResult read = Read(Appended(Small().bytes(), Small().bytes()));
  RequireBlocks(read, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].end - read.skipped[0].begin == HeaderBytes());
}

TEST_CASE("A file that grows byte by byte returns each block as soon as it is complete") {
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

TEST_CASE("A damaged file that grows byte by byte continues at the next block") {
  const ByteBuffer whole = Flipped(Small().bytes(), Small().block_ends()[0] + kBlockHeaderBytes + 3);
  MemoryByteSource source(Bytes(whole).first(HeaderBytes()));
  auto reader = Reader::Open(&source);
  REQUIRE(reader.ok());
  std::vector<PlainBlock> blocks;
  for (size_t size = HeaderBytes() + 1; size <= whole.size(); ++size) {
    source.Append(Bytes(whole).subspan(size - 1, 1));
    for (PlainBlock& block : ReadAll(reader->get())) blocks.push_back(std::move(block));
  }
  RequireBlocks({std::move(blocks), {}}, {0, 2, 3, 4});
  REQUIRE((*reader)->skipped().size() == 1);
  CHECK((*reader)->skipped()[0].why == "block payload hash differs");
}

TEST_CASE("The error for a file that is no recording names it") {
  MemoryByteSource source(AsBytes("PK\x03\x04 and some more bytes, as many as needed"), "that.zip");
  const auto reader = Reader::Open(&source);
  REQUIRE_FALSE(reader.ok());
  CHECK(reader.error().message == "that.zip: not a heaprec recording");
  MemoryByteSource jfr(AsBytes(std::string_view("FLR\0\0\2\0\1, and more bytes, as many as needed", 44)), "app.jfr");
  const auto refused = Reader::Open(&jfr);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message == "app.jfr: not a heaprec recording but a JFR file: use heaprec import");
  MemoryByteSource ring(AsBytes(std::string_view("HRECRING, and more bytes, as many as needed")), "app.ring");
  const auto shared = Reader::Open(&ring);
  REQUIRE_FALSE(shared.ok());
  CHECK(shared.error().message.starts_with("app.ring: not a heaprec recording but the shared ring of one"));
}

}  // namespace
}  // namespace heaprec::format::testing
