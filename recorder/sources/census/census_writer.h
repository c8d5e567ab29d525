// Adds what walks found to the sums in the ring.
//
// Context:  alloc or gc: no heap, no lock.
// Threads:  any.
// Failure:  none: what has no row of its own is in a row of all threads, or of all classes
// (format/ring/census_pages.h). Format:   docs/format/ring.md#census
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "format/ring/census_pages.h"
#include "recorder/buffer/lane_lease.h"
#include "recorder/buffer/ring.h"
#include "recorder/sources/census/census_threads.h"
#include "recorder/sources/census/class_counts.h"

namespace heaprec::sources {

class CensusWriter {
 public:
  using NameOf = std::function<std::string_view(const void* klass)>;  // empty: it has no name

  // The ring, which has census pages, and the threads must outlive it.
  CensusWriter(buffer::Ring& ring, const CensusThreads& threads, NameOf name_of)
      : pages_(*ring.census()),
        start_ns_(ring.header().start_monotonic_ns),
        threads_(threads),
        name_of_(std::move(name_of)) {}

  // What one walk found.
  void Write(uint64_t now_ns, const void* java_thread, double weight, std::span<const ClassCounts::Entry> found);

 private:
  struct Place {
    uint64_t second;
    const CensusThread* thread;   // null: not known
    uint64_t class_key;           // kAllClasses: the total
    std::string_view class_name;  // empty: not known, or all
  };
  format::RingCensusRow& RowOf(const Place& place, format::RingCensusPage* page);
  void Name(const Place& place, format::RingCensusPage* page);

  format::RingCensusPages& pages_;
  const uint64_t start_ns_;
  const CensusThreads& threads_;
  const NameOf name_of_;
  buffer::EmittedDefinitions<1 << 12> known_;  // names that the page has, by its number
};

}  // namespace heaprec::sources
