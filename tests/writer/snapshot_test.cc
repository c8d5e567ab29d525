// A copy of the recording while it goes on.
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/writer/drain_bench.h"

namespace heaprec::writer {
namespace {

using Answer = std::future<Result<Snapshot>>;

bool IsReady(const Answer& answer) { return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }

std::string CopyInto(Answer* answer, const std::filesystem::path& file) {
  const auto snapshot = answer->get();
  REQUIRE(snapshot.ok());
  const auto copied = CopyOf(*snapshot, file.string(), 1, 0);
  REQUIRE(copied.ok());
  return *copied;
}

}  // namespace

TEST_CASE("A copy has everything committed before the request, and an end; the recording continues without one") {
  Bench bench(150);
  const std::filesystem::path folder = bench.directory();
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
  const std::filesystem::path folder = bench.directory();
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
  const std::filesystem::path folder = bench.directory();
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
  const std::filesystem::path folder = bench.directory();
  bench.Sample(1, kSecond / 2);
  Answer answer = bench.drain().RequestSnapshot();
  bench.TickAt(kSecond);
  const auto snapshot = answer.get();
  REQUIRE(snapshot.ok());
  CHECK_FALSE(CopyOf(*snapshot, (folder / "nowhere" / "copy.hrec").string(), 1, 0).ok());
  std::filesystem::resize_file(bench.path(), 10);
  const auto copied = CopyOf(*snapshot, (folder / "copy.hrec").string(), 1, 0);
  REQUIRE_FALSE(copied.ok());
  CHECK(copied.error().message.ends_with("is shorter than it was"));
  CHECK_FALSE(std::filesystem::exists(folder / "copy.hrec"));
  CHECK_FALSE(std::filesystem::exists(folder / "copy.hrec.unfinished"));
}

}  // namespace heaprec::writer
