#include "format/codec/lifecycle_codec.h"

#include <cstdint>
#include <utility>

#include "format/bytes/columns.h"
#include "format/bytes/layout.h"

namespace heaprec::format {
namespace {

enum LifecycleColumn : size_t {
  kLifecycleSample = 0,
  kLifecycleTime = 1,
  kLifecycleKind = 2,
  kLifecycleCollections = 3,
  kLifecycleThreshold = 4,
  kLifecycleLeft = 5,
};
constexpr size_t kLifecycleColumns = 6;

enum CheckpointColumn : size_t {
  kBirthId = 0,
  kBirthTick = 1,
  kBirthStack = 2,
  kBirthThread = 3,
  kBirthClass = 4,
  kBirthSize = 5,
  kBirthTlab = 6,
  kBirthKind = 7,
  kBirthWeight = 8,
  kBirthThreshold = 9,
  kBirthCollections = 10,
  kBirthGone = 11,
};
constexpr size_t kCheckpointColumns = 12;

}  // namespace

void EncodeLifecycleEvents(std::span<const LifecycleEvent> lifecycle_events, Stream stream, ByteBuffer* raw) {
  ColumnWriter<kLifecycleColumns> columns;
  LifecycleEvent before;
  size_t rows = 0;
  for (const LifecycleEvent& lifecycle : lifecycle_events) {
    if (lifecycle.stream != stream) continue;
    ++rows;
    columns.Delta(kLifecycleSample, lifecycle.sample, before.sample);
    columns.Delta(kLifecycleTime, lifecycle.time_ns, before.time_ns);
    columns.Varint(kLifecycleKind, static_cast<uint64_t>(lifecycle.kind));
    columns.Delta(kLifecycleCollections, lifecycle.collections, before.collections);
    if (lifecycle.kind == LifecycleKind::kEvicted) columns.F64(kLifecycleThreshold, lifecycle.threshold);
    if (lifecycle.kind == LifecycleKind::kShrunk) columns.Varint(kLifecycleLeft, lifecycle.left);
    before = lifecycle;
  }
  columns.Finish(NumberOf(Section::kLifecycleEvents, stream), /*critical=*/false, rows, raw);
}

bool DecodeLifecycleEvents(Bytes body, Stream stream, std::vector<LifecycleEvent>* lifecycle_events, bool* refused) {
  ColumnReader<kLifecycleColumns> columns(body);
  *refused |= columns.unknown_critical();
  if (columns.rows() > kMaxBlockRows || !columns.HasBytesForRows()) return false;
  LifecycleEvent lifecycle;
  lifecycle.stream = stream;
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    lifecycle.sample = columns[kLifecycleSample].Delta(lifecycle.sample);
    lifecycle.time_ns = columns[kLifecycleTime].Delta(lifecycle.time_ns);
    const uint64_t kind = columns[kLifecycleKind].Varint();
    lifecycle.kind = static_cast<LifecycleKind>(kind < kLifecycleKinds ? kind : 0);
    lifecycle.collections = columns[kLifecycleCollections].Delta(lifecycle.collections);
    const bool released = kind == static_cast<uint64_t>(LifecycleKind::kEvicted);
    lifecycle.threshold = released ? columns[kLifecycleThreshold].F64() : 0;
    lifecycle.left = kind == static_cast<uint64_t>(LifecycleKind::kShrunk) ? columns[kLifecycleLeft].Varint() : 0;
    if (kind < kLifecycleKinds) lifecycle_events->push_back(lifecycle);
  }
  return columns.ok();
}

void EncodeCheckpoint(std::span<const CheckpointSample> live_checkpoint, Stream stream, ByteBuffer* raw) {
  ColumnWriter<kCheckpointColumns> columns;
  uint64_t id = 0, tick = 0, collections = 0;
  size_t rows = 0;
  for (const CheckpointSample& checkpoint_sample : live_checkpoint) {
    const Sample& sample = checkpoint_sample.sample;
    if (sample.stream() != stream) continue;
    ++rows;
    columns.Delta(kBirthId, sample.id, std::exchange(id, sample.id));
    columns.Delta(kBirthTick, sample.time_ns / kTickNs, std::exchange(tick, sample.time_ns / kTickNs));
    columns.Varint(kBirthStack, Shifted(sample.stack));
    columns.Varint(kBirthThread, Shifted(sample.thread));
    columns.Varint(kBirthClass, Shifted(sample.class_id));
    columns.Varint(kBirthSize, sample.size);
    columns.Varint(kBirthTlab, sample.tlab_size);
    columns.Varint(kBirthKind, static_cast<uint64_t>(sample.kind));
    columns.F64(kBirthWeight, sample.weight);
    columns.F64(kBirthThreshold, checkpoint_sample.threshold);
    columns.Delta(kBirthCollections, checkpoint_sample.collections,
                  std::exchange(collections, checkpoint_sample.collections));
    columns.Varint(kBirthGone, checkpoint_sample.gone);
  }
  columns.Finish(NumberOf(Section::kLiveCheckpoint, stream), /*critical=*/false, rows, raw);
}

bool DecodeCheckpoint(Bytes body, Stream stream, const Dictionaries& dictionaries,
                      std::vector<CheckpointSample>* live_checkpoint, bool* refused) {
  ColumnReader<kCheckpointColumns> columns(body);
  *refused |= columns.unknown_critical();
  if (columns.rows() > kMaxBlockRows || !columns.HasBytesForRows()) return false;
  uint64_t id = 0, tick = 0, collections = 0;
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    CheckpointSample checkpoint_sample;
    Sample& sample = checkpoint_sample.sample;
    sample.id = id = columns[kBirthId].Delta(id);
    tick = columns[kBirthTick].Delta(tick);
    sample.time_ns = tick * kTickNs;
    if (!TakeIndex(columns[kBirthStack], dictionaries.stacks.size(), &sample.stack) ||
        !TakeIndex(columns[kBirthThread], dictionaries.threads.size(), &sample.thread) ||
        !TakeIndex(columns[kBirthClass], dictionaries.classes.size(), &sample.class_id)) {
      return false;
    }
    sample.size = columns[kBirthSize].Varint();
    sample.tlab_size = columns[kBirthTlab].Varint();
    const uint64_t kind = columns[kBirthKind].Varint();
    sample.weight = columns[kBirthWeight].F64();
    checkpoint_sample.threshold = columns[kBirthThreshold].F64();
    checkpoint_sample.collections = collections = columns[kBirthCollections].Delta(collections);
    checkpoint_sample.gone = columns[kBirthGone].Varint();
    if (checkpoint_sample.gone > sample.size) return false;
    if (kind >= kKinds || StreamOf(static_cast<Kind>(kind)) != stream) continue;
    sample.kind = static_cast<Kind>(kind);
    live_checkpoint->push_back(checkpoint_sample);
  }
  return columns.ok();
}

}  // namespace heaprec::format
