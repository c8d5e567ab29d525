#include "recorder/buffer/ring.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "format/ring/content_keys.h"
#include "recorder/buffer/lane_lease.h"
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
  CHECK(ring->header().pid == static_cast<uint32_t>(getpid()));
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
