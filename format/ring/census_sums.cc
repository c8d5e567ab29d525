#include "format/ring/census_sums.h"

namespace heaprec::format {
namespace {

void Count(uint64_t slot_ns, uint64_t objects, uint64_t bytes, uint64_t walk_bytes, double weight, CensusRow* row) {
  row->time_ns = slot_ns;
  ++row->walks;
  row->objects.Add(objects, walk_bytes, weight);
  row->bytes.Add(bytes, walk_bytes, weight);
}

}  // namespace

void CensusSums::Add(const CensusRecord& record, std::span<const CensusEntry> entries, uint64_t since_start_ns) {
  const uint64_t slot_ns = since_start_ns / kCensusSlotNs * kCensusSlotNs;
  uint64_t objects = 0, bytes = 0;
  for (const CensusEntry& entry : entries) {
    objects += entry.objects;
    bytes += entry.bytes;
  }
  for (const CensusEntry& entry : entries) {
    CensusRow& row = rows_[{slot_ns, record.thread_key, entry.class_key}];
    Count(slot_ns, entry.objects, entry.bytes, bytes, record.weight, &row);
  }
  Count(slot_ns, objects, bytes, bytes, record.weight, &totals_[{slot_ns, record.thread_key}]);
  ++pending_.walks;
  pending_.bytes += bytes;
}

void CensusSums::Clear() {
  rows_.clear();
  totals_.clear();
  pending_ = {};
}

}  // namespace heaprec::format
