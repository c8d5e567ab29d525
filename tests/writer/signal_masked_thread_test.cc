#include "recorder/writer/signal_masked_thread.h"

#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <clocale>
#include <cstring>
#include <string>

namespace heaprec::writer {
namespace {

// Python and shells change theirs while the agent's threads run. A name that getenv looks at may be gone by then.
TEST_CASE("to say what failed a thread reads no environment, whatever the program's language") {
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

}  // namespace
}  // namespace heaprec::writer
