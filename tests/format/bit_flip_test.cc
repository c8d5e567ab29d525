// Random damage: whatever is hit, every block that was not is returned, and nothing that is returned differs from what
// was written unless it says so.
//
// HEAPREC_FLIPS=100000 for the long form.
#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <set>

#include "format/bytes/layout.h"
#include "tests/format/read_back.h"
#include "tests/format/recordings.h"

namespace heaprec::format::testing {
namespace {

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

// Where each block begins: behind the block before it, or behind its chunk's header.
std::vector<size_t> BlockBegins(const RandomRecording& recording) {
  std::vector<size_t> begins;
  for (size_t block = 0; block < recording.blocks().size(); ++block) {
    const size_t before = block == 0 ? 0 : recording.block_ends()[block - 1];
    const auto chunk = std::ranges::find_if(
        recording.chunk_begins(),
        [before, end = recording.block_ends()[block]](size_t at) { return at >= before && at < end; });
    begins.push_back(chunk == recording.chunk_begins().end() ? before : *chunk + kChunkHeaderBytes);
  }
  return begins;
}

struct Damage {
  ByteBuffer bytes;
  std::set<size_t> blocks;  // that were hit
};

Damage Flip(const RandomRecording& recording, const std::vector<size_t>& begins, std::mt19937_64* random) {
  Damage damage{recording.bytes(), {}};
  // One bit in half of the files, up to kMaxFlips in the others.
  const uint64_t flips = (*random)() % 2 == 0 ? 1 : 1 + (*random)() % kMaxFlips;
  for (uint64_t i = 0; i < flips; ++i) {
    const size_t at = (*random)() % damage.bytes.size();
    damage.bytes[at] ^= std::byte{static_cast<uint8_t>(1U << ((*random)() % 8))};
    for (size_t block = 0; block < begins.size(); ++block) {
      if (begins[block] <= at && at < recording.block_ends()[block]) damage.blocks.insert(block);
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
    const std::vector<size_t> begins = BlockBegins(recording);
    for (uint64_t file = 0; file < files / kRecordings; ++file) {
      const Damage damage = Flip(recording, begins, &random);
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

TEST_CASE("Truncated at any byte, three recordings return every complete block") {
  for (int which = 0; which < kRecordings; ++which) {
    const RandomRecording recording = Make(static_cast<uint32_t>(60 + which));
    const size_t header = EncodeFileHeader(recording.header()).size();
    for (size_t size = header; size < recording.bytes().size(); ++size) {
      const ReadResult read = Read(Shrunk(recording.bytes(), size));
      const auto whole = static_cast<size_t>(
          std::ranges::count_if(recording.block_ends(), [size](size_t end) { return end <= size; }));
      const bool right = read.blocks.size() == whole &&
                         (whole == 0 || SameButLostNames(read.blocks.back(), recording.blocks()[whole - 1]));
      if (!right) {
        CAPTURE(which, size);
        FAIL("a whole block is missing, or wrong");
      }
    }
  }
}

}  // namespace
}  // namespace heaprec::format::testing
