#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "base/memory.h"

namespace heaprec::buffer {
namespace {

constexpr size_t kBytes = 8 << 20;

// KiB that are resident of the mapping that `address` is in.
uint64_t ResidentAt(const void* address) {
  std::ifstream smaps("/proc/self/smaps");
  bool is_inside = false;
  for (std::string line; std::getline(smaps, line);) {
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream range(line);
    if (range >> std::hex >> begin >> dash >> end && dash == '-') {
      const auto at = reinterpret_cast<uintptr_t>(address);
      is_inside = begin <= at && at < end;
    }
    if (is_inside && line.starts_with("Rss:")) return std::strtoull(line.c_str() + 4, nullptr, 10);
  }
  return UINT64_MAX;
}

// Fails without the advice only where transparent huge pages are always on.
TEST_CASE("Only touched pages of sparse memory are resident") {
  auto* const memory = static_cast<volatile char*>(MapSparse(kBytes));
  REQUIRE(memory != nullptr);
  for (size_t at = 0; at < kBytes; at += kBytes / 4) {
    CHECK(memory[at] == 0);
    memory[at] = 1;
  }
  CHECK(ResidentAt(const_cast<const char*>(memory)) <= 4 * 64);  // four pages, of 64 KiB at most
}

}  // namespace
}  // namespace heaprec::buffer
