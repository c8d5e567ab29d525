// Maps the keys in the lanes to indices in the current chunk.
//
// Samples that were in progress when a chunk ended refer to definitions of the previous chunk, so its names are stored
// until ForgetPrevious. A sample's references are looked up as soon as it is scanned. Older definitions are emitted
// again (SampleWriter::NewEpoch).
//
// Context:  drain (it allocates).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/model/allocation_primitives.h"
#include "format/native/native_frames.h"
#include "format/ring/ring_records.h"
#include "format/writer/chunk_writer.h"

namespace heaprec::writer {

class ChunkInterner {
 public:
  // Names the addresses of native frames (format::AddressFrame). Empty: such stacks have no frames.
  using NativeNamer = std::function<format::CodeLocation(uint64_t return_address)>;
  explicit ChunkInterner(NativeNamer name_of = {}) : name_of_(std::move(name_of)) {}

  // Moves out the names of the chunk, which is about to be freed.
  void EndChunk();
  // From now on definitions go into `chunk` (not owned).
  void NewChunk(format::ChunkWriter* chunk);
  // Adds everything that was emitted or used in the previous chunk to this one.
  void CarryOver();
  void ForgetPrevious() { previous_.reset(); }
  // Approximate heap bytes of the current chunk's keys, without its names.
  uint64_t bytes() const;

  void DefineClass(uint64_t key, std::string_view name);
  void DefineMethod(uint64_t key, std::string_view class_name, std::string_view name, std::string_view descriptor);
  void DefineThread(uint64_t key, const format::Thread& thread);
  // Returns false, and defines nothing, if a method of the frames is unknown.
  bool DefineStack(format::StackKey key, std::span<const format::RingFrame> leaf_first, bool truncated);
  // Defines the stack; unknown methods have no name.
  void DefineStackAnyway(format::StackKey key, std::span<const format::RingFrame> leaf_first, bool truncated);

  // Whether the stack is in the current chunk.
  bool HasStack(format::StackKey key) const { return current_.stacks.contains(key); }

  // Returns the path (format::PathOf) of a stack that is in the chunk, or whose frames are known, and adds the path,
  // but not the stack, to the chunk.
  format::Index Path(format::StackKey key);
  format::Index Path(std::span<const format::RingFrame> leaf_first, bool truncated);
  // Whether the methods of these frames are known.
  bool HasMethods(std::span<const format::RingFrame> frames);

  // Returns the index in the current chunk; kNone for key 0 and for undefined keys.
  format::Index Class(uint64_t key);
  format::Index Stack(format::StackKey key);
  format::Index Thread(uint64_t key);

 private:
  struct Entry {
    format::Index index = format::kNone;
    bool is_carried = false;  // carried over, and neither emitted nor used since
  };
  template <typename Key, typename Hash = std::hash<Key>>
  using Map = std::unordered_map<Key, Entry, Hash>;
  struct Generation {
    Map<uint64_t> classes, methods, threads;
    Map<format::StackKey, format::StackKeyHash> stacks;
  };
  // The previous chunk.
  struct Previous {
    Generation keys;
    format::ChunkNames names;
    std::vector<format::Index> methods;  // index in this chunk by index in the previous one; kNone: not added yet
  };

  format::Index DefineAddresses(std::span<const format::RingFrame> leaf_first);
  format::Index Method(uint64_t key);
  format::Index InternPath(std::span<const format::StackFrame> leaf_first, bool truncated);
  bool IsPrimitive(format::Index method);
  // Returns the index in this chunk of the previous chunk's method `before`.
  format::Index CarriedMethod(format::Index before);
  format::Index CarriedStack(format::Index before);
  // Looks in this chunk, then in the previous one, whose entry intern(index there) adds to this chunk.
  template <typename Entries, typename Intern>
  format::Index Lookup(Entries Generation::*of, const typename Entries::key_type& key, const Intern& intern);
  template <typename Entries, typename Look>
  void CarryAll(Entries Generation::*of, const Look& look);

  const NativeNamer name_of_;
  format::ChunkWriter* chunk_ = nullptr;
  Generation current_;
  std::optional<Previous> previous_;
  // Frames of the latest defined stack, innermost first: the next one often begins with the same frames.
  std::vector<format::RingFrame> last_frames_;
  std::vector<format::StackFrame> last_stack_, next_stack_;
  const format::AllocationPrimitives primitives_ = format::AllocationPrimitives::Default();
  std::vector<std::optional<bool>> is_primitive_;  // by method index; nullopt: not looked up
};

}  // namespace heaprec::writer
