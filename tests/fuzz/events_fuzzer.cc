// Property: whatever stands in the sections of windows, intervals, samples, counters, lanes and the ending, of both
// streams, and of rows, reading ends, and yields only what can be tracked.
//
// Input: such sections (sealed_block.h), of a block behind one that defines names.
#include <algorithm>

#include "tests/fuzz/sealed_block.h"

namespace heaprec::fuzz {
namespace {

constexpr uint64_t kEvents[] = {7, 8, 9, 10, 11, 12, 23, 24, 25, 26, 27};

const format::testing::RandomRecording& Named() {
  static const auto recording = [] {
    format::testing::RandomRecording named(21);
    named.AddChunk(3, 10);
    return named;
  }();
  return recording;
}

std::vector<Input> Seeds() {
  std::vector<Input> seeds;
  for (const format::ByteBuffer& raw : RawBlocks(Named(), 3)) seeds.push_back(Unframed(raw, kEvents));
  return seeds;
}

void Check(const uint8_t* bytes, size_t size) {
  static const format::ByteBuffer names = RawBlocks(Named(), 1)[0];
  ReadWhole(Seal(names, Framed(BytesOf(bytes, size), kEvents)));
}

const Registered kRegistered({.name = "events", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz
