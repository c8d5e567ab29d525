// The dictionaries of a chunk: what the writer interns, and what the reader rebuilds from its sections.
//
// Context:  DictionaryEncoder: drain (it allocates).
// Failure:  Decode returns false for bytes that cannot be true, or that would exceed kMaxDictionaryBytes.
// Format:   docs/format/recording.md#dictionaries
#pragma once

#include <array>
#include <cstdint>
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

// How many entries a chunk's dictionaries hold: of strings, classes, methods, frames, nodes, threads.
using DictionaryCounts = std::array<uint64_t, 6>;

// What both sides know after each entry, so that the next one can be told by what differs.
struct DictionaryContext {
  // Last for a chunk.
  uint64_t next_string = 0;
  std::vector<Index> predicted;  // of frame f, at f + 1 (root: 0): the latest frame that was called from it
  uint64_t next_frame = 0;       // the first frame that no node has named yet
  // Last for a block (in version 1: for a chunk).
  uint64_t last_frame_method = 0;       // + 1; 0: none
  std::vector<int32_t> line_of_method;  // of the latest frame of method m, at m + 1
  uint64_t last_java_tid = 0, last_os_tid = 0;

  void StartBlock() {
    last_frame_method = last_java_tid = last_os_tid = 0;
    line_of_method.clear();
  }
};

class DictionaryEncoder {
 public:
  // What goes into the next block is what was interned since the last Encode.
  ChunkNames& names() { return names_; }
  const ChunkNames& names() const { return names_; }
  // Leaves nothing behind: the encoder is done.
  ChunkNames TakeNames() { return std::move(names_); }

  bool has_pending() const;
  // Those that were encoded already.
  const DictionaryCounts& encoded() const { return encoded_; }
  // The sections of everything interned since the last call.
  void Encode(ByteBuffer* raw);

 private:
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
};

class DictionaryDecoder {
 public:
  const Dictionaries& dictionaries() const { return dictionaries_; }
  // False also for a section that is no dictionary. Sets *refused when a critical column is unknown.
  bool Decode(Section section, Bytes body, bool* refused);

  // Forgets what deltas were taken against: with each block, but not in version 1.
  void StartBlock() { context_.StartBlock(); }
  // The dictionaries hold `offsets` entries. Those that are not there stood in blocks that are lost: their names are
  // kLost, their frames gaps. False if there are more already, or too many.
  bool FillUpTo(const DictionaryCounts& offsets);
  // Entries that FillUpTo has made up.
  uint64_t lost() const { return lost_; }

 private:
  uint64_t frames_in_file() const { return dictionaries_.frames.size() - (lost_frame_ == kNone ? 0 : 1); }
  DictionaryCounts counts() const;
  // The place of a frame that has this number in the file.
  Index FrameIndexOf(uint64_t frame) const { return static_cast<Index>(frame < lost_frame_ ? frame : frame + 1); }
  bool DecodeStrings(Bytes body, bool* refused);
  bool DecodeClasses(Bytes body, bool* refused);
  bool DecodeMethods(Bytes body, bool* refused);
  bool DecodeFrames(Bytes body, bool* refused);
  bool DecodeNodes(Bytes body, bool* refused);
  // By column; each has as many rows as `distances`, or more.
  bool AddNodes(std::span<const uint64_t> distances, std::span<const uint64_t> codes,
                std::span<const uint64_t> truncated);
  bool DecodeThreads(Bytes body, bool* refused);
  // The string of a code; nullptr when there is none such.
  const std::string* StringOf(uint64_t code);
  // Takes `bytes` out of the bound.
  bool Charge(uint64_t bytes);

  DictionaryContext context_;
  Dictionaries dictionaries_;
  std::vector<std::string> strings_;
  uint64_t charged_ = 0;
  uint64_t lost_ = 0;
  Index lost_frame_ = kNone;  // a gap that stands for every frame that is lost
};

}  // namespace heaprec::format
