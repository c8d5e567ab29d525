// Streams, each with its own throttle, and the basic types of a recording.
//
// Format:   docs/format/recording.md#streams
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace heaprec::format {

using RecordingId = std::array<uint8_t, 16>;

// An index into the dictionaries of the chunk that was read. 0 is the first entry; kNone means "not known".
using Index = uint32_t;
inline constexpr Index kNone = 0xffffffff;

// Resolution of a sample's time; the clock is no more precise. docs/format/recording.md#conventions
inline constexpr uint64_t kTickNs = 64;

enum class Kind : uint8_t { kTlab = 0, kOutside = 1, kException = 2, kNative = 3, kMapping = 4 };
inline constexpr int kKinds = 5;
inline constexpr std::array kAllocationKinds{Kind::kTlab, Kind::kOutside};

// Events with their own throttle: each stream has its windows, intervals, cap and counters, and its weights are in its
// unit. docs/format/recording.md#streams
enum class Stream : uint8_t {
  kAllocations = 0,  // the unit is the byte
  kExceptions = 1,   // the unit is the event
  kNative = 2,       // malloc and its family; the unit is the byte
  kMapping = 3,      // mmap and its family; the unit is the byte
};
inline constexpr int kStreams = 4;
inline constexpr std::array kAllStreams{Stream::kAllocations, Stream::kExceptions, Stream::kNative, Stream::kMapping};
constexpr Stream StreamOf(Kind kind) {
  constexpr std::array kOf{Stream::kAllocations, Stream::kAllocations, Stream::kExceptions, Stream::kNative,
                           Stream::kMapping};
  static_assert(kOf.size() == kKinds);
  return static_cast<size_t>(kind) < kOf.size() ? kOf[static_cast<size_t>(kind)] : Stream::kAllocations;
}
// Whether weights are numbers of events and samples have no size.
constexpr bool CountsEvents(Stream stream) { return stream == Stream::kExceptions; }

// Window ids are unique across streams: a top bit of the id identifies the stream.
inline constexpr uint32_t kWindowStreamBit = 0x80000000, kNativeWindowBit = 0x40000000, kMappingWindowBit = 0x20000000;
constexpr Stream StreamOfWindow(uint32_t id) {
  if ((id & kWindowStreamBit) != 0) return Stream::kExceptions;
  if ((id & kNativeWindowBit) != 0) return Stream::kNative;
  return (id & kMappingWindowBit) != 0 ? Stream::kMapping : Stream::kAllocations;
}

// Sample ids are unique across streams: each stream has its own range, which is too large to be exhausted.
constexpr uint64_t FirstIdOf(Stream stream) {
  return stream == Stream::kAllocations ? 1 : uint64_t{1} << (63 - static_cast<uint8_t>(stream));
}
constexpr Stream StreamOfId(uint64_t id) {
  if (id >= FirstIdOf(Stream::kExceptions)) return Stream::kExceptions;
  if (id >= FirstIdOf(Stream::kNative)) return Stream::kNative;
  return id >= FirstIdOf(Stream::kMapping) ? Stream::kMapping : Stream::kAllocations;
}

// The seed of a stream's second stage, from the first eight bytes of the recording's id (little endian), so that
// streams are reduced independently. docs/format/ring.md#intervals
constexpr uint64_t SeedOf(Stream stream, uint64_t recording) {
  return stream == Stream::kAllocations ? recording : recording ^ uint64_t { 1 } << (64 - static_cast<uint8_t>(stream));
}
constexpr uint64_t SeedOf(Stream stream, const RecordingId& id) {
  uint64_t recording = 0;
  for (size_t i = 8; i-- > 0;) recording = recording << 8 | id[i];
  return SeedOf(stream, recording);
}

template <typename T>
struct PerStream {
  std::array<T, kStreams> of{};
  T& operator[](Stream stream) { return of[static_cast<size_t>(stream)]; }
  const T& operator[](Stream stream) const { return of[static_cast<size_t>(stream)]; }
  bool operator==(const PerStream&) const = default;
};
// What make(stream) returns for each stream.
template <typename Make>
constexpr auto PerStreamOf(const Make& make) {
  return [&make]<size_t... kAt>(std::index_sequence<kAt...>) {
    return PerStream<decltype(make(Stream::kAllocations))>{{make(kAllStreams[kAt])...}};
  }
  (std::make_index_sequence<kStreams>());
}

// The rate limit of a stream.
struct StreamCap {
  uint64_t interval_ns = 0;    // length of a throttle interval; 0: the stream is not recorded
  uint32_t interval_cap = 0;   // maximum samples per interval
  double rate_per_second = 0;  // as requested
};

}  // namespace heaprec::format
