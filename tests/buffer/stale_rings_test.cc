#include "recorder/buffer/stale_rings.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "format/codec/file_header.h"
#include "recorder/buffer/ring.h"
#include "tests/support/files.h"

namespace heaprec::buffer {
namespace {

namespace fs = std::filesystem;

using testing::ContentOf;
using testing::FilesIn;

// A folder of rings, one of recordings, and the processes that were killed there.
class Machine {
 public:
  Machine() {
    fs::create_directory(rings());
    fs::create_directory(recordings());
  }

  std::string rings() const { return root_ / "shm"; }
  std::string recordings() const { return root_ / "recordings"; }
  std::string ring(uint8_t id) const { return rings() + "/" + RingName(id); }
  std::string recording(uint8_t id) const { return recordings() + "/rec-" + std::to_string(id) + ".hrec"; }
  std::string copy(uint8_t id) const { return recordings() + "/" + RingName(id); }
  std::string path(const std::string& name) const { return root_ / name; }

  void Record(uint8_t id, const std::string& at = "") const {
    format::FileHeader header;
    header.recording_id.fill(id);
    header.ring_path = ring(id);
    const format::ByteBuffer bytes = format::EncodeFileHeader(header);
    std::ofstream(at.empty() ? recording(id) : at, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  std::unique_ptr<Ring> Start(uint8_t id) const {
    RingOptions options;
    options.path = ring(id);
    options.recording_id.fill(id);
    options.lane_count = 4;
    options.lane_bytes = 256 << 10;  // a ring of 1 MiB
    auto made = std::move(Ring::Create(options).value());
    REQUIRE(made->path() == options.path);
    made->SetRecordingPath(recording(id));
    std::memset(made->lane_data(1), id, made->lane_bytes());
    return made;
  }

  // A process with such a ring and recording that was killed. Its ring is the younger, the later this is called.
  std::string Kill(uint8_t id) const {
    Record(id);
    Start(id)->KeepFile();
    const timespec times[] = {{1'000'000 + id, 0}, {1'000'000 + id, 0}};
    REQUIRE(utimensat(AT_FDCWD, ring(id).c_str(), times, 0) == 0);
    return ContentOf(ring(id));
  }

 private:
  static std::string RingName(uint8_t id) { return "heaprec-" + std::to_string(id) + "-0.ring"; }
  const testing::Folder root_;
};

// What a process with a limit of its own moves: the rings that it removes, and ten times those that it copies.
int MoveWithin(const Machine& machine, __rlimit_resource resource, rlim_t limit,
               uint64_t max_bytes_kept = kMaxRingBytesKept) {
  const pid_t mover = fork();
  if (mover == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limits{limit, limit};
    setrlimit(resource, &limits);
    const MovedRings moved = MoveAbandonedRings(machine.rings(), max_bytes_kept);
    _exit(static_cast<int>(moved.losses.size() + 10 * moved.copied));
  }
  int status = -1;
  REQUIRE(waitpid(mover, &status, 0) == mover);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("The rings of ten killed processes are moved beside their recordings, byte for byte") {
  const Machine machine;
  std::vector<std::string> rings;
  for (uint8_t id = 0; id < 10; ++id) rings.push_back(machine.Kill(id));
  REQUIRE(chmod(machine.recording(3).c_str(), 0640) == 0);
  const MovedRings moved = MoveAbandonedRings(machine.rings(), 0);
  CHECK(moved.copied == 10);
  CHECK(moved.removed == 0);
  CHECK(moved.losses.empty());
  CHECK(FilesIn(machine.rings()) == 0);
  for (uint8_t id = 0; id < 10; ++id) CHECK(ContentOf(machine.copy(id)) == rings[id]);
  struct stat status {};
  REQUIRE(stat(machine.copy(3).c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0640);
  CHECK(status.st_blocks * 512 < status.st_size / 2);  // what is zero takes no room
}

TEST_CASE(
    "A ring whose owner lives stays, one that never was one goes, and one that was left for its readers is kept") {
  const Machine machine;
  machine.Record(1);
  const auto living = machine.Start(1);
  machine.Record(2);
  auto closed = machine.Start(2);
  closed->KeepFile();
  closed->Close();
  closed.reset();
  std::ofstream(machine.ring(3)) << "";                       // killed before it had any room,
  std::ofstream(machine.ring(4)) << std::string(8192, '\0');  // or a header
  std::ofstream(machine.rings() + "/unrelated") << "x";
  const MovedRings moved = MoveAbandonedRings(machine.rings(), 0);
  CHECK(moved.copied == 1);
  CHECK(moved.removed == 2);
  CHECK(moved.losses.empty());
  CHECK(fs::exists(machine.ring(1)));
  CHECK(fs::exists(machine.rings() + "/unrelated"));
  CHECK(FilesIn(machine.rings()) == 2);
  CHECK(fs::exists(machine.copy(2)));
}

TEST_CASE("The ring of a process that was killed before its recording existed is removed without a message") {
  const Machine machine;
  auto ring = machine.Start(1);
  ring->SetRecordingPath("/" + std::string(sizeof(format::RingHeader::recording_path), 'x'));  // leaves none
  size_t removed = 1, lost = 0;
  SECTION("nothing was recorded") {}
  SECTION("something was recorded") {
    ring->lane(3).head = 8;
    removed = 0, lost = 1;
  }
  SECTION("the ring's version is not known") {
    ring->header().version = format::kRingVersion + 1;
    removed = 0, lost = 1;
  }
  ring->KeepFile();
  ring.reset();
  const MovedRings moved = MoveAbandonedRings(machine.rings(), 0);
  CHECK(moved.copied == 0);
  CHECK(moved.removed == removed);
  CHECK(moved.losses.size() == lost);
  CHECK(FilesIn(machine.rings()) == 0);
}

TEST_CASE("A ring stays where it is if its recording cannot be found or has another id") {
  const Machine machine;
  std::function<void()> damage;
  std::string why;
  SECTION("removed") {
    damage = [&] { fs::remove(machine.recording(1)); };
    why = "rec-1.hrec: No such file or directory";
  }
  SECTION("its folder is gone") {
    damage = [&] { fs::remove_all(machine.recordings()); };
    why = "recordings/: No such file or directory";
  }
  SECTION("replaced by another recording") {
    damage = [&] { machine.Record(2, machine.recording(1)); };
    why = "rec-1.hrec: not the recording of this ring";
  }
  SECTION("replaced by a symbolic link to it") {
    damage = [&] {
      fs::rename(machine.recording(1), machine.path("elsewhere"));
      fs::create_symlink(machine.path("elsewhere"), machine.recording(1));
    };
    why = "rec-1.hrec: Too many levels of symbolic links";
  }
  SECTION("replaced by a FIFO") {
    damage = [&] {
      fs::remove(machine.recording(1));
      REQUIRE(mkfifo(machine.recording(1).c_str(), 0600) == 0);
    };
    why = "rec-1.hrec: not the recording of this ring";
  }
  const std::string ring = machine.Kill(1);
  damage();
  const MovedRings kept = MoveAbandonedRings(machine.rings());
  CHECK(kept.copied + kept.removed + kept.losses.size() == 0);
  CHECK(ContentOf(machine.ring(1)) == ring);
  CHECK_FALSE(fs::exists(machine.copy(1)));
  const MovedRings lost = MoveAbandonedRings(machine.rings(), ring.size() - 1);
  REQUIRE(lost.losses.size() == 1);
  CHECK(lost.losses[0].find(machine.ring(1)) == 0);
  CHECK(lost.losses[0].find(why) != std::string::npos);
  CHECK(FilesIn(machine.rings()) == 0);
}

TEST_CASE("Of the rings that cannot be copied, the oldest are removed above the limit") {
  const Machine machine;
  for (uint8_t id = 0; id < 6; ++id) {
    machine.Kill(id);
    if (id != 5) fs::remove(machine.recording(id));
  }
  const MovedRings moved = MoveAbandonedRings(machine.rings(), 3 * fs::file_size(machine.ring(0)));
  CHECK(moved.copied == 1);
  CHECK(moved.losses.size() == 2);
  for (uint8_t id = 0; id < 5; ++id) CHECK(fs::exists(machine.ring(id)) == (id >= 2));
}

TEST_CASE("On a full disk the ring stays and no partial copy remains; it is copied when there is space") {
  const Machine machine;
  const std::string ring = machine.Kill(1);
  // Writing beyond a bound fails as on a full disk.
  CHECK(MoveWithin(machine, RLIMIT_FSIZE, 300 << 10) == 0);
  CHECK(ContentOf(machine.ring(1)) == ring);
  CHECK(FilesIn(machine.recordings()) == 1);
  CHECK(MoveAbandonedRings(machine.rings()).copied == 1);
  CHECK(ContentOf(machine.copy(1)) == ring);
}

TEST_CASE("The limit is four times as high for rings that a process cannot copy because of its own limits") {
  const Machine machine;
  const std::string ring = machine.Kill(1);
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(next);
  const auto descriptors = static_cast<rlim_t>(next) + 2;  // for the folder of the rings and a ring, no further
  CHECK(MoveWithin(machine, RLIMIT_FSIZE, 300 << 10, ring.size() / 2) == 0);
  CHECK(MoveWithin(machine, RLIMIT_NOFILE, descriptors, ring.size() / 2) == 0);
  CHECK(ContentOf(machine.ring(1)) == ring);
  CHECK(MoveWithin(machine, RLIMIT_FSIZE, 300 << 10, ring.size() / 8) == 1);
  CHECK(FilesIn(machine.rings()) == 0);
}

TEST_CASE("A mover replaces what a killed mover left, and follows no link in its place") {
  const Machine machine;
  const std::string ring = machine.Kill(1);
  std::ofstream(machine.path("victim")) << "precious";
  SECTION("half a copy") { std::ofstream(machine.copy(1) + ".unfinished") << "half"; }
  SECTION("a whole copy") { std::ofstream(machine.copy(1)) << ring; }
  SECTION("a link") {
    fs::create_symlink(machine.path("victim"), machine.copy(1) + ".unfinished");
    fs::create_symlink(machine.path("victim"), machine.copy(1));
  }
  CHECK(MoveAbandonedRings(machine.rings()).copied == 1);
  CHECK(fs::is_regular_file(fs::symlink_status(machine.copy(1))));
  CHECK(ContentOf(machine.copy(1)) == ring);
  CHECK(ContentOf(machine.path("victim")) == "precious");
  CHECK(FilesIn(machine.recordings()) == 2);
}

TEST_CASE("Concurrent movers lose no ring, even if some are killed") {
  const Machine machine;
  constexpr uint8_t kRings = 20;
  std::vector<std::string> rings;
  for (uint8_t id = 0; id < kRings; ++id) rings.push_back(machine.Kill(id));
  std::vector<pid_t> movers;
  for (int i = 0; i < 8; ++i) {
    movers.push_back(fork());
    if (movers.back() != 0) continue;
    MoveAbandonedRings(machine.rings(), 0);
    _exit(0);
  }
  for (size_t i = 0; i < 4; ++i) {
    usleep(3'000);
    kill(movers[i], SIGKILL);
  }
  for (const pid_t mover : movers) waitpid(mover, nullptr, 0);
  CHECK(MoveAbandonedRings(machine.rings(), 0).losses.empty());
  for (uint8_t id = 0; id < kRings; ++id) CHECK(ContentOf(machine.copy(id)) == rings[id]);
  CHECK(FilesIn(machine.recordings()) == 2 * kRings);
}

TEST_CASE("Rings of other users are not touched, and the owner of a recording's folder cannot make its ring readable") {
  if (geteuid() != 0) {
    WARN("needs root, to be two users");
    return;
  }
  const Machine machine;
  const std::string of_other = machine.Kill(1), ring = machine.Kill(2);
  REQUIRE(chown(machine.ring(1).c_str(), 65534, 65534) == 0);
  // In the place of the recording, with the id that the ring's name tells.
  REQUIRE(chmod(machine.recording(2).c_str(), 0666) == 0);
  REQUIRE(chown(machine.recording(2).c_str(), 65534, 65534) == 0);
  const MovedRings moved = MoveAbandonedRings(machine.rings(), 0);
  CHECK(moved.copied == 1);
  CHECK(moved.removed + moved.losses.size() == 0);
  CHECK(ContentOf(machine.ring(1)) == of_other);
  CHECK(ContentOf(machine.copy(2)) == ring);
  struct stat status {};
  REQUIRE(stat(machine.copy(2).c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0600);
}

TEST_CASE("A recording's path that is too long for the header is omitted, and the next one fits") {
  const Machine machine;
  machine.Record(1);
  auto ring = machine.Start(1);
  ring->SetRecordingPath("/" + std::string(sizeof(format::RingHeader::recording_path), 'x'));
  CHECK(ring->header().recording_path[0] == 0);
  ring->SetRecordingPath(machine.recording(1));
  CHECK(ring->header().recording_path == machine.recording(1));
  ring->SetRecordingPath("relative.hrec");
  CHECK(ring->header().recording_path == fs::absolute("relative.hrec").string());
}

TEST_CASE("A program that closes all descriptors does not make its ring look abandoned") {
  const Machine machine;
  machine.Record(1);
  auto ring = machine.Start(1);
  close_range(3, ~0U, 0);
  CHECK(MoveAbandonedRings(machine.rings(), 0).copied == 0);
  CHECK(fs::exists(machine.ring(1)));
}

}  // namespace heaprec::buffer
