// A word is read or is not there, in each way that a kernel leaves open.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "recorder/hotspot/memory.h"

namespace heaprec::hotspot {
namespace {

constexpr size_t kPageBytes = 4096;

// A page that can be read, and one behind it that cannot.
uint64_t* PageBeforeAHole() {
  void* const pages = mmap(nullptr, 2 * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages != MAP_FAILED);
  auto* const words = static_cast<uint64_t*>(pages);
  REQUIRE(mprotect(words + kPageBytes / sizeof(uint64_t), kPageBytes, PROT_NONE) == 0);
  return words;
}

void RequireWords(const SafeReader& reader) {
  uint64_t* const words = PageBeforeAHole();
  for (const uint64_t word : {uint64_t{0}, uint64_t{42}, ~uint64_t{0}}) {
    words[1] = word;
    CHECK(reader.Word(words + 1) == word);
  }
  const uint64_t* const hole = words + kPageBytes / sizeof(uint64_t);
  CHECK_FALSE(reader.Word(hole).has_value());
  CHECK_FALSE(reader.Word(nullptr).has_value());
  CHECK(SafeReader::IsReadable(words));
  CHECK(SafeReader::IsReadable(hole - 1));
  CHECK_FALSE(SafeReader::IsReadable(hole));
  CHECK_FALSE(SafeReader::IsReadable(nullptr));
}

}  // namespace

TEST_CASE("A word is read, and an unmapped one has no value") {
  const SafeReader reader = SafeReader::Probe();
  CHECK(reader.way() != SafeReader::Way::kNone);
  RequireWords(reader);
}

// Runs itself once more, under a filter that refuses the call.
TEST_CASE("If process_vm_readv is refused, words are read through a pipe") {
  constexpr const char* kIsRefused = "HEAPREC_TEST_IS_REFUSED";
  if (getenv(kIsRefused) != nullptr) {  // NOLINT(concurrency-mt-unsafe): one thread
    const SafeReader reader = SafeReader::Probe();
    CHECK(reader.way() == SafeReader::Way::kPipe);
    CHECK(reader.Description() == "a pipe (process_vm_readv: Operation not permitted)");
    return RequireWords(reader);
  }
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setenv(kIsRefused, "1", 1);  // NOLINT(concurrency-mt-unsafe): one thread
    execl("tests/support/refuse", "refuse", "process_vm_readv", self.c_str(), "If process_vm_readv*", "--warn",
          "NoTests", nullptr);
    _exit(127);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace heaprec::hotspot
