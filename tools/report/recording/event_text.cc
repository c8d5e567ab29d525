#include "tools/report/recording/event_text.h"

#include <algorithm>
#include <utility>

#include "format/model/names.h"
#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"
#include "tools/render/renderers.h"

namespace heaprec::tools {
namespace {

// Removes rendered stacks of the current chunk beyond this size: with --stack-depth 0 they could be a hundred times the
// chunk.
constexpr size_t kMaxCachedBytes = 64 << 20;

constexpr std::string_view kBold = "\x1b[1m", kDim = "\x1b[2m", kPlain = "\x1b[0m";

}  // namespace

void EventFields::Open(std::string_view name, std::string_view kind, uint64_t time_ns, Text& into,
                       std::optional<uint64_t> id) {
  if (style_.json) {
    into.push_back('{');
    if (id) fmt::format_to(fmt::appender(into), "\"id\":{},", *id);
    Append(into, "\"start_time\":\"");
    clock_.AppendIso(into, time_ns);
    fmt::format_to(fmt::appender(into), "\",\"time_ns\":{},\"kind\":\"{}\"", clock_.EpochNs(time_ns), kind);
    return;
  }
  if (style_.colour) Append(into, kBold);
  Append(into, name);
  if (style_.colour) Append(into, kPlain);
  Append(into, " {");
  Field("startTime", "", into);
  clock_.AppendLocal(into, time_ns);
  Field("kind", "", into);
  Append(into, kind);
}

void EventFields::Field(std::string_view plain, std::string_view json, Text& into) const {
  if (style_.json) {
    Append(into, ",\"");
    Append(into, json);
    return Append(into, "\":");
  }
  Append(into, "\n  ");
  if (style_.colour) Append(into, kDim);
  Append(into, plain);
  Append(into, " = ");
  if (style_.colour) Append(into, kPlain);
}

void EventFields::TextField(std::string_view plain, std::string_view json, std::string_view utf8, Text& into) const {
  Field(plain, json, into);
  style_.json ? AppendJsonString(into, utf8) : AppendPrintable(into, utf8);
}

void EventFields::CountField(std::string_view plain, std::string_view json, uint64_t count, Text& into) const {
  Field(plain, json, into);
  Append(into, count);
}

void EventFields::NumberField(std::string_view plain, std::string_view json, double value, Text& into) const {
  Field(plain, json, into);
  Append(into, style_.json ? fmt::format("{:.17g}", value) : fmt::format("{:.0f}", value));
}

void EventFields::SizeField(std::string_view plain, std::string_view json, uint64_t bytes, Text& into) const {
  Field(plain, json, into);
  if (bytes == 0) return Append(into, style_.json ? "null" : "N/A");
  style_.json ? Append(into, bytes) : AppendBytes(into, static_cast<double>(bytes));
}

void EventText::Enter(const format::Block& block, Names* names) {
  const bool same_chunk = names_ != nullptr && block.chunk == chunk_;
  if (!same_chunk || block.dictionaries->stacks.size() < stacks_.size()) {
    threads_.clear();
    stacks_.clear();
    frames_.clear();
    cached_bytes_ = 0;
  }
  chunk_ = block.chunk;
  names_ = names;
  threads_.resize(block.dictionaries->threads.size());
  stacks_.resize(block.dictionaries->stacks.size());
  frames_.resize(block.dictionaries->frames.size());
}

void EventText::Append(const format::Sample& sample, Text& into) {
  Open(TraitsOf(sample.stream()).event, KindName(sample.kind), sample.time_ns, into, sample.id);
  style_.json ? AppendJsonAmounts(sample, into) : AppendPlainAmounts(sample, into);
  Field("eventThread", "thread", into);
  tools::Append(into, Thread(sample.thread));
  Field("stackTrace", "stack", into);
  tools::Append(into, Stack(sample.stack));
  Close(into);
}

void EventText::AppendPlainAmounts(const format::Sample& sample, Text& into) {
  const bool counts_events = format::CountsEvents(sample.stream());
  const auto bytes = [&](std::string_view name, double amount) {
    Field(name, "", into);
    amount > 0 ? AppendBytes(into, amount) : tools::Append(into, "unknown");
  };
  TextField(counts_events                                     ? "thrownClass"
            : sample.stream() == format::Stream::kAllocations ? "objectClass"
                                                              : "function",
            "", names_->Class(sample.class_id), into);
  if (counts_events) {
    Field("weight", "", into);
    fmt::format_to(fmt::appender(into), "{:.4g} throws", sample.weight);
  } else {
    bytes("size", static_cast<double>(sample.size));
    if (sample.tlab_size > 0) bytes("tlabSize", static_cast<double>(sample.tlab_size));
    Field("weight", "", into);
    AppendBytes(into, sample.weight_bytes());
  }
  const bool has_size = sample.size > 0 || counts_events;
  Field("probability", "", into);
  tools::Append(into, has_size ? fmt::format("{:.4g}", sample.probability()) : "unknown");
}

void EventText::AppendJsonAmounts(const format::Sample& sample, Text& into) {
  // What depends on the size of an object is null without it.
  const bool has_size = sample.size > 0 || format::CountsEvents(sample.stream());
  const auto number = [&](std::string_view name, double value, bool is_known) {
    Field("", name, into);
    is_known ? AppendJsonNumber(into, value) : tools::Append(into, "null");
  };
  TextField("", "class", names_->Class(sample.class_id), into);
  Field("", "size", into);
  has_size ? tools::Append(into, sample.size) : tools::Append(into, "null");
  CountField("", "tlab_size", sample.tlab_size, into);
  number("weight_bytes", sample.weight_bytes(), true);
  number("weight_objects", sample.weight_objects(), has_size);
  number("probability", sample.probability(), has_size);
  CountField("", "window", sample.window, into);
}

std::string_view EventText::Thread(format::Index index) {
  if (index >= threads_.size()) return style_.json ? "null" : "N/A";
  std::string& cached = threads_[index];
  if (cached.empty()) {
    scratch_.clear();
    style_.json ? RenderJsonThread(index, scratch_) : RenderPlainThread(index, scratch_);
    cached = fmt::to_string(scratch_);
  }
  return cached;
}

std::string_view EventText::Stack(format::Index index) {
  if (index >= stacks_.size()) return style_.json ? "null" : "N/A";
  if (cached_bytes_ > kMaxCachedBytes) {
    for (std::string& stack : stacks_) std::string().swap(stack);
    cached_bytes_ = 0;
  }
  std::string& cached = stacks_[index];
  if (cached.empty()) {
    scratch_.clear();
    style_.json ? RenderJsonStack(index, scratch_) : RenderPlainStack(index, scratch_);
    cached = fmt::to_string(scratch_);
    cached_bytes_ += cached.size();
  }
  return cached;
}

void EventText::RenderPlainThread(format::Index index, Text& into) {
  const format::Thread& thread = *names_->ThreadOf(index);
  into.push_back('"');
  AppendPrintable(into, names_->Thread(index));
  fmt::format_to(fmt::appender(into), "\" (javaThreadId = {}, osThreadId = {}{}", thread.java_tid, thread.os_tid,
                 thread.is_virtual ? ", virtual" : "");
  format::ForEachLabel(thread.name, [&into](std::string_view key, std::string_view value) {
    tools::Append(into, ", label ");
    AppendPrintable(into, ToUtf8(key));
    tools::Append(into, " = ");
    AppendPrintable(into, ToUtf8(value));
  });
  into.push_back(')');
}

void EventText::RenderJsonThread(format::Index index, Text& into) {
  const format::Thread& thread = *names_->ThreadOf(index);
  tools::Append(into, "{\"name\":");
  AppendJsonString(into, names_->Thread(index));
  fmt::format_to(fmt::appender(into), ",\"java_tid\":{},\"os_tid\":{},\"virtual\":{}", thread.java_tid, thread.os_tid,
                 thread.is_virtual);
  bool any = false;
  format::ForEachLabel(thread.name, [&](std::string_view key, std::string_view value) {
    tools::Append(into, any ? "," : ",\"labels\":{");
    any = true;
    AppendJsonString(into, ToUtf8(key));
    into.push_back(':');
    AppendJsonString(into, ToUtf8(value));
  });
  tools::Append(into, any ? "}}" : "}");
}

std::string_view EventText::Frame(const format::Frame& frame) {
  std::string& cached = frames_[static_cast<size_t>(&frame - names_->dictionaries().frames.data())];
  if (cached.empty()) {
    Text text;
    style_.json ? RenderJsonFrame(frame, text) : RenderPlainFrame(frame, text);
    cached = fmt::to_string(text);
  }
  return cached;
}

void EventText::RenderPlainFrame(const format::Frame& frame, Text& into) {
  tools::Append(into, "    ");
  AppendPrintable(into, names_->Method(frame));
  // Native functions, and the fields of a path, have no parameters.
  if (const format::Method* method = names_->MethodOf(frame.method); method != nullptr && !method->descriptor.empty()) {
    into.push_back('(');
    AppendPrintable(into, ParameterTypes(method->descriptor));
    into.push_back(')');
  }
  if (frame.line >= 0) {
    tools::Append(into, " line: ");
    tools::Append(into, static_cast<uint64_t>(frame.line));
  }
  into.push_back('\n');
}

void EventText::RenderPlainStack(format::Index index, Text& into) {
  tools::Append(into, "[\n");
  const bool cut = ForEachFrame(*names_, index, style_.stack_depth,
                                [&](const format::Frame& frame) { tools::Append(into, Frame(frame)); });
  tools::Append(into, cut ? "    ...\n  ]" : "  ]");
}

void EventText::RenderJsonFrame(const format::Frame& frame, Text& into) {
  tools::Append(into, "{\"method\":");
  AppendJsonString(into, names_->Method(frame));
  const format::Method* method = names_->MethodOf(frame.method);
  tools::Append(into, ",\"parameters\":");
  AppendJsonString(into, method != nullptr ? ParameterTypes(method->descriptor) : "");
  fmt::format_to(fmt::appender(into), ",\"line\":{},\"bci\":{}", std::max(frame.line, -1), frame.bci);
  if (frame.type != format::FrameType::kUnknown)
    fmt::format_to(fmt::appender(into), ",\"type\":\"{}\"", format::FrameTypeName(frame.type));
  into.push_back('}');
}

void EventText::RenderJsonStack(format::Index index, Text& into) {
  tools::Append(into, "{\"frames\":[");
  bool first = true;
  bool gap = false;
  const bool cut = ForEachFrame(*names_, index, style_.stack_depth, [&](const format::Frame& frame) {
    gap |= frame.IsGap();
    if (!first) into.push_back(',');
    first = false;
    tools::Append(into, Frame(frame));
  });
  tools::Append(into, cut || gap ? "],\"truncated\":true}" : "],\"truncated\":false}");
}

EventPrinter::EventPrinter(const Recording& recording, const Filter& filter, uint64_t limit, const EventStyle& style,
                           std::function<bool()> goes_on)
    : recording_(recording),
      filter_(filter),
      limit_(limit),
      style_(style),
      goes_on_(std::move(goes_on)),
      events_(style, recording.header().start_epoch_ns),
      states_(style, recording.header().start_epoch_ns) {
  filter_.Start(recording);
}

void EventPrinter::Begin(size_t which, size_t count, Text& into) {
  is_last_of_several_ = count > 1 && which + 1 == count;
  if (count > 1 && !style_.json) {
    Append(into, "# recording " + WhichText(recording_.header(), which, count) + "\n\n");
  } else if (count > 1) {
    Append(into, which == 0 ? "{\"recordings\":[" : ",");
  }
  if (!style_.json) return;
  Append(into, "{\"recording\":" + render::JsonText(HeaderValue(recording_.header())) + ",\n\"events\":[");
}

void EventPrinter::Add(const format::Block& block, Text& into) {
  last_ns_ = std::max(last_ns_, block.end_ns);
  names_.Enter(block);
  filter_.Enter(block, &names_);
  events_.Enter(block, &names_);
  auto state = block.states.begin();
  auto lifecycle = block.lifecycle_events.begin();
  const auto add_until = [&](uint64_t until_ns) {
    for (; state != block.states.end() && state->time_ns <= until_ns && goes_on(); ++state) {
      Text event;
      if (!filter_.Keeps(*state)) continue;
      if (format::IsEvent(state->kind)) {
        states_.AppendEvent(*state, &names_, events_.Thread(state->thread), events_.Stack(state->stack), event);
        AddOther(event, into);
      } else if (states_.Append(*state, event)) {
        AddOther(event, into);
      }
    }
    for (; lifecycle != block.lifecycle_events.end() && lifecycle->time_ns <= until_ns && goes_on(); ++lifecycle) {
      if (!filter_.Keeps(*lifecycle)) continue;
      Text event;
      states_.Append(*lifecycle, event);
      AddOther(event, into);
    }
  };
  for (const format::Sample& sample : block.samples) {
    add_until(sample.time_ns);
    if (!goes_on()) return;
    if (!filter_.Keeps(sample)) continue;
    Separate(into);
    events_.Append(sample, into);
    ++samples_;
  }
  add_until(UINT64_MAX);
  for (auto row = block.census.begin(); row != block.census.end() && goes_on(); ++row) {
    if (!filter_.Keeps(*row)) continue;
    Text event;
    states_.Append(*row, &names_, event);
    AddOther(event, into);
  }
  for (auto row = block.rows.begin(); row != block.rows.end() && goes_on(); ++row) {
    if (!filter_.Keeps(*row, block.end_ns)) continue;
    Text event;
    states_.Append(*row, block.end_ns, &names_, events_.Stack(row->stack), event);
    AddOther(event, into);
  }
}

void EventPrinter::End(Text& into, AskedTime* asked) {
  const bool complete = printed() < limit_;
  asked->Add(recording_, filter_, last_ns_);
  Text unfinished;
  if (complete && states_.AppendUnfinished(unfinished)) AddOther(unfinished, into);
  if (!style_.json) return Append(into, LossLine(recording_, samples_) + (complete ? "\n" : "; stopped at --limit\n"));
  render::Object losses = LossesValue(recording_);
  losses.push_back({"complete", complete});  // false: stopped by --limit, there may be more
  Append(into, "\n],\n\"losses\":" + render::JsonText(losses) + (is_last_of_several_ ? "}\n]}\n" : "}\n"));
}

void EventPrinter::Separate(Text& into) const {
  if (style_.json) Append(into, printed() == 0 ? "\n" : ",\n");
}

void EventPrinter::AddOther(const Text& event, Text& into) {
  Separate(into);
  Append(into, {event.data(), event.size()});
  ++others_;
}

}  // namespace heaprec::tools
