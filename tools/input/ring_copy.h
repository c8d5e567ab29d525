// A copy of the ring of a recording, and the contents of its records.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/model/allocation_primitives.h"
#include "format/model/model.h"
#include "format/native/native_frames.h"
#include "format/reader/reader.h"
#include "format/ring/ring_layout.h"
#include "format/ring/ring_reader.h"
#include "format/ring/ring_records.h"
#include "tools/input/confined_open.h"
#include "tools/input/native_table_file.h"

namespace heaprec::tools {

// The information in the header.
struct RingStatus {
  format::RingState state = format::RingState::kStarting;
  uint64_t heartbeat_ns = 0;  // CLOCK_MONOTONIC
};

// The opened file of a recording's ring. All information is from this file, even if its name refers to another one
// later.
class OpenedRing {
 public:
  // `path`: below `root`, as in OpenBelow.
  static Result<OpenedRing> Open(const std::string& path, const format::RecordingId& recording,
                                 const std::string& root = "");
  // Opens only a regular file of `owner`, not a symbolic link, because it was found by its name alone.
  static Result<OpenedRing> OpenOf(uid_t owner, const std::string& path, const format::RecordingId& recording);

  const std::string& path() const { return path_; }
  const Descriptor& file() const { return file_; }
  // Read by Open.
  const RingStatus& status() const { return status_; }

 private:
  OpenedRing(std::string path, Descriptor file, const RingStatus& status)
      : path_(std::move(path)), file_(std::move(file)), status_(status) {}
  static Result<OpenedRing> Check(Descriptor file, const std::string& path, const format::RecordingId& recording);

  std::string path_;
  Descriptor file_;
  RingStatus status_;
};

// A private copy of a recording's shared ring, whose process may still be writing it.
//
// The file is read with pread, never mapped and never changed: a ring that vanishes or shrinks is an error, not a
// SIGBUS. Reads each lane's head before its bytes, and all tails again at the end. So the records between tail() and
// head() were published when they were copied and not yet released by the drain: they are complete.
//
// Failure:  Open: no such file, or another recording's ring. Of: an invalid ring.
class RingCopy {
 public:
  static Result<RingCopy> Of(const OpenedRing& ring);

  const format::RingView& view() const { return *view_; }
  uint64_t head(uint32_t lane) const { return heads_[lane]; }
  uint64_t tail(uint32_t lane) const { return tails_[lane]; }
  format::StreamCounters counters(format::Stream stream) const;
  format::CensusCounters census() const { return format::CountersOf(view_->header().census); }
  // Time (CLOCK_MONOTONIC) since which the recording's file cannot be written, and the errno; 0: it can.
  uint64_t unwritten_since_ns() const { return view_->header().unwritten_since_ns; }
  int write_errno() const { return unwritten_since_ns() != 0 ? static_cast<int>(view_->header().write_errno) : 0; }

 private:
  explicit RingCopy(size_t bytes) : words_((bytes + 7) / 8) {}
  std::vector<uint64_t> words_;  // 8-byte aligned, like the records
  std::unique_ptr<format::RingView> view_;
  std::vector<uint64_t> heads_, tails_;
};

// Definitions by content key, for the ring's samples: from the ring itself and from the file.
//
// First add the ring's definitions and the keys that its samples require; then pass every block of the file. Only
// required and missing definitions are stored, so memory is bounded by the ring.
//
// Keys: format/ring/ring_reader.h; the same content has the same key wherever it is defined.
struct StackKeyHash {
  size_t operator()(const format::StackKey& key) const { return key.low; }
};

struct KeyedStack {
  std::vector<format::RingFrame> leaf_first;
  bool truncated = false;
};

class RingDefinitions {
 public:
  std::unordered_map<uint64_t, std::string> classes;
  std::unordered_map<uint64_t, format::Method> methods;
  std::unordered_map<uint64_t, format::Thread> threads;
  std::unordered_map<format::StackKey, KeyedStack, StackKeyHash> stacks;

