#include "recorder/hotspot/usage/perf_memory.h"

#include <cstdint>
#include <cstring>

namespace heaprec::hotspot {
namespace {

// As jstat and its kin read it: version 2.0 of the layout, the same in every JDK since 5.
struct Prologue {
  uint32_t magic;  // big endian, always
  uint8_t byte_order, major, minor, accessible;
  int32_t used, overflow;
  int64_t changed;
  int32_t entry_offset, entries;
};
static_assert(sizeof(Prologue) == 32 && offsetof(Prologue, entry_offset) == 24);
struct Entry {
  int32_t bytes, name_offset, vector_length;
  uint8_t type, flags, units, variability;
  int32_t value_offset;
};
static_assert(sizeof(Entry) == 20);
constexpr uint32_t kMagic = 0xc0c0feca;  // as a little-endian machine loads ca fe c0 c0
constexpr uint8_t kLittleEndian = 1, kMajor = 2;
constexpr uint8_t kByte = 'B', kLong = 'J';

}  // namespace

void ForEachPerfCounter(const VmStructs& structs, const std::function<void(const PerfCounter&)>& visit) {
  const void* const start = structs.Static("PerfMemory", "_start");
  const void* const capacity_at = structs.Static("PerfMemory", "_capacity");
  if (start == nullptr || capacity_at == nullptr) return;
  const char* memory = nullptr;
  size_t capacity = 0;
  std::memcpy(&memory, start, sizeof(memory));
  std::memcpy(&capacity, capacity_at, sizeof(capacity));
  Prologue prologue;
  if (memory == nullptr || capacity < sizeof(prologue)) return;
  std::memcpy(&prologue, memory, sizeof(prologue));
  if (prologue.magic != kMagic || prologue.byte_order != kLittleEndian || prologue.major != kMajor) return;
  size_t at = static_cast<size_t>(prologue.entry_offset);
  for (int32_t i = 0; i < prologue.entries && at + sizeof(Entry) <= capacity; ++i) {
    Entry entry;
    std::memcpy(&entry, memory + at, sizeof(entry));
    const auto bytes = static_cast<size_t>(entry.bytes), name = static_cast<size_t>(entry.name_offset),
               value = static_cast<size_t>(entry.value_offset);
    if (entry.bytes <= 0 || bytes > capacity - at || name >= bytes || value >= bytes) return;
    const bool is_text = entry.vector_length > 0;
    const size_t size = is_text ? static_cast<size_t>(entry.vector_length) : sizeof(int64_t);
    const std::string_view text(memory + at + name, strnlen(memory + at + name, bytes - name));
    if (size <= bytes - value && entry.type == (is_text ? kByte : kLong)) {
      visit({text, memory + at + value, size, is_text});
    }
    at += bytes;
  }
}

}  // namespace heaprec::hotspot
