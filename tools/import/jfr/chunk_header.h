// The header of a chunk of a JFR file.
//
// Units:    offsets from the chunk's begin; times in ns since 1970; ticks of the chunk's own clock.
// Failure:  Parse says why it is none, or none that can be read.
#pragma once

#include <cstdint>
#include <string_view>

#include "format/bytes/result.h"

namespace heaprec::tools::jfr {

inline constexpr size_t kChunkHeaderBytes = 68;

struct ChunkHeader {
  uint64_t size = 0;
  uint64_t metadata_at = 0;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  int64_t start_ticks = 0;
  int64_t ticks_per_second = 0;
  bool compressed = true;  // integers
  bool finished = true;    // else it is being written, or was when the JVM died: it may lack its end

  // `bytes`: kChunkHeaderBytes of them.
  static format::Result<ChunkHeader> Parse(std::string_view bytes);
  int64_t TimeOf(int64_t ticks) const;
};

}  // namespace heaprec::tools::jfr
