// What the samples of allocations do not tell: frames that were not recorded, names that nobody knows.
//
// Units:    bytes that samples stand for.
// Threads:  one.
#pragma once

#include <cstdint>
#include <vector>

#include "format/reader/reader.h"

namespace heaprec::tools {

class Completeness {
 public:
  struct Part {
    uint64_t samples = 0;
    double bytes = 0;
  };

  void Add(const format::Block& block);

  const Part& all() const { return all_; }
  double ShareOf(const Part& part) const { return all_.bytes > 0 ? part.bytes / all_.bytes : 0; }

  Part truncated;      // frames are missing in the middle or at the root
  Part unknown_frame;  // a frame has no method, or its name is lost
  Part no_stack;
  Part unknown_class;  // likewise
  Part no_thread;
  uint64_t lost_names = 0;  // entries of dictionaries that stood in bytes that are lost

 private:
  enum Flags : uint8_t { kLooked = 1, kTruncated = 2, kUnknown = 4 };
  uint8_t FlagsOf(format::Index stack);

  Part all_;
  const format::Dictionaries* dictionaries_ = nullptr;
  uint32_t chunk_ = 0;
  uint64_t lost_in_chunk_ = 0;
  std::vector<uint8_t> flags_;  // by stack
  std::vector<format::Index> path_;
};

}  // namespace heaprec::tools
