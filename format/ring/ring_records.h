// The records in a lane of the shared ring, one after another.
//
// A record never wraps: kPad fills the rest of the lane. Within a lane, samples are in order of time, because a writer
// reads the clock after it has leased the lane.
//
// Content addressing: classes, methods, stacks and threads are named by a hash of their content, so the same definition
// may appear any number of times, in any lane, and a reader can rebuild every key from the file's dictionaries.
// Format: docs/format/ring.md
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/model/model.h"

namespace heaprec::format {

enum class RecordType : uint16_t {
  kPad = 0,
  kClass = 1,
  kMethod = 2,
  kStack = 3,
  kThread = 4,
  kWindow = 5,
  kSample = 6,
  kState = 7,
  kDeath = 8,
  kNativePoint = 10,
  kPoint = 11,
  kOutside = 12,
  kEvent = 13,
};

inline constexpr uint32_t kRecordAlign = 8;

// Precedes every record; `bytes` counts the header and the padding to kRecordAlign.
struct RecordHeader {
  uint32_t bytes;
  RecordType type;
  uint16_t is_taken;  // kNativePoint: 1 once its sample has been committed; 0 for other types
};
static_assert(sizeof(RecordHeader) == 8);

// Strings follow a record's fixed part without terminators, in the order of their length fields.
struct ClassRecord {
  RecordHeader header;
  uint64_t key;  // XXH3_64(name)
  uint32_t name_bytes;
  uint32_t reserved;
};
static_assert(sizeof(ClassRecord) == 24);

struct MethodRecord {
  RecordHeader header;
  uint64_t key;  // XXH3_64(class_name '\0' name '\0' descriptor)
  uint32_t class_bytes;
  uint16_t name_bytes;
  uint16_t descriptor_bytes;
};
static_assert(sizeof(MethodRecord) == 24);

struct RingFrame {
  uint64_t method;  // MethodRecord.key; 0: unknown
  int32_t bci;
  int32_t line : 24;
  FrameType type : 8 = FrameType::kUnknown;
  bool operator==(const RingFrame&) const = default;
};
static_assert(sizeof(RingFrame) == 16);

// Marks where frames were left out of a stack. docs/format/recording.md#dictionaries
inline constexpr RingFrame kGapFrame{0, -1, kGapLine};

struct StackKey {
  uint64_t low, high;
  bool operator==(const StackKey&) const = default;
};
struct StackKeyHash {
  size_t operator()(const StackKey& key) const { return key.low; }
};

// RingFrame frames[frame_count] follow, leaf first.
struct StackRecord {
  RecordHeader header;
  StackKey key;  // XXH3_128(frames as bytes, seed = truncated)
  uint32_t frame_count;
  uint32_t truncated;  // 1: frames nearer to the root are missing
};
static_assert(sizeof(StackRecord) == 32);

struct ThreadRecord {
  RecordHeader header;
  uint64_t key;  // XXH3_64(java_tid, os_tid, is_virtual as u32, name)
  uint64_t java_tid;
  uint32_t os_tid;
  uint16_t is_virtual;
  uint16_t name_bytes;
};
static_assert(sizeof(ThreadRecord) == 32);

struct WindowRecord {
  RecordHeader header;
  uint64_t start_monotonic_ns;
  double lambda, point_lambda;
  uint32_t id;
  uint32_t reserved;
};
static_assert(sizeof(WindowRecord) == 40);

struct SampleRecord {
  RecordHeader header;
  uint64_t monotonic_ns;
  uint64_t id;
  uint64_t thread_key, class_key;
  StackKey stack_key;  // {0, 0}: none
  // Four 16-bit hashes of the methods nearest to the allocation, the nearest in the top bits; 0 for a missing method.
  // Equal methods have equal hashes while the process lives. The word only defines which samples are neighbours.
  uint64_t call_path;
  uint64_t size, tlab_size;
  double weight;        // after stage 1, in the unit of the stream
  double point_weight;  // of an allocation: the weight among all points, including light ones
  uint32_t window;
  uint16_t kind;  // Kind
  // from 1: index of the entry that tracks the object (FileHeader::max_tracked_objects); 0: not tracked
  uint16_t tracking_index;
};
static_assert(sizeof(SampleRecord) == 104);
inline constexpr int kMaxTracked = UINT16_MAX;  // entries at a time

// A light point: an allocation that is only counted. docs/sampler.md#light-points
// If the type is kOutside: `weight` objects of the class outside of TLABs, with `size` bytes together, since the
// previous record.
struct PointRecord {
  RecordHeader header;
  uint64_t monotonic_ns;
  uint64_t class_key;
  StackKey stack_key;  // path of the allocation (format::PathOf); {0, 0}: none
  uint64_t size;       // > 0
  double weight;       // bytes that the point represents among all points
};
static_assert(sizeof(PointRecord) == 56);

inline constexpr size_t kThreadNameBytes = 16;

// A sample point of native memory as recorded by the allocating thread. The drain resolves the names and commits the
// sample. uint64_t pcs[native_frames] follow (return addresses), then RingFrame frames[java_frames]; both innermost
// first.
struct NativePointRecord {
  RecordHeader header;
  uint64_t monotonic_ns;
  uint64_t id;  // id of its sample
  uint64_t size;
  double weight;
  uint32_t window;
  uint32_t os_tid;
  uint16_t tracking_index;  // SampleRecord::tracking_index
  uint16_t function;        // index in kNativeFunctions
  uint16_t native_frames, java_frames;
  uint32_t is_cut;  // 1: Java frames nearer to the root are missing
  uint32_t reserved;
  char thread_name[kThreadNameBytes];  // zero-padded
};
static_assert(sizeof(NativePointRecord) == 80);
inline constexpr std::array kNativeFunctions{"malloc", "calloc", "realloc", "memalign", "strdup", "new"};

inline constexpr size_t kMaxCauseBytes = 48;

// uint64_t amounts[items] follow (Amount::code), in the order of AccountItem: of a snapshot.
struct StateRecord {
  RecordHeader header;
  uint64_t monotonic_ns;
  uint64_t id;
  uint64_t used, committed;
  uint64_t pauses, paused_ns;
  uint64_t rss;
  uint32_t collections;
  uint32_t old_collections;  // plus 1; 0: unknown
  uint32_t threads;
  uint16_t kind;               // ProcessStateKind, no event
  uint16_t items;              // of its account; 0: none
  char cause[kMaxCauseBytes];  // padded with zeros
};
static_assert(sizeof(StateRecord) == 128);

// A ProcessState that is an event. `text_bytes` of its cause follow.
struct EventRecord {
  RecordHeader header;
  uint64_t monotonic_ns;
  uint64_t id;  // one sequence with those of StateRecord
  uint64_t used, committed, pauses, paused_ns;
  uint64_t thread_key, class_key;  // 0: none
  StackKey stack_key;              // {0, 0}: none
  uint32_t kind;                   // ProcessStateKind
  uint32_t text_bytes;             // at most kMaxEventTextBytes
};
static_assert(sizeof(EventRecord) == 96);
inline constexpr size_t kMaxEventTextBytes = 256;

// For a LifecycleEvent: a tracked object was found dead, a block was freed, or a mapping or a part of it was unmapped.
struct DeathRecord {
  RecordHeader header;
  uint64_t monotonic_ns;
  uint64_t sample;       // id of the sample
  uint64_t collections;  // for a mapping: its remaining bytes
};
static_assert(sizeof(DeathRecord) == 32);

// A native frame in the ring by its return address; the drain names it. A stack of such frames has no other record, so
// each sample contains it.
//
// Format:   docs/format/ring.md

inline constexpr int32_t kAddressLine = -3;

constexpr RingFrame AddressFrame(uint64_t return_address) {
  return {return_address, -1, kAddressLine, FrameType::kNative};
}

constexpr bool AreAddresses(std::span<const RingFrame> frames) {
  return !frames.empty() && frames.front().line == kAddressLine;
}

}  // namespace heaprec::format
