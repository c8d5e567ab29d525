#include "tests/format/programs.h"

#include <algorithm>
#include <cstdlib>

#include "format/model/sample.h"
#include "tests/format/recordings.h"

namespace heaprec::format::testing {
namespace {

constexpr int kWindowsPerSecond = 8;
constexpr double kSecondNs = 1e9;

Method MethodOf(uint64_t method) {
  static const char* const kCommands[] = {"visit", "attrib", "check", "scan", "translate", "gen", "resolve", "parse"};
  static const char* const kNouns[] = {"Tree", "Method", "Class", "Apply", "Select", "Binary", "Block", "Lambda"};
  return {"com/sun/tools/javac/comp/Phase" + std::to_string(method / 20),
          kCommands[method % 8] + std::string(kNouns[method / 8 % 8]) + std::to_string(method % 11),
          "(Lcom/sun/tools/javac/tree/Tree$Node" + std::to_string(method % 60) + ";)V"};
}

}  // namespace

Allocation Synthetic::Next(ChunkWriter* writer) {
  const uint64_t path = std::min<uint64_t>(static_cast<uint64_t>(Exponential(8)), 39);
  Allocation next;
  for (uint64_t depth = 0; depth < 10; ++depth) {
    const uint64_t variant = path >> depth;
    const Method method{"app/Stage" + std::to_string(depth), "step" + std::to_string(variant), "(I)V"};
    next.leaf_first.push_back({writer->InternMethod(method), static_cast<int32_t>(7 + variant), 40});
  }
  next.class_name = "app/Thing" + std::to_string(path % 12);
  next.size = 16 + 8 * (path % 20);
  next.thread = static_cast<uint32_t>(Uniform(8));
  return next;
}

Allocation Compiler::Next(ChunkWriter* writer) {
  Allocation next;
  uint64_t method = 0;
  const uint64_t depth = 25 + Uniform(33);
  for (uint64_t level = 0; level < depth; ++level) {
    const uint64_t call = std::min<uint64_t>(static_cast<uint64_t>(Exponential(0.45)), 4);
    next.leaf_first.push_back({writer->InternMethod(MethodOf(method)), static_cast<int32_t>(11 * call + method % 40),
                               static_cast<int32_t>(100 + 40 * (method % 37) + call)});
    method = (method * 31 + call * 97 + 1) % 2200;
  }
  std::ranges::reverse(next.leaf_first);
  next.class_name =
      "com/sun/tools/javac/tree/Node" + std::to_string(std::min<uint64_t>(static_cast<uint64_t>(Exponential(20)), 150));
  next.size = Uniform(3) == 0 ? 24 + 8 * Uniform(200) : 32;
  return next;
}

ByteBuffer RecordingOf(Program* program, int seconds, int chunk_seconds, bool ends) {
  ByteBuffer file = EncodeFileHeader(SomeFileHeader());
  std::unique_ptr<ChunkWriter> writer;
  StreamCounters counters;
  std::vector<uint64_t> lanes(16);
  uint64_t id = 1;
  uint32_t window = 0;
  for (int second = 0; second < seconds; ++second) {
    if (second % chunk_seconds == 0) {
      writer = std::make_unique<ChunkWriter>(SomeFileHeader(), static_cast<uint32_t>(second / chunk_seconds));
    }
    const double tau = 6e6 + static_cast<double>(program->Uniform(1'000'000));
    writer->Add(Interval{static_cast<uint64_t>(second), 30'000 + program->Uniform(9000),
                         program->Uniform(1'000'000'000), kProgramRate + program->Uniform(80), kProgramRate, tau});
    double time = second * kSecondNs;
    for (int i = 0; i < kProgramRate; ++i) {
      time += kSecondNs / kProgramRate * static_cast<double>(program->Uniform(200)) / 100;
      const double lambda =
          static_cast<float>(1.2 * kProgramRate / (8e8 + static_cast<double>(program->Uniform(100'000'000))));
      if (i % (kProgramRate / kWindowsPerSecond) == 0) {
        writer->Add(Window{++window, static_cast<uint64_t>(time), lambda});
      }
      const Allocation next = program->Next(writer.get());
      Sample sample;
      sample.id = id += 1 + program->Uniform(2);
      sample.time_ns = static_cast<uint64_t>(time);
      sample.thread =
          writer->InternThread({next.thread, 1000 + next.thread, false, "worker-" + std::to_string(next.thread)});
      sample.class_id = writer->InternClass(next.class_name);
      sample.stack = writer->InternStack(next.leaf_first, false);
      sample.size = next.size;
      sample.tlab_size = 1 << 20;
      sample.window = window;
      sample.weight = tau;  // as nearly all are after the second stage
      writer->Add(sample);
    }
    counters.candidates += 30'000 + program->Uniform(9000);
    counters.candidate_bytes += program->Uniform(1'000'000'000);
    counters.points = counters.committed = id;
    counters.written += kProgramRate;
    counters.second_stage = id - counters.written;
    for (uint64_t& lane : lanes) lane += 88 * program->Uniform(40);
    const auto now_ns = static_cast<uint64_t>(time);
    const bool last = second + 1 == seconds && ends;
    const EndMarker ending{now_ns, "jvm exit"};
    const auto block = last || (second + 1) % chunk_seconds == 0
                           ? writer->Finish({{counters}}, lanes, now_ns, last ? &ending : nullptr)
                           : writer->Flush({{counters}}, lanes, now_ns);
    if (!block.ok()) std::abort();
    ByteSink(&file).Append(*block);
  }
  return file;
}

}  // namespace heaprec::format::testing
