// Reads a recording within a test and compares it with what was written.
#pragma once

#include <vector>

#include "tests/format/recordings.h"

namespace heaprec::format::testing {

// Of the file that `bytes` are; fails the test when it cannot be opened.
struct ReadResult {
  std::vector<PlainBlock> blocks;
  std::vector<SkippedRange> skipped;
};
ReadResult Read(Bytes bytes);

// REQUIREs that both are the same to the last field (weights to kWeightTolerance, times to kTickNs).
void RequireSame(const PlainBlock& read, const PlainBlock& given);

// Whether they are, but for names that are given as lost and ends of stacks that are given as cut off.
bool SameButLostNames(const PlainBlock& read, const PlainBlock& given);

}  // namespace heaprec::format::testing
