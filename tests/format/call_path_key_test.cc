#include "format/ring/call_path_key.h"

#include <catch2/catch.hpp>
#include <vector>

#include "throttle/random.h"

namespace heaprec::format {
namespace {

// Leaf first; the keys of the methods are hashes.
std::vector<RingFrame> Stack(std::initializer_list<uint64_t> methods) {
  std::vector<RingFrame> frames;
  for (const uint64_t method : methods) frames.push_back({throttle::Mix64(method), 3, 30});
  return frames;
}

}  // namespace

TEST_CASE("Stacks with the same beginning have paths with the same beginning") {
  const uint64_t path = CallPathKey(Stack({1, 2, 3, 4, 5}));
  CHECK(CallPathKey(Stack({1, 2, 3, 4, 6})) == path);  // four methods count
  CHECK((CallPathKey(Stack({1, 2, 3, 9})) ^ path) >> 16 == 0);
  CHECK((CallPathKey(Stack({1, 2, 9, 9})) ^ path) >> 32 == 0);
  CHECK((CallPathKey(Stack({1, 9, 9, 9})) ^ path) >> 48 == 0);
  CHECK((CallPathKey(Stack({9, 2, 3, 4})) ^ path) >> 48 != 0);
}

TEST_CASE("A path identifies its methods, and is 0 without methods") {
  CHECK(CallPathKey(Stack({1, 2})) != CallPathKey(Stack({2, 1})));
  CHECK((CallPathKey(Stack({1, 2})) & 0xffffffff) == 0);
  CHECK(CallPathKey({}) == 0);
}

TEST_CASE("The bytecode index does not change the path") {
  auto frames = Stack({1, 2, 3, 4});
  const uint64_t path = CallPathKey(frames);
  frames[0].bci = 77;
  CHECK(CallPathKey(frames) == path);
}

}  // namespace heaprec::format