  // Marks keys without a definition as missing; 0: none.
  void Require(uint64_t class_key, uint64_t thread_key, const format::StackKey& stack_key);
  // The same for the methods of all defined stacks.
  void RequireMethodsOfStacks();
  bool is_incomplete() const;

  // Takes missing definitions from the dictionaries of the file's next block.
  void TakeFrom(const format::Block& block);

 private:
  void TakeStack(const format::Dictionaries& dictionaries, format::Index node);

  std::unordered_set<uint64_t> missing_classes_, missing_methods_, missing_threads_;
  std::unordered_set<format::StackKey, StackKeyHash> missing_stacks_;
  // How much of the current chunk's dictionaries has been processed.
  uint32_t chunk_ = 0;
  size_t classes_seen_ = 0, methods_seen_ = 0, threads_seen_ = 0, stacks_seen_ = 0;
  std::vector<uint64_t> method_keys_;  // by index in the current chunk
  std::vector<format::RingFrame> path_;
};

// Converts content keys to indices of one set of dictionaries; defines each entry once.
class KeyedDictionaries {
 public:
  // Both must outlive this.
  KeyedDictionaries(const RingDefinitions* definitions, format::Dictionaries* into)
      : definitions_(*definitions), into_(*into) {}

  // Returns kNone if the key is not defined.
  format::Index Class(uint64_t key);
  format::Index Thread(uint64_t key);
  format::Index Stack(format::StackKey key);
  // Returns the path (format::PathOf) of that stack.
  format::Index Path(format::StackKey key);

 private:
  bool IsPrimitive(uint64_t method);
  format::Index Nodes(std::span<const format::RingFrame> leaf_first, bool truncated);
  format::Index Method(uint64_t key);
  format::Index FrameOf(const format::RingFrame& frame);
  format::Index Node(format::Index parent, format::Index frame, bool truncated);

  const RingDefinitions& definitions_;
  format::Dictionaries& into_;
  std::unordered_map<uint64_t, format::Index> classes_, threads_, methods_;
  std::unordered_map<format::StackKey, format::Index, StackKeyHash> stacks_, paths_;
  const format::AllocationPrimitives primitives_ = format::AllocationPrimitives::Default();
  std::unordered_map<uint64_t, bool> is_primitive_;  // by method key
  std::map<std::tuple<format::Index, int32_t, int32_t, format::FrameType>, format::Index> frames_;
  std::map<std::tuple<format::Index, format::Index, bool>, format::Index> nodes_;
};

struct NativePoint {
  format::NativePointRecord record;
  std::vector<uint64_t> pcs;            // return addresses, innermost first
  std::vector<format::RingFrame> java;  // Java frames that called them
};

// Names addresses of native code in the lanes of a killed process. Converts its sample points of native memory to the
// samples that its drain would have committed, and names stacks of objects that native code allocated. Names come from
// the files of its libraries, found by build id.
//
// Failure:  a function without a symbol is named by its address in the library; outside of known libraries, by its
//           address. Files that have been replaced have no names.
// Format:   docs/format/ring.md#native-points
class NativePointNames {
 public:
  // Accepts invalid contents of `modules`.
  explicit NativePointNames(std::span<const format::RingModule> modules);
  NativePointNames(const NativePointNames&) = delete;
  NativePointNames& operator=(const NativePointNames&) = delete;

  // Adds the sample's definitions to `definitions`.
  format::SampleRecord SampleOf(const NativePoint& point, RingDefinitions* definitions);
  // Names the stacks of addresses (format::AreAddresses) among the definitions.
  void NameStacksOf(RingDefinitions* definitions);

 private:
  format::CodeLocation At(uint64_t return_address);
  std::vector<format::RingFrame> FramesOf(const NativePoint& point, RingDefinitions* definitions);

  const std::vector<LoadedModule> modules_;
  TableSymbolizer symbols_;
};

}  // namespace heaprec::tools
