#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/elf_file.h"
#include "base/locked_file.h"
#include "base/memory.h"
#include "recorder/buffer/ring.h"
#include "recorder/buffer/stale_rings.h"
#include "recorder/native_count/site_table.h"
#include "recorder/native_count/stale_tables.h"
#include "tests/support/files.h"

namespace heaprec::format {
namespace {

constexpr char kName[] = "some.elf";

Result<ElfFile> Opened(const std::string& bytes) {
  return ElfFile::Open(kName, [bytes](uint64_t offset, void* out, size_t size) {
    if (offset > bytes.size() || size > bytes.size() - offset) return false;
    std::memcpy(out, bytes.data() + offset, size);
    return true;
  });
}

// A whole ELF file in about 600 bytes: null, strings of sections, .symtab of two symbols, .strtab, build id, debug
// link.
std::string SmallElf() {
  const std::string section_names("\0.shstrtab\0.symtab\0.strtab\0.note.gnu.build-id\0.gnu_debuglink\0", 61);
  const std::string strings("\0first\0second\0", 14);
  const std::string note("\4\0\0\0\2\0\0\0\3\0\0\0GNU\0\xab\xcd\0\0", 20);
  const std::string link("libjvm.debug\0\0\0\0\1\2\3\4", 20);
  Elf64_Sym symbols[3] = {};
  symbols[1] = {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1000, 0x1000};
  symbols[2] = {7, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0x1800, 0x10};
  Elf64_Shdr sections[6] = {};
  std::string body(sizeof(Elf64_Ehdr), '\0');
  const auto add = [&body, &sections](int index, uint32_t type, uint32_t name, const std::string& bytes) {
    sections[index].sh_type = type;
    sections[index].sh_name = name;
    sections[index].sh_offset = body.size();
    sections[index].sh_size = bytes.size();
    body += bytes;
  };
  add(1, SHT_STRTAB, 1, section_names);
  add(2, SHT_SYMTAB, 11, {reinterpret_cast<const char*>(symbols), sizeof symbols});
  add(3, SHT_STRTAB, 19, strings);
  add(4, SHT_NOTE, 27, note);
  add(5, SHT_PROGBITS, 46, link);
  sections[2].sh_entsize = sizeof(Elf64_Sym);
  sections[2].sh_link = 3;
  Elf64_Ehdr header = {};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = body.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 6;
  header.e_shstrndx = 1;
  body.replace(0, sizeof header, reinterpret_cast<const char*>(&header), sizeof header);
  return body + std::string(reinterpret_cast<const char*>(sections), sizeof sections);
}

TEST_CASE("Build id, debug link and symbols of a small file are read") {
  const auto file = Opened(SmallElf());
  REQUIRE(file.ok());
  CHECK(file->BuildId() == "abcd");
  CHECK(file->DebugLink() == "libjvm.debug");
  const auto symbols = file->ReadSymbols(SHT_SYMTAB);
  REQUIRE(symbols.ok());
  REQUIRE(symbols->entries.size() == 3);
  CHECK(symbols->Name(symbols->entries[1]) == "first");
  CHECK(symbols->Name(symbols->entries[2]) == "second");
  CHECK(symbols->entries[2].st_value == 0x1800);
}

TEST_CASE("A function is found although another one overlaps it") {
  const ElfFunctions functions("", "abcd", [](const std::string&) { return Opened(SmallElf()); });
  const auto is = [&](uint64_t address, const std::string& symbol, uint32_t offset) {
    const ElfFunctions::Function function = functions.At(address);
    return function.symbol == symbol && function.offset == offset;
  };
  CHECK(is(0xfff, "", 0));
  CHECK(is(0x17ff, "first", 0x7ff));
  CHECK(is(0x180f, "second", 0xf));
  CHECK(is(0x1810, "first", 0x810));
  CHECK(is(0x2000, "", 0));
}

TEST_CASE("A truncated file is an error or has fewer symbols, never more") {
  const std::string whole = SmallElf();
  for (size_t size = 0; size < whole.size(); ++size) {
    CHECK_FALSE(Opened(whole.substr(0, size)).ok());  // the section headers come last
  }
}

TEST_CASE("An unterminated entry of a string table has no name") {
  ElfFile::Symbols symbols;
  symbols.strings = std::string("\0end", 4);
  Elf64_Sym symbol = {};
  symbol.st_name = 1;
  CHECK(symbols.Name(symbol).empty());
  symbol.st_name = 0xffffffff;
  CHECK(symbols.Name(symbol).empty());
}

TEST_CASE("The error for a file that is not 64-bit ELF names the file") {
  for (const std::string& bytes : {std::string(), std::string(5000, 'x')}) {
    const auto opened = Opened(bytes);
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().message.find(kName) == 0);
  }
}

TEST_CASE("Notes with wrong sizes are skipped") {
  const std::string huge("\4\0\0\0\xff\xff\xff\xff\3\0\0\0GNU\0", 16);
  CHECK(BuildIdIn(huge).empty());
  const std::string name("\xff\xff\xff\xff\4\0\0\0\3\0\0\0GNU\0", 16);
  CHECK(BuildIdIn(name).empty());
  const std::string other("\4\0\0\0\0\0\0\0\1\0\0\0GNU\0", 16);
  const std::string good("\4\0\0\0\1\0\0\0\3\0\0\0GNU\0\x5a\0\0\0", 20);
  CHECK(BuildIdText(BuildIdIn(other + good)) == "5a");
}

}  // namespace

}  // namespace heaprec::format

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

