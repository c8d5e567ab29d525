// Maps address ranges to mappings, in two layers: reserved, and accessible. From the sequence of calls it derives how
// each mapping shrinks and ends.
//
// A mapping is identified by its sample; 0 means untracked, but its ranges are in the table as well. An accessible
// range is inside a reserved range, which continues to exist, or outside of all reserved ranges. So only commits are in
// both layers.
//
// Units:    bytes, addresses; ns of the caller's clock.
// Context:  drain (it allocates).
// Threads:  one.
// Failure:  none. Calls for addresses that are not in the table change nothing.
// Format:   docs/format/recording.md#mappings
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "recorder/native_sample/mmap_hooks.h"

namespace heaprec::sources {

class MappingTable {
 public:
  // The part of a call's range that was not mapped before in its layer.
  struct New {
    uint64_t bytes = 0;
    native::MappingType sort = native::MappingType::kPrivate;
    bool is_in_reserve = false;  // an accessible range is inside a reserved one
  };

  New Map(uint64_t sample, const native::Mapping& mapping, uint64_t now_ns);
  void Unmap(uintptr_t begin, uintptr_t end, uint64_t now_ns);
  // Removes the contents of a range and stores them under a number. Attach puts the first bytes of them at the new
  // range and drops the rest; additional bytes are new and belong to `sample`.
  void Detach(uint32_t moving, uintptr_t begin, uintptr_t end);
  New Attach(uint32_t moving, uint64_t sample, uintptr_t begin, uintptr_t end, uint64_t now_ns);
  // Compares the table with the kernel's list of mappings while calls go on. Call BeginAge, read the kernel's list,
  // process all calls noted by then, and call KeepOnly. It ends ranges that are older than the age, have not changed
  // since, and are in none of the listed ranges (ascending).
  void BeginAge() { ++age_; }
  void KeepOnly(const std::vector<native::Mapping>& mapped, uint64_t now_ns);

  // Mappings that have shrunk or ended (0 left) since the last call.
  struct Change {
    uint64_t sample, left, time_ns;
  };
  std::vector<Change> TakeChanges();

 private:
  struct Piece {
    uintptr_t end;
    uint64_t sample;
    native::MappingType sort;
    uint64_t age = 0;  // age in which it was added
  };
  using Layer = std::map<uintptr_t, Piece>;  // by begin; without overlaps
  struct Detached {
    uintptr_t begin = 0, end = 0;
    Layer reserved, touched;  // former positions of the pieces
  };
  struct Owner {
    uint64_t left = 0, changed_ns = 0;
  };

  // Splits a piece that begins before `at`.
  static Layer::iterator Divide(Layer* layer, uintptr_t at);
  static Layer TakeOut(Layer* layer, uintptr_t begin, uintptr_t end);
  void Cut(Layer* layer, uintptr_t begin, uintptr_t end, uint64_t now_ns);
  void Lose(const Layer& pieces, uint64_t now_ns);
  void CutOld(Layer* layer, uintptr_t begin, uintptr_t end, uint64_t now_ns);
  void Put(Layer* layer, uintptr_t begin, const Piece& piece);
  // Fills only the gaps between existing pieces.
  uint64_t Fill(uint64_t sample, uintptr_t begin, uintptr_t end);
  bool IsReserved(uintptr_t begin, uintptr_t end) const;
  New Touch(uint64_t sample, const native::Mapping& mapping, uint64_t now_ns);
  void PutBack(Layer* layer, const Layer& pieces, uintptr_t from, uintptr_t begin, uintptr_t end, uint64_t now_ns);

  Layer reserved_, touched_;
  std::unordered_map<uint32_t, Detached> detached_;
  std::unordered_map<uint64_t, Owner> owners_;
  std::set<uint64_t> changed_;
  uint64_t age_ = 0;
};

}  // namespace heaprec::sources
