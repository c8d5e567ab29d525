// Functions of this very program, which is linked with a build id that the test knows.
#include "recorder/unwind/elf_functions.h"

#include <dlfcn.h>

#include <catch2/catch.hpp>

// Its symbol is its name.
extern "C" __attribute__((noinline, used)) int heaprec_test_function(int number) { return number + 1; }

namespace heaprec::native {
namespace {

constexpr char kProgram[] = "/proc/self/exe", kBuildId[] = "0123456789abcdef";

uint64_t AddressInFile() {
  void* const function = reinterpret_cast<void*>(&heaprec_test_function);
  Dl_info info;
  REQUIRE(dladdr(function, &info) != 0);
  return reinterpret_cast<uintptr_t>(function) - reinterpret_cast<uintptr_t>(info.dli_fbase);
}

}  // namespace

TEST_CASE("A function is told by an address in it") {
  for (const char* const build_id : {"", kBuildId}) {
    const ElfFunctionIndex table(kProgram, build_id);
    const ElfFunctionIndex::Function function = table.At(AddressInFile() + 1);
    CHECK(function.symbol == "heaprec_test_function");
    CHECK(function.offset == 1);
    CHECK(table.At(UINT64_MAX).symbol.empty());
  }
}

// The process goes on with the library that it has, when another one takes its place in the file system.
TEST_CASE("Functions of a file that is not the one which was loaded are not told") {
  CHECK(ElfFunctionIndex(kProgram, "fedcba9876543210").At(AddressInFile() + 1).symbol.empty());
  CHECK(ElfFunctionIndex("/proc/self/status", "").At(AddressInFile() + 1).symbol.empty());
  CHECK(ElfFunctionIndex("/nowhere", kBuildId).At(AddressInFile() + 1).symbol.empty());
}

}  // namespace heaprec::native
