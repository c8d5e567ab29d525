#include "format/ring/ring_reader.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <utility>

#include "tests/format/ring_image.h"

namespace heaprec::format::testing {
namespace {

constexpr uint32_t kLaneBytes = 1024;

TEST_CASE("A lane returns each type of record, also after it wraps around") {
  for (uint64_t start = 0; start < 3 * kLaneBytes; start += kRecordAlign) {
    CAPTURE(start);
    RingImage image(3, kLaneBytes);
    const uint64_t head = PutOneOfEach(&image, 1, start);
    const auto ring = RingView::Of(image.bytes());
    REQUIRE(ring.ok());
    CountingVisitor seen;
    const auto reached = WalkLane(*ring, 1, start, head, seen);
    REQUIRE(reached.ok());
    REQUIRE(*reached == head);
    REQUIRE(seen.last_end == head);
    REQUIRE((seen.classes == 1 && seen.methods == 1 && seen.stacks == 1));
    REQUIRE((seen.points == 1 && seen.light_points == 1));
    REQUIRE((seen.threads == 1 && seen.windows == 1 && seen.samples == 1 && seen.states == 2 && seen.deaths == 1));
  }
}

TEST_CASE("The fields of a record round-trip") {
  struct Checking : CountingVisitor {
    void OnMethod(uint64_t key, std::string_view class_name, std::string_view name,
                  std::string_view descriptor) override {
      CHECK(key == MethodKey("a/B", "run", "()V"));
      CHECK(std::string(class_name) + std::string(name) + std::string(descriptor) == "a/Brun()V");
    }
    void OnStack(StackKey key, std::span<const RingFrame> leaf_first, bool truncated, uint32_t, uint64_t) override {
      CHECK(key == KeyOfStack(leaf_first, true));
      CHECK(truncated);
      REQUIRE(leaf_first.size() == 2);
      CHECK(leaf_first[0].line == 10);
    }
    void OnThread(uint64_t, const ThreadRecord& record, std::string_view name) override {
      CHECK(record.os_tid == 77);
      CHECK(name == "main");
    }
    void OnState(const StateRecord& record, std::span<const uint64_t> amounts) override {
      const ProcessState state = StateOf(record, amounts, 0);
      CHECK(state.id == 4);
      CHECK(state.cause == "System.gc()");
      CHECK(state.account[AccountItem::kCgroupMax] == Amount::NoLimit());
      CHECK(!state.account[AccountItem::kCgroupHigh].was_taken());
      CHECK(state.account[AccountItem::kCgroupSwapMax] == Amount::Of(7));
      CHECK(state.account.taken().size() == 2);
    }
    void OnEvent(const EventRecord& record, std::string_view text, uint32_t lane) override {
      const ProcessState state = EventOf(record, text, {.class_id = 1, .thread = 2, .stack = 3}, 10);
      CHECK(lane == 0);
      CHECK(state.id == 5);
      CHECK(state.time_ns == 90);
      CHECK(state.kind == ProcessStateKind::kError);
      CHECK(state.used == 3);
      CHECK(state.cause == "Java heap space");
      CHECK(std::tuple(state.class_id, state.thread, state.stack) == std::tuple(1u, 2u, 3u));
    }
    void OnWindow(const WindowRecord& record) override { CHECK(WindowOf(record, 0) == Window{3, 0, 1e-6, 1e-5}); }
    void OnPoint(const PointRecord& record, uint32_t lane, uint64_t) override {
      CHECK(record.class_key == ClassKey("java/lang/String"));
      CHECK(record.size == 32);
      CHECK(record.weight == 512);
      CHECK(lane == 0);
    }
    void OnSample(const SampleRecord& record, uint32_t lane, uint64_t begin, uint64_t end) override {
      CHECK(record.id == 9);
      CHECK(record.call_path == 0x0123456789abcdef);
      CHECK(lane == 0);
      CHECK(end - begin == sizeof(SampleRecord));
    }
  } checking;
  RingImage image(1, kLaneBytes);
  const uint64_t head = PutOneOfEach(&image, 0, 0);
  CHECK(WalkLane(*RingView::Of(image.bytes()), 0, 0, head, checking).ok());
}

TEST_CASE("An empty lane is read up to its head") {
  RingImage image(1, kLaneBytes);
  CountingVisitor seen;
  const auto reached = WalkLane(*RingView::Of(image.bytes()), 0, 4096, 4096, seen);
  REQUIRE(reached.ok());
  CHECK(*reached == 4096);
}

TEST_CASE("Any flipped byte of a definition ends the scan, which reports lane and position") {
  RingImage image(1, kLaneBytes);
  ClassRecord record{};
  record.key = ClassKey("abcdefgh");
  record.name_bytes = 8;
  const uint64_t first = image.Put(0, 0, RecordType::kClass, record, {TextBytes("abcdefgh")});
  const uint64_t head = image.Put(0, first, RecordType::kClass, record, {TextBytes("abcdefgh")});
  for (uint64_t at = first; at < head; ++at) {
    // Bytes 6, 7 and 20-23 are reserved and not looked at.
    if (at - first == 6 || at - first == 7 || (at - first >= 20 && at - first < 24)) continue;
    CAPTURE(at);
    image.lane(0)[at] ^= std::byte{0x40};
    CountingVisitor seen;
    const auto reached = WalkLane(*RingView::Of(image.bytes()), 0, 0, head, seen);
    REQUIRE_FALSE(reached.ok());
    REQUIRE(reached.error().message.find("lane 0 position " + std::to_string(first)) != std::string::npos);
    REQUIRE(seen.classes == 1);
    image.lane(0)[at] ^= std::byte{0x40};
  }
}

TEST_CASE("A light point without size or weight ends the scan") {
  for (const auto& [size, weight] : {std::pair(uint64_t{0}, 16.0), std::pair(uint64_t{16}, 0.0),
                                     std::pair(uint64_t{16}, std::numeric_limits<double>::infinity())}) {
    RingImage image(1, kLaneBytes);
    PointRecord point{};
    point.size = size;
    point.weight = weight;
    const uint64_t head = image.Put(0, 0, RecordType::kPoint, point);
    CountingVisitor seen;
    CHECK_FALSE(WalkLane(*RingView::Of(image.bytes()), 0, 0, head, seen).ok());
    CHECK(seen.light_points == 0);
  }
}

TEST_CASE("Impossible positions are refused") {
  RingImage image(1, kLaneBytes);
  const RingView ring = *RingView::Of(image.bytes());
  CountingVisitor seen;
  CHECK_FALSE(WalkLane(ring, 1, 0, 0, seen).ok());
  CHECK_FALSE(WalkLane(ring, 0, 8, 0, seen).ok());
  CHECK_FALSE(WalkLane(ring, 0, 0, kLaneBytes + 8, seen).ok());
  CHECK_FALSE(WalkLane(ring, 0, 0, 4, seen).ok());
  CHECK_FALSE(WalkLane(ring, 0, 3, 8, seen).ok());
  CHECK_FALSE(WalkLane(ring, 0, 0, 8, seen).ok());  // a record of 0 bytes
}

TEST_CASE("A ring with an impossible header is refused") {
  const auto refused = [](const auto& damage) {
    RingImage image(2, kLaneBytes);
    REQUIRE(RingView::Of(image.bytes()).ok());
    damage(&image.header());
    return !RingView::Of(image.bytes()).ok();
  };
  CHECK(refused([](RingHeader* header) { header->magic ^= 1; }));
  CHECK(refused([](RingHeader* header) { ++header->version; }));
  CHECK(refused([](RingHeader* header) { header->header_bytes = 64; }));
  CHECK(refused([](RingHeader* header) { header->lane_header_bytes = 64; }));
  CHECK(refused([](RingHeader* header) { header->lane_count = 3; }));
  CHECK(refused([](RingHeader* header) { header->lane_count = UINT32_MAX; }));
  CHECK(refused([](RingHeader* header) { header->lane_bytes = 0; }));
  CHECK(refused([](RingHeader* header) { header->lane_bytes = 1000; }));
  CHECK(refused([](RingHeader* header) { header->lane_bytes = 1U << 31; }));
  RingImage image(1, kLaneBytes);
  CHECK_FALSE(RingView::Of(image.bytes().first(100)).ok());
  CHECK_FALSE(RingView::Of(image.bytes().subspan(1)).ok());
}

TEST_CASE("Content keys are those of docs/format/recording.md, and differ for different content") {
  // From XXH3's reference implementation (xxhsum -H3).
  CHECK(ClassKey("") == 0x2d06800538d394c2);
  CHECK(MethodKey("a", "b", "c") == ClassKey(std::string_view("a\0b\0c", 5)));
  CHECK(MethodKey("ab", "", "c") != MethodKey("a", "b", "c"));
  const RingFrame frame{1, 2, 3};
  CHECK_FALSE(KeyOfStack({&frame, 1}, false) == KeyOfStack({&frame, 1}, true));
  CHECK(ThreadKey(1, 2, false, "t") != ThreadKey(1, 2, true, "t"));
}

}  // namespace
}  // namespace heaprec::format::testing
