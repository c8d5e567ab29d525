// A JFR file, chunk by chunk, event by event.
//
//   File file(&source);
//   while (file.NextChunk()) {                      // metadata and constants are read
//     while (const auto event = file.NextEvent()) ...
//   }
//   if (file.damage()) ...
//
// Memory:   the constants of a chunk, and one event; not the file.
// Failure:  reading ends at bytes that cannot be read; damage() says where and why. Everything read before stays valid.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "format/reader/reader.h"
#include "tools/import/jfr/constants.h"
#include "tools/import/jfr/metadata.h"

namespace heaprec::tools::jfr {

inline constexpr size_t kChunkHeaderBytes = 68;

// The header of a chunk of a JFR file.
//
// Units:    offsets from the chunk's begin; times in ns since 1970; ticks of the chunk's own clock.
// Failure:  Parse returns why it is not a header, or not a supported one.
struct ChunkHeader {
  uint64_t size = 0;
  uint64_t metadata_at = 0;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  int64_t start_ticks = 0;
  int64_t ticks_per_second = 0;
  bool compressed = true;  // integers
  bool finished = true;    // otherwise it is being written, or was when the JVM died, and its end may be missing

  // `bytes`: exactly kChunkHeaderBytes.
  static Result<ChunkHeader> Parse(std::string_view bytes);
  int64_t TimeOf(int64_t ticks) const;
};

// Valid until the next one.
struct Event {
  const Type* type = nullptr;
  Cursor fields;
};

class File {
 public:
  explicit File(format::ByteSource* source) : source_(*source) {}

  bool NextChunk();
  // Skips metadata, constants and events of unknown types.
  std::optional<Event> NextEvent();

  // Data of the current chunk.
  const ChunkHeader& header() const { return header_; }
  const Metadata& metadata() const { return *metadata_; }
  const Constants& constants() const { return *constants_; }

  uint64_t chunks() const { return chunks_; }
  // Number of chunks without an end, which are read as far as they were written.
  uint64_t unfinished() const { return unfinished_; }
  const std::optional<format::SkippedRange>& damage() const { return damage_; }

 private:
  struct Span {
    int64_t type_id = 0;
    std::string_view rest;  // after size and type
  };
  bool Damaged(uint64_t offset, std::string why);
  bool ReadMetadata();
  bool ReadConstants();
  std::optional<Span> SpanAt(uint64_t offset, uint64_t* size);
  std::string_view BytesAt(uint64_t offset, size_t size);

  format::ByteSource& source_;
  ChunkHeader header_;
  uint64_t begin_ = 0, next_event_ = 0, next_chunk_ = 0;  // offsets in the file
  uint64_t chunks_ = 0, unfinished_ = 0;
  std::unique_ptr<Metadata> metadata_;
  std::unique_ptr<Constants> constants_;
  std::optional<format::SkippedRange> damage_;
  // A buffer with a part of the file.
  std::string piece_;
  uint64_t piece_at_ = 0;
};

}  // namespace heaprec::tools::jfr
