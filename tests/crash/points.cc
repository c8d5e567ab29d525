#include "tests/crash/points.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace heaprec::crash {
namespace {

std::string_view armed;
uint64_t wanted = 0;
std::atomic<uint64_t> passings{0};
std::atomic<uint32_t>* told = nullptr;

// In a JVM: HEAPREC_FATAL_POINT=name:passing.
[[maybe_unused]] const bool from_environment = [] {
  const char* const value = getenv("HEAPREC_FATAL_POINT");  // NOLINT(concurrency-mt-unsafe): at load, one thread
  if (value == nullptr) return false;
  static const std::string text(value);
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return false;
  Arm(std::string_view(text).substr(0, colon), std::strtoull(text.c_str() + colon + 1, nullptr, 10), nullptr);
  return true;
}();

}  // namespace

void Arm(std::string_view point, uint64_t passing, std::atomic<uint32_t>* fired) {
  armed = point;
  wanted = passing;
  passings = 0;
  told = fired;
}

bool IsArmed(std::string_view point) { return armed == point; }

void Pass(std::string_view point) {
  if (armed != point || passings.fetch_add(1, std::memory_order_relaxed) + 1 != wanted) return;
  if (told != nullptr) told->store(1);
  syscall(SYS_kill, getpid(), SIGKILL);
}

}  // namespace heaprec::crash
