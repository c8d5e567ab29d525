// Property: whatever stands in the sections of names, and whatever a block says it builds on, reading ends, and yields
// only what can be tracked.
//
// Input: sections of names (sealed_block.h), for two blocks: the first byte says where the second begins.
#include <algorithm>

#include "tests/fuzz/sealed_block.h"

namespace heaprec::fuzz {
namespace {

constexpr uint64_t kNames[] = {1, 2, 3, 4, 5, 6, 17};

std::vector<Input> Seeds() {
  std::vector<Input> seeds;
  for (const uint32_t seed : {11U, 12U, 13U}) {
    format::testing::RandomRecording recording(seed);
    recording.AddChunk(2, 10);
    Input all{128};
    for (const format::ByteBuffer& raw : RawBlocks(recording, 2)) {
      const Input sections = Unframed(raw, kNames);
      all.insert(all.end(), sections.begin(), sections.end());
      seeds.push_back(all);
    }
  }
  return seeds;
}

void Check(const uint8_t* bytes, size_t size) {
  if (size == 0) return;
  const auto rest = BytesOf(bytes + 1, size - 1);
  const size_t split = bytes[0] * rest.size() / 256;
  ReadWhole(Seal(Framed(rest.first(split), kNames), Framed(rest.subspan(split), kNames)));
}

const Registered kRegistered({.name = "dictionaries", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz
