// What the keys in the lanes stand for, and which index the current chunk has given it.
//
// Samples that were under way while a chunk ended refer to definitions announced in the one before, so content is kept
// until ForgetPrevious, and what a sample refers to is looked up as soon as it is scanned; older ones are announced
// again (Capture::NewEpoch).
// Context:  drain (it allocates).
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/chunk_writer.h"
#include "format/ring_layout.h"

namespace heaprec::writer {

class Definitions {
 public:
  // The definitions go into `chunk` (not owned) from now on.
  void NewChunk(format::ChunkWriter* chunk);
  // All that was announced or used in the chunk before goes into this one too.
  void CarryOver();
  void ForgetPrevious() { previous_ = {}; }
  // About what the content of the current chunk takes on the heap, in this and, but for stacks, in the chunk.
  uint64_t bytes() const { return bytes_; }

  void DefineClass(uint64_t key, std::string_view name);
  void DefineMethod(uint64_t key, std::string_view class_name, std::string_view name, std::string_view descriptor);
  void DefineStack(format::StackKey key, std::span<const format::RingFrame> leaf_first, bool truncated);
  // Whether every method of the frames has been defined.
  bool KnowsMethods(std::span<const format::RingFrame> frames) const;
  void DefineThread(uint64_t key, const format::Thread& thread);

  // Index in the current chunk; kNone for key 0 and for what was never defined.
  format::Index Class(uint64_t key);
  format::Index Stack(format::StackKey key);
  format::Index Thread(uint64_t key);

 private:
  struct KeyHash {
    size_t operator()(const format::StackKey& key) const { return key.low; }
  };
  struct StackContent {
    std::vector<format::RingFrame> frames;
    bool truncated = false;
  };
  // Content with the index it has in the chunk it was last interned in.
  template <typename Content>
  struct Entry {
    Content content;
    format::Index index = format::kNone;
    bool is_carried = false;  // and neither announced nor used since
  };
  template <typename Key, typename Content, typename Hash = std::hash<Key>>
  using Map = std::unordered_map<Key, Entry<Content>, Hash>;
  struct Generation {
    Map<uint64_t, std::string> classes;
    Map<uint64_t, format::Method> methods;
    Map<format::StackKey, StackContent, KeyHash> stacks;
    Map<uint64_t, format::Thread> threads;
  };

  format::Index Method(uint64_t key);
  template <typename Entries, typename Lookup>
  static void Carry(const Entries& from, Entries* to, const Lookup& lookup);

  format::ChunkWriter* chunk_ = nullptr;
  Generation current_, previous_;
  uint64_t bytes_ = 0;
};

}  // namespace heaprec::writer
