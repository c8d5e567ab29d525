#include "recorder/buffer/ring.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "format/ring/ring_reader.h"
#include "recorder/buffer/lane_lease.h"

namespace heaprec::buffer {
namespace {

std::string NewPath(const std::string& name) {
  return "/dev/shm/heaprec-test-" + std::to_string(getpid()) + "-" + name;
}

std::vector<std::byte> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> chars((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::byte> bytes(chars.size());
  std::memcpy(bytes.data(), chars.data(), chars.size());
  return bytes;
}

}  // namespace

TEST_CASE("A shared ring is a file that only its owner can read, and Close removes it") {
  RingOptions options;
  options.path = NewPath("mode");
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
    RingOptions options;
    options.path = NewPath("left");
    auto ring = std::move(Ring::Create(options).value());
    if (needed) ring->KeepFile();
    ring.reset();
    CHECK(std::filesystem::remove(options.path) == needed);
  }
}

TEST_CASE("An existing file is never overwritten: the ring uses private memory and gives the reason") {
  RingOptions options;
  options.path = NewPath("taken");
  std::ofstream(options.path) << "not ours";
  auto ring = std::move(Ring::Create(options).value());
  CHECK(ring->path().empty());
  CHECK(ring->why().find("File exists") != std::string::npos);
  CHECK(LaneLease(*ring, 0, 100).ok());
  ring->Close();
  CHECK(ReadFile(options.path).size() == 8);
  std::filesystem::remove(options.path);
}

TEST_CASE("If the folder does not exist, the ring uses private memory and gives the reason") {
  RingOptions options;
  options.path = "/nonexistent/heaprec.ring";
  auto ring = std::move(Ring::Create(options).value());
  CHECK(ring->path().empty());
  CHECK(ring->why().find("No such file") != std::string::npos);
}

TEST_CASE("After kill -9 everything committed is in the ring's file") {
  RingOptions options;
  options.path = NewPath("killed");
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    auto ring = std::move(Ring::Create(options).value());
    LaneLease lease(*ring, 3, 200);
    std::byte* record = lease.Reserve(format::RecordType::kClass, sizeof(format::ClassRecord) + 5);
    const format::ClassRecord fields{{}, format::ClassKey("a/B/C"), 5, 0};
    std::memcpy(record + 8, reinterpret_cast<const std::byte*>(&fields) + 8, sizeof(fields) - 8);
    std::memcpy(record + sizeof(fields), "a/B/C", 5);
    lease.Commit();
    [[maybe_unused]] const ssize_t told = write(ready[1], "x", 1);
    pause();
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);

  const std::vector<std::byte> bytes = ReadFile(options.path);
  std::filesystem::remove(options.path);
  const auto view = format::RingView::Of(bytes);
  REQUIRE(view.ok());
  CHECK(view->header().pid == static_cast<uint32_t>(child));
  struct Names final : format::RecordVisitor {
    void OnClass(uint64_t key, std::string_view name) override {
      if (key == format::ClassKey(name)) seen += name;
    }
    void OnMethod(uint64_t, std::string_view, std::string_view, std::string_view) override {}
    void OnStack(format::StackKey, std::span<const format::RingFrame>, bool, uint32_t, uint64_t) override {}
    void OnThread(uint64_t, const format::ThreadRecord&, std::string_view) override {}
    void OnWindow(const format::WindowRecord&) override {}
    void OnSample(const format::SampleRecord&, uint32_t, uint64_t, uint64_t) override {}
    std::string seen;
  } names;
  for (uint32_t i = 0; i < view->lane_count(); ++i) {
    REQUIRE(format::WalkLane(*view, i, 0, view->lane(i).head.load(), names).ok());
  }
  CHECK(names.seen == "a/B/C");
}

TEST_CASE("A closed ring frees its pages and can still be written to") {
  RingOptions options;
  SECTION("shared") { options.path = NewPath("closed"); }
  SECTION("private") {}
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
