#include "recorder/writer/recording_file.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/output_path.h"
#include "recorder/writer/retention.h"
#include "tests/writer/drain_bench.h"

namespace heaprec::writer {
namespace {

using testing::Folder;

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
  const std::vector<std::byte> block(50'000);
  {
    const FileSizeLimit small(1 << 20);
    while (file->Reserve(block.size()).ok()) REQUIRE(file->Append(block).ok());
    CHECK_FALSE(file->Reserve(1).ok());
  }
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

namespace {

format::FileStart At(uint64_t begin_ns) {
  format::FileStart start;
  start.begin_ns = begin_ns;
  return start;
}

}  // namespace

TEST_CASE("Without a limit nothing is dropped or remembered, and chunks last a minute") {
  Retention retention({});
  retention.BeginFile(100, 0);
  for (uint64_t i = 0; i < 1000; ++i) {
    retention.BeginChunk(At(i * 60 * kSecond));
    retention.Appended(1 << 20);
    REQUIRE(retention.ChunksToDrop(i * 60 * kSecond) == 0);
  }
  CHECK_FALSE(retention.ChunkIsFull((999 * 60 + 59) * kSecond));
  CHECK(retention.ChunkIsFull(1000 * 60 * kSecond));
  CHECK_FALSE(retention.IsBeyond(UINT32_MAX));
}

TEST_CASE("Chunks shrink with the limits, to an eighth of them but at least a second") {
  Limits limits;
  limits.max_age_ns = 40 * kSecond;
  limits.max_bytes = 8000;
  CHECK(Retention(limits).ChunkNs() == 5 * kSecond);
  CHECK(Retention(limits).ChunkBytes() == 1000);
  limits.max_age_ns = kSecond;
  CHECK(Retention(limits).ChunkNs() == kSecond);
}

TEST_CASE("A chunk without bytes is forgotten") {
  Limits limits;
  limits.max_age_ns = 8 * kSecond;
  Retention retention(limits);
  retention.BeginFile(100, 0);
  retention.BeginChunk(At(0));
  retention.Appended(10);
  retention.BeginChunk(At(kSecond));
  retention.BeginChunk(At(2 * kSecond));
  retention.Appended(10);
  CHECK(retention.FirstKept(1).start.begin_ns == 2 * kSecond);
  CHECK(retention.FirstKept(1).offset == 110);
}

TEST_CASE("Dropping moves the rest to the front") {
  Limits limits;
  limits.max_bytes = 8000;
  Retention retention(limits);
  retention.BeginFile(100, 0);
  for (uint64_t i = 0; i < 8; ++i) {
    retention.BeginChunk(At(i * kSecond));
    retention.Appended(1000);
  }
  const size_t drop = retention.ChunksToDrop(8 * kSecond);
  REQUIRE(drop == 2);
  CHECK(retention.FirstKept(drop).offset == 2100);
  retention.Dropped(drop, 150);
  CHECK(retention.bytes() == 6150);
  CHECK(retention.FirstKept(0).offset == 150);
  CHECK(retention.FirstKept(1).offset == 1150);
  CHECK(retention.ChunksToDrop(8 * kSecond) == 0);
}

TEST_CASE("Of thousands of chunks some are remembered: dropping is coarser, memory limited") {
  Limits limits;
  limits.max_age_ns = 86'400 * kSecond;
  Retention retention(limits);
  retention.BeginFile(100, 0);
  for (uint64_t second = 0; second < 86'400 + 7200; second += 60) {
    retention.BeginChunk(At(second * kSecond));
    retention.Appended(1000);
  }
  const uint64_t now_ns = (86'400 + 7200) * kSecond;
  const size_t drop = retention.ChunksToDrop(now_ns);
  REQUIRE(drop > 0);
  CHECK(drop < 64);
  const uint64_t begin_ns = retention.FirstKept(drop).start.begin_ns;
  CHECK(begin_ns + limits.max_age_ns <= now_ns);
  CHECK(begin_ns + limits.max_age_ns * 17 / 16 > now_ns);
}

namespace {

// A copy of the recording while it goes on.

using Answer = std::future<Result<Snapshot>>;

bool IsReady(const Answer& answer) { return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }

std::string CopyInto(Answer* answer, const std::string& file) {
  const auto snapshot = answer->get();
  REQUIRE(snapshot.ok());
  const auto copied = CopyOf(*snapshot, file, 1, 0);
  REQUIRE(copied.ok());
  return *copied;
}

}  // namespace

TEST_CASE("A copy has everything committed before the request, and an end; the recording continues without one") {
  Bench bench(150);
  const Folder& folder = bench.folder();
  for (uint64_t i = 1; i <= 10; ++i) bench.Sample(i, i * kSecond / 20);
  bench.TickAt(kSecond * 6 / 10);
  Answer answer = bench.drain().RequestSnapshot();
  bench.TickAt(kSecond * 9 / 10);
  CHECK_FALSE(IsReady(answer));
  bench.TickAt(kSecond);
  REQUIRE(IsReady(answer));
  const std::string copy = CopyInto(&answer, folder / "copy.hrec");
  CHECK(copy == folder / "copy.hrec");
  for (uint64_t i = 11; i <= 30; ++i) bench.Sample(i, kSecond + i * kSecond / 40);
  bench.TickAt(2 * kSecond);
  bench.EndAt(kSecond * 21 / 10);

  const auto copied = Bench::ReadBack(copy);
  CHECK(copied.samples.size() == 10);
  CHECK(copied.classes[4] == "p/C2");
  CHECK(copied.ending == "dump");
  CHECK(copied.counters.written == 10);
  CHECK(copied.skipped == 0);
  const auto whole = bench.ReadBack();
  CHECK(whole.samples.size() == 30);
  CHECK(whole.ending == "test");
  CHECK(whole.counters.written == 30);
  CHECK(whole.skipped == 0);
  CHECK(whole.chunks.size() == 2);
  CHECK(std::filesystem::exists(folder / "copy.hrec"));
  CHECK_FALSE(std::filesystem::exists(folder / "copy.hrec.unfinished"));
}

TEST_CASE("An existing file is kept, and the copy has another name") {
  Bench bench(150);
  const Folder& folder = bench.folder();
  std::ofstream(folder / "copy%.hrec") << "mine";
  bench.Sample(1, kSecond / 2);
  Answer first = bench.drain().RequestSnapshot();
  bench.TickAt(kSecond);
  const std::string copy = CopyInto(&first, folder / "copy%%.hrec");
  CHECK(copy == folder / "copy%-1.hrec");
  CHECK(Bench::ReadBack(copy).samples.size() == 1);
  CHECK(std::filesystem::file_size(folder / "copy%.hrec") == 4);
}

TEST_CASE("Several requests may be concurrent") {
  Bench bench(150);
  const Folder& folder = bench.folder();
  bench.Sample(1, kSecond / 2);
  Answer first = bench.drain().RequestSnapshot();
  Answer second = bench.drain().RequestSnapshot();
  bench.TickAt(kSecond);
  CHECK(Bench::ReadBack(CopyInto(&first, folder / "first.hrec")).samples.size() == 1);
  CHECK(Bench::ReadBack(CopyInto(&second, folder / "second.hrec")).samples.size() == 1);
  bench.EndAt(kSecond * 3 / 2);
  CHECK(bench.ReadBack().samples.size() == 1);
}

TEST_CASE("A request to a recording that ends, or has ended, is refused") {
  Bench bench(150);
  Answer before = bench.drain().RequestSnapshot();
  bench.EndAt(kSecond / 2);
  Answer after = bench.drain().RequestSnapshot();
  for (Answer* answer : {&before, &after}) {
    REQUIRE(IsReady(*answer));
    const auto snapshot = answer->get();
    REQUIRE_FALSE(snapshot.ok());
    CHECK(snapshot.error().message == "the recording has ended");
  }
}

TEST_CASE("A copy that cannot be made leaves nothing") {
  Bench bench(150);
  const Folder& folder = bench.folder();
  bench.Sample(1, kSecond / 2);
  Answer answer = bench.drain().RequestSnapshot();
  bench.TickAt(kSecond);
  const auto snapshot = answer.get();
  REQUIRE(snapshot.ok());
  CHECK_FALSE(CopyOf(*snapshot, folder / "nowhere/copy.hrec", 1, 0).ok());
  std::filesystem::resize_file(bench.path(), 10);
  const auto copied = CopyOf(*snapshot, folder / "copy.hrec", 1, 0);
  REQUIRE_FALSE(copied.ok());
  CHECK(copied.error().message.ends_with("is shorter than it was"));
  CHECK_FALSE(std::filesystem::exists(folder / "copy.hrec"));
  CHECK_FALSE(std::filesystem::exists(folder / "copy.hrec.unfinished"));
}

}  // namespace heaprec::writer
