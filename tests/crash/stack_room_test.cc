// How much of an allocating thread's own stack a sample takes. HotSpot leaves a native method 80 KiB of it.
#include <pthread.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "recorder/buffer/lane_lease.h"
#include "recorder/buffer/ring.h"
#include "recorder/sources/sample/sample_writer.h"
#include "recorder/sources/sample/stack_capture.h"
#include "tests/crash/jvm_link_seams.h"

namespace heaprec::crash {
namespace {

constexpr size_t kStackBytes = 512 << 10;
constexpr std::byte kUntouched{0xa5};

// Commits a sample of each of a few objects.
struct Sampled {
  sources::SampleWriter& capture;
  static void* Run(void* self) {
    for (uint32_t number = 0; number < 10; ++number) {
      const Object object{1, number};
      sources::Point point;
      point.size = object.Size();
      point.weight = object.Weight();
      static_cast<Sampled*>(self)->capture.Commit(ContextOf(object), point);
    }
    return nullptr;
  }
};

// Bytes of its stack that a thread has touched which takes samples of stacks of up to `depth` frames.
size_t StackTouched(int depth) {
  buffer::RingOptions options;
  options.caps[format::Stream::kAllocations] = {1'000'000'000, 100};
  const auto ring = std::move(buffer::Ring::Create(options).value());
  buffer::SharedCounters shared_counters(ring->header().counters);
  sources::WindowPublisher board({.interval_ns = 1'000'000'000, .cap = 100}, 0);
  const hotspot::Names names;
  const sources::ThreadFields fields;
  const auto capture =
      std::make_unique<sources::SampleWriter>(*ring, shared_counters, board, names, /*walker=*/nullptr, fields, depth);
  Sampled sampled{*capture};
  void* memory = nullptr;
  REQUIRE(posix_memalign(&memory, 4096, kStackBytes) == 0);
  std::memset(memory, static_cast<int>(kUntouched), kStackBytes);
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstack(&attributes, memory, kStackBytes) == 0);
  pthread_t thread{};
  REQUIRE(pthread_create(&thread, &attributes, Sampled::Run, &sampled) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  const auto* const lowest = static_cast<const std::byte*>(memory);
  const auto* const touched =
      std::find_if(lowest, lowest + kStackBytes, [](std::byte byte) { return byte != kUntouched; });
  const auto bytes = static_cast<size_t>(lowest + kStackBytes - touched);
  std::free(memory);
  CHECK(shared_counters.Snapshot().committed == 10);
  return bytes;
}

}  // namespace

TEST_CASE("A sample needs little of its thread's stack, whatever the maximum depth") {
  // With what pthread and libc put there.
  CHECK(StackTouched(128) < 24 << 10);
  CHECK(StackTouched(256) < 40 << 10);
  CHECK(StackTouched(1024) < 24 << 10);
}

TEST_CASE("If all buffers are in use, a stack is truncated to what fits on the thread's own stack") {
  sources::StackBufferPool pool(1024);
  std::vector<std::unique_ptr<sources::StackBufferPool::Lease>> leases;
  for (uint32_t hint = 0; hint < 1000; ++hint) {
    leases.push_back(std::make_unique<sources::StackBufferPool::Lease>(pool, hint));
    if (!leases.back()->ok()) break;
    CHECK(leases.back()->depth() == 1024);
    std::memset(leases.back()->memory(), 0, sources::StackBuffer::BytesFor(1024));
  }
  REQUIRE(leases.size() < 1000);
  CHECK(leases.back()->depth() == sources::StackBufferPool::kMaxOnStack);
  leases.erase(leases.begin());
  CHECK(sources::StackBufferPool::Lease(pool, 7).ok());

  sources::StackBufferPool shallow(200);
  const sources::StackBufferPool::Lease on_stack(shallow, 0);
  CHECK_FALSE(on_stack.ok());
  CHECK(on_stack.depth() == 200);
}

TEST_CASE("The parts of a buffer do not overlap and are within it") {
  constexpr size_t kDepth = 300;
  std::vector<uint64_t> words(sources::StackBuffer::BytesFor(kDepth) / 8 + 1);
  auto* const memory = reinterpret_cast<std::byte*>(words.data());
  const sources::StackBuffer buffer(memory, kDepth);
  CHECK(buffer.frames.size() == kDepth);
  CHECK(static_cast<void*>(buffer.frames.data() + kDepth) == buffer.compared.data());
  CHECK(static_cast<void*>(buffer.compared.data() + kDepth) == buffer.asked.data());
  CHECK(static_cast<void*>(buffer.asked.data() + kDepth + 1) == buffer.described.data());
  CHECK(reinterpret_cast<std::byte*>(buffer.described.data() + kDepth + 1) ==
        memory + sources::StackBuffer::BytesFor(kDepth));
}

}  // namespace heaprec::crash
