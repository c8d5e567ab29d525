// Recordings that are being written, or were cut off: salvage from the ring, print --follow.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

format::FileHeader RunningHeader() {
  format::FileHeader header = SomeHeader();
  header.pid = static_cast<uint32_t>(getpid());
  header.start_monotonic_ns = MonotonicNs();
  return header;
}

TEST_CASE_METHOD(Scratch, "A killed recording's ring is shown, with exit 0 and its number in the loss line") {
  format::FileHeader header = SomeHeader();
  header.ring_path = directory / "rec.ring";
  WriteKilled(path, header, header.ring_path, {1200 * kMs});
  const Outcome outcome = Heaprec("print " + path);
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("16:40:01.200000") != std::string::npos);
  CHECK(outcome.out.find("# 2 samples; 1 salvaged from the ring\n") != std::string::npos);
  const std::string summary = Heaprec("summary --verbose " + path).out;
  CHECK(summary.find("1 sample from the ring\n") != std::string::npos);
  CHECK(summary.find("cut off") != std::string::npos);
  CHECK(summary.find("\ntrustworthy: yes\n") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "print --follow prints blocks as they come and ends when the recording ends") {
  RecordingFile file(path, RunningHeader());
  file.Add(At(kMs));
  file.Flush();
  Outcome outcome;
  std::thread follower([&] { outcome = Heaprec("print --follow " + path + " | tee " + directory / "seen"); });
  const auto wait_for = [&](size_t events) {
    while (Count(Contents(directory / "seen"), "startTime") < events) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  wait_for(1);
  file.Add(At(2 * kMs));
  file.Flush();
  wait_for(2);
  CHECK(Contents(directory / "seen").find("# ") == std::string::npos);
  file.Add(At(3 * kMs));
  file.End("jvm exit", kSecond);
  follower.join();
  CHECK(outcome.code == 0);
  CHECK(Count(outcome.out, "startTime") == 3);
  CHECK(outcome.out.ends_with("# 3 samples\n"));
}

TEST_CASE_METHOD(Scratch, "print --follow ends on SIGINT with the loss line, and at once if the process is gone") {
  format::FileHeader header = RunningHeader();
  RecordingFile(path, header).Flush();
  // Not an asynchronous job of the shell: those ignore SIGINT.
  const Outcome interrupted = Shell("timeout --preserve-status -s INT 1 $HEAPREC print --follow " + path);
  CHECK(interrupted.code == 0);
  CHECK(interrupted.out == "# 0 samples\n");

  header.pid = 0;
  WriteSmall(directory / "dead.bin", header);
  CHECK(Heaprec("print --follow " + directory / "dead.bin")
            .out.ends_with("# 3 samples kept of 4 (rate limit; sums stay unbiased)\n"));
}

TEST_CASE_METHOD(Scratch, "A running recording is shown as far as it is, and summary says that it runs") {
  format::FileHeader header = RunningHeader();
  RecordingFile file(path, header);
  file.Add(At(kMs));
  file.Flush();
  CHECK(Heaprec("print " + path).code == 0);
  const json summary = json::parse(Heaprec("summary --json " + path).out);
  CHECK(summary["running"] == true);
  CHECK(summary["trustworthy"] == true);
  // A process that was started after the recording is another one with the same number.
  header.start_monotonic_ns = 1;
  RecordingFile old(directory / "old.bin", header);
  old.Flush();
  CHECK(json::parse(Heaprec("summary --json " + directory / "old.bin").out)["running"] == false);
}

}  // namespace
}  // namespace heaprec::tools::testing
