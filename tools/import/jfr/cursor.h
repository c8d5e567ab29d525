// Reads the primitive encodings of a JFR file.
//
// Integers are LEB128 of at most nine bytes, or, in files without "compressed integers", big-endian and of fixed width.
//
// Failure:  never reads past its end: it then yields zeros and stays failed. Check ok() once, at the end.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace heaprec::tools::jfr {

class Cursor {
 public:
  Cursor() = default;
  Cursor(std::string_view bytes, bool compressed) : left_(bytes), compressed_(compressed) {}

  bool ok() const { return ok_; }
  bool at_end() const { return left_.empty(); }
  size_t left() const { return left_.size(); }
  bool compressed() const { return compressed_; }
  void Fail() {
    ok_ = false;
    left_ = {};
  }

  std::string_view Take(uint64_t size) {
    if (size > left_.size()) {
      Fail();
      return {};
    }
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  // What lies between this and `later`, which has read on from here.
  std::string_view Until(const Cursor& later) const { return left_.substr(0, left_.size() - later.left_.size()); }
  uint8_t Byte() {
    const std::string_view byte = Take(1);
    return byte.empty() ? 0 : static_cast<uint8_t>(byte[0]);
  }
  int16_t Short() { return static_cast<int16_t>(compressed_ ? Varint() : Fixed(2)); }
  uint16_t Char() { return static_cast<uint16_t>(Short()); }
  int32_t Int() { return static_cast<int32_t>(compressed_ ? Varint() : Fixed(4)); }
  int64_t Long() { return static_cast<int64_t>(compressed_ ? Varint() : Fixed(8)); }
  double Float() { return std::bit_cast<float>(static_cast<uint32_t>(Fixed(4))); }
  double Double() { return std::bit_cast<double>(Fixed(8)); }

  // Big-endian, of so many bytes.
  uint64_t Fixed(int size) {
    uint64_t value = 0;
    for (int i = 0; i < size; ++i) value = value << 8 | Byte();
    return value;
  }

 private:
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 56; shift += 7) {
      const uint64_t byte = Byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return value | uint64_t{Byte()} << 56;
  }

  std::string_view left_;
  bool compressed_ = true;
  bool ok_ = true;
};

}  // namespace heaprec::tools::jfr
