// Reads the JVM's memory. SafeReader reads words that another thread may be freeing: unmapped memory gives no value
// instead of a fault.
//
// Containers often refuse process_vm_readv (seccomp), so Probe finds a method that works here.
//
// Context:  Probe: setup. Word: setup, drain (it may open a pipe). IsReadable: any, one system call.
// Threads:  any.
// Failure:  Word returns nullopt for unmapped memory, and always with Way::kNone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace heaprec::hotspot {

// Reads words of the JVM's own memory.
//
// Context:  any.
// Failure:  none: the caller ensures that the address is readable. PointerAt returns null for values that cannot point
//           to metadata.
template <typename T>
T Load(const char* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

template <typename T>
T Load(uintptr_t address) {
  return Load<T>(reinterpret_cast<const char*>(address));  // NOLINT(performance-no-int-to-ptr)
}

// Returns null if the pointer cannot point to metadata: freed jmethodIDs contain small odd numbers (Method::_free 55).
inline const char* Metadata(const char* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  return address >= 4096 && address % 8 == 0 ? pointer : nullptr;
}

inline const char* PointerAt(const char* base, size_t offset) { return Metadata(Load<const char*>(base + offset)); }

// HotSpot's compressed integers: base 64, least significant digit first; a byte below a limit is the
// last (utilities/unsigned5).
//
// Context:  any.
// Failure:  Next is false at the end of the bytes, and at a byte that is not a digit.
class Unsigned5Reader {
 public:
  // excluded: byte values below this are not digits (1 since JDK 20).
  Unsigned5Reader(const uint8_t* bytes, size_t size, uint8_t excluded)
      : next_(bytes), end_(bytes + size), excluded_(excluded) {}

  bool Next(uint32_t* out) {
    const uint32_t limit = 256 - 64 - excluded_;
    uint32_t sum = 0;
    for (int shift = 0; shift <= 24; shift += 6) {
      if (next_ == end_ || *next_ < excluded_) return false;
      const uint32_t digit = *next_++ - uint32_t{excluded_};
      sum += digit << shift;
      if (digit < limit) break;
    }
    *out = sum;
    return true;
  }
  bool NextSigned(int* out) {
    uint32_t value = 0;
    if (!Next(&value)) return false;
    *out = static_cast<int>((value >> 1) ^ (0 - (value & 1)));
    return true;
  }
  // Reads the next byte without decoding it; false at the end.
  bool Byte(uint8_t* out) {
    if (next_ == end_) return false;
    *out = *next_++;
    return true;
  }

 private:
  const uint8_t* next_;
  const uint8_t* end_;
  uint8_t excluded_;
};

class SafeReader {
 public:
  enum class Way { kProcessVm, kPipe, kNone };

  static SafeReader Probe();

  Way way() const { return way_; }
  // The method, and why no better one: "process_vm_readv", "a pipe (process_vm_readv: Operation not permitted)".
  std::string Description() const;
  std::optional<uint64_t> Word(const void* address) const;

  // Whether the word at `address`, a multiple of 8, can be loaded now. Needs no Probe.
  static bool IsReadable(const void* address);

 private:
  Way way_ = Way::kNone;
  int error_ = 0;  // errno of process_vm_readv; 0 if it works
};

}  // namespace heaprec::hotspot
