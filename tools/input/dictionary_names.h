// The names of a block's dictionaries: for display, with generated ones merged, and copied to another file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "format/codec/chunk_names.h"
#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/text/messages.h"

namespace heaprec::tools {

inline constexpr std::string_view kLambda = "$$Lambda";

std::string StripGeneratedSuffix(std::string_view name);

// Names of classes that a JVM or a framework generates at run time: different ones in each run, or thousands from one
// template. Names that differ only in generated parts are treated as one name.
//
// Parts that are recognizable as generated are removed at once (StripGeneratedSuffix):
// "p.Map$$Lambda$141/0x00007f0f84115150" and "p.Map$$Lambda/0x00007f0f84115150" become "p.Map$$Lambda",
// "java.lang.invoke.LambdaForm$MH/0x0000000800c03000" loses its address, "jdk.proxy2.$Proxy17" and
// "GeneratedMethodAccessor3" their numbers, "p.S$$EnhancerBySpringCGLIB$$1a2b3c4d" and "p.D$HibernateProxy$AbCdEf1u"
// their last word. The lambdas of a class are distinguished by their methods: "p.Map$$Lambda[lambda$main$3]".
//
// Any other number is kept, unless the names show otherwise: "Script1111" and "Script2222" become "Script#" if in each
// recording with such names most of them are in no other recording, or if one recording has more than kMostOfTemplate
// of them. That is known only when all have been read, and they must then be read again (MergedNames::Settle).
//
// Threads:  one per MergedNames.
class MergedNames {
 public:
  static constexpr size_t kMostOfTemplate = 50;

  // `settles`: everything can be read again, so that names with unmarked numbers may be merged.
  explicit MergedNames(bool settles = true) : settles_(settles) {}

  // Following names are of this recording; its parts have the same id.
  void Start(const format::RecordingId& id) {
    recording_ = recordings_.try_emplace(id, static_cast<uint32_t>(recordings_.size())).first->second;
    known_.clear();
  }
  // Returns how the class `name`, in Java's spelling, is shown. `label`: distinguishes the lambdas of a class.
  std::string Of(std::string_view name, std::string_view label = {});
  // Call after everything was read. Returns whether more names must be merged; if so, everything must be read once
  // again (ReadNamed).
  bool Settle();
  // Returns "8,000 generated names of classes are shown as 3; --names exact keeps them apart"; empty: none were merged.
  std::string Text() const;

 private:
  using Recordings = std::set<uint32_t>;
  using Family = std::unordered_map<std::string, Recordings>;  // by name
  static bool IsOneName(const Family& family);
  std::string Find(std::string_view name, std::string_view label);
  void Note(std::string_view name, const std::string& shown);

  const bool settles_;
  std::map<format::RecordingId, uint32_t> recordings_;
  uint32_t recording_ = 0;
  std::unordered_map<std::string, Family> families_;       // by template
  std::unordered_set<std::string> one_name_;               // templates whose names are merged
  std::unordered_set<std::string> seen_;                   // pairs of generated and shown name
  std::unordered_map<std::string, uint64_t> merged_into_;  // by shown name: number of merged names
  // For the current recording, by name and label: most names of a chunk are also in earlier chunks.
  std::unordered_map<std::string, std::string> known_;
};

// Calls `read(is_again)`, and a second time if it succeeded and more names must be merged. null: names stay unchanged.
template <typename Read>
ExitCode ReadNamed(MergedNames* merged, Read read) {
  const ExitCode code = read(/*is_again=*/false);
  const bool is_read = code == ExitCode::kOk || code == ExitCode::kDamaged;
  return is_read && merged != nullptr && merged->Settle() ? read(/*is_again=*/true) : code;
}

inline constexpr std::string_view kUnknown = "[unknown]";
inline constexpr std::string_view kTruncated = "[truncated]";              // frames that were not recorded
inline constexpr std::string_view kCallersNotKept = "[callers not kept]";  // in front of the path of a row

// The names of a chunk in Java's spelling and valid UTF-8, each rendered once.
//
// Failure:  an index that is not in the dictionaries renders as kUnknown.
class Names {
 public:
  // `merged`: how generated names are shown; null: unchanged. Must outlive this.
  explicit Names(MergedNames* merged = nullptr) : merged_(merged) {}

  // Call for every block, before the other functions: caches are valid for the block's chunk. Invalidates the views
  // returned before.
  void Enter(const format::Block& block);

