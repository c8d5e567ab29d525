#include "recorder/buffer/ring.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "recorder/buffer/lane_lease.h"
#include "tests/format/ring_image.h"
#include "tests/support/files.h"

namespace heaprec::buffer {
namespace {

// Of a ring's file.
RingOptions In(const testing::Folder& folder) {
  RingOptions options;
  options.path = folder / "ring";
  return options;
}

}  // namespace

TEST_CASE("A shared ring is a file that only its owner can read, and Close removes it") {
  const testing::Folder folder(testing::kSharedMemory);
  const RingOptions options = In(folder);
  auto ring = std::move(Ring::Create(options).value());
  struct stat status {};
  REQUIRE(stat(options.path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK(ring->path() == options.path);
  ring->Close();
  CHECK(stat(options.path.c_str(), &status) != 0);
}

TEST_CASE("A destroyed ring leaves its file only if readers still need it") {
  for (const bool needed : {true, false}) {
    const testing::Folder folder(testing::kSharedMemory);
    const RingOptions options = In(folder);
    auto ring = std::move(Ring::Create(options).value());
    if (needed) ring->KeepFile();
    ring.reset();
    CHECK(std::filesystem::remove(options.path) == needed);
  }
}

TEST_CASE("An existing file is never overwritten: the ring uses private memory and gives the reason") {
  const testing::Folder folder(testing::kSharedMemory);
  const RingOptions options = In(folder);
  std::ofstream(options.path) << "not ours";
  auto ring = std::move(Ring::Create(options).value());
  CHECK(ring->path().empty());
  CHECK(ring->why().find("File exists") != std::string::npos);
  CHECK(LaneLease(*ring, 0, 100).ok());
  ring->Close();
  CHECK(std::filesystem::file_size(options.path) == 8);
}

TEST_CASE("If the folder does not exist, the ring uses private memory and gives the reason") {
  RingOptions options;
  options.path = "/nonexistent/heaprec.ring";
  auto ring = std::move(Ring::Create(options).value());
  CHECK(ring->path().empty());
  CHECK(ring->why().find("No such file") != std::string::npos);
}

TEST_CASE("After kill -9 everything committed is in the ring's file") {
  const testing::Folder folder(testing::kSharedMemory);
  const RingOptions options = In(folder);
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    auto ring = std::move(Ring::Create(options).value());
    LaneLease lease(*ring, 3, 200);
    std::byte* record = lease.Reserve(format::RecordType::kClass, sizeof(format::ClassRecord) + 5);
    CopyFixed(record, format::ClassRecord{{}, format::ClassKey("a/B/C"), 5, 0});
    std::memcpy(record + sizeof(format::ClassRecord), "a/B/C", 5);
    lease.Commit();
    [[maybe_unused]] const ssize_t told = write(ready[1], "x", 1);
    pause();
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);

  const std::vector<std::byte> bytes = testing::BytesOf(options.path);
  const auto view = format::RingView::Of(bytes);
  REQUIRE(view.ok());
  CHECK(view->header().pid == static_cast<uint32_t>(child));
  struct Names final : format::testing::CountingVisitor {
    void OnClass(uint64_t key, std::string_view name) override {
      if (key == format::ClassKey(name)) seen += name;
    }
    std::string seen;
  } names;
  for (uint32_t i = 0; i < view->lane_count(); ++i) {
    REQUIRE(format::WalkLane(*view, i, 0, view->lane(i).head.load(), names).ok());
  }
  CHECK(names.seen == "a/B/C");
}

TEST_CASE("A closed ring frees its pages and can still be written to") {
  const testing::Folder folder(testing::kSharedMemory);
  const RingOptions options = GENERATE(true, false) ? In(folder) : RingOptions{};
  auto ring = std::move(Ring::Create(options).value());
  std::memset(ring->lane_data(0), 1, ring->lane_bytes());
  ring->Close();
  CHECK(ring->lane_data(0)[0] == std::byte{0});
  LaneLease lease(*ring, 0, 100);
  REQUIRE(lease.ok());
  CHECK(lease.Reserve(format::RecordType::kWindow, 64) != nullptr);
  lease.Commit();
}

TEST_CASE("A mark of a definition is valid for its epoch, and a collision only removes it") {
  EmittedDefinitions<16> emitted;
  CHECK_FALSE(emitted.Has(5, 1));
  emitted.Mark(5, 1);
  CHECK(emitted.Has(5, 1));
  CHECK_FALSE(emitted.Has(5, 2));
  emitted.Mark(5 + 16, 1);
  CHECK_FALSE(emitted.Has(5, 1));
  CHECK(emitted.Has(5 + 16, 1));
}

}  // namespace heaprec::buffer
