// The recording that the tests of the command print: three events in three seconds, two threads, two kinds.
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <string>

#include "tests/tools/recording_fixture.h"

namespace heaprec::tools::testing {

// Returns CLOCK_MONOTONIC. The start in the header of a running recording must be earlier.
inline uint64_t MonotonicNs() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

inline Event At(uint64_t time_ns) {
  Event event;
  event.time_ns = time_ns;
  return event;
}

// More than the kernel's maximum: a recording of such a process is not running.
inline constexpr uint32_t kNoProcess = 1U << 30;

inline format::FileHeader HeaderOf(uint8_t id) {
  format::FileHeader header = SomeHeader();
  header.recording_id.fill(id);
  header.pid = kNoProcess + id;
  return header;
}

// Three events in three seconds, two threads, two kinds.
inline void WriteSmall(const std::string& path, const format::FileHeader& header = SomeHeader()) {
  RecordingFile file(path, header);
  file.Add(format::Window{1, 0, 7e-9});
  Event first = At(731'602'772);
  first.stack = {"java/util/HashMap.resize:702", "p/A.six:6", "p/A.five:5", "p/A.four:4", "p/A.three:3", "p/A.main"};
  file.Add(first);
  file.Add(Event{.time_ns = 1500 * kMs,
                 .class_name = "[B",
                 .size = 3'000'000,
                 .weight = 3'000'000,
                 .kind = format::Kind::kOutside,
                 .thread = "worker \"1\", x"});
  file.Add(Event{.time_ns = 2250 * kMs, .class_name = "java/util/HashMap$Node", .stack = {}});
  file.Add(format::Interval{0, 10, 2400, 1, 1, 0});
  file.Add(format::Interval{1, 10, 3'000'000, 1, 1, 0});
  file.Add(format::Interval{2, 10, 2400, 2, 1, 5});
  file.counters().candidates = 30;
  file.counters().second_stage = 1;
  file.counters().points += 1;
  file.counters().committed += 1;
  file.End("jvm exit", 3 * kSecond);
}

// As many samples, in one interval of which nothing is lost.
inline void WriteSamples(const std::string& path, uint64_t count, const std::function<Event(uint64_t)>& sample,
                         uint64_t end_ns = 10 * kSecond, const format::FileHeader& header = SomeHeader()) {
  RecordingFile file(path, header);
  file.Add(format::Window{1, 0, 7e-9});
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const Event event = sample(i);
    bytes += static_cast<uint64_t>(event.weight);
    file.Add(event);
  }
  file.Add(format::Interval{0, 1000, bytes, count, count, 0});
  file.End("jvm exit", end_ns);
}

// A file with one sample, as a kill leaves it, and its ring, which has samples 77, 78, ... at these times, too.
inline void WriteKilled(const std::string& path, const format::FileHeader& header, const std::string& ring_path,
                        std::initializer_list<uint64_t> times, uint64_t end_ns = 0) {
  RecordingFile file(path, header);
  file.Add(At(kMs));
  file.Add(format::Interval{0, 1, 2400, 1, 1, 0});
  file.Flush({0, 0}, end_ns);
  RingFile ring(header);
  Event event;
  event.id = 77;
  ring.Define(0, event);
  for (const uint64_t time_ns : times) {
    event.time_ns = time_ns;
    ring.Add(0, event);
    ++event.id;
  }
  ring.header().counters.points = ring.header().counters.committed = 1 + times.size();
  ring.header().counters.candidate_bytes = 2400 * (1 + times.size());
  ring.WriteTo(ring_path);
}

inline size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

}  // namespace heaprec::tools::testing
