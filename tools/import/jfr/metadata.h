// The types of a chunk, from its metadata event; only the primitives are built in.
//
// Failure:  Parse returns the reason. Types that cannot be read in bounded time (they contain themselves, or too many
//           parts) are rejected.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace heaprec::tools::jfr {

// Reads the primitive encodings of a JFR file.
//
// Integers are LEB128 of at most nine bytes, or, in files without "compressed integers", big-endian and of fixed width.
//
// Failure:  never reads past its end: it then returns zeros and stays failed. Check ok() once, at the end.
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
  // The bytes between this and `later`, a copy that has read further.
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

  // Reads a big-endian number of this many bytes.
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

enum class Primitive : uint8_t { kNone, kBoolean, kByte, kShort, kChar, kInt, kLong, kFloat, kDouble, kString };

struct Type;

struct Field {
  std::string_view name;
  Type* type = nullptr;
  bool pooled = false;  // stored as the key of a constant
  bool array = false;
};

struct Type {
  int64_t id = 0;
  std::string_view name;
  Primitive primitive = Primitive::kNone;
  std::vector<Field> fields{};  // only fields that take bytes
  uint64_t parts = 0;           // in a value, over all levels; 0: not counted yet
};

class Metadata {
 public:
  // `event`: all of it after size and type.
  static Result<Metadata> Parse(Cursor event);
  Metadata(Metadata&&) = default;
  Metadata& operator=(Metadata&&) = default;

  // Returns nullptr if there is none.
  const Type* WithId(int64_t id) const;
  const Type* Named(std::string_view name) const;
  // Version of the types: chunks with the same version have the same types.
  int64_t id() const { return id_; }

 private:
  struct Element;
  Metadata() = default;
  Element ReadElement(int level, size_t* elements, Cursor* at) const;
  void Declare(const Element& type);
  bool Define(const Element& type);

  int64_t id_ = 0;
  std::vector<std::string> texts_;  // texts to which the names refer
  std::unordered_map<int64_t, Type> types_;
};

// Skips a value of any type.
void Skip(const Type& type, Cursor* at);
void Skip(const Field& field, Cursor* at);

// Reads a number of any primitive type; 0 if it is not a number.
double ReadNumber(const Type& type, Cursor* at);
int64_t ReadInteger(const Type& type, Cursor* at);

// Calls `visit(field, cursor)` for each field; the cursor is a copy, which need not be read.
template <typename Visit>
void ForEachField(const Type& type, Cursor* at, const Visit& visit) {
  for (const Field& field : type.fields) {
    visit(field, *at);
    Skip(field, at);
  }
}

// A text of a JFR file, in any of its encodings.
struct TextOrKey {
  bool is_null = false;
  bool is_key = false;  // of a constant in the pool of strings
  uint64_t key = 0;
  std::string text;  // modified UTF-8, as in HotSpot's names
};

// An unknown encoding makes the cursor fail.
TextOrKey ReadText(Cursor* at);

}  // namespace heaprec::tools::jfr
