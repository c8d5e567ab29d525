#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
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

bool Has(const RandomRecording& recording, size_t block, size_t at) {
  return recording.block_begins()[block] <= at && at < recording.block_ends()[block];
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

TEST_CASE("Any flipped byte is detected, and loses at most its block") {
  const ByteBuffer& whole = Small().bytes();
  for (size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    const ReadResult read = Read(Flipped(whole, at));
    std::vector<size_t> kept;  // all, if it was in a header of the file or of a chunk
    for (size_t block = 0; block < 5; ++block) {
      if (!Has(Small(), block, at)) kept.push_back(block);
    }
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
  const Opened file(headless);
  CHECK(file.reader->header().recording_id == Small().header().recording_id);
  CHECK(file.reader->header().jvm_version == Small().header().jvm_version);
  CHECK(file.reader->header().interval_ns == Small().header().interval_ns);
  const ReadResult read = Read(headless);
  RequireBlocks(read, {0, 1, 2, 3, 4});
  CHECK(read.why() == std::vector<std::string>{"not a heaprec recording"});
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

TEST_CASE("What is missing, duplicate or foreign loses only itself, and is named") {
  const ByteBuffer& whole = Small().bytes();
  const std::vector<size_t>&begins = Small().chunk_begins(), &ends = Small().block_ends();
  RandomRecording other(8);
  other.AddChunk(1, 3);
  struct Case {
    const char* name;
    ByteBuffer bytes;
    std::vector<size_t> blocks;
    std::vector<std::string> why;
  };
  const Case cases[] = {
      {"a length beyond the end, where the header's hash no longer holds",
       Flipped(whole, begins[0] + kChunkHeaderBytes + 8 + 3, 0x7f),
       {1, 2, 3, 4},
       {"block header hash differs"}},
      {"a missing chunk is not an error", Dropped(whole, begins[0], begins[1]), {3, 4}, {}},
      {"a chunk without its header",
       Dropped(whole, begins[0], begins[0] + kChunkHeaderBytes),
       {0, 1, 2, 3, 4},
       {"the header of a chunk is missing"}},
      {"a duplicate block",
       Appended(Shrunk(whole, ends[1]), Bytes(whole).subspan(ends[0])),
       {0, 1, 2, 3, 4},
       {"block out of sequence"}},
      {"a chunk of another recording",
       Appended(whole, Bytes(other.bytes()).subspan(other.chunk_begins()[0])),
       {0, 1, 2, 3, 4},
       {"chunk of another recording"}},
  };
  for (const Case& damaged : cases) {
    CAPTURE(damaged.name);
    const ReadResult read = Read(damaged.bytes);
    RequireBlocks(read, damaged.blocks);
    CHECK(read.why() == damaged.why);
  }
}

TEST_CASE("A missing block is detected, and those after it are read") {
  const std::vector<size_t>& ends = Small().block_ends();
  const ReadResult read = Read(Dropped(Small().bytes(), ends[0], ends[1]));
  RequireBlocks(read, {0, 2, 3, 4});
  CHECK(read.blocks[1].block.lost_names > 0);
  CHECK(read.why() == std::vector<std::string>{"blocks are missing"});
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
  CHECK(read.why() == std::vector<std::string>{"truncated block"});
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

TEST_CASE("A duplicate chunk header between its blocks loses no names") {
  const Bytes whole = Small().bytes(), header = whole.subspan(Small().chunk_begins()[0], kChunkHeaderBytes);
  const size_t end = Small().block_ends()[0];
  const ReadResult read = Read(Appended(Appended(Shrunk(Small().bytes(), end), header), whole.subspan(end)));
  RequireBlocks(read, {0, 1, 2, 3, 4});
  for (const PlainBlock& block : read.blocks) CHECK(block.block.lost_names == 0);
  CHECK(read.skipped.empty());
}

TEST_CASE("Two recordings with the same id, concatenated, return the blocks of both") {
  const ReadResult read = Read(Appended(Small().bytes(), Small().bytes()));
  RequireBlocks(read, {0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
  REQUIRE(read.skipped.size() == 1);
  CHECK(read.skipped[0].end - read.skipped[0].begin == HeaderBytes());
}

TEST_CASE("A file that grows byte by byte returns each block as soon as it is complete") {
  const ByteBuffer& whole = Small().bytes();
  Opened file(Bytes(whole).first(HeaderBytes()));
  size_t read = 0;
  for (size_t size = HeaderBytes() + 1; size <= whole.size(); ++size) {
    file.source.Append(Bytes(whole).subspan(size - 1, 1));
    while (const auto block = file.reader->Next()) {
      REQUIRE(Small().block_ends()[read] == size);
      REQUIRE(file.reader->position() == size);
      REQUIRE(block->samples.size() == Small().blocks()[read].samples.size());
      ++read;
    }
  }
  CHECK(read == Small().blocks().size());
  CHECK(file.reader->skipped().empty());
}

TEST_CASE("A damaged file that grows byte by byte continues at the next block") {
  const ByteBuffer whole = Flipped(Small().bytes(), Small().block_ends()[0] + kBlockHeaderBytes + 3);
  Opened file(Bytes(whole).first(HeaderBytes()));
  ReadResult read;
  for (size_t size = HeaderBytes() + 1; size <= whole.size(); ++size) {
    file.source.Append(Bytes(whole).subspan(size - 1, 1));
    for (PlainBlock& block : ReadAll(file.reader.get())) read.blocks.push_back(std::move(block));
  }
  RequireBlocks(read, {0, 2, 3, 4});
  read.skipped = file.reader->skipped();
  CHECK(read.why() == std::vector<std::string>{"block payload hash differs"});
}

TEST_CASE("The error for a file that is no recording names it") {
  const std::string_view rest = ", and some more bytes, as many as are needed";
  for (const auto& [name, magic, why] :
       {std::tuple("that.zip", "PK\x03\x04", ""), std::tuple("app.jfr", "FLR", " but a JFR file: use heaprec import"),
        std::tuple("app.ring", "HRECRING", " but the shared ring of one")}) {
    MemoryByteSource source(AsBytes(std::string(magic) + std::string("\0\0\2", 3) + std::string(rest)), name);
    const auto reader = Reader::Open(&source);
    REQUIRE_FALSE(reader.ok());
    CHECK(reader.error().message.starts_with(name + std::string(": not a heaprec recording") + why));
  }
}

// Random damage: whatever is hit, every block that was not is returned, and nothing that is returned differs from what
// was written unless it says so. HEAPREC_FLIPS=100000 for the long form.

constexpr int kRecordings = 3;
constexpr uint64_t kShort = 3000;
constexpr uint64_t kMaxFlips = 8;                    // in one file
constexpr int64_t kMaxKilobytes = int64_t{1} << 20;  // 1 GiB

// What parity would repair costs a block here: the tail of a killed recording is as bare.
RandomRecording Make(uint32_t seed) {
  RandomRecording recording(seed, /*has_parity=*/false);
  recording.AddChunk(4, 8);
  recording.AddChunk(3, 8);
  recording.AddChunk(2, 8, /*ending=*/true);
  return recording;
}

struct Damage {
  ByteBuffer bytes;
  std::set<size_t> blocks;  // that were hit
};

Damage Flip(const RandomRecording& recording, std::mt19937_64* random) {
  Damage damage{recording.bytes(), {}};
  // One bit in half of the files, up to kMaxFlips in the others.
  const uint64_t flips = (*random)() % 2 == 0 ? 1 : 1 + (*random)() % kMaxFlips;
  for (uint64_t i = 0; i < flips; ++i) {
    const size_t at = (*random)() % damage.bytes.size();
    damage.bytes[at] ^= std::byte{static_cast<uint8_t>(1U << ((*random)() % 8))};
    for (size_t block = 0; block < recording.blocks().size(); ++block) {
      if (Has(recording, block, at)) damage.blocks.insert(block);
    }
  }
  return damage;
}

// The blocks that were read are those that were given, but for some that were hit. Returns how many names are lost.
bool AllBut(const std::vector<PlainBlock>& read, const RandomRecording& recording, const std::set<size_t>& hit) {
  size_t next = 0;
  for (size_t given = 0; given < recording.blocks().size(); ++given) {
    if (next < read.size() && read[next].block.end_ns == recording.blocks()[given].block.end_ns) {
      // Two flips of one bit undo each other: a block that was hit may be whole.
      if (!SameButLostNames(read[next++], recording.blocks()[given])) return false;
    } else if (!hit.contains(given)) {
      return false;
    }
  }
  return next == read.size();
}

// The file's header and all of its copies were hit.
bool HeadersAreGone(const RandomRecording& recording, const ByteBuffer& bytes) {
  MemoryByteSource source(bytes);
  if (Reader::Open(&source).ok()) return false;
  size_t damaged = bytes.size() < recording.chunk_begins()[0] ? 1 : 0;
  for (size_t i = 0; i < recording.chunk_begins().size(); ++i) {
    const size_t begin = recording.chunk_begins()[i];
    const auto block = std::ranges::find_if(recording.block_ends(), [begin](size_t end) { return end > begin; });
    damaged += std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                          bytes.begin() + static_cast<std::ptrdiff_t>(*block),
                          recording.bytes().begin() + static_cast<std::ptrdiff_t>(begin))
                   ? 0
                   : 1;
  }
  return damaged == recording.chunk_begins().size();
}

TEST_CASE("Random bit flips lose only the blocks they hit, and never change a value silently") {
  const char* asked = std::getenv("HEAPREC_FLIPS");
  const uint64_t files = asked != nullptr ? std::strtoull(asked, nullptr, 10) : kShort;
  std::mt19937_64 random(20);
  uint64_t blocks = 0;
  uint64_t headless = 0;
  for (int which = 0; which < kRecordings; ++which) {
    const RandomRecording recording = Make(static_cast<uint32_t>(40 + which));
    for (uint64_t file = 0; file < files / kRecordings; ++file) {
      const Damage damage = Flip(recording, &random);
      if (HeadersAreGone(recording, damage.bytes)) {
        ++headless;
        continue;
      }
      const ReadResult read = Read(damage.bytes);
      if (!AllBut(read.blocks, recording, damage.blocks) ||
          (damage.bytes != recording.bytes() && read.skipped.empty())) {
        CAPTURE(which, file);
        FAIL("a block that was not hit is missing, or one is wrong");
      }
      blocks += read.blocks.size();
    }
  }
  WARN(files << " files damaged, " << blocks << " blocks read, " << headless << " files without any header");
  CHECK(headless < files / 100);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  CHECK(usage.ru_maxrss < kMaxKilobytes);
}

}  // namespace
}  // namespace heaprec::format::testing
