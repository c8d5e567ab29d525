// Bytes per event, everything in: headers, names, windows, intervals, counters, parity.
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>

#include "format/bytes/parity.h"
#include "format/writer/chunk_writer.h"
#include "tests/format/programs.h"

namespace heaprec::format::testing {
namespace {

constexpr int kSeconds = 20;
constexpr double kMaxParity = 0.05;

size_t ParityBytesOf(Bytes file) {
  size_t bytes = 0;
  for (size_t at = 0; at + kParityHeadBytes <= file.size(); ++at) {
    if (const auto shape = DecodeParityHead(file.subspan(at))) bytes += shape->record_bytes();
  }
  return bytes;
}

double BytesPerEvent(Program* program) {
  const ByteBuffer file = RecordingOf(program, kSeconds, kSeconds, /*ends=*/false);
  return static_cast<double>(file.size()) / (kProgramRate * kSeconds);
}

TEST_CASE("a synthetic program of depth 10 costs at most 10 bytes per event") {
  Synthetic program(1);
  const double bytes = BytesPerEvent(&program);
  std::printf("synthetic, depth 10: %.2f bytes per event\n", bytes);
  CHECK(bytes <= 10);
}

TEST_CASE("a compiler of depth 41, nearly every stack new, costs at most 50 bytes per event") {
  Compiler program(1);
  const double bytes = BytesPerEvent(&program);
  std::printf("javac-like, depth 41: %.2f bytes per event\n", bytes);
  CHECK(bytes <= 50);
}

// A minute of snapshots, in blocks of two seconds. Of the account's 50 items 20 change by some pages each second; all
// are written every ten seconds.
size_t BytesOfSnapshots(bool with_account) {
  constexpr size_t kTaken = 50, kChanging = 20;
  std::mt19937_64 random(3);
  std::array<uint64_t, kTaken> amounts;
  for (uint64_t& amount : amounts) amount = (random() % (uint64_t{1} << 18)) << 12;
  ChunkWriter writer(FileHeader(), 0);
  size_t bytes = 0;
  for (uint64_t second = 0; second < 60; ++second) {
    ProcessState state;
    state.id = second + 1;
    state.time_ns = second * 1'000'000'000;
    for (size_t item = 0; item < kTaken; ++item) {
      if (item < kChanging) amounts[item] += (random() % 256) << 12;
      if (with_account && (item < kChanging || second % 10 == 0))
        state.account.Set(static_cast<AccountItem>(item), Amount::Of(amounts[item]));
    }
    writer.Add(state);
    if (second % 2 == 1) bytes += writer.Flush({}, {}, state.time_ns).value().size();
  }
  return bytes;
}

TEST_CASE("an account of the process costs at most 200 bytes a second") {
  const double bytes = static_cast<double>(BytesOfSnapshots(true) - BytesOfSnapshots(false)) / 60;
  std::printf("account: %.0f bytes a second\n", bytes);
  CHECK(bytes <= 200);
}

TEST_CASE("parity adds at most 5 % to recordings of any length, and is there") {
  for (const int seconds : {1, 2, 3, 4, 6, 9, 20, 61, 150}) {
    for (const int chunk_seconds : {1, 5, 60}) {
      Synthetic synthetic(2);
      Compiler compiler(2);
      for (Program* program : {static_cast<Program*>(&synthetic), static_cast<Program*>(&compiler)}) {
        const ByteBuffer file = RecordingOf(program, seconds, chunk_seconds);
        const size_t parity = ParityBytesOf(file);
        const double overhead = static_cast<double>(parity) / static_cast<double>(file.size() - parity);
        CAPTURE(seconds, chunk_seconds, file.size(), overhead);
        CHECK(overhead <= kMaxParity);
        CHECK((parity > 0 || file.size() < 3000));
        if (chunk_seconds == 60 && (seconds == 9 || seconds == 150)) {
          std::printf("%d s, %zu bytes: %.2f %% parity\n", seconds, file.size(), 100 * overhead);
        }
      }
    }
  }
}

}  // namespace
}  // namespace heaprec::format::testing
