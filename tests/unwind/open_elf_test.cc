// ELF files of a process, and the functions of this very program, which is linked with a build id that the test knows.
#include <dlfcn.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "base/elf_file.h"
#include "recorder/unwind/symbolizer.h"

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

TEST_CASE("A function is found by an address in it") {
  for (const char* const build_id : {"", kBuildId}) {
    const ElfFunctions table(kProgram, build_id, OpenElf);
    const ElfFunctions::Function function = table.At(AddressInFile() + 1);
    CHECK(function.symbol == "heaprec_test_function");
    CHECK(function.offset == 1);
    CHECK(table.At(UINT64_MAX).symbol.empty());
  }
}

// The process goes on with the library that it has, when another one takes its place in the file system.
TEST_CASE("Functions of a file other than the loaded one are not found") {
  CHECK(ElfFunctions(kProgram, "fedcba9876543210", OpenElf).At(AddressInFile() + 1).symbol.empty());
  CHECK(ElfFunctions("/proc/self/status", "", OpenElf).At(AddressInFile() + 1).symbol.empty());
  CHECK(ElfFunctions("/nowhere", kBuildId, OpenElf).At(AddressInFile() + 1).symbol.empty());
}

TEST_CASE("The interpreter, machine and libraries of a program are read") {
  const auto program = OpenElf(kProgram);
  REQUIRE(program.ok());
  CHECK(program->HasSegment(PT_INTERP));
  CHECK_FALSE(program->HasSegment(PT_SHLIB));
  CHECK(program->machine() != EM_NONE);
  CHECK(std::ranges::count(program->Needed(), std::string("libc.so.6")) == 1);
  CHECK(program->BuildId() == kBuildId);
}

TEST_CASE("A library's function has a name after the library was loaded and the list of libraries read again") {
  constexpr char kLibrary[] = "libthread_db.so.1";  // nothing here needs it
  REQUIRE(dlopen(kLibrary, RTLD_NOW | RTLD_NOLOAD) == nullptr);
  Symbolizer symbols;
  CHECK_FALSE(symbols.IsCurrent());
  symbols.Refresh();
  CHECK(symbols.IsCurrent());

  void* const library = dlopen(kLibrary, RTLD_LAZY);  // a debugger would have its other functions
  REQUIRE(library != nullptr);
  const auto return_address = reinterpret_cast<uintptr_t>(dlsym(library, "td_init")) + 1;
  REQUIRE(return_address != 1);
  CHECK_FALSE(symbols.IsCurrent());
  CHECK(symbols.At(return_address).module.empty());
  symbols.Refresh();
  CHECK(symbols.IsCurrent());
  CHECK(symbols.At(return_address).module == kLibrary);
  CHECK(symbols.At(return_address).function == "td_init");

  REQUIRE(dlclose(library) == 0);
  CHECK_FALSE(symbols.IsCurrent());
  symbols.Refresh();
  CHECK(symbols.At(return_address).module == kLibrary);  // for stacks taken before it was unloaded
  CHECK(symbols.IsCurrent());
}

TEST_CASE("Only regular files are read") {
  for (const char* const path : {"/dev/zero", "/", "/no/such/file"}) {
    const auto opened = OpenElf(path);
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().message.find(path) == 0);
  }
}

}  // namespace heaprec::native
