// The dictionaries of a chunk: what the writer interns, and what the reader rebuilds from its sections.
//
// Context:  DictionaryEncoder: drain (it allocates).
// Failure:  Decode returns false for bytes that cannot be true, or that would exceed kMaxDictionaryBytes.
// Format:   docs/format.md#dictionaries
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/bytes.h"
#include "format/dictionaries.h"
#include "format/layout.h"
#include "format/model.h"

namespace heaprec::format {

// What both sides know after each entry, so that the next one can be told by what differs.
struct DictionaryContext {
  uint64_t next_string = 0;
  uint64_t last_class_of_method = 0;    // string index
  uint64_t last_frame_method = 0;       // + 1; 0: none
  std::vector<int32_t> line_of_method;  // of the latest frame of method m, at m + 1
  std::vector<Index> follower;          // of frame f, at f + 1 (root: 0): the latest frame that was called from it
  uint64_t next_frame = 0;              // the first frame that no node has named yet
  uint64_t last_java_tid = 0, last_os_tid = 0;
};

class DictionaryEncoder {
 public:
  Index InternClass(std::string_view name);
  Index InternMethod(const Method& method);
  Index InternStack(std::span<const StackFrame> leaf_first, bool truncated);
  Index InternThread(const Thread& thread);

  bool has_pending() const;
  size_t stack_nodes() const { return frame_of_node_.size(); }
  // The sections of everything interned since the last call.
  void Encode(ByteBuffer* raw);

 private:
  struct FrameKey {
    uint64_t method_bci, line;
    bool operator==(const FrameKey&) const = default;
  };
  struct FrameHash {
    size_t operator()(const FrameKey& key) const;
  };
  Index InternFrame(const StackFrame& frame);
  uint64_t StringCode(std::string_view text);
  void EncodeMethods(ByteBuffer* raw);
  void EncodeFrames(ByteBuffer* raw);
  void EncodeNodes(ByteBuffer* raw);
  void EncodeThreads(ByteBuffer* raw);

  DictionaryContext context_;
  std::unordered_map<std::string, uint64_t> strings_;
  std::unordered_map<std::string, Index> classes_, methods_, threads_;
  std::unordered_map<FrameKey, Index, FrameHash> frames_;
  std::unordered_map<uint64_t, Index> children_;  // parent << 32 | frame
  std::unordered_map<uint64_t, Index> roots_;     // frame << 1 | truncated
  std::vector<Index> frame_of_node_;
  std::vector<std::string> pending_strings_, pending_classes_;
  std::vector<Method> pending_methods_;
  std::vector<Frame> pending_frames_;
  std::vector<StackNode> pending_nodes_;
  std::vector<Thread> pending_threads_;
};

class DictionaryDecoder {
 public:
  const Dictionaries& dictionaries() const { return dictionaries_; }
  // False also for a section that is no dictionary. Sets *refused when a critical column is unknown.
  bool Decode(Section section, Bytes body, bool* refused);

 private:
  bool DecodeStrings(Bytes body, bool* refused);
  bool DecodeClasses(Bytes body, bool* refused);
  bool DecodeMethods(Bytes body, bool* refused);
  bool DecodeFrames(Bytes body, bool* refused);
  bool DecodeNodes(Bytes body, bool* refused);
  bool DecodeThreads(Bytes body, bool* refused);
  // The string of a code; nullptr when there is none such.
  const std::string* StringOf(uint64_t code);
  // Takes `bytes` out of the bound.
  bool Charge(uint64_t bytes);

  DictionaryContext context_;
  Dictionaries dictionaries_;
  std::vector<std::string> strings_;
  uint64_t charged_ = 0;
};

}  // namespace heaprec::format