using testing::FilesIn;

// Of rings and tables.
struct Folder : testing::Folder {
  Folder() : testing::Folder(testing::kSharedMemory) {}
};

bool LeadsTo(const std::string& path, int descriptor) {
  struct stat named {
  }, open{};
  return lstat(path.c_str(), &named) == 0 && fstat(descriptor, &open) == 0 && named.st_dev == open.st_dev &&
         named.st_ino == open.st_ino;
}

bool IsThere(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// What the processes of a test count in memory that they share.
struct Counts {
  std::atomic<uint32_t> started, lost, removed;
};

Counts* SharedCounts() {
  void* const memory = mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return new (memory) Counts{};
}

constexpr uint32_t kProcesses = 200;

uint32_t RoundsFromEnvironment() {
  const char* const rounds = std::getenv("HEAPREC_LOCK_ROUNDS");
  return rounds != nullptr ? static_cast<uint32_t>(std::atoi(rounds)) : 1;
}

// Runs `life` in 200 processes at once, in each round. A life ends by a kill, or by its return.
template <typename Life>
void Crowd(const Life& life) {
  for (uint32_t round = 0; round < RoundsFromEnvironment(); ++round) {
    std::array<int, 2> gate{};
    REQUIRE(pipe(gate.data()) == 0);
    std::vector<pid_t> processes;
    for (uint32_t i = 0; i < kProcesses; ++i) {
      const pid_t process = fork();
      REQUIRE(process >= 0);
      if (process != 0) {
        processes.push_back(process);
        continue;
      }
      char byte = 0;
      close(gate[1]);
      [[maybe_unused]] const ssize_t opened = read(gate[0], &byte, 1);  // the end of the pipe, for all at once
      life();
      _exit(0);
    }
    close(gate[0]);
    close(gate[1]);
    for (const pid_t process : processes) waitpid(process, nullptr, 0);
  }
}

}  // namespace

TEST_CASE("A new file is locked, has the requested mode, and replaces no other file") {
  const Folder folder;
  for (const Creation creation : {Creation::kUnnamed, Creation::kTemporaryName}) {
    const std::string path = folder / "file";
    const int file = CreateLocked(path.c_str(), creation);
    REQUIRE(file >= 0);
    CHECK(LeadsTo(path, file));
    struct stat status {};
    REQUIRE(fstat(file, &status) == 0);
    CHECK((status.st_mode & 07777) == 0600);
    CHECK(status.st_nlink == 1);
    CHECK(OpenAbandoned(AT_FDCWD, path.c_str()) == -1);
    CHECK(CreateLocked(path.c_str(), creation) == -1);
    CHECK(errno == EEXIST);
    CHECK(LeadsTo(path, file));
    CHECK(FilesIn(folder.path()) == 1);
    close(file);
    CHECK(RemoveAbandoned(AT_FDCWD, path.c_str()));
    CHECK(FilesIn(folder.path()) == 0);
    CHECK(CreateLocked((folder / "none/file").c_str(), creation) == -1);
    CHECK(errno == ENOENT);
  }
}

TEST_CASE("On a file system without unnamed files, a file has a temporary name") {
  // /proc has neither: the reason is that of the second way.
  CHECK(CreateLocked("/proc/heaprec-test") == -1);
  CHECK((errno == ENOENT || errno == EACCES || errno == EPERM));
}

