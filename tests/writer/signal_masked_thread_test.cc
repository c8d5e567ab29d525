#include "recorder/writer/signal_masked_thread.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <clocale>
#include <cstring>
#include <string>
#include <utility>

namespace heaprec::writer {
namespace {

// Python and shells change theirs while the agent's threads run. A name that getenv looks at may be gone by then.
TEST_CASE("An error message of a thread reads no environment, whatever the program's locale") {
  REQUIRE(std::setlocale(LC_ALL, "C.UTF-8") != nullptr);
  void* const unreadable = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(unreadable != MAP_FAILED);
  char** const environment = environ;
  environ = static_cast<char**>(unreadable);
  std::string said;
  const auto say = [](void* into) { *static_cast<std::string*>(into) = std::strerror(ENOENT); };
  const auto thread = StartSignalMaskedThread("says", say, nullptr, &said);
  if (thread.ok()) pthread_join(*thread, nullptr);
  environ = environment;
  REQUIRE(thread.ok());
  CHECK(said == "No such file or directory");
}

std::string OpenSignals() {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  std::string open;
  for (int number = 1; number < SIGRTMIN - 2; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    if (sigismember(&blocked, number) == 0) open += std::to_string(number) + " ";
  }
  return open;
}

// Sets `text` to its open signals and, after them, those of a thread that it starts itself.
void SayOpenSignals(void* text) {
  auto* const said = static_cast<std::string*>(text);
  *said = OpenSignals();
  std::string next;
  const auto say = [](void* into) { *static_cast<std::string*>(into) = OpenSignals(); };
  const auto thread = StartSignalMaskedThread("next", say, nullptr, &next);
  if (thread.ok()) pthread_join(*thread, nullptr);
  *said += "| " + next;
}

TEST_CASE("A thread blocks all signals except faults, without a JVM except SIGSEGV and SIGBUS, and so do its threads") {
  const std::string of_jvm = fmt::format("{} {} {} {} {} ", SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV);
  const std::string of_program = fmt::format("{} {} ", SIGBUS, SIGSEGV);
  for (const auto& [process, open] : {std::pair(Process::kAsCaller, of_jvm), {Process::kWithoutJvm, of_program}}) {
    std::string said;
    const auto thread = StartSignalMaskedThread("says", SayOpenSignals, nullptr, &said, process);
    REQUIRE(thread.ok());
    pthread_join(*thread, nullptr);
    CHECK(said == open + "| " + open);
  }
  CHECK(OpenSignals().find(std::to_string(SIGTERM) + " ") != std::string::npos);  // the caller's are as before
}

}  // namespace
}  // namespace heaprec::writer
