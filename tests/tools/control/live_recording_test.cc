// Recordings that a process has open; here that process is the test itself.
#include "tools/control/live_recording.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/tools/recording_fixture.h"

namespace heaprec::tools::testing {
namespace {

constexpr off_t kHuge = off_t{1} << 40;  // of holes

Process Ourselves() {
  auto process = LookAt(getpid());
  REQUIRE(process.ok());
  return *process;
}

Descriptor Open(const std::string& path) { return Descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC)); }

// A recording with one block and no end, whose header names that process.
void WriteRecording(const std::string& path, uint32_t pid) {
  format::FileHeader header = SomeHeader();
  header.pid = pid;
  RecordingFile file(path, header);
  file.Add(Event{});
  file.Flush();
}

}  // namespace

TEST_CASE("The recording of a process is found among its open files, with its counters") {
  const Directory folder;
  const auto pid = static_cast<uint32_t>(getpid());
  WriteRecording(folder / "other.hrec", pid + 1);
  std::ofstream(folder / "text") << "not a recording, but longer than the first bytes of one";
  const Descriptor other = Open(folder / "other.hrec"), text = Open(folder / "text");
  CHECK_FALSE(FindLiveRecording(Ourselves()));
  WriteRecording(folder / "rec.hrec", pid);
  const Descriptor held = Open(folder / "rec.hrec");
  const auto found = FindLiveRecording(Ourselves());
  REQUIRE(found);
  CHECK(found->path == folder / "rec.hrec");
  CHECK(found->bytes == std::filesystem::file_size(folder / "rec.hrec"));
  CHECK(found->counters.committed == 1);
  CHECK(found->recording->Next());
}

TEST_CASE("Only the first recording of a process is searched for") {
  const Directory folder;
  WriteRecording(folder / "rec.hrec", static_cast<uint32_t>(getpid()));
  const std::string one = Contents(folder / "rec.hrec");
  std::ofstream(folder / "rec.hrec", std::ios::binary | std::ios::app) << one;
  const Descriptor held = Open(folder / "rec.hrec");
  const auto found = FindLiveRecording(Ourselves());
  REQUIRE(found);
  CHECK(found->recording->others() == 0);
  CHECK(found->bytes == 2 * one.size());
}

TEST_CASE("A sparse file, or one without a recording's first bytes, is no recording") {
  const Directory folder;
  const std::string path = folder / "rec.hrec";
  WriteRecording(path, static_cast<uint32_t>(getpid()));
  const Descriptor held = Open(path);
  CHECK(*RecordingBytes(held) == std::filesystem::file_size(path));
  REQUIRE(truncate(path.c_str(), kHuge) == 0);
  CHECK(RecordingBytes(held).error().message.find("is sparse") != std::string::npos);
  CHECK_FALSE(FindLiveRecording(Ourselves()));  // at once
  REQUIRE(ftruncate(held.number(), 0) == 0);
  CHECK(RecordingBytes(held).error().message.find("not a heaprec recording") != std::string::npos);
  REQUIRE(ftruncate(held.number(), kHuge) == 0);
  CHECK(RecordingBytes(held).error().message.find("not a heaprec recording") != std::string::npos);
  CHECK_FALSE(FindLiveRecording(Ourselves()));
}

}  // namespace heaprec::tools::testing
