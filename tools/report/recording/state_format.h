// Collections, looks at the heap, lifecycle events of tracked objects, and rows as text or JSON, in the manner of
// EventText.
//
// A collection is printed when it ends, with what was noted when it began.
//
// Units:    as format/model/model.h.
// Threads:  one.
#pragma once

#include <optional>

#include "format/model/model.h"
#include "tools/input/dictionary_names.h"
#include "tools/report/recording/event_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {

class StateText {
 public:
  StateText(const EventStyle& style, uint64_t start_epoch_ns) : style_(style), clock_(start_epoch_ns) {}

  // False: nothing yet, a collection has begun. JSON: without a newline or comma around it.
  bool Append(const format::ProcessState& state, Text& into);
  void Append(const format::LifecycleEvent& lifecycle, Text& into);
  // `names`: of its block.
  void Append(const format::CensusRow& row, Names* names, Text& into);
  // `time_ns`: of the block; `path`: as EventText has stacks.
  void Append(const format::Row& row, uint64_t time_ns, Names* names, std::string_view path, Text& into);
  // After the last one: a collection that never ended. False: none.
  bool AppendUnfinished(Text& into);

 private:
  void AppendPeriodic(const format::ProcessState& state, Text& into);
  void AppendCpu(const format::ProcessState& state, Text& into);
  void AppendMemory(const format::ProcessState& state, Text& into);
  // `end` nullptr: unfinished.
  void AppendCollection(const format::ProcessState* begin, const format::ProcessState* end, Text& into);
  void Open(std::string_view name, std::string_view kind, uint64_t time_ns, Text& into);
  void Close(Text& into);
  void TextField(std::string_view plain, std::string_view json, std::string_view value, Text& into);
  void NumberField(std::string_view plain, std::string_view json, double value, Text& into);
  void Field(std::string_view plain, std::string_view json, Text& into);
  void SizeField(std::string_view plain, std::string_view json, uint64_t bytes, Text& into);

  const EventStyle style_;
  ClockText clock_;
  std::optional<format::ProcessState> begun_;
  std::optional<uint64_t> ended_ns_;  // the last collection
};

}  // namespace heaprec::tools
