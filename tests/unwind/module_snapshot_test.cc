// What /proc says of loaded modules against what the loader says.
#include "recorder/unwind/module_snapshot.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace heaprec::native {
namespace {

using Module = ModuleSnapshot::Module;

std::vector<dl_phdr_info> Loaded() {
  std::vector<dl_phdr_info> all;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        static_cast<std::vector<dl_phdr_info>*>(into)->push_back(*info);
        return 0;
      },
      &all);
  return all;
}

uintptr_t CodeIn(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) return info.dlpi_addr + segment.p_vaddr;
  }
  return 0;
}

// Of all segments where the linker left pages free between two: of such a module the loader knows each segment by
// itself. Else 0.
uintptr_t EndBeyondGap(const dl_phdr_info& info) {
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t end = 0;
  bool has_gap = false;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    has_gap |= end > 0 && (end + page - 1) / page < segment.p_vaddr / page;
    end = segment.p_vaddr + segment.p_memsz;
  }
  return has_gap ? info.dlpi_addr + end : 0;
}

// A library that this program is not linked with.
constexpr const char* kLibrary = "libBrokenLocale.so.1";

void* Load() {
  for (const char* name : {kLibrary, "libutil.so.1", "libanl.so.1"}) {
    if (void* const library = dlopen(name, RTLD_NOW)) return library;
  }
  return nullptr;
}

uintptr_t CodeIn(void* library) {
  link_map* map = nullptr;
  REQUIRE(dlinfo(library, RTLD_DI_LINKMAP, &map) == 0);
  for (const dl_phdr_info& info : Loaded()) {
    if (info.dlpi_addr == map->l_addr) return CodeIn(info);
  }
  return 0;
}

}  // namespace

TEST_CASE("A snapshot has the same modules as the loader") {
  const auto snapshot = std::make_unique<ModuleSnapshot>();
  size_t count = 0;
  for (int pass = 0; pass < 2; ++pass) {  // asked for the first time, and known
    for (const dl_phdr_info& info : Loaded()) {
      INFO(info.dlpi_name);
      const uintptr_t pc = CodeIn(info);
      dl_find_object wanted;
      REQUIRE(_dl_find_object(std::bit_cast<void*>(pc), &wanted) == 0);
      Module module;
      REQUIRE(snapshot->Find(pc, &module));
      CHECK(module.begin == std::bit_cast<uintptr_t>(wanted.dlfo_map_start));
      const uintptr_t beyond_gap = EndBeyondGap(info);
      CHECK(module.end == (beyond_gap != 0 ? beyond_gap : std::bit_cast<uintptr_t>(wanted.dlfo_map_end)));
      CHECK(module.index == std::bit_cast<uintptr_t>(wanted.dlfo_eh_frame));
      CHECK(module.bias == info.dlpi_addr);
      ++count;
    }
  }
  CHECK(count >= 6);
}

TEST_CASE("A snapshot finds nothing at addresses without a module, and preserves errno") {
  ModuleSnapshot* const snapshot = std::make_unique<ModuleSnapshot>().release();
  const std::unique_ptr<ModuleSnapshot> owner(snapshot);
  Module module;
  int local = 0;
  void* const anonymous = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  errno = 77;
  CHECK_FALSE(snapshot->Find(std::bit_cast<uintptr_t>(&local), &module));
  CHECK_FALSE(snapshot->Find(std::bit_cast<uintptr_t>(anonymous), &module));
  CHECK_FALSE(snapshot->Find(0, &module));
  CHECK_FALSE(snapshot->Find(UINTPTR_MAX, &module));
  snapshot->Renew();
  CHECK(errno == 77);
  munmap(anonymous, 4096);
}

TEST_CASE("A library that is loaded later is found, and removed after it is unloaded") {
  const auto snapshot = std::make_unique<ModuleSnapshot>();
  Module module;
  snapshot->Renew();
  void* const library = Load();
  REQUIRE(library != nullptr);
  const uintptr_t pc = CodeIn(library);
  REQUIRE(snapshot->Find(pc, &module));
  snapshot->Renew();
  CHECK(snapshot->Find(pc, &module));
  std::array<char, 400> path;
  MappedFileAt(pc, path);
  CHECK(std::filesystem::exists(path.data()));
  dlclose(library);
  snapshot->Renew();
  CHECK_FALSE(snapshot->Find(pc, &module));
  CHECK(snapshot->Find(std::bit_cast<uintptr_t>(&std::malloc), &module));
}

TEST_CASE("The path of a mapping is the file's, and empty if it is too long") {
  std::array<char, 400> path;
  MappedFileAt(std::bit_cast<uintptr_t>(&Load), path);
  CHECK(path.data() == std::filesystem::read_symlink("/proc/self/exe").string());
  std::array<char, 4> small;
  MappedFileAt(std::bit_cast<uintptr_t>(&Load), small);
  CHECK(std::string(small.data()).empty());
}

TEST_CASE("Look-ups while libraries are loaded and unloaded never return another module") {
  const auto snapshot = std::make_unique<ModuleSnapshot>();
  std::vector<std::pair<uintptr_t, uintptr_t>> steady;  // pc, bias
  for (const dl_phdr_info& info : Loaded()) steady.emplace_back(CodeIn(info), info.dlpi_addr);
  std::atomic<bool> ends{false};
  std::atomic<size_t> wrong{0}, asked{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      do {
        for (const auto& [pc, bias] : steady) {
          Module module;
          if (!snapshot->Find(pc, &module) || module.bias != bias) ++wrong;
          ++asked;
        }
      } while (!ends);
    });
  }
  for (int i = 0; i < 200; ++i) {
    void* const library = Load();
    Module module;
    if (!snapshot->Find(CodeIn(library), &module)) ++wrong;
    dlclose(library);
    snapshot->Renew();
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(asked >= steady.size());
  CHECK(wrong == 0);
}

TEST_CASE("If there are too many modules, they replace each other") {
  const auto snapshot = std::make_unique<ModuleSnapshot>();
  // One library mapped by hand at many places.
  const std::string path = [] {
    std::array<char, 400> text;
    MappedFileAt(std::bit_cast<uintptr_t>(&std::malloc), text);
    return std::string(text.data());
  }();
  FILE* const file = fopen(path.c_str(), "re");
  REQUIRE(file != nullptr);
  constexpr int kMany = 600;
  std::vector<void*> copies;
  for (int i = 0; i < kMany; ++i) {
    void* const copy = mmap(nullptr, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0);
    REQUIRE(copy != MAP_FAILED);
    copies.push_back(copy);
  }
  for (const auto* const copy : copies) {
    Module module;
    CHECK(snapshot->Find(std::bit_cast<uintptr_t>(copy) + 100, &module));
    CHECK(module.begin <= std::bit_cast<uintptr_t>(copy) + 100);
  }
  for (void* const copy : copies) munmap(copy, 8192);
  fclose(file);
}

TEST_CASE("A forked child continues with its parent's modules") {
  const auto snapshot = std::make_unique<ModuleSnapshot>();
  Module module;
  REQUIRE(snapshot->Find(std::bit_cast<uintptr_t>(&std::malloc), &module));
  const pid_t child = fork();
  if (child == 0) {
    Module again;
    const bool is_same = snapshot->Find(std::bit_cast<uintptr_t>(&std::malloc), &again) && again.begin == module.begin;
    void* const library = Load();
    _exit(is_same && library != nullptr && snapshot->Find(CodeIn(library), &again) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace heaprec::native