TEST_CASE("Only an unlocked regular file of this user is abandoned, and a FIFO does not block") {
  const Folder folder;
  std::ofstream(folder / "plain") << "x";
  std::filesystem::create_symlink(folder / "plain", folder / "link");
  std::filesystem::create_directory(folder / "folder");
  REQUIRE(mkfifo((folder / "fifo").c_str(), 0600) == 0);
  for (const char* name : {"link", "folder", "fifo", "none"}) {
    CHECK_FALSE(RemoveAbandoned(AT_FDCWD, (folder / name).c_str()));
  }
  CHECK(FilesIn(folder.path()) == 4);
  if (geteuid() == 0) {
    REQUIRE(chown((folder / "plain").c_str(), 65534, 65534) == 0);
    CHECK_FALSE(RemoveAbandoned(AT_FDCWD, (folder / "plain").c_str()));
    REQUIRE(chown((folder / "plain").c_str(), 0, 0) == 0);
  }
  CHECK(RemoveAbandoned(AT_FDCWD, (folder / "plain").c_str()));
}

TEST_CASE("A name that now refers to another file is not removed") {
  const Folder folder;
  const std::string path = folder / "heaprec-1-a.ring";
  std::ofstream(path) << "old";
  const int old = OpenAbandoned(AT_FDCWD, path.c_str());
  REQUIRE(old >= 0);
  std::filesystem::rename(path, folder / "away");
  const int young = CreateLocked(path.c_str());
  REQUIRE(young >= 0);
  CHECK_FALSE(RemoveLocked(AT_FDCWD, path.c_str(), old));
  CHECK(LeadsTo(path, young));
  CHECK(RemoveLocked(AT_FDCWD, (folder / "away").c_str(), old));
  close(old);
  close(young);
}

TEST_CASE("A file that another process removes between open and lock is not returned") {
  const Folder folder;
  const std::string path = folder / "file";
  std::atomic<bool> has_ended = false;
  std::thread remover([&] {
    while (!has_ended) {
      close(CreateLocked(path.c_str()));
      RemoveAbandoned(AT_FDCWD, path.c_str());
    }
  });
  int opened = 0, removed = 0;
  for (int i = 0; i < 20'000; ++i) {
    const int file = OpenAbandoned(AT_FDCWD, path.c_str());
    if (file < 0) continue;
    ++opened;
    removed += LeadsTo(path, file) ? 0 : 1;
    RemoveLocked(AT_FDCWD, path.c_str(), file);
    close(file);
  }
  has_ended = true;
  remover.join();
  CHECK(opened > 0);
  CHECK(removed == 0);
}

TEST_CASE("Of 200 processes that start, clean up and die at once, none loses its ring while it lives") {
  const Folder folder;
  Counts* const counts = SharedCounts();
  // Their recordings are nowhere, so they are removed.
  const auto remove_all = [&] {
    const MovedRings moved = MoveAbandonedRings(folder.path(), 0);
    return static_cast<uint32_t>(moved.removed + moved.losses.size());
  };
  Crowd([&] {
    RingOptions options;
    options.path = folder / ("heaprec-" + std::to_string(getpid()) + "-0.ring");
    options.lane_count = 1;
    options.lane_bytes = 1024;
    counts->removed += remove_all();
    auto ring = Ring::Create(options);
    if (!ring.ok() || (*ring)->path().empty()) return;
    ++counts->started;
    counts->removed += remove_all();
    if (!IsThere(options.path)) ++counts->lost;
    if (getpid() % 2 == 0) kill(getpid(), SIGKILL);
    (*ring)->Close();
  });
  CHECK(counts->started == kProcesses * RoundsFromEnvironment());
  CHECK(counts->lost == 0);
  counts->removed += remove_all();
  CHECK(counts->removed > 0);
  CHECK(FilesIn(folder.path()) == 0);
}

TEST_CASE("Of 200 processes that start, clean up and die at once, none loses its native table while it lives") {
  const Folder folder;
  Counts* const counts = SharedCounts();
  Crowd([&] {
    const std::string path = folder / ("heaprec-native-" + std::to_string(getpid()));
    const char* why = "";
    if (native::SiteTable::Create(path.c_str(), 1, &why) == nullptr) return;
    ++counts->started;
    // The tables of others that live here are told by their process, so all that is asked of is the lock.
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      if (RemoveAbandoned(AT_FDCWD, entry.path().c_str())) ++counts->removed;
    }
    if (!IsThere(path)) ++counts->lost;
  });
  CHECK(counts->started == kProcesses * RoundsFromEnvironment());
  CHECK(counts->lost == 0);
  counts->removed += static_cast<uint32_t>(native::RemoveStaleTables(folder.path().c_str(), 0));
  CHECK(counts->removed > 0);
}

}  // namespace heaprec::buffer
