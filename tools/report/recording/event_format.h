// One event as text, in the manner of `jfr print`; or as a JSON object with everything that is known of it.
//
// Each frame, stack and thread of a chunk is rendered once and then copied; what is kept is bounded.
//
// Threads:  one.
#pragma once

#include <string>
#include <vector>

#include "format/reader/reader.h"
#include "tools/input/dictionary_names.h"
#include "tools/text/text.h"

namespace heaprec::tools {

struct EventStyle {
  bool json = false;
  bool colour = false;
  size_t stack_depth = 0;  // 0: all frames
};

class EventText {
 public:
  EventText(const EventStyle& style, uint64_t start_epoch_ns) : style_(style), clock_(start_epoch_ns) {}

  // With every block, after `names` has entered it.
  void Enter(const format::Block& block, Names* names);
  // JSON: without a newline or comma around it.
  void Append(const format::Sample& sample, Text& into);
  // A stack of that block. Valid until the next call.
  std::string_view Stack(format::Index index);

 private:
  void AppendPlain(const format::Sample& sample, Text& into);
  void AppendPlainAllocation(const format::Sample& sample, Text& into);
  void AppendPlainException(const format::Sample& sample, Text& into);
  void AppendJson(const format::Sample& sample, Text& into);
  void Field(std::string_view name, Text& into);
  std::string_view Thread(format::Index index);
  std::string_view Frame(const format::Frame& frame);
  void RenderPlainThread(format::Index index, Text& into);
  void RenderJsonThread(format::Index index, Text& into);
  void RenderPlainFrame(const format::Frame& frame, Text& into);
  void RenderJsonFrame(const format::Frame& frame, Text& into);
  void RenderPlainStack(format::Index index, Text& into);
  void RenderJsonStack(format::Index index, Text& into);

  const EventStyle style_;
  ClockText clock_;
  Names* names_ = nullptr;
  uint32_t chunk_ = 0;
  std::vector<std::string> threads_, stacks_, frames_;  // rendered; empty: not yet
  size_t cached_bytes_ = 0;                             // of stacks_
  Text scratch_;
};

}  // namespace heaprec::tools
