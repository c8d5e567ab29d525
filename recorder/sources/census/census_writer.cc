#include "recorder/sources/census/census_writer.h"

#include <algorithm>
#include <cstring>

#include "base/memory.h"
#include "format/ring/content_keys.h"
#include "format/ring/ring_reader.h"
#include "format/ring/ring_records.h"
#include "recorder/buffer/lane_lease.h"
#include "throttle/random.h"

namespace heaprec::sources {
namespace {

// Cuts between characters.
std::string_view Cut(std::string_view name, size_t most) {
  if (name.size() <= most) return name;
  while (most > 0 && (static_cast<unsigned char>(name[most]) & 0xc0) == 0x80) --most;
  return name.substr(0, most);
}

size_t SlotOf(const void* java_thread, size_t probe, size_t slots) {
  return (throttle::Mix64(reinterpret_cast<uintptr_t>(java_thread)) + probe) % slots;
}

using format::RingCensusPage;
using format::RingCensusRow;
using format::RingCensusSum;

constexpr uint64_t kMaxProbes = 64;
// The rest of a page is for rows that combine all threads.
constexpr uint32_t kRowsOfThreads = format::kCensusRows / 4 * 3;

// Prevents the drain from clearing the active page.
class PageInUse {
 public:
  explicit PageInUse(format::RingCensusPages* pages) {
    for (;;) {
      const uint64_t number = pages->active.load();
      page_ = &pages->Page(number);
      page_->users.fetch_add(1);
      // Checked after counting the user: if the drain has missed the user, the change of the active page is visible
      // here.
      if (pages->active.load() == number) return;
      page_->users.fetch_sub(1);
    }
  }
  ~PageInUse() { page_->users.fetch_sub(1, std::memory_order_release); }
  PageInUse(const PageInUse&) = delete;
  PageInUse& operator=(const PageInUse&) = delete;
  RingCensusPage* page() const { return page_; }

