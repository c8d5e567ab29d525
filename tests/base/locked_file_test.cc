#include "base/locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "recorder/buffer/ring.h"
#include "recorder/buffer/stale_rings.h"
#include "recorder/native_count/site_table.h"
#include "recorder/native_count/stale_tables.h"

namespace heaprec::buffer {
namespace {

class Folder {
 public:
  Folder() : path_("/dev/shm/heaprec-test-locked-" + std::to_string(getpid())) {
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  size_t files() const { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {})); }

 private:
  const std::string path_;
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
    CHECK(folder.files() == 1);
    close(file);
    CHECK(RemoveAbandoned(AT_FDCWD, path.c_str()));
    CHECK(folder.files() == 0);
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
  CHECK(folder.files() == 4);
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
  CHECK(folder.files() == 0);
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
