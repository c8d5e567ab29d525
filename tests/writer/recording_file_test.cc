#include "recorder/writer/recording_file.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/output_path.h"

namespace heaprec::writer {
namespace {

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("heaprec-file-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string CreatedAs(const std::string& pattern) {
  auto file = RecordingFile::Create(pattern, 42, 0);
  REQUIRE(file.ok());
  return file->path();
}

}  // namespace

TEST_CASE("An existing file is kept, and the next free name is used") {
  const Folder folder;
  std::ofstream(folder / "rec.bin") << "the crash's recording";
  CHECK(CreatedAs(folder / "rec.bin") == folder / "rec-1.bin");
  CHECK(CreatedAs(folder / "rec.bin") == folder / "rec-2.bin");
  CHECK(std::filesystem::file_size(folder / "rec.bin") == 21);
}

TEST_CASE("A name without an extension, or in a folder with a dot, is numbered at its end") {
  const Folder folder;
  std::filesystem::create_directories(folder / "a.b");
  CHECK(CreatedAs(folder / "a.b/rec") == folder / "a.b/rec");
  CHECK(CreatedAs(folder / "a.b/rec") == folder / "a.b/rec-1");
  CHECK(CreatedAs(folder / ".hidden") == folder / ".hidden");
  CHECK(CreatedAs(folder / ".hidden") == folder / ".hidden-1");
}

TEST_CASE("A dangling symbolic link is refused, and no file is created") {
  const Folder folder;
  std::filesystem::create_symlink(folder / "elsewhere", folder / "rec.bin");
  const auto file = RecordingFile::Create(folder / "rec.bin", 42, 0);
  REQUIRE_FALSE(file.ok());
  CHECK(file.error().message == folder / "rec.bin" + ": is a dangling symbolic link; name a file to record into");
  CHECK_FALSE(std::filesystem::exists(folder / "elsewhere"));
  CHECK_FALSE(std::filesystem::exists(folder / "rec-1.bin"));
  // A link beside an existing file is only a name that is taken.
  std::filesystem::create_symlink(folder / "elsewhere", folder / "other-1.bin");
  CHECK(CreatedAs(folder / "other.bin") == folder / "other.bin");
  CHECK(CreatedAs(folder / "other.bin") == folder / "other-2.bin");
}

TEST_CASE("A folder, a device or a descriptor in place of the file is refused, and no file is created") {
  const Folder folder;
  std::filesystem::create_directory(folder / "dir");
  std::filesystem::create_symlink("dir", folder / "link");
  // As /dev/stdout, where that is a file.
  const int of_program = creat((folder / "output").c_str(), 0600);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(of_program), folder / "stdout");
  for (const std::string& path : {folder / "dir", folder / "link", folder / "stdout", std::string("/dev/null")}) {
    const auto file = RecordingFile::Create(path, 42, 0);
    REQUIRE_FALSE(file.ok());
    CHECK(file.error().message == path + ": exists and is not a regular file; name a file to record into");
    CHECK_FALSE(std::filesystem::exists(path + "-1"));
  }
  close(of_program);
}

