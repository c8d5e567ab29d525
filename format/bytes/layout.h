// Magic numbers, sizes, section numbers and limits of a recording, and its two fixed headers.
//
// Format:   docs/format/recording.md, which has the same names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "format/bytes/bytes.h"
#include "format/model/model.h"

namespace heaprec::format {

// The first byte is not ASCII and the last is a line feed, so a transfer in text mode is detected.
inline constexpr uint64_t kFileMagic = 0x0a454c4946524889;   // "\x89HRFILE\n"
inline constexpr uint64_t kChunkMagic = 0x0a4b4e4843524889;  // "\x89HRCHNK\n"
inline constexpr uint64_t kBlockMagic = 0x0a4b434c42524889;  // "\x89HRBLCK\n"

inline constexpr uint32_t kFileVersion = 1;
inline constexpr size_t kFilePrefixBytes = 24;  // of the file header, before its fields
inline constexpr size_t kChunkHeaderBytes = 40;
inline constexpr size_t kBlockHeaderBytes = 72;

// Limits that no writer exceeds; they bound a reader's memory.
inline constexpr uint32_t kMaxFileFieldsBytes = 1 << 20;
inline constexpr uint32_t kMaxBlockRawBytes = 64 << 20;
inline constexpr uint32_t kMaxBlockPayloadBytes = kMaxBlockRawBytes + (1 << 20);
inline constexpr uint32_t kMaxBlockRows = 1 << 20;  // of each kind
inline constexpr uint32_t kMaxLanes = 1 << 16;
inline constexpr uint32_t kMaxStringBytes = 1 << 20;
inline constexpr uint64_t kMaxDictionaryBytes = 256 << 20;  // of a chunk, in memory, entries and strings

// Sections of a block's raw bytes.
enum class Section : uint32_t {
  kStrings = 1,
  kClasses = 2,
  kMethods = 3,
  kFrames = 4,
  kNodes = 5,
  kThreads = 6,
  kWindows = 7,
  kIntervals = 8,
  kSamples = 9,
  kStreamCounters = 10,
  kLanes = 11,
  kEndMarker = 12,
  kStates = 13,
  kLifecycleEvents = 14,
  kLiveCheckpoint = 15,
  kSkippedBytes = 16,
  kDictionaryOffsets = 17,
  kHeader = 18,
  kCensus = 19,
  kCensusTotals = 20,
  kCensusCounters = 21,
  kCensusPage = 22,
  kRows = 27,  // 23 to 26 belong to the stream of exceptions
  kOutside = 28,
  kRowInterval = 29,
};

// Windows, intervals, samples, counters, lifecycle events and live checkpoints belong to a stream. In stream s, each
// of these sections has its number in stream 0 plus s times this.
inline constexpr uint32_t kStreamStride = 16;
constexpr uint64_t NumberOf(Section section, Stream stream) {
  return static_cast<uint64_t>(section) + kStreamStride * static_cast<uint64_t>(stream);
}

struct ChunkHeader {
  uint32_t sequence = 0;
  RecordingId recording{};
};

struct BlockHeader {
  static constexpr uint32_t kFirstOfChunk = 1, kLastOfChunk = 2, kHasEndMarker = 4, kProvisional = 8, kRollUp = 16;
  uint32_t payload_bytes = 0;
  uint32_t raw_bytes = 0;
  uint32_t flags = 0;
  uint32_t chunk = 0;     // sequence number of the chunk
  uint32_t sequence = 0;  // number in the chunk, from 0
  uint64_t begin_ns = 0;  // time of the earliest sample; without samples: end_ns
  uint64_t end_ns = 0;    // when it was flushed
  uint64_t payload_hash = 0;
  uint64_t raw_hash = 0;
};

uint64_t Hash(Bytes bytes, uint64_t seed = 0);  // XXH3, 64 bits
// Returns the seed for the hashes of block headers, so that a block of another recording does not match.
uint64_t HeaderSeed(const RecordingId& recording);

void AppendTo(ByteBuffer* buffer, const ChunkHeader& header);
void AppendTo(ByteBuffer* buffer, const BlockHeader& header, uint64_t seed);
// Returns nullopt if the bytes are too short, have another magic number, do not match the hash, or exceed a limit.
std::optional<ChunkHeader> DecodeChunkHeader(Bytes bytes);
std::optional<BlockHeader> DecodeBlockHeader(Bytes bytes, uint64_t seed);

}  // namespace heaprec::format
