// The constants of one chunk: kept as they stand in the file, decoded when they are asked for.
//
// Memory:   the bytes of the chunk's checkpoint events, and an index of them.
// Failure:  Add returns what is wrong with an event. A constant that is missing, or cannot be read, is as null.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "tools/import/jfr/cursor.h"
#include "tools/import/jfr/metadata.h"

namespace heaprec::tools::jfr {

class Constants {
 public:
  // `metadata` outlives this.
  Constants(const Metadata* metadata, bool compressed) : metadata_(*metadata), compressed_(compressed) {}

  // A checkpoint event, behind its size and type: copied. Of a constant that stands twice the first counts.
  std::optional<Error> Add(std::string_view event);

  // At the constant's fields; nullopt: null.
  std::optional<Cursor> Find(const Type& type, uint64_t key) const;
  // The text of a field: a string, or a constant that is one, or whose first part is one. Null is empty.
  std::string TextOf(const Field& field, Cursor at) const { return Text(*field.type, field.pooled, at, 0); }
  std::string TextOf(const Type& type, uint64_t key) const;
  // The text of the part `name` of a struct, or of a field that is one.
  std::string TextOfPart(const Type& type, Cursor at, std::string_view name) const;
  std::string TextOfPart(const Field& field, Cursor at, std::string_view name) const;

 private:
  std::string Text(const Type& type, bool pooled, Cursor at, int level) const;
  bool AddPool(Cursor* at);

  const Metadata& metadata_;
  const bool compressed_;
  std::deque<std::string> events_;
  uint64_t bytes_ = 0;
  std::unordered_map<const Type*, std::unordered_map<uint64_t, std::string_view>> pools_;
};

}  // namespace heaprec::tools::jfr
