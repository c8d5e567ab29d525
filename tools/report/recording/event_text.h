// The events of a recording as printed by `heaprec print`: single ones, and all in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/query/filter/event_filter.h"
#include "tools/text/text.h"

namespace heaprec::tools {

struct EventStyle {
  bool json = false;
  bool colour = false;
  size_t stack_depth = 0;  // 0: all frames
};

// Writes the fields of an event: lines similar to `jfr print`, or the members of a JSON object, which may have another
// name there.
class EventFields {
 protected:
  EventFields(const EventStyle& style, uint64_t start_epoch_ns) : style_(style), clock_(start_epoch_ns) {}

  // `id`: only in JSON; nullopt: none.
  void Open(std::string_view name, std::string_view kind, uint64_t time_ns, Text& into,
            std::optional<uint64_t> id = std::nullopt);
  void Close(Text& into) const { tools::Append(into, style_.json ? "}" : "\n}\n\n"); }
  // The value follows.
  void Field(std::string_view plain, std::string_view json, Text& into) const;
  void TextField(std::string_view plain, std::string_view json, std::string_view utf8, Text& into) const;
  void CountField(std::string_view plain, std::string_view json, uint64_t count, Text& into) const;
  void NumberField(std::string_view plain, std::string_view json, double value, Text& into) const;
  // 0: unknown.
  void SizeField(std::string_view plain, std::string_view json, uint64_t bytes, Text& into) const;

  const EventStyle style_;
  ClockText clock_;
};

// One sample with all fields.
//
// Each frame, stack and thread of a chunk is rendered once and then copied; the cache is bounded.
class EventText : EventFields {
 public:
  EventText(const EventStyle& style, uint64_t start_epoch_ns) : EventFields(style, start_epoch_ns) {}

  // Call for every block, after `names` has entered it.
  void Enter(const format::Block& block, Names* names);
  // JSON: without surrounding newline or comma.
  void Append(const format::Sample& sample, Text& into);
  // A stack or a thread of that block. Valid until the next call.
  std::string_view Stack(format::Index index);
  std::string_view Thread(format::Index index);

 private:
  void AppendPlainAmounts(const format::Sample& sample, Text& into);
  void AppendJsonAmounts(const format::Sample& sample, Text& into);
  std::string_view Frame(const format::Frame& frame);
  void RenderPlainThread(format::Index index, Text& into);
  void RenderJsonThread(format::Index index, Text& into);
  void RenderPlainFrame(const format::Frame& frame, Text& into);
  void RenderJsonFrame(const format::Frame& frame, Text& into);
  void RenderPlainStack(format::Index index, Text& into);
  void RenderJsonStack(format::Index index, Text& into);

  Names* names_ = nullptr;
  uint32_t chunk_ = 0;
  std::vector<std::string> threads_, stacks_, frames_;  // rendered; empty: not yet
  size_t cached_bytes_ = 0;                             // of stacks_
  Text scratch_;
};

// Collections, heap snapshots, lifecycle events of tracked objects, and rows.
//
// A collection is printed when it ends, with the data from its beginning.
//
// Units:    as format/model/model.h.
class StateText : EventFields {
 public:
  StateText(const EventStyle& style, uint64_t start_epoch_ns) : EventFields(style, start_epoch_ns) {}

  // Returns false if a collection has begun, which is printed later. JSON: without surrounding newline or comma.
  bool Append(const format::ProcessState& state, Text& into);
  // `names`: of its block; `thread` and `stack`: as EventText has them.
  void AppendEvent(const format::ProcessState& state, Names* names, std::string_view thread, std::string_view stack,
                   Text& into);
  void Append(const format::LifecycleEvent& lifecycle, Text& into);
  // `names`: of its block.
  void Append(const format::CensusRow& row, Names* names, Text& into);
  // `time_ns`: of the block; `path`: rendered as by EventText.
  void Append(const format::Row& row, uint64_t time_ns, Names* names, std::string_view path, Text& into);
  // Call after the last state, for a collection that has not ended. Returns false if there is none.
  bool AppendUnfinished(Text& into);

 private:
  void AppendPeriodic(const format::ProcessState& state, Text& into);
  void AppendAccount(const format::ProcessAccount& account, Text& into);
  void AppendCpu(const format::ProcessState& state, Text& into);
  void AppendMemory(const format::ProcessState& state, Text& into);
  // `end` nullptr: unfinished.
  void AppendCollection(const format::ProcessState* begin, const format::ProcessState* end, Text& into);

  std::optional<format::ProcessState> begun_;
  std::optional<uint64_t> ended_ns_;  // end of the latest collection
};

// Prints the events of a recording one after the other, as text or as one JSON document, for `heaprec print`.
class EventPrinter {
 public:
  // Prints at most `limit` events. `goes_on`: called before each of them, so that the caller can write the text so far.
  EventPrinter(const Recording& recording, const Filter& filter, uint64_t limit, const EventStyle& style,
               std::function<bool()> goes_on);

  // Begins recording `which` of the `count` in the file.
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
