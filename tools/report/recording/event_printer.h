// The events of a recording as `heaprec print` shows them: one after the other, as text or as one JSON document.
//
// Threads:  one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/query/filter/asked_time.h"
#include "tools/query/filter/event_filter.h"
#include "tools/report/recording/event_format.h"
#include "tools/report/recording/state_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {

class EventPrinter {
 public:
  // Prints at most `limit` events. `goes_on`: asked before each of them, so that it can write what is in the text.
  EventPrinter(const Recording& recording, const Filter& filter, uint64_t limit, const EventStyle& style,
               std::function<bool()> goes_on);

  // Recording `which` of the `count` in the file.
  void Begin(size_t which, size_t count, Text& into);
  void Add(const format::Block& block, Text& into);
  void End(Text& into, AskedTime* asked);

  bool goes_on() const { return printed() < limit_ && goes_on_(); }
  uint64_t printed() const { return samples_ + others_; }

 private:
  void Separate(Text& into) const;
  void AddOther(const Text& event, Text& into);

  const Recording& recording_;
  Filter filter_;
  const uint64_t limit_;
  const EventStyle style_;
  const std::function<bool()> goes_on_;
  EventText events_;
  StateText states_;
  Names names_;
  uint64_t samples_ = 0, others_ = 0, last_ns_ = 0;
  bool is_last_of_several_ = false;
};

}  // namespace heaprec::tools
