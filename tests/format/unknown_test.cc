// Blocks of the test's own making: what a reader does not know, and what cannot be true though all hashes hold.
#include <catch2/catch.hpp>
#include <string>

#include "format/bytes/block_stream.h"
#include "format/bytes/columns.h"
#include "format/bytes/layout.h"
#include "tests/format/read_back.h"
#include "tests/format/recordings.h"

namespace heaprec::format::testing {
namespace {

uint64_t SomeSeed() { return HeaderSeed(SomeFileHeader().recording_id); }

// A chunk of blocks with raw bytes of the test's own making.
class RawChunk {
 public:
  RawChunk() : packer_(0, SomeSeed()), bytes_(EncodeFileHeader(SomeFileHeader())) {
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

TEST_CASE("Unknown sections, and those of unknown streams, are skipped") {
  ByteBuffer of_stream;
  for (const uint64_t section : {7, 8, 9, 10}) {
    AppendFramed(&of_stream, section + 64, false, AsBytes("from the future"));
  }
  const ReadResult read = Read(RawChunk().Add(UnknownSection(false)).Add(of_stream).Add({}).bytes());
  CHECK(read.blocks.size() == 3);
  CHECK(read.skipped.empty());
}

TEST_CASE("An unknown critical section refuses only its block") {
  const ReadResult read = Read(RawChunk().Add({}).Add(UnknownSection(true)).Add({}).bytes());
  CHECK(read.blocks.size() == 2);
  CHECK(read.why() == std::vector<std::string>{"block needs a newer reader"});
}

TEST_CASE("Names in a refused block are known to later blocks") {
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
  const Opened file(chunk.bytes());
  const auto block = file.reader->Next();
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

TEST_CASE("Samples of an unknown kind, or of another stream's, are omitted") {
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
  CHECK(kinds_of(Stream::kNative, {3, 0, 4, 2, 3}) == std::vector{Kind::kNative, Kind::kNative});
}

TEST_CASE("A duplicate section in a block is damage") {
  ByteBuffer twice = UnknownSection(false);
  ByteSink(&twice).Append(UnknownSection(false));
  const ReadResult read = Read(RawChunk().Add(twice).bytes());
  CHECK(read.blocks.empty());
  CHECK(read.why() == std::vector<std::string>{"section twice in a block"});
}

TEST_CASE("Counts without data use no memory") {
  for (const uint32_t section : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U, 11U, 23U, 24U, 25U, 26U}) {
    CAPTURE(section);
    ByteBuffer body;
    ByteSink(&body).Varint(uint64_t{1} << 62);
    ByteBuffer raw;
    AppendFramed(&raw, section, true, body);
    const ReadResult read = Read(RawChunk().Add(raw).bytes());
    CHECK(read.blocks.empty());
    CHECK(read.why() == std::vector<std::string>{"malformed section in a block"});
  }
}

// Either would make millions of the same entry out of a few bytes, up to the bound on memory.
TEST_CASE("Strings and frames without data are refused, except the one that may be all zeros") {
  for (const Section section : {Section::kStrings, Section::kFrames}) {
    for (const uint64_t rows : {uint64_t{1}, uint64_t{2}, uint64_t{1'000'000}}) {
      CAPTURE(static_cast<int>(section), rows);
      ByteBuffer body;
      ByteSink(&body).Varint(rows);
      ByteBuffer raw;
      AppendFramed(&raw, static_cast<uint64_t>(section), true, body);
      CHECK(Read(RawChunk().Add(raw).bytes()).skipped.empty() == (rows == 1));
    }
  }
}

ByteBuffer Bases(uint64_t strings, uint64_t classes) {
  ByteBuffer body;
  for (const uint64_t count : {strings, classes, uint64_t{0}, uint64_t{0}, uint64_t{0}, uint64_t{0}}) {
    ByteSink(&body).Varint(count);
  }
  ByteBuffer raw;
  AppendFramed(&raw, static_cast<uint64_t>(Section::kDictionaryOffsets), true, body);
  return raw;
}

TEST_CASE("Names that a block refers to and that are missing are lost names, up to a limit") {
  const Opened file(RawChunk().Add(Bases(2, 1)).bytes());
  const auto block = file.reader->Next();
  REQUIRE(block);
  CHECK(block->dictionaries->classes == std::vector<std::string>{kLost});
  CHECK(block->lost_names == 3);
  for (const uint64_t too_many : {uint64_t{10'000'000}, uint64_t{1} << 60}) {
    const ReadResult read = Read(RawChunk().Add(Bases(too_many, 0)).bytes());
    CHECK(read.blocks.empty());
    CHECK(read.skipped.size() == 1);
  }
}

TEST_CASE("A block that refers to fewer names than there are, and those after it, are invalid") {
  const ReadResult read = Read(RawChunk().Add(Bases(2, 1)).Add(Bases(1, 1)).Add(Bases(2, 1)).bytes());
  CHECK(read.blocks.size() == 1);
  CHECK(read.skipped.size() == 2);
}

TEST_CASE("A block whose frame is longer or shorter than its header says is damage") {
  ByteBuffer file = EncodeFileHeader(SomeFileHeader());
  AppendTo(&file, ChunkHeader{0, SomeFileHeader().recording_id});
  const size_t begin = file.size();
  BlockPacker packer(0, SomeSeed());
  REQUIRE(packer.Pack(UnknownSection(false), {}, &file).ok());
  const BlockHeader honest = *DecodeBlockHeader(Bytes(file).subspan(begin, kBlockHeaderBytes), SomeSeed());
  for (const int wrong : {-1, 1}) {
    BlockHeader header = honest;
    header.raw_bytes += static_cast<uint32_t>(wrong);
    ByteBuffer lying = Shrunk(file, begin);
    AppendTo(&lying, header, SomeSeed());
    const ReadResult read = Read(Appended(lying, Bytes(file).subspan(begin + kBlockHeaderBytes)));
    CHECK(read.blocks.empty());
    CHECK(read.skipped.size() == 1);
  }
}

}  // namespace
}  // namespace heaprec::format::testing
