// Reads words of the JVM's own memory.
//
// Context:  any.
// Failure:  none: the caller knows that the address is readable. PointerAt is null for what cannot point to metadata.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heaprec::hotspot {

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

// Null if it cannot point to metadata: freed jmethodIDs hold small odd numbers (Method::_free 55).
inline const char* Metadata(const char* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  return address >= 4096 && address % 8 == 0 ? pointer : nullptr;
}

inline const char* PointerAt(const char* base, size_t offset) { return Metadata(Load<const char*>(base + offset)); }

}  // namespace heaprec::hotspot
