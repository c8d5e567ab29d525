// Reads a recording within a test and compares it with what was written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/format/recordings.h"

namespace heaprec::format::testing {

// A recording whose header can be read.
struct Opened {
  explicit Opened(Bytes bytes);
  Opened(const Opened&) = delete;  // the reader has its source's address
  MemoryByteSource source;
  std::unique_ptr<Reader> reader;
};

// Of the file that `bytes` are; fails the test when it cannot be opened.
struct ReadResult {
  std::vector<PlainBlock> blocks;
  std::vector<SkippedRange> skipped;
  std::vector<std::string> why() const;  // each range was skipped
};
ReadResult Read(Bytes bytes);

// REQUIREs that both are the same to the last field (weights to kWeightTolerance, times to kTickNs).
void RequireSame(const PlainBlock& read, const PlainBlock& given);

// Whether they are, but for names that are given as lost and ends of stacks that are given as cut off.
bool SameButLostNames(const PlainBlock& read, const PlainBlock& given);

}  // namespace heaprec::format::testing
