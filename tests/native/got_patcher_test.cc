#include "recorder/native_sample/got_patcher.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "recorder/unwind/symbolizer.h"

namespace {
bool are_slots_sealed = false;
}  // namespace

// In libc's place.
extern "C" int mprotect(void* address, size_t bytes, int protection) noexcept {
  if (!are_slots_sealed || protection != (PROT_READ | PROT_WRITE)) {
    return static_cast<int>(syscall(SYS_mprotect, address, bytes, protection));
  }
  errno = EPERM;
  return -1;
}

namespace heaprec::native {
namespace {

std::atomic<int> replaced{0};

// What strtol is replaced by; it has this signature.
long Replacement(const char* text, char** end, int base) {
  ++replaced;
  return 1000 + (strtol)(text, end, base);
}

std::string PathOf(const std::string& binding) {
  return std::string(getenv("TEST_SRCDIR")) + "/heaprec/tests/native/libimporter_" + binding + ".so";
}

class Library {
 public:
  explicit Library(const std::string& binding)
      : handle_(dlopen(PathOf(binding).c_str(), RTLD_LOCAL | (binding == "lazy" ? RTLD_LAZY : RTLD_NOW))) {
    REQUIRE(handle_ != nullptr);
  }
  ~Library() { Close(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void Close() {
    if (handle_ != nullptr) dlclose(std::exchange(handle_, nullptr));
  }
  void* Find(const char* function) const { return dlsym(handle_, function); }
  long Call(const char* function) const {
    const auto call = reinterpret_cast<long (*)(const char*)>(Find(function));
    REQUIRE(call != nullptr);
    return call("7");
  }

 private:
  void* handle_;
};

// Not in this program, whose own slot leads to the real one.
GotPatcher Patcher() {
  return GotPatcher({{"strtol", reinterpret_cast<void*>(&Replacement), {dlsym(RTLD_DEFAULT, "strtol")}}},
                    reinterpret_cast<const void*>(&Replacement));
}

GotPatcher::Outcome PatchAll(GotPatcher* patcher) {
  for (;;) {
    const GotPatcher::Listed loaded = GotPatcher::Loaded();
    GotPatcher::AwaitLoaders();
    if (const auto outcome = patcher->Patch(loaded)) return *outcome;
  }
}

}  // namespace

TEST_CASE("Calls of a library go to the replacement until the slots are restored") {
  for (const char* binding : {"now", "lazy"}) {
    INFO(binding);
    const Library library(binding);
    GotPatcher patcher = Patcher();
    replaced = 0;
    CHECK(library.Call("call_through_table") == 7);
    SECTION("before the first call") {}
    SECTION("after it") { CHECK(library.Call("call") == 7); }
    const GotPatcher::Outcome patched = PatchAll(&patcher);
    CHECK(patched.changed >= 2);
    CHECK(patched.refused == 0);
    CHECK(library.Call("call") == 1007);
    CHECK(library.Call("call_through_table") == 1007);
    CHECK(library.Call("call_through_pointer") == 1007);
    CHECK(replaced == 3);
    CHECK(PatchAll(&patcher).changed == 0);
    CHECK(patcher.UndoAll().changed == patched.changed);
    CHECK(library.Call("call") == 7);
    CHECK(library.Call("call_through_table") == 7);
    CHECK(replaced == 3);
    CHECK(patcher.UndoAll().changed == 0);
  }
}

#ifndef __SANITIZE_THREAD__  // TSan itself reads the segments of all libraries in dlopen
TEST_CASE("A library whose first page is unreadable is skipped until it is readable") {
  const Library library("now");
  Dl_info info;
  REQUIRE(dladdr(library.Find("call"), &info) != 0);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  GotPatcher patcher = Patcher();
  Symbolizer places;
  REQUIRE(mprotect(info.dli_fbase, page, PROT_NONE) == 0);
  const size_t others = PatchAll(&patcher).changed;
  places.Refresh();
  REQUIRE(mprotect(info.dli_fbase, page, PROT_READ | PROT_EXEC) == 0);
  CHECK(library.Call("call") == 7);
  CHECK(PatchAll(&patcher).changed == 3);
  CHECK(library.Call("call") == 1007);
  CHECK(patcher.UndoAll().changed == others + 3);
}
#endif

TEST_CASE("The next pass finds libraries that were loaded, and forgets those that are gone") {
  GotPatcher patcher = Patcher();
  const size_t before = PatchAll(&patcher).changed;
  {
    Library library("now");
    CHECK(library.Call("call") == 7);
    CHECK(PatchAll(&patcher).changed == 3);
    CHECK(library.Call("call") == 1007);
    library.Close();
  }
  CHECK(PatchAll(&patcher).changed == 0);
  {
    const Library library("now");  // often where the other was
    CHECK(library.Call("call") == 7);
    CHECK(PatchAll(&patcher).changed == 3);
    CHECK(library.Call("call") == 1007);
    CHECK(patcher.UndoAll().changed == before + 3);
    CHECK(library.Call("call") == 7);
  }
}

TEST_CASE("A pointer that a program has set to its own function is not changed") {
  for (const char* binding : {"now", "lazy"}) {
    INFO(binding);
    const Library library(binding);
    CHECK(library.Call("choose_own") == 1);
    GotPatcher patcher = Patcher();
    CHECK(PatchAll(&patcher).changed >= 2);
    CHECK(library.Call("call") == 1007);
    CHECK(library.Call("call_through_pointer") == 5);
    (void)patcher.UndoAll();
    CHECK(library.Call("call_through_pointer") == 5);
  }
}

TEST_CASE("A library that another thread is loading is patched only when it is complete") {
  GotPatcher patcher = Patcher();
  (void)PatchAll(&patcher);
  std::optional<Library> library;
  std::thread loader([&] { library.emplace("slow"); });
  while (!patcher.LibrariesChanged()) std::this_thread::yield();
  SECTION("at once") {}
  SECTION("when its slot is there, and more are to come") {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const size_t changed = PatchAll(&patcher).changed;
  loader.join();
  CHECK(changed == 1);
  CHECK(library->Call("call") == 1010);
  CHECK(library->Call("call_from_code") == 7);  // code is left alone
  CHECK(patcher.UndoAll().changed >= 1);
  CHECK(library->Call("call") == 10);
}

TEST_CASE("A thread that loads and unloads constantly does not prevent libraries from being patched") {
  const Library library("lazy");
  std::atomic<bool> stop{false};
  std::atomic<int> loads{0};
  std::thread loader([&] {
    for (; !stop; ++loads) dlclose(dlopen(PathOf("now").c_str(), RTLD_LOCAL | RTLD_NOW));
  });
  while (loads == 0) std::this_thread::yield();
  GotPatcher patcher = Patcher();
  for (int i = 0; i < 100; ++i) {
    long answer = 0;
    for (int tries = 0; tries < 1000 && answer != 1007; ++tries) {
      (void)PatchAll(&patcher);
      answer = library.Call("call");
    }
    CHECK(answer == 1007);
    (void)patcher.UndoAll();
    CHECK(library.Call("call") == 7);
  }
  stop = true;
  loader.join();
}

TEST_CASE("Slots that cannot be written are not changed, and reported with library and reason") {
  const Library sealed("now"), open("lazy");
  const char* const refusal =
      "calls of libimporter_now.so are not seen: their slots cannot be written to (Operation not permitted)";
  GotPatcher patcher = Patcher();
  are_slots_sealed = true;
  const GotPatcher::Outcome patched = PatchAll(&patcher);
  are_slots_sealed = false;
  CHECK(patched.changed >= 1);
  REQUIRE(patched.refused >= 2);
  CHECK(patched.Refusal() == refusal);
  CHECK(sealed.Call("call") == 7);
  CHECK(open.Call("call") == 1007);
  (void)patcher.UndoAll();
  CHECK(PatchAll(&patcher).Refusal() == "");
  CHECK(sealed.Call("call") == 1007);
  are_slots_sealed = true;
  CHECK(patcher.UndoAll().refused == patched.refused);
  are_slots_sealed = false;
  CHECK(sealed.Call("call") == 1007);
  CHECK(patcher.UndoAll().changed == patched.refused);
  CHECK(sealed.Call("call") == 7);
}

TEST_CASE("Of many libraries that refuse, the first are named") {
  const GotPatcher::Outcome outcome{
      .refused = 9, .refusing = {"", "a.so", "b.so", "c.so", "d.so", "e.so"}, .error = EACCES};
  CHECK(outcome.Refusal() ==
        "calls of the program, a.so, b.so, c.so and 2 others are not seen: their slots cannot be written to "
        "(Permission denied)");
}

TEST_CASE("This program's own slots are not changed") {
  GotPatcher patcher = Patcher();
  (void)PatchAll(&patcher);
  replaced = 0;
  CHECK(std::strtol("8", nullptr, 10) == 8);
  CHECK(replaced == 0);
  (void)patcher.UndoAll();
}

TEST_CASE("Threads call functions during patching") {
  const Library library("now");
  std::atomic<bool> stop{false};
  std::atomic<long> wrong{0}, calls{0};
  std::thread caller([&] {
    while (!stop) {
      const long answer = library.Call("call");
      wrong += answer != 7 && answer != 1007;
      ++calls;
    }
  });
  GotPatcher patcher = Patcher();
  while (calls == 0) std::this_thread::yield();
  for (int i = 0; i < 300; ++i) {
    (void)PatchAll(&patcher);
    (void)patcher.UndoAll();
  }
  stop = true;
  caller.join();
  CHECK(wrong == 0);
  CHECK(library.Call("call") == 7);
}

}  // namespace heaprec::native
