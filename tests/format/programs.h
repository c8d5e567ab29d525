// Two seeded programs, whose bytes per event size_test.cc limits: a synthetic one whose few paths are ten deep, and
// a compiler that descends through a grammar, so that nearly every stack is new (as javac: depth 41-49).
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/writer/chunk_writer.h"

namespace heaprec::format::testing {

inline constexpr int kProgramRate = 150;  // samples per second

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
  Allocation Next(ChunkWriter* writer) override;
};

// Recursive descent: each method calls one of few others, most calls favour the first.
class Compiler : public Program {
 public:
  using Program::Program;
  Allocation Next(ChunkWriter* writer) override;
};

// Records `program` as the agent does, a block per second, in chunks of `chunk_seconds`. `ends`: in the end, or killed
// behind the last block.
ByteBuffer RecordingOf(Program* program, int seconds, int chunk_seconds = 60, bool ends = true);

}  // namespace heaprec::format::testing
