// The names and stacks of a chunk that is read, interned where they are written again: each once.
//
// Threads:  one.
// Failure:  an index that nothing defines becomes none; a stack ends where a damaged tree does.
#pragma once

#include <string>
#include <vector>

#include "format/codec/chunk_names.h"
#include "format/reader/reader.h"

namespace heaprec::tools {

// Returns the interned names as the dictionaries of a chunk, under the same indices.
format::Dictionaries DictionariesOf(const format::ChunkNames& names);

// Names as they are to be written; the default leaves them alone.
class NameMapper {
 public:
  virtual ~NameMapper() = default;
  virtual std::string Class(const std::string& name) { return name; }
  virtual format::Method Method(const format::Method& method) { return method; }
  virtual format::Thread Thread(const format::Thread& thread) { return thread; }
};

// `Interner`: format::ChunkWriter, format::ChunkNames.
template <typename Interner>
class CopiedNames {
 public:
  // `mapper` outlives it; nullptr: names are not changed.
  explicit CopiedNames(NameMapper* mapper = nullptr) : mapper_(mapper != nullptr ? *mapper : unchanged_) {}
  CopiedNames(const CopiedNames&) = delete;
  CopiedNames& operator=(const CopiedNames&) = delete;

  // When another chunk begins, where names are read or where they are written.
  void Clear() {
    for (Indices* indices : {&classes_, &methods_, &threads_, &stacks_}) indices->clear();
  }
  // With each block, before the others. Both are needed until the next call.
  void Enter(const format::Dictionaries& from, Interner* into) {
    if (&from != from_ || from.stacks.size() < stacks_.size()) Clear();  // another chunk's
    from_ = &from;
    into_ = into;
  }

  format::Index Class(format::Index index) {
    return Copied(&classes_, from_->classes, index,
                  [this](const std::string& name) { return into_->InternClass(mapper_.Class(name)); });
  }
  format::Index Thread(format::Index index) {
    return Copied(&threads_, from_->threads, index,
                  [this](const format::Thread& thread) { return into_->InternThread(mapper_.Thread(thread)); });
  }
  format::Index Method(format::Index index) {
    return Copied(&methods_, from_->methods, index, [this](const format::Method& method) {
      const format::Method mapped = mapper_.Method(method);
      return into_->InternMethod(mapped.class_name, mapped.name, mapped.descriptor);
    });
  }
  format::Index Stack(format::Index leaf) {
    return Copied(&stacks_, from_->stacks, leaf, [this, leaf](const format::StackNode&) {
      std::vector<format::StackFrame> frames;
      bool truncated = false;
      // A parent precedes its child, whatever a damaged file says.
      for (format::Index at = leaf; at < from_->stacks.size();) {
        const format::StackNode& node = from_->stacks[at];
        if (node.frame < from_->frames.size()) {
          const format::Frame& frame = from_->frames[node.frame];
          frames.push_back({Method(frame.method), frame.bci, frame.line, frame.type});
        }
        truncated = node.truncated;
        at = node.parent < at ? node.parent : format::kNone;
      }
      return into_->InternStack(frames, truncated);
    });
  }
  format::Sample Named(format::Sample sample) {
    sample.class_id = Class(sample.class_id);
    sample.thread = Thread(sample.thread);
    sample.stack = Stack(sample.stack);
    return sample;
  }

 private:
  using Indices = std::vector<format::Index>;
  static constexpr format::Index kNotYet = format::kNone - 1;

  // The entry of `index`, made by `intern` the first time.
  template <typename Names, typename Intern>
  static format::Index Copied(Indices* indices, const Names& names, format::Index index, const Intern& intern) {
    if (index >= names.size()) return format::kNone;
    if (indices->size() < names.size()) indices->resize(names.size(), kNotYet);
    if ((*indices)[index] == kNotYet) {
      const format::Index made = intern(names[index]);
      (*indices)[index] = made;
    }
    return (*indices)[index];
  }

  NameMapper unchanged_;
  NameMapper& mapper_;
  const format::Dictionaries* from_ = nullptr;
  Interner* into_ = nullptr;
  Indices classes_, methods_, threads_, stacks_;
};

}  // namespace heaprec::tools
