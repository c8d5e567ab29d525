// The constants of a JFR file as entries of a recording: each decoded once per chunk of either.
//
// Threads:  one.
// Failure:  what is missing or cannot be read is kNone, or an unknown frame.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/writer/chunk_writer.h"
#include "tools/import/jfr/constants.h"
#include "tools/import/jfr/metadata.h"

namespace heaprec::tools::jfr {

// As HotSpot has the name of a hidden class: JFR puts a '/' before its address, or a hash behind it.
std::string HotSpotName(std::string name);

class NamesOfChunk {
 public:
  // All outlive this.
  NamesOfChunk(const Metadata& metadata, const Constants& constants, format::ChunkWriter* chunk);

  format::Index Class(uint64_t key);
  format::Index Thread(uint64_t key, uint64_t labels);
  format::Index Stack(uint64_t key);
  // Size of the texts and frames added to the chunk.
  uint64_t bytes() const { return bytes_; }

 private:
  using Known = std::unordered_map<uint64_t, format::Index>;
  format::Index Method(const Field& field, Cursor at);
  format::FrameType TypeOf(const Field& field, Cursor value);
  void AddFrame(const Type& type, Cursor at, std::vector<format::StackFrame>* frames);
  // The field's elements; false: more than a stack may have.
  bool AddFrames(const Field& field, Cursor at, std::vector<format::StackFrame>* frames);

  const Constants& constants_;
  format::ChunkWriter& chunk_;
  const Type *class_, *thread_, *stack_, *symbol_;  // nullptr: the file has none
  uint64_t bytes_ = 0;
  Known classes_, methods_, stacks_;
  std::map<std::pair<uint64_t, uint64_t>, format::Index> threads_;  // by thread and labels
};

}  // namespace heaprec::tools::jfr