 private:
  RingCensusPage* page_;
};

void AddTo(std::atomic<double>* sum, double value) {
  if (value != 0) sum->fetch_add(value, std::memory_order_relaxed);
}

void Add(uint64_t found, uint64_t walk_bytes, double weight, RingCensusSum* sum) {
  format::CensusSum one;
  one.Add(found, walk_bytes, weight);
  sum->counted.fetch_add(one.counted, std::memory_order_relaxed);
  AddTo(&sum->weight_excess, one.weight_excess);
  AddTo(&sum->variance, one.variance);
  AddTo(&sum->covariance, one.covariance);
}

// Whether the row now has this tag; `is_new`: it was free before.
bool Take(uint64_t tag, uint64_t second, uint64_t thread_key, uint64_t class_key, RingCensusRow* row, bool* is_new) {
  uint64_t found = row->tag.load(std::memory_order_relaxed);
  if (found != 0 || !row->tag.compare_exchange_strong(found, tag, std::memory_order_relaxed)) return found == tag;
  row->second = second;
  row->thread_key = thread_key;
  row->class_key = class_key;
  *is_new = true;
  return true;
}

// Returns null if there is no free row near the row's slot.
RingCensusRow* Find(uint64_t second, uint64_t thread_key, uint64_t class_key, RingCensusPage* page, bool* is_new) {
  using throttle::Mix64;
  const uint64_t hash = Mix64(Mix64(Mix64(second) ^ thread_key) ^ class_key);
  for (uint64_t probe = 0; probe < kMaxProbes; ++probe) {
    RingCensusRow* const row = &page->rows[(hash / 2 + probe) % format::kCensusRows];
    if (!Take(hash | 1, second, thread_key, class_key, row, is_new)) continue;
    if (*is_new) page->rows_used.fetch_add(1, std::memory_order_relaxed);
    return row;
  }
  return nullptr;
}

// Returns false without space. Writes the header last, so that a record interrupted by a kill is not a record.
template <typename Record>
bool Append(format::RecordType type, const Record& fields, std::string_view text, RingCensusPage* page) {
  const size_t bytes = (sizeof(fields) + text.size() + format::kRecordAlign - 1) & ~size_t{format::kRecordAlign - 1};
  const size_t at = page->names_used.fetch_add(static_cast<uint32_t>(bytes), std::memory_order_relaxed);
  if (at + bytes > page->names.size()) return false;
  std::byte* const record = page->names.data() + at;
  buffer::CopyFixed(record, fields);
  std::memcpy(record + sizeof(fields), text.data(), text.size());
  const format::RecordHeader header{static_cast<uint32_t>(bytes), type, 0};
  std::atomic_signal_fence(std::memory_order_release);
  std::memcpy(record, &header, sizeof(header));
  return true;
}

}  // namespace

CensusThreads::CensusThreads()
    // Slots begin as zeros; pages are touched as threads start.
    : slots_(static_cast<Slot*>(MapSparse(kSlots * sizeof(Slot))),
             [](Slot* slots) { UnmapSparse(slots, kSlots * sizeof(Slot)); }) {}

CensusThreads::Slot* CensusThreads::Look(const void* java_thread) const {
  if (slots_ == nullptr) return nullptr;
  for (size_t probe = 0; probe < kMaxProbes; ++probe) {
    Slot& slot = slots_[SlotOf(java_thread, probe, kSlots)];
    const void* const owner = slot.java_thread.load(std::memory_order_acquire);
    if (owner == java_thread) return &slot;
    if (owner == nullptr) return nullptr;
  }
  return nullptr;
}

CensusThreads::Slot* CensusThreads::SlotFor(const void* java_thread) {
  if (slots_ == nullptr) return nullptr;
  if (Slot* const known = Look(java_thread)) return known;
  for (size_t probe = 0; probe < kMaxProbes; ++probe) {
    Slot& slot = slots_[SlotOf(java_thread, probe, kSlots)];
    if (slot.java_thread.load(std::memory_order_relaxed) == nullptr || slot.has_ended.load(std::memory_order_relaxed)) {
      return &slot;
    }
  }
  return nullptr;
}

void CensusThreads::Put(const void* java_thread, uint64_t java_tid, uint32_t os_tid, std::string_view name) {
  CensusThread thread;
  // Labels follow after a zero byte.
  const std::string_view cut = Cut(name.substr(0, name.find('\0')), CensusThread::kMaxNameBytes);
  thread.key = format::ThreadKey(java_tid, os_tid, /*is_virtual=*/false, cut);
  thread.java_tid = java_tid;
  thread.os_tid = os_tid;
  thread.name_bytes = static_cast<uint32_t>(cut.size());
  std::copy(cut.begin(), cut.end(), thread.name);
  while (writing_.test_and_set(std::memory_order_acquire)) {  // another starting thread: less than a microsecond
  }
  if (Slot* const slot = SlotFor(java_thread)) {
    slot->version.fetch_add(1, std::memory_order_acq_rel);
    std::atomic_thread_fence(std::memory_order_release);
    slot->thread = thread;
    slot->has_ended.store(false, std::memory_order_relaxed);
    slot->java_thread.store(java_thread, std::memory_order_release);
    slot->version.fetch_add(1, std::memory_order_release);
  }
  writing_.clear(std::memory_order_release);
}

void CensusThreads::Forget(const void* java_thread) {
  if (Slot* const slot = Look(java_thread)) slot->has_ended.store(true, std::memory_order_relaxed);
}

bool CensusThreads::Find(const void* java_thread, CensusThread* into) const {
  const Slot* const slot = Look(java_thread);
  if (slot == nullptr) return false;
  const uint32_t before = slot->version.load(std::memory_order_acquire);
  if (before % 2 != 0) return false;
  std::memcpy(into, &slot->thread, sizeof(*into));
  std::atomic_thread_fence(std::memory_order_acquire);
  return slot->version.load(std::memory_order_relaxed) == before &&
         slot->java_thread.load(std::memory_order_relaxed) == java_thread;
}

void CensusWriter::Write(uint64_t now_ns, const void* java_thread, double weight,
                         std::span<const ClassCounts::Entry> found) {
  if (found.empty()) return;
  CensusThread thread;
  const CensusThread* const known = threads_.Find(java_thread, &thread) ? &thread : nullptr;
  uint64_t objects = 0, bytes = 0;
  for (const ClassCounts::Entry& entry : found) objects += entry.objects, bytes += entry.bytes;
  const uint64_t second = format::SinceStart(now_ns, start_ns_) / format::kCensusSlotNs;
  const PageInUse in_use(&pages_);
  const auto add = [&](const RowKey& key, uint64_t row_objects, uint64_t row_bytes) {
    RingCensusRow& row = RowOf(key, in_use.page());
    row.walks.fetch_add(1, std::memory_order_relaxed);
    Add(row_objects, bytes, weight, &row.objects);
    Add(row_bytes, bytes, weight, &row.bytes);
  };
  for (const ClassCounts::Entry& entry : found) {
    const void* const klass = reinterpret_cast<const void*>(entry.klass);  // NOLINT: as the walk found it
    const std::string_view name = name_of_(klass);
    add({second, known, name.empty() ? 0 : format::ClassKey(name), name}, entry.objects, entry.bytes);
  }
  add({second, known, format::kAllClasses, {}}, objects, bytes);
}

RingCensusRow& CensusWriter::RowOf(const RowKey& key, RingCensusPage* page) {
  RingCensusRow* row = nullptr;
  bool is_new = false;
  if (key.thread != nullptr && page->rows_used.load(std::memory_order_relaxed) < kRowsOfThreads) {
    row = Find(key.second, key.thread->key, key.class_key, page, &is_new);
  }
  if (row == nullptr) row = Find(key.second, 0, key.class_key, page, &is_new);
  if (is_new) Name(key, page);
  if (row != nullptr) return *row;
  const bool is_total = key.class_key == format::kAllClasses;
  row = &page->rows[format::kCensusRows + (is_total ? 1 : 0)];
  (void)Take(1, key.second, 0, is_total ? format::kAllClasses : 0, row, &is_new);
  return *row;
}

void CensusWriter::Name(const RowKey& row, RingCensusPage* page) {
  const auto number = static_cast<uint32_t>(page->number.load(std::memory_order_relaxed));
  const auto announce = [&](uint64_t key, format::RecordType type, const auto& fields, std::string_view name) {
    if (!known_.Has(key, number) && Append(type, fields, name, page)) known_.Mark(key, number);
  };
  if (!row.class_name.empty()) {
    const auto bytes = static_cast<uint32_t>(row.class_name.size());
    announce(row.class_key, format::RecordType::kClass, format::ClassRecord{{}, row.class_key, bytes, 0},
             row.class_name);
  }
  if (row.thread == nullptr) return;
  const CensusThread& thread = *row.thread;
  announce(
      thread.key, format::RecordType::kThread,
      format::ThreadRecord{{}, thread.key, thread.java_tid, thread.os_tid, 0, static_cast<uint16_t>(thread.name_bytes)},
      thread.Name());
}

}  // namespace heaprec::sources
