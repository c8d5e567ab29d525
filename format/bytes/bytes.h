// The primitive encodings of a recording: little-endian integers, LEB128 varints, zigzag, IEEE doubles.
//
// Failure:  a ByteCursor never reads past its end: from there on it returns zeros, and ok() stays false. Check ok()
//           once, at the end.
// Format:   docs/format/recording.md#conventions
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace heaprec::format {

static_assert(std::endian::native == std::endian::little, "the encodings copy native integers");

using ByteBuffer = std::vector<std::byte>;
using Bytes = std::span<const std::byte>;

constexpr uint64_t Zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t Unzigzag(uint64_t value) { return static_cast<int64_t>((value >> 1) ^ (0 - (value & 1))); }

inline Bytes AsBytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }
inline std::string_view AsText(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Appends to a buffer that it does not own.
class ByteSink {
 public:
  explicit ByteSink(ByteBuffer* into) : into_(into) {}

  void Append(Bytes bytes) { into_->insert(into_->end(), bytes.begin(), bytes.end()); }
  void U32(uint32_t value) { Append(std::as_bytes(std::span(&value, 1))); }
  void U64(uint64_t value) { Append(std::as_bytes(std::span(&value, 1))); }
  void F64(double value) { U64(std::bit_cast<uint64_t>(value)); }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) into_->push_back(static_cast<std::byte>(value | 0x80));
    into_->push_back(static_cast<std::byte>(value));
  }
  // The difference modulo 2^64, small in either direction.
  void Delta(uint64_t value, uint64_t base) { Varint(Zigzag(static_cast<int64_t>(value - base))); }
  void String(std::string_view text) {
    Varint(text.size());
    Append(AsBytes(text));
  }

 private:
  ByteBuffer* into_;
};

class ByteCursor {
 public:
  // Returns endless zeros, for an absent column.
  ByteCursor() : zeros_(true) {}
  explicit ByteCursor(Bytes bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  void Fail() { ok_ = false; }

  uint64_t Varint() {
    if (at_ != end_ && *at_ < std::byte{0x80}) return static_cast<uint64_t>(*at_++);
    return LongVarint();
  }
  uint64_t Delta(uint64_t base) { return base + static_cast<uint64_t>(Unzigzag(Varint())); }
  uint32_t U32() { return Fixed<uint32_t>(); }
  uint64_t U64() { return Fixed<uint64_t>(); }
  double F64() { return std::bit_cast<double>(U64()); }
  Bytes Take(uint64_t size) {
    if (size > left()) {
      End();
      return {};
    }
    Bytes taken(at_, static_cast<size_t>(size));
    at_ += size;
    return taken;
  }
  std::string_view String() { return AsText(Take(Varint())); }

 private:
  template <typename T>
  T Fixed() {
    T value = 0;
    Bytes bytes = Take(sizeof(T));
    if (bytes.size() == sizeof(T)) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  void End() {
    if (!zeros_) ok_ = false;
    at_ = end_;
  }
  uint64_t LongVarint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<uint64_t>(*at_++);
      if (shift == 63 && byte > 1) break;  // more than 64 bits
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    End();
    return 0;
  }

  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  bool ok_ = true;
  bool zeros_ = false;
};

// Decodes many varints of a column at once. Most are short; they are decoded from words of eight bytes.
//
// Failure:  as ByteCursor: beyond its end a cursor returns zeros, and ok() stays false.

// Decodes the varint in the first `size` bytes of a word, at most four.
inline uint64_t ShortVarint(uint64_t word, size_t size) {
  const uint64_t bytes = word & (~uint64_t{0} >> (64 - 8 * size));
  return (bytes & 0x7f) | (bytes >> 1 & 0x7f << 7) | (bytes >> 2 & 0x7f << 14) | (bytes >> 3 & 0x7f << 21);
}

// Fills `into` with the values that ByteCursor::Varint would return.
inline void TakeVarints(ByteCursor* cursor, std::span<uint64_t> into) {
  constexpr uint64_t kGoesOn = 0x8080808080808080;  // the continuation bits
  constexpr size_t kMostly = 4, kShort = 4;
  size_t done = 0;
  while (into.size() - done >= sizeof(uint64_t) && cursor->left() >= sizeof(uint64_t)) {
    const uint64_t word = ByteCursor(*cursor).U64();
    const auto singles = static_cast<size_t>(std::countr_zero(word & kGoesOn)) / 8;
    if (singles >= kMostly) {
      for (size_t i = 0; i < sizeof(word); ++i) into[done + i] = word >> (8 * i) & 0xff;
      done += singles;
      cursor->Take(singles);
      continue;
    }
    const auto size = static_cast<size_t>(std::countr_zero(~word & kGoesOn)) / 8 + 1;
    if (size > kShort) {
      into[done++] = cursor->Varint();
      continue;
    }
    into[done++] = ShortVarint(word, size);
    cursor->Take(size);
  }
  for (; done < into.size() && cursor->left() > 0; ++done) into[done] = cursor->Varint();
  if (done == into.size()) return;
  cursor->Varint();  // the cursor has failed, or the column is absent
  std::fill(into.begin() + static_cast<std::ptrdiff_t>(done), into.end(), 0);
}

}  // namespace heaprec::format
