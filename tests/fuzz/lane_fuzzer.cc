// Property: whatever a lane holds, the walk ends, stays inside the lane, and never passes `head`.
//
// Input: 2 bytes position, 2 bytes length, then the lane. Also, the same bytes as a whole ring.
#include <algorithm>
#include <cstring>

#include "tests/format/ring_image.h"
#include "tests/fuzz/fuzz_target.h"

namespace heaprec::fuzz {
namespace {

using heaprec::format::RingView;
using heaprec::format::testing::CountingVisitor;
using heaprec::format::testing::RingImage;

constexpr uint32_t kLaneBytes = 1024;
constexpr size_t kPrefixBytes = 4;

uint64_t U16(const uint8_t* bytes) { return bytes[0] | static_cast<uint64_t>(bytes[1]) << 8; }

void WalkAsLane(const uint8_t* bytes, size_t size) {
  RingImage image(2, kLaneBytes);
  const uint64_t position = U16(bytes);
  const uint64_t head = position + U16(bytes + 2);
  std::memcpy(image.lane(0).data(), bytes + kPrefixBytes, std::min<size_t>(size - kPrefixBytes, kLaneBytes));
  const auto ring = RingView::Of(image.bytes());
  Require(ring.ok());
  CountingVisitor visitor;
  const auto reached = WalkLane(*ring, 0, position, head, visitor);
  if (reached) Require(*reached == head);
  Require(visitor.last_end <= head);
}

void WalkAsRing(const uint8_t* bytes, size_t size) {
  std::vector<uint64_t> aligned(size / 8 + 1);
  std::memcpy(aligned.data(), bytes, size);
  const auto ring = RingView::Of(std::as_bytes(std::span(aligned)).first(size));
  if (!ring) return;
  for (uint32_t lane = 0; lane < ring->lane_count(); ++lane) {
    CountingVisitor visitor;
    const uint64_t tail = ring->lane(lane).tail.load();
    (void)WalkLane(*ring, lane, tail, ring->lane(lane).head.load(), visitor).ok();
  }
}

std::vector<Input> Seeds() {
  std::vector<Input> seeds;
  for (const uint64_t start : {uint64_t{0}, uint64_t{512}, uint64_t{1000}}) {
    RingImage image(1, kLaneBytes);
    const uint64_t head = PutOneOfEach(&image, 0, start);
    image.header().counters.points = 1;
    const uint64_t length = head - start;
    Input lane{static_cast<uint8_t>(start), static_cast<uint8_t>(start >> 8), static_cast<uint8_t>(length),
               static_cast<uint8_t>(length >> 8)};
    Append(image.lane(0), &lane);
    seeds.push_back(lane);
    Input whole;
    Append(image.bytes(), &whole);
    std::memcpy(whole.data() + heaprec::format::kRingHeaderBytes, &head, sizeof(head));
    std::memcpy(whole.data() + heaprec::format::kRingHeaderBytes + 8, &start, sizeof(start));
    seeds.push_back(whole);
  }
  return seeds;
}

void Check(const uint8_t* bytes, size_t size) {
  if (size >= kPrefixBytes) WalkAsLane(bytes, size);
  WalkAsRing(bytes, size);
}

const Registered kRegistered({.name = "lane", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz
