#include "format/ring/census_sums.h"

namespace heaprec::format {
namespace {

void Count(uint64_t slot_ns, uint64_t objects, uint64_t bytes, double weight, CensusRow* row) {
  row->time_ns = slot_ns;
  ++row->walks;
  row->objects.Add(objects, weight);
  row->bytes.Add(bytes, weight);
}

}  // namespace

void CensusSums::Add(const CensusRecord& record, std::span<const CensusEntry> entries, uint64_t since_start_ns) {
  const uint64_t slot_ns = since_start_ns / kCensusSlotNs * kCensusSlotNs;
  uint64_t objects = 0, bytes = 0;
  for (const CensusEntry& entry : entries) {
    Count(slot_ns, entry.objects, entry.bytes, record.weight, &rows_[{slot_ns, record.thread_key, entry.class_key}]);
    objects += entry.objects;
    bytes += entry.bytes;
  }
  Count(slot_ns, objects, bytes, record.weight, &totals_[{slot_ns, record.thread_key}]);
  ++pending_.walks;
  pending_.bytes += bytes;
}

void CensusSums::Clear() {
  rows_.clear();
  totals_.clear();
  pending_ = {};
}

}  // namespace heaprec::format