TEST_CASE("Reserved space is after the end of the file, and is freed when it is closed") {
  const Folder folder;
  const auto room_of = [](const std::string& path) {
    struct stat status {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    return static_cast<uint64_t>(status.st_blocks) * 512;
  };
  auto file = RecordingFile::Create(folder / "rec.bin", 42, 0);
  REQUIRE(file.ok());
  const std::vector<std::byte> block(10'000);
  for (int i = 0; i < 30; ++i) {
    REQUIRE(file->Reserve(block.size()).ok());
    REQUIRE(file->Append(block).ok());
  }
  CHECK(std::filesystem::file_size(file->path()) == 300'000);
  CHECK(room_of(file->path()) >= 300'000 + RecordingFile::kReserveBytes);
  file->Close();
  CHECK(room_of(file->path()) < 300'000 + RecordingFile::kReserveBytes);
  CHECK(std::filesystem::file_size(file->path()) == 300'000);
}

TEST_CASE("A file of the program that has the descriptor's number is not read") {
  const Folder folder;
  auto file = RecordingFile::Create(folder / "rec.bin", 42, 0);
  REQUIRE(file.ok());
  std::vector<std::byte> block(10, std::byte{1});
  REQUIRE(file->Append(block).ok());
  std::ofstream(folder / "own") << "the program's";
  const int own = open((folder / "own").c_str(), O_RDONLY);
  REQUIRE(dup2(own, file->descriptor()) >= 0);
  CHECK_FALSE(file->Read(0, block).ok());
  close(file->descriptor());
  close(own);
}

TEST_CASE("After a block did not fit, a smaller one does not end the outage") {
  const Folder folder;
  auto file = RecordingFile::Create(folder / "rec.bin", 42, 0);
  REQUIRE(file.ok());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{1 << 20, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::vector<std::byte> block(50'000);
  while (file->Reserve(block.size()).ok()) REQUIRE(file->Append(block).ok());
  const bool is_refused = !file->Reserve(1).ok();
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(is_refused);
  CHECK(std::filesystem::file_size(file->path()) > 900'000);
  CHECK(file->Reserve(block.size()).ok());
}

TEST_CASE("%p, %t, %n and %% are replaced, other characters stay") {
  setenv("TZ", "UTC", 1);
  CHECK(OutputPath("a%p-%t-%n%%%x%", 42, 86'400'000'000'000).Name(7) == "a42-1970_01_02_00_00_00-7%%x%");
}

TEST_CASE("%n takes the first free number") {
  const Folder folder;
  CHECK(CreatedAs(folder / "r%n.bin") == folder / "r0.bin");
  CHECK(CreatedAs(folder / "r%n.bin") == folder / "r1.bin");
}

TEST_CASE("The error for a missing folder names the file") {
  const auto file = RecordingFile::Create("/nonexistent/rec.bin", 1, 0);
  REQUIRE_FALSE(file.ok());
  CHECK(file.error().message == "/nonexistent/rec.bin: No such file or directory");
}

TEST_CASE("The next append removes the provisional block, however short the append is") {
  const Folder folder;
  auto file = RecordingFile::Create(folder / "rec.bin", 42, 0);
  REQUIRE(file.ok());
  const std::vector<std::byte> content(100, std::byte{1}), counts(300, std::byte{2}), more(50, std::byte{3});
  const auto size = [&] { return std::filesystem::file_size(folder / "rec.bin"); };
  REQUIRE(file->Append(content).ok());
  file->WriteProvisional(counts);
  CHECK(size() == 100);  // there is no reserved room
  REQUIRE(file->Reserve(1).ok());
  file->WriteProvisional(counts);
  CHECK(size() == 400);
  CHECK(file->size() == 100);
  file->WriteProvisional(more);  // would leave the end of the counts
  std::vector<std::byte> there(300);
  REQUIRE(file->Read(100, there).ok());
  CHECK(there == counts);
  REQUIRE(file->Append(more).ok());
  CHECK(size() == 150);
  REQUIRE(file->Append(content).ok());
  CHECK(size() == 250);
  REQUIRE(file->Reserve(1).ok());
  file->WriteProvisional(counts);
  file->Close();
  CHECK(size() == 550);
}

// Makes ftruncate fail in the calling thread.
bool ForbidTruncation() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ftruncate, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_CASE("A kill between a short append and the truncation leaves zeros after it") {
  const Folder folder;
  auto file = RecordingFile::Create(folder / "rec.bin", 42, 0);
  REQUIRE(file.ok());
  const std::vector<std::byte> counts(300, std::byte{2}), block(50, std::byte{3});
  REQUIRE(file->Reserve(1).ok());
  file->WriteProvisional(counts);
  bool is_forbidden = false, is_appended = false;
  // Without truncation the file is as such a kill leaves it.
  std::thread([&] {
    is_forbidden = ForbidTruncation();
    is_appended = file->Append(block).ok();
  }).join();
  REQUIRE(is_forbidden);
  CHECK(is_appended);
  std::vector<std::byte> expected = block, there(400);
  expected.resize(counts.size());
  const auto got = file->Read(0, there);
  REQUIRE(got.ok());
  there.resize(*got);
  CHECK(there == expected);
}

}  // namespace heaprec::writer
