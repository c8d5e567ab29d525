// One numbering of names for all chunks and recordings: the same content always has the same number.
//
// Numbers are dense, in the order of first use, and never change, so definitions can be written immediately.
//
// Memory:   bounded by the distinct names and stacks in use.
// Failure:  names that are in no dictionary get kNone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/codec/index_table.h"
#include "format/reader/reader.h"
#include "tools/input/dictionary_names.h"
#include "tools/text/string_table.h"

namespace heaprec::tools {

class Catalogue {
 public:
  using Id = uint32_t;
  static constexpr Id kNone = format::kNone;

  // What distinguishes frames: the method's name; also its line; or all fields.
  enum class Detail { kName, kLine, kAll };

  // Ids of strings, in Java's spelling, UTF-8.
  struct Method {
    Id class_name = kNone, name = kNone, descriptor = kNone;
  };
  static constexpr int32_t kCallersLine = format::kGapLine - 1;  // line of the unknown callers of a row's path
  struct Frame {
    Id method = kNone;  // kNone: a gap, or unknown
    int32_t bci = -1, line = -1;
    bool IsGap() const { return method == kNone && (line == format::kGapLine || line == kCallersLine); }
  };
  // The frame, called from `parent` (kNone: the root). A stack is the number of its leaf. Frames cut off at the root
  // are represented by a gap.
  struct Stack {
    Id parent = kNone, frame = kNone;
    bool operator==(const Stack&) const = default;
  };
  struct Thread {
    Id name = kNone, text = kNone;  // text: as recorded, with its labels (format/model/names.h)
    uint64_t java_tid = 0;
    uint32_t os_tid = 0;
    bool is_virtual = false;
  };

  using Hides = std::function<bool(std::string_view method)>;

  // `hides`: frames to omit from stacks; empty: none.
  explicit Catalogue(Detail detail, Hides hides = {}) : detail_(detail), hides_(std::move(hides)) {}

  // Call before the first block of a recording.
  void StartRecording() { dictionaries_ = nullptr; }
  // Call before requesting numbers of a block; `names` must have entered it.
  void Enter(const format::Block& block, Names* names);
  Id ClassOf(format::Index index);
  Id StackOf(format::Index index);
  // For the path of a row: below a frame that represents its unknown callers.
  Id StackOfRow(format::Index path);
  // Returns the frame at which a path of StackOfRow ends.
  Id SiteOf(Id stack) const;
  Id ThreadOf(format::Index index);
  // An unknown stack has one unknown frame.
  Id UnknownStack() { return Node(kNone, FrameOf(Frame{})); }
  Id StringOf(std::string_view text) { return strings_.NumberOf(text); }

  // By number. Classes contain numbers of strings.
  const std::deque<std::string>& strings() const { return strings_.texts(); }
  const std::vector<Id>& classes() const { return classes_; }
  const std::vector<Method>& methods() const { return methods_; }
  const std::vector<Frame>& frames() const { return frames_; }
  const std::vector<Stack>& stacks() const { return stacks_; }
  const std::vector<Thread>& threads() const { return threads_; }

  // Returns "[unknown]" for kNone.
  std::string_view ClassName(Id id) const;
  std::string_view ThreadName(Id id) const;
  // Returns "java.util.HashMap.resize", "[truncated]", "[callers not kept]" or "[unknown]"; composed from class and
  // method names.
  std::string FrameName(Id frame) const;

 private:
  struct Key {
    uint64_t a = 0, b = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  using Known = std::unordered_map<Key, Id, KeyHash>;
  // Numbers by index in the chunk; kNotLooked: not requested yet.
  using Cache = std::vector<uint64_t>;

  template <typename Entry>
  static Id Number(const Key& key, const Entry& entry, Known* known, std::vector<Entry>* entries);
  Id MethodOf(format::Index index);
  Id FrameOf(format::Index index);
  Id FrameOf(const Frame& frame);
  Id Node(Id parent, Id frame);

  bool IsHidden(Id frame);

  const Detail detail_;
  const Hides hides_;
  Names* names_ = nullptr;
  uint32_t chunk_ = 0;
  const format::Dictionaries* dictionaries_ = nullptr;
  Cache class_cache_, method_cache_, frame_cache_, stack_cache_, thread_cache_;
  std::vector<format::Index> path_;
  std::vector<std::optional<bool>> hidden_;  // by frame

  StringTable strings_{""};
  std::vector<Id> classes_;
  std::vector<Method> methods_;
  std::vector<Frame> frames_;
  std::vector<Stack> stacks_;
  std::vector<Thread> threads_;
  Known known_classes_, known_methods_, known_frames_, known_threads_;
  format::IndexTable known_stacks_;
};

// The path where javac expects the source of a class, derived from the name of the outermost class.
// "java.util.HashMap$Node" -> "java/util/HashMap.java"
inline std::string SourcePath(std::string_view class_name) {
  std::string path(class_name.substr(0, class_name.find_first_of("$/[", class_name.rfind('.') + 1)));
  std::ranges::replace(path, '.', '/');
  return path + ".java";
}

}  // namespace heaprec::tools
