#include "format/lifecycle_codec.h"

#include <cstdint>
#include <utility>

#include "format/columns.h"
#include "format/layout.h"

namespace heaprec::format {
namespace {

enum FateColumn : size_t {
  kFateSample = 0,
  kFateTime = 1,
  kFateKind = 2,
  kFateCollections = 3,
  kFateThreshold = 4,
  kFateLeft = 5,
};
constexpr size_t kFateColumns = 6;

enum SurvivorColumn : size_t {
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
constexpr size_t kSurvivorColumns = 12;

// In the file none is 0; in memory it is kNone, one below that.
uint64_t Shifted(Index index) { return static_cast<Index>(index + 1); }

bool TakeIndex(ByteCursor& column, size_t entries, Index* index) {
  const uint64_t shifted = column.Varint();
  if (shifted > entries) return false;
  *index = static_cast<Index>(shifted - 1);
  return true;
}

}  // namespace

void EncodeFates(std::span<const Fate> fates, Stream stream, ByteBuffer* raw) {
  ColumnWriter<kFateColumns> columns;
  Fate before;
  size_t rows = 0;
  for (const Fate& fate : fates) {
    if (fate.stream != stream) continue;
    ++rows;
    columns.Delta(kFateSample, fate.sample, before.sample);
    columns.Delta(kFateTime, fate.time_ns, before.time_ns);
    columns.Varint(kFateKind, static_cast<uint64_t>(fate.kind));
    columns.Delta(kFateCollections, fate.collections, before.collections);
    if (fate.kind == FateKind::kReleased) columns.F64(kFateThreshold, fate.threshold);
    if (fate.kind == FateKind::kShrunk) columns.Varint(kFateLeft, fate.left);
    before = fate;
  }
  columns.Finish(NumberOf(Section::kFates, stream), /*critical=*/false, rows, raw);
}

bool DecodeFates(Bytes body, Stream stream, std::vector<Fate>* fates, bool* refused) {
  ColumnReader<kFateColumns> columns(body);
  *refused |= columns.unknown_critical();
  if (columns.rows() > kMaxBlockRows || !columns.HasBytesForRows()) return false;
  Fate fate;
  fate.stream = stream;
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    fate.sample = columns[kFateSample].Delta(fate.sample);
    fate.time_ns = columns[kFateTime].Delta(fate.time_ns);
    const uint64_t kind = columns[kFateKind].Varint();
    fate.kind = static_cast<FateKind>(kind < kFateKinds ? kind : 0);
    fate.collections = columns[kFateCollections].Delta(fate.collections);
    const bool released = kind == static_cast<uint64_t>(FateKind::kReleased);
    fate.threshold = released ? columns[kFateThreshold].F64() : 0;
    fate.left = kind == static_cast<uint64_t>(FateKind::kShrunk) ? columns[kFateLeft].Varint() : 0;
    if (kind < kFateKinds) fates->push_back(fate);
  }
  return columns.ok();
}

void EncodeSurvivors(std::span<const Survivor> survivors, Stream stream, ByteBuffer* raw) {
  ColumnWriter<kSurvivorColumns> columns;
  uint64_t id = 0, tick = 0, collections = 0;
  size_t rows = 0;
  for (const Survivor& survivor : survivors) {
    const Sample& sample = survivor.sample;
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
    columns.F64(kBirthThreshold, survivor.threshold);
    columns.Delta(kBirthCollections, survivor.collections, std::exchange(collections, survivor.collections));
    columns.Varint(kBirthGone, survivor.gone);
  }
  columns.Finish(NumberOf(Section::kSurvivors, stream), /*critical=*/false, rows, raw);
}

bool DecodeSurvivors(Bytes body, Stream stream, const Dictionaries& dictionaries, std::vector<Survivor>* survivors,
                     bool* refused) {
  ColumnReader<kSurvivorColumns> columns(body);
  *refused |= columns.unknown_critical();
  if (columns.rows() > kMaxBlockRows || !columns.HasBytesForRows()) return false;
  uint64_t id = 0, tick = 0, collections = 0;
  for (uint64_t row = 0; row < columns.rows(); ++row) {
    Survivor survivor;
    Sample& sample = survivor.sample;
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
    survivor.threshold = columns[kBirthThreshold].F64();
    survivor.collections = collections = columns[kBirthCollections].Delta(collections);
    survivor.gone = columns[kBirthGone].Varint();
    if (survivor.gone > sample.size) return false;
    if (kind >= kKinds || StreamOf(static_cast<Kind>(kind)) != stream) continue;
    sample.kind = static_cast<Kind>(kind);
    survivors->push_back(survivor);
  }
  return columns.ok();
}

}  // namespace heaprec::format