  const format::Dictionaries& dictionaries() const { return *dictionaries_; }
  std::string_view Class(format::Index index);
  std::string_view Thread(format::Index index);
  // "java.util.HashMap.resize"
  std::string_view Method(format::Index index);
  std::string_view Method(const format::Frame& frame) { return frame.IsGap() ? kTruncated : Method(frame.method); }
  // Returns nullptr if it is unknown.
  const format::Thread* ThreadOf(format::Index index) const;
  const format::Method* MethodOf(format::Index index) const;
  const format::StackNode* NodeOf(format::Index index) const;
  const format::Frame* FrameOf(format::Index index) const;

 private:
  using Labels = std::unordered_map<format::Index, std::string>;
  void LabelLambdas(const format::Block& block);
  void LabelClass(format::Index class_id, format::Index stack);
  std::string ShownClass(std::string_view internal, const Labels& labels, format::Index index) const;

  MergedNames* merged_;
  const format::Dictionaries* dictionaries_ = nullptr;
  uint32_t chunk_ = 0;
  std::vector<std::string> classes_, threads_, methods_;  // empty: not rendered yet
  // For the lambdas of the chunk, and for their methods: their distinguishing label, which is the method that links the
  // class, and the method that is called. Empty: unknown.
  Labels class_labels_, method_labels_;
  size_t stacks_ = 0;  // number of processed stacks
};

// "(Ljava/util/Map$Entry;[IZ)V" -> "Map$Entry, int[], boolean"
std::string ParameterTypes(std::string_view descriptor);

// Calls `visit(const format::Frame&)` from the leaf to the root for at most `limit` frames (0: all), including gaps.
// Returns whether frames are missing after the last one: because of the limit, or because they were not recorded.
template <typename Visit>
bool ForEachFrame(const Names& names, format::Index stack, size_t limit, Visit visit) {
  size_t depth = 0;
  // A parent always precedes its children; anything else is a damaged tree and ends the walk.
  for (const format::StackNode* node = names.NodeOf(stack); node != nullptr;) {
    if (limit > 0 && depth++ == limit) return true;
    if (const format::Frame* frame = names.FrameOf(node->frame)) visit(*frame);
    if (node->parent == format::kNone || node->parent >= stack) return node->truncated;
    stack = node->parent;
    node = names.NodeOf(stack);
  }
  return false;
}

// Returns the interned names as the dictionaries of a chunk, under the same indices.
format::Dictionaries DictionariesOf(const format::ChunkNames& names);

// Changes names before they are written; the default changes nothing.
class NameMapper {
 public:
  virtual ~NameMapper() = default;
  virtual std::string Class(const std::string& name) { return name; }
  virtual format::Method Method(const format::Method& method) { return method; }
  virtual format::Thread Thread(const format::Thread& thread) { return thread; }
  // The text of an event.
  virtual std::string Message(const std::string& text) { return text; }
};

// Copies names and stacks from a chunk that is read into a chunk that is written, each once. `Interner`:
// format::ChunkWriter, format::ChunkNames.
//
// Failure:  an undefined index becomes "none"; a stack ends where the tree is damaged.
template <typename Interner>
class CopiedNames {
 public:
  // `mapper` outlives this; nullptr: names are not changed.
  explicit CopiedNames(NameMapper* mapper = nullptr) : mapper_(mapper != nullptr ? *mapper : unchanged_) {}
  CopiedNames(const CopiedNames&) = delete;
  CopiedNames& operator=(const CopiedNames&) = delete;

  // Call when another chunk begins, either of the read or of the written file.
  void Clear() {
    for (Indices* indices : {&classes_, &methods_, &threads_, &stacks_}) indices->clear();
  }
  // Call for each block, before the other functions. Both arguments must be valid until the next call.
  void Enter(const format::Dictionaries& from, Interner* into) {
    if (&from != from_ || from.stacks.size() < stacks_.size()) Clear();  // another chunk
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
      // A parent precedes its child; this also ends loops in damaged files.
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
  format::ProcessState Named(format::ProcessState state) {
    if (!format::IsEvent(state.kind)) return state;
    state.class_id = Class(state.class_id);
    state.thread = Thread(state.thread);
    state.stack = Stack(state.stack);
    state.cause = mapper_.Message(state.cause);
    return state;
  }

 private:
  using Indices = std::vector<format::Index>;
  static constexpr format::Index kNotYet = format::kNone - 1;

  // Returns the entry of `index`; `intern` creates it the first time.
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
