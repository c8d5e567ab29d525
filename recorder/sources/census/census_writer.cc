#include "recorder/sources/census/census_writer.h"

#include <cstring>

#include "format/ring/ring_reader.h"
#include "recorder/buffer/lane_lease.h"
#include "recorder/sources/clock.h"
#include "throttle/random.h"

namespace heaprec::sources {
namespace {

using buffer::LaneLease;
using format::RecordType;

template <typename Record>
std::byte* CopyFixed(std::byte* record, const Record& fields) {
  // The header was written by Reserve.
  std::memcpy(record + sizeof(format::RecordHeader),
              reinterpret_cast<const std::byte*>(&fields) + sizeof(format::RecordHeader),
              sizeof(Record) - sizeof(format::RecordHeader));
  return record + sizeof(Record);
}

}  // namespace

bool CensusWriter::Write(const void* java_thread, double weight, std::span<ClassCounts::Entry> found) {
  if (found.empty()) return true;
  const auto hint = static_cast<uint32_t>(throttle::Mix64(reinterpret_cast<uintptr_t>(java_thread)));
  const uint32_t epoch = epoch_.load(std::memory_order_relaxed);
  format::CensusRecord record{};
  CensusThread thread;
  if (threads_.Find(java_thread, &thread)) record.thread_key = Define(thread, hint, epoch);
  for (ClassCounts::Entry& entry : found) {
    const void* const klass = reinterpret_cast<const void*>(entry.class_key);  // NOLINT: as the walk found it
    entry.class_key = Define(names_.KlassName(klass), hint, epoch);
  }
  record.weight = weight;
  record.count = static_cast<uint32_t>(found.size());
  const size_t bytes = sizeof(record) + found.size_bytes();
  LaneLease lease(ring_, hint, static_cast<uint32_t>(bytes + format::kRecordAlign));
  std::byte* const into = lease.ok() ? lease.Reserve(RecordType::kCensus, bytes) : nullptr;
  if (into == nullptr) return false;
  record.monotonic_ns = MonotonicNs();
  std::memcpy(CopyFixed(into, record), found.data(), found.size_bytes());
  lease.Commit();
  return true;
}

// 0: it has no name, or there was no room for it.
uint64_t CensusWriter::Define(std::string_view class_name, uint32_t lane_hint, uint32_t epoch) {
  if (class_name.empty()) return 0;
  const uint64_t key = format::ClassKey(class_name);
  if (classes_.Has(key, epoch)) return key;
  const size_t bytes = sizeof(format::ClassRecord) + class_name.size();
  LaneLease lease(ring_, lane_hint, static_cast<uint32_t>(bytes + format::kRecordAlign));
  std::byte* const into = lease.ok() ? lease.Reserve(RecordType::kClass, bytes) : nullptr;
  if (into == nullptr) return 0;
  std::byte* const text = CopyFixed(into, format::ClassRecord{{}, key, static_cast<uint32_t>(class_name.size()), 0});
  std::memcpy(text, class_name.data(), class_name.size());
  lease.Commit();
  classes_.Mark(key, epoch);
  return key;
}

uint64_t CensusWriter::Define(const CensusThread& thread, uint32_t lane_hint, uint32_t epoch) {
  if (known_threads_.Has(thread.key, epoch)) return thread.key;
  const std::string_view name = thread.Name();
  const size_t bytes = sizeof(format::ThreadRecord) + name.size();
  LaneLease lease(ring_, lane_hint, static_cast<uint32_t>(bytes + format::kRecordAlign));
  std::byte* const into = lease.ok() ? lease.Reserve(RecordType::kThread, bytes) : nullptr;
  if (into == nullptr) return 0;
  std::byte* const text = CopyFixed(
      into,
      format::ThreadRecord{{}, thread.key, thread.java_tid, thread.os_tid, 0, static_cast<uint16_t>(name.size())});
  std::memcpy(text, name.data(), name.size());
  lease.Commit();
  known_threads_.Mark(thread.key, epoch);
  return thread.key;
}

}  // namespace heaprec::sources
