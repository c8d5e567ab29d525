// The types of a chunk, as its metadata event describes them: nothing is known beforehand but the primitives.
//
// Failure:  Parse says what is wrong. Types that cannot be read in bounded time (they hold themselves, or far too much)
//           are refused.
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
// Failure:  never reads past its end: it then yields zeros and stays failed. Check ok() once, at the end.
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

enum class Primitive : uint8_t { kNone, kBoolean, kByte, kShort, kChar, kInt, kLong, kFloat, kDouble, kString };

struct Type;

struct Field {
  std::string_view name;
  Type* type = nullptr;
  bool pooled = false;  // the key of a constant stands for it
  bool array = false;
};

struct Type {
  int64_t id = 0;
  std::string_view name;
  Primitive primitive = Primitive::kNone;
  std::vector<Field> fields{};  // those that take bytes
  uint64_t parts = 0;           // of a value, all levels counted; 0: not counted yet
};

class Metadata {
 public:
  // `event`: all of it behind its size and type.
  static Result<Metadata> Parse(Cursor event);
  Metadata(Metadata&&) = default;
  Metadata& operator=(Metadata&&) = default;

  // nullptr: there is none.
  const Type* WithId(int64_t id) const;
  const Type* Named(std::string_view name) const;
  // The version of the types: a chunk that has the same one has the same types.
  int64_t id() const { return id_; }

 private:
  struct Element;
  Metadata() = default;
  Element ReadElement(int level, size_t* elements, Cursor* at) const;
  void Declare(const Element& type);
  bool Define(const Element& type);

  int64_t id_ = 0;
  std::vector<std::string> texts_;  // of which the names are
  std::unordered_map<int64_t, Type> types_;
};

// Reads over a value, whatever it is.
void Skip(const Type& type, Cursor* at);
void Skip(const Field& field, Cursor* at);

// A number, whichever of the primitives it is; 0 if it is none.
double ReadNumber(const Type& type, Cursor* at);
int64_t ReadInteger(const Type& type, Cursor* at);

// Calls `visit(field, cursor)` for each field; the cursor is a copy, which may be read or left.
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
  bool is_key = false;  // of a constant of the pool of strings
  uint64_t key = 0;
  std::string text;  // modified UTF-8, as HotSpot has names
};

// An encoding that is not known fails the cursor.
TextOrKey ReadText(Cursor* at);

}  // namespace heaprec::tools::jfr
