// The types of a chunk, as its metadata event describes them: nothing is known beforehand but the primitives.
//
// Failure:  Parse says what is wrong. Types that cannot be read in bounded time (they hold themselves, or far too much)
//           are refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "tools/import/jfr/cursor.h"

namespace heaprec::tools::jfr {

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
