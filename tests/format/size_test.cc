// Bytes per event, everything in: headers, names, windows, intervals, books.
//
// Two seeded programs stand for the two in docs/format.md#size: a synthetic one whose few paths are ten deep, and a
// compiler that descends through a grammar, so that nearly every stack is new (as javac: depth 41-49).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>

#include "format/chunk_writer.h"
#include "format/weights.h"
#include "tests/format/recordings.h"

namespace heaprec::format::testing {
namespace {

constexpr int kRate = 150;  // per second
constexpr int kSeconds = 20;
constexpr int kWindowsPerSecond = 8;
constexpr double kSecondNs = 1e9;

// What a program allocates, one object at a time.
struct Allocation {
  std::vector<StackFrame> leaf_first;
  std::string class_name;
  uint64_t size = 16;
  uint32_t thread = 0;
};

class Program {
 public:
  explicit Program(uint32_t seed) : random(seed) {}
  virtual ~Program() = default;
  virtual Allocation Next(ChunkWriter* writer) = 0;

  uint64_t Uniform(uint64_t below) { return std::uniform_int_distribution<uint64_t>(0, below - 1)(random); }
  double Exponential(double mean) { return std::exponential_distribution<double>(1 / mean)(random); }

  std::mt19937_64 random;
};

// 40 paths of depth 10, with a class and a size each, run by 8 threads.
class Synthetic : public Program {
 public:
  using Program::Program;
  Allocation Next(ChunkWriter* writer) override {
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
};

// Recursive descent: each method calls one of few others, most calls favour the first.
class Compiler : public Program {
 public:
  using Program::Program;
  Allocation Next(ChunkWriter* writer) override {
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
    next.class_name = "com/sun/tools/javac/tree/Node" +
                      std::to_string(std::min<uint64_t>(static_cast<uint64_t>(Exponential(20)), 150));
    next.size = Uniform(3) == 0 ? 24 + 8 * Uniform(200) : 32;
    return next;
  }

 private:
  static Method MethodOf(uint64_t method) {
    static const char* const kVerbs[] = {"visit", "attrib", "check", "scan", "translate", "gen", "resolve", "parse"};
    static const char* const kNouns[] = {"Tree", "Method", "Class", "Apply", "Select", "Binary", "Block", "Lambda"};
    return {"com/sun/tools/javac/comp/Phase" + std::to_string(method / 20),
            kVerbs[method % 8] + std::string(kNouns[method / 8 % 8]) + std::to_string(method % 11),
            "(Lcom/sun/tools/javac/tree/Tree$Node" + std::to_string(method % 60) + ";)V"};
  }
};

// Records `program` as the agent does, a block per second, and returns the bytes per event.
double BytesPerEvent(Program* program) {
  size_t bytes = EncodeFileHeader(SomeFileHeader()).size();
  ChunkWriter writer(SomeFileHeader(), 0);
  Books books;
  std::vector<uint64_t> lanes(16);
  uint64_t id = 1;
  uint32_t window = 0;
  for (int second = 0; second < kSeconds; ++second) {
    const double tau = 6e6 + static_cast<double>(program->Uniform(1'000'000));
    writer.Add(Interval{static_cast<uint64_t>(second), 30'000 + program->Uniform(9000), program->Uniform(1'000'000'000),
                        kRate + program->Uniform(80), kRate, tau});
    double time = second * kSecondNs;
    for (int i = 0; i < kRate; ++i) {
      time += kSecondNs / kRate * static_cast<double>(program->Uniform(200)) / 100;
      const double lambda =
          static_cast<float>(1.2 * kRate / (8e8 + static_cast<double>(program->Uniform(100'000'000))));
      if (i % (kRate / kWindowsPerSecond) == 0) writer.Add(Window{++window, static_cast<uint64_t>(time), lambda});
      const Allocation next = program->Next(&writer);
      Sample sample;
      sample.id = id += 1 + program->Uniform(2);
      sample.time_ns = static_cast<uint64_t>(time);
      sample.thread =
          writer.InternThread({next.thread, 1000 + next.thread, false, "worker-" + std::to_string(next.thread)});
      sample.class_id = writer.InternClass(next.class_name);
      sample.stack = writer.InternStack(next.leaf_first, false);
      sample.size = next.size;
      sample.tlab_size = 1 << 20;
      sample.window = window;
      sample.weight = tau;  // as nearly all are after the second stage
      writer.Add(sample);
    }
    books.candidates += 30'000 + program->Uniform(9000);
    books.candidate_bytes += program->Uniform(1'000'000'000);
    books.points = books.committed = id;
    books.written += kRate;
    books.second_stage = id - books.written;
    for (uint64_t& lane : lanes) lane += 88 * program->Uniform(40);
    const auto block = writer.Flush({{books}}, lanes, static_cast<uint64_t>(time));
    REQUIRE(block.ok());
    bytes += block->size();
  }
  return static_cast<double>(bytes) / (kRate * kSeconds);
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

}  // namespace
}  // namespace heaprec::format::testing
