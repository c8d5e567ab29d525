#include "format/codec/census_codec.h"

#include <cmath>
#include <cstdint>

#include "format/bytes/columns.h"

namespace heaprec::format {
namespace {

enum CensusColumn : size_t {
  kSlot = 0,
  kThread = 1,
  kClass = 2,
  kWalks = 3,
  kObjects = 4,
  kBytes = 5,
  kObjectsExcess = 6,
  kBytesExcess = 7,
  kObjectsVariance = 8,
  kBytesVariance = 9,
  kObjectsCovariance = 10,
  kBytesCovariance = 11,
};
constexpr size_t kCensusColumns = 12;

bool IsPossible(const CensusSum& sum) {
  const auto is_possible = [](double value) { return std::isfinite(value) && value >= 0; };
  return is_possible(sum.weight_excess) && is_possible(sum.variance) && is_possible(sum.covariance);
}

}  // namespace

void EncodeCensus(Section section, std::span<const CensusRow> rows, ByteBuffer* raw) {
  ColumnWriter<kCensusColumns> columns;
  uint64_t slot = 0;
  for (const CensusRow& row : rows) {
    const uint64_t now = row.time_ns / kCensusSlotNs;
    columns.Delta(kSlot, now, slot);
    slot = now;
    columns.Varint(kThread, Shifted(row.thread));
    columns.Varint(kClass, Shifted(row.class_id));
    columns.Varint(kWalks, row.walks);
    columns.Varint(kObjects, row.objects.counted);
    columns.Varint(kBytes, row.bytes.counted);
    columns.F64(kObjectsExcess, row.objects.weight_excess);
    columns.F64(kBytesExcess, row.bytes.weight_excess);
    columns.F64(kObjectsVariance, row.objects.variance);
    columns.F64(kBytesVariance, row.bytes.variance);
    columns.F64(kObjectsCovariance, row.objects.covariance);
    columns.F64(kBytesCovariance, row.bytes.covariance);
  }
  columns.Finish(static_cast<uint64_t>(section), /*critical=*/false, rows.size(), raw);
}

bool DecodeCensus(Bytes body, const Dictionaries& dictionaries, std::vector<CensusRow>* rows, bool* refused) {
  ColumnReader<kCensusColumns> columns(body);
  *refused |= columns.unknown_critical();
  if (columns.rows() > kMaxBlockRows || !columns.HasBytesForRows()) return false;
  uint64_t slot = 0;
  for (uint64_t i = 0; i < columns.rows(); ++i) {
    CensusRow row;
    slot = columns[kSlot].Delta(slot);
    row.time_ns = slot * kCensusSlotNs;
    if (!TakeIndex(columns[kThread], dictionaries.threads.size(), &row.thread) ||
        !TakeIndex(columns[kClass], dictionaries.classes.size(), &row.class_id)) {
      return false;
    }
    row.walks = columns[kWalks].Varint();
    row.objects.counted = columns[kObjects].Varint();
    row.bytes.counted = columns[kBytes].Varint();
    row.objects.weight_excess = columns[kObjectsExcess].F64();
    row.bytes.weight_excess = columns[kBytesExcess].F64();
    row.objects.variance = columns[kObjectsVariance].F64();
    row.bytes.variance = columns[kBytesVariance].F64();
    row.objects.covariance = columns[kObjectsCovariance].F64();
    row.bytes.covariance = columns[kBytesCovariance].F64();
    if (!IsPossible(row.objects) || !IsPossible(row.bytes)) return false;
    rows->push_back(row);
  }
  return columns.ok();
}

void EncodeCensusCounters(const CensusCounters& counters, ByteBuffer* raw) {
  ByteBuffer body;
  ByteSink sink(&body);
  sink.Varint(kCensusCounts);
  for (const auto counter : kCensusCounterFields) sink.Varint(counters.*counter);
  AppendFramed(raw, static_cast<uint64_t>(Section::kCensusCounters), /*critical=*/false, body);
}

bool DecodeCensusCounters(Bytes body, CensusCounters* counters) {
  ByteCursor cursor(body);
  *counters = {};
  const uint64_t count = cursor.Varint();
  for (uint64_t i = 0; i < count && cursor.ok(); ++i) {
    const uint64_t value = cursor.Varint();
    if (i < kCensusCounts) counters->*kCensusCounterFields[i] = value;
  }
  return cursor.ok();
}

void EncodeCensusPage(uint64_t number, ByteBuffer* raw) {
  ByteBuffer body;
  ByteSink(&body).Varint(number);
  AppendFramed(raw, static_cast<uint64_t>(Section::kCensusPage), /*critical=*/false, body);
}

bool DecodeCensusPage(Bytes body, uint64_t* number) {
  ByteCursor cursor(body);
  *number = cursor.Varint();
  return cursor.ok();
}

}  // namespace heaprec::format
