// Which mapping each range of addresses belongs to, in two layers: what is reserved, and what may be touched. From the
// calls, in their order, it makes what became of each mapping.
//
// A mapping is a sample's number; 0 is one that nobody follows, whose ranges are known all the same. What may be
// touched lies within a reserve, which goes on, or else is in no reserve at all: so the two layers never hold a byte
// twice but for commits.
//
// Units:    bytes, addresses; ns of the caller's clock.
// Context:  drain (it allocates).
// Threads:  one.
// Failure:  none. Calls about addresses that nobody has mapped here change nothing.
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
  // What a call mapped that was not mapped before in its layer.
  struct New {
    uint64_t bytes = 0;
    native::MappingType sort = native::MappingType::kPrivate;
    bool is_in_reserve = false;  // of what may be touched
  };

  New Map(uint64_t sample, const native::Mapping& mapping, uint64_t now_ns);
  void Unmap(uintptr_t begin, uintptr_t end, uint64_t now_ns);
  // Takes out what is there, under a number, until Place: there, the first so many bytes of it; the rest is gone. Bytes
  // beyond what was lifted are new, and are `sample`'s.
  void Detach(uint32_t moving, uintptr_t begin, uintptr_t end);
  New Attach(uint32_t moving, uint64_t sample, uintptr_t begin, uintptr_t end, uint64_t now_ns);
  // For whoever asks the kernel what is mapped: calls that are under way when it answers come to be known later, and
  // what they move is gone from where it was. So: BeginAge, ask, take in all calls that were noted by then, and
  // KeepOnly, which ends what was there before the age, has not been touched since, and is in none of these ranges
  // (ascending).
  void BeginAge() { ++age_; }
  void KeepOnly(const std::vector<native::Mapping>& mapped, uint64_t now_ns);

  // Since the last call, of each mapping that has less than before, or is gone (0 left).
  struct Change {
    uint64_t sample, left, time_ns;
  };
  std::vector<Change> TakeChanges();

 private:
  struct Piece {
    uintptr_t end;
    uint64_t sample;
    native::MappingType sort;
    uint64_t age = 0;  // in which it was put there
  };
  using Layer = std::map<uintptr_t, Piece>;  // by begin; they do not overlap
  struct Lifted {
    uintptr_t begin = 0, end = 0;
    Layer reserved, touched;  // where they were
  };
  struct Owner {
    uint64_t left = 0, changed_ns = 0;
  };

  // A piece that begins before is divided first.
  static Layer::iterator Divide(Layer* layer, uintptr_t at);
  static Layer TakeOut(Layer* layer, uintptr_t begin, uintptr_t end);
  void Cut(Layer* layer, uintptr_t begin, uintptr_t end, uint64_t now_ns);
  void Lose(const Layer& pieces, uint64_t now_ns);
  void CutOld(Layer* layer, uintptr_t begin, uintptr_t end, uint64_t now_ns);
  void Put(Layer* layer, uintptr_t begin, const Piece& piece);
  // What is there already stays.
  uint64_t Fill(uint64_t sample, uintptr_t begin, uintptr_t end);
  bool IsReserved(uintptr_t begin, uintptr_t end) const;
  New Touch(uint64_t sample, const native::Mapping& mapping, uint64_t now_ns);
  void PutBack(Layer* layer, const Layer& pieces, uintptr_t from, uintptr_t begin, uintptr_t end, uint64_t now_ns);

  Layer reserved_, touched_;
  std::unordered_map<uint32_t, Lifted> lifted_;
  std::unordered_map<uint64_t, Owner> owners_;
  std::set<uint64_t> changed_;
  uint64_t age_ = 0;
};

}  // namespace heaprec::sources
