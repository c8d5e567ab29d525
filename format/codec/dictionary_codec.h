// Encodes and decodes the dictionaries of a chunk: what the writer interns, and what the reader rebuilds.
//
// Context:  DictionaryEncoder: drain (it allocates).
// Failure:  Decode returns false for invalid bytes, or if the dictionaries would exceed kMaxDictionaryBytes.
// Format:   docs/format/recording.md#dictionaries
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/bytes/layout.h"
#include "format/codec/chunk_names.h"
#include "format/codec/dictionaries.h"
#include "format/model/model.h"

namespace heaprec::format {

// Numbers of entries in a chunk's dictionaries: strings, classes, methods, frames, nodes, threads.
using DictionaryCounts = std::array<uint64_t, 6>;

// State that writer and reader share after each entry, so that the next one can be named briefly. Lasts for a chunk.
struct DictionaryContext {
  uint64_t next_string = 0;
  std::vector<Index> predicted;  // per frame + 1 (0: the root): the latest frame that it called
  uint64_t next_frame = 0;       // the first frame that no node refers to yet
  uint64_t next_method = 0;      // the first method of the block that no frame refers to yet
};

// What the line of a section's frame is encoded against.
class LatestLines {
 public:
  // Of the next frame: the line of the previous one of its method; else, of the previous one of its class whose method
  // has been named as the next; else 0. `class_name`: a number, if this frame names its method so; otherwise 0. The
  // class of a method of another block may be lost.
  int32_t Before(uint64_t method, uint64_t class_name) {
    if (methods_.size() <= method) methods_.resize(method + 1);
    if (of_class_.size() <= class_name) of_class_.resize(class_name + 1);
    if (class_name > 0) methods_[method].class_name = class_name;
    return methods_[method].line.value_or(of_class_[class_name]);
  }
  // Call Before first.
  void Set(uint64_t method, int32_t line) {
    methods_[method].line = line;
    if (methods_[method].class_name > 0) of_class_[methods_[method].class_name] = line;
  }

 private:
  struct Method {
    std::optional<int32_t> line;
    uint64_t class_name = 0;
  };
  std::vector<Method> methods_;
  std::vector<int32_t> of_class_;  // of 0 always 0
};

// Encodes how many entries the dictionaries have before a block.
void EncodeOffsets(const DictionaryCounts& offsets, ByteBuffer* raw);

// Entries are numbered in the file when they are encoded: paths first, in the order of their sites in the source, so
// that what distinguishes one from the next is small; then frames and methods as nodes and frames need them.
class DictionaryEncoder {
 public:
  // Names to intern; the next Encode writes the new ones.
  ChunkNames& names() { return names_; }
  const ChunkNames& names() const { return names_; }
  // Moves the names out; the encoder is not usable afterwards.
  ChunkNames TakeNames() { return std::move(names_); }

  bool has_pending() const;
  // Entries that are already encoded.
  const DictionaryCounts& encoded() const { return encoded_; }
  // Appends the sections of everything interned since the last call.
  void Encode(ByteBuffer* raw);
  // The number in the file of a stack that is encoded; kNone for kNone.
  Index NumberOfStack(Index node) const { return node == kNone ? kNone : numbers_of_nodes_[node]; }
  // The same in each row; puts them in the order of a block.
  std::vector<Row> Numbered(std::vector<Row> rows) const;

 private:
  // Decides the order of what was interned since the last call.
  void NumberEntries();
  std::vector<Index> NodesInOrder() const;
  uint64_t StringCode(Index text);
  void EncodeClasses(ByteBuffer* raw);
  void EncodeMethods(ByteBuffer* raw);
  void EncodeThreads(ByteBuffer* raw);
  void EncodeStrings(ByteBuffer* raw);
  void EncodeFrames(ByteBuffer* raw);
  void EncodeNodes(ByteBuffer* raw);

  ChunkNames names_;
  DictionaryContext context_;
  DictionaryCounts encoded_{};
  std::vector<uint32_t> code_of_text_;  // 0: none yet
  std::vector<Index> new_strings_;      // texts, in the order of their codes
  // By index; kNone: not encoded.
  std::vector<Index> numbers_of_nodes_, numbers_of_frames_, numbers_of_methods_;
  std::vector<Index> new_nodes_, new_frames_, new_methods_;  // in the order of their numbers
};

class DictionaryDecoder {
 public:
  const Dictionaries& dictionaries() const { return dictionaries_; }
  // Returns false also for a section that is not a dictionary. Sets *refused if a critical column is unknown.
  bool Decode(Section section, Bytes body, bool* refused);

  // Adds entries until the dictionaries hold `offsets` entries. The added ones were in lost blocks: their names are
  // kLost, their frames gaps. Returns false if there are more entries already, or too many.
  bool FillUpTo(const DictionaryCounts& offsets);
  // Entries that FillUpTo has added.
  uint64_t lost() const { return lost_; }

 private:
  uint64_t frames_in_file() const { return dictionaries_.frames.size() - (lost_frame_ == kNone ? 0 : 1); }
  DictionaryCounts counts() const;
  // Returns the index of the frame with this number in the file.
  Index FrameIndexOf(uint64_t frame) const { return static_cast<Index>(frame < lost_frame_ ? frame : frame + 1); }
  bool DecodeStrings(Bytes body, bool* refused);
  bool DecodeClasses(Bytes body, bool* refused);
  bool DecodeMethods(Bytes body, bool* refused);
  bool DecodeFrames(Bytes body, bool* refused);
  bool DecodeNodes(Bytes body, bool* refused);
  // Arguments are columns; each has at least as many rows as `distances`.
  bool AddNodes(std::span<const uint64_t> distances, std::span<const uint64_t> codes,
                std::span<const uint64_t> truncated);
  bool DecodeThreads(Bytes body, bool* refused);
  // The string of a code; nullptr if there is none.
  const std::string* StringOf(uint64_t code);
  // Counts `bytes` towards the limit. Returns false if that exceeds it.
  bool Charge(uint64_t bytes);

  DictionaryContext context_;
  Dictionaries dictionaries_;
  std::vector<std::string> strings_;
  std::vector<Index> class_names_;  // of methods: string + 1; 0: lost
  uint64_t charged_ = 0;
  uint64_t lost_ = 0;
  Index lost_frame_ = kNone;  // a gap frame that replaces every lost frame
};

}  // namespace heaprec::format
