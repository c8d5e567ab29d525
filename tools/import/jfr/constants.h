// The constants of one chunk, stored as in the file and decoded on demand.
//
// Memory:   the bytes of the chunk's checkpoint events, and an index of them.
// Failure:  a constant that is missing or cannot be read counts as null.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/writer/chunk_writer.h"
#include "tools/import/jfr/metadata.h"

namespace heaprec::tools::jfr {

class Constants {
 public:
  // `metadata` outlives this.
  Constants(const Metadata* metadata, bool compressed) : metadata_(*metadata), compressed_(compressed) {}

  // Adds a copy of a checkpoint event, without its size and type. If a constant occurs twice, the first one is used.
  Status Add(std::string_view event);

  // Returns a cursor at the constant's fields; nullopt: null.
  std::optional<Cursor> Find(const Type& type, uint64_t key) const;
  // The text of a field: a string, or a constant that is a string or begins with one. Null is empty.
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

// HotSpot's name of a hidden class; in JFR a '/' precedes its address, or a hash follows it.
std::string HotSpotName(std::string name);

// What held an old object: the frames of a row of kPath, the holder of the object first, the root last.
// docs/format/recording.md#paths
struct ObjectPath {
  struct Step {
    std::string class_name, name;  // both empty: none
    int32_t bci = 1;
    bool is_gap = false;
    bool is_static = false;  // a root
  };
  std::vector<Step> steps;
  std::string thread;  // name; empty: none
};

// The constants of a JFR file as entries of a recording. Each is decoded once per chunk of the file or recording.
//
// Failure:  what is missing or cannot be read is kNone, or an unknown frame.
class NamesOfChunk {
 public:
  // All outlive this.
  NamesOfChunk(const Metadata& metadata, const Constants& constants, format::ChunkWriter* chunk);

  format::Index Class(uint64_t key);
  format::Index Thread(uint64_t key, uint64_t labels);
  format::Index Stack(uint64_t key);
  format::Index Path(const ObjectPath& path);
  // Size of the texts and frames added to the chunk.
  uint64_t bytes() const { return bytes_; }

 private:
  using Known = std::unordered_map<uint64_t, format::Index>;
  format::Index Method(const Field& field, Cursor at);
  format::FrameType TypeOf(const Field& field, Cursor value);
  void AddFrame(const Type& type, Cursor at, std::vector<format::StackFrame>* frames);
  // Adds the field's elements. Returns false if there are more than a stack may have.
  bool AddFrames(const Field& field, Cursor at, std::vector<format::StackFrame>* frames);

  const Constants& constants_;
  format::ChunkWriter& chunk_;
  const Type *class_, *thread_, *stack_, *symbol_;  // nullptr: not in the file
  uint64_t bytes_ = 0;
  Known classes_, methods_, stacks_;
  std::map<std::pair<uint64_t, uint64_t>, format::Index> threads_;  // by thread and labels
};

}  // namespace heaprec::tools::jfr
