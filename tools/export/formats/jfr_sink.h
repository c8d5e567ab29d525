// The primitive encodings of a JFR file: what is in its chunk headers is big-endian, all other integers are LEB128.
//
// A long has at most nine bytes, of which the ninth has eight bits. A negative int is its 32 bits, as HotSpot has it.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace heaprec::tools::jfr {

// Appends to a text that it does not own.
class Sink {
 public:
  explicit Sink(std::string* into) : into_(*into) {}

  void Byte(uint8_t value) { into_.push_back(static_cast<char>(value)); }
  void Boolean(bool value) { Byte(value ? 1 : 0); }
  void Long(uint64_t value) {
    for (int bytes = 0; bytes < 8 && value >= 0x80; ++bytes, value >>= 7) Byte(static_cast<uint8_t>(value | 0x80));
    Byte(static_cast<uint8_t>(value));
  }
  void Int(int32_t value) { Long(static_cast<uint32_t>(value)); }
  void Double(double value) { Fixed(std::bit_cast<uint64_t>(value)); }
  void String(std::string_view utf8) {
    if (utf8.empty()) return Byte(kEmpty);
    Utf8(utf8);
  }
  // A symbol's text: readers know no other encoding there, not even for the empty one.
  void Utf8(std::string_view utf8) {
    Byte(kUtf8);
    Long(utf8.size());
    into_ += utf8;
  }
  void Raw(std::string_view bytes) { into_ += bytes; }
  // Big-endian, in all its bytes.
  template <typename Integer>
  void Fixed(Integer value) {
    for (int shift = 8 * sizeof(Integer) - 8; shift >= 0; shift -= 8) Byte(static_cast<uint8_t>(value >> shift));
  }

 private:
  enum : uint8_t { kEmpty = 1, kUtf8 = 3 };  // 0: null
  std::string& into_;
};

// An event as it stands in a chunk: its size, which counts itself, and the rest: the type's id and the fields.
inline void AppendSized(std::string_view rest, std::string* into) {
  size_t size_bytes = 1;
  while (rest.size() + size_bytes >= uint64_t{1} << (7 * size_bytes)) ++size_bytes;
  Sink(into).Long(rest.size() + size_bytes);
  *into += rest;
}

}  // namespace heaprec::tools::jfr
