#include "tools/report/recording/event_format.h"

#include <algorithm>

#include "format/model/thread_name.h"
#include "tools/input/stream_traits.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// Rendered stacks of one chunk are forgotten past this: with --stack-depth 0 they could be a hundred times the chunk.
constexpr size_t kMaxCachedBytes = 64 << 20;

constexpr std::string_view kBold = "\x1b[1m", kDim = "\x1b[2m", kPlain = "\x1b[0m";

}  // namespace

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
  style_.json ? AppendJson(sample, into) : AppendPlain(sample, into);
}

void EventText::Field(std::string_view name, Text& into) {
  tools::Append(into, "  ");
  if (style_.colour) tools::Append(into, kDim);
  tools::Append(into, name);
  tools::Append(into, " = ");
  if (style_.colour) tools::Append(into, kPlain);
}

void EventText::AppendPlain(const format::Sample& sample, Text& into) {
  if (style_.colour) tools::Append(into, kBold);
  tools::Append(into, TraitsOf(sample.stream()).event);
  if (style_.colour) tools::Append(into, kPlain);
  tools::Append(into, " {\n");
  Field("startTime", into);
  clock_.AppendLocal(into, sample.time_ns);
  tools::Append(into, "\n");
  Field("kind", into);
  tools::Append(into, KindName(sample.kind));
  tools::Append(into, "\n");
  format::CountsEvents(sample.stream()) ? AppendPlainException(sample, into) : AppendPlainAllocation(sample, into);
  Field("probability", into);
  const bool has_size = sample.size > 0 || format::CountsEvents(sample.stream());
  has_size ? tools::Append(into, fmt::format("{:.4g}\n", sample.probability())) : tools::Append(into, "unknown\n");
  Field("eventThread", into);
  tools::Append(into, Thread(sample.thread));
  tools::Append(into, "\n");
  Field("stackTrace", into);
  tools::Append(into, Stack(sample.stack));
  tools::Append(into, "\n}\n\n");
}

void EventText::AppendPlainAllocation(const format::Sample& sample, Text& into) {
  Field(sample.stream() == format::Stream::kAllocations ? "objectClass" : "function", into);
  AppendPrintable(into, names_->Class(sample.class_id));
  tools::Append(into, "\n");
  Field("size", into);
  sample.size > 0 ? AppendBytes(into, static_cast<double>(sample.size)) : tools::Append(into, "unknown");
  tools::Append(into, "\n");
  if (sample.tlab_size > 0) {
    Field("tlabSize", into);
    AppendBytes(into, static_cast<double>(sample.tlab_size));
    tools::Append(into, "\n");
  }
  Field("weight", into);
  AppendBytes(into, sample.weight_bytes());
  tools::Append(into, "\n");
}

void EventText::AppendPlainException(const format::Sample& sample, Text& into) {
  Field("thrownClass", into);
  AppendPrintable(into, names_->Class(sample.class_id));
  tools::Append(into, "\n");
  Field("weight", into);
  fmt::format_to(fmt::appender(into), "{:.4g} throws\n", sample.weight);
}

void EventText::AppendJson(const format::Sample& sample, Text& into) {
  tools::Append(into, "{\"id\":");
  tools::Append(into, sample.id);
  tools::Append(into, ",\"start_time\":\"");
  clock_.AppendIso(into, sample.time_ns);
  tools::Append(into, "\",\"time_ns\":");
  tools::Append(into, clock_.EpochNs(sample.time_ns));
  tools::Append(into, ",\"kind\":\"");
  tools::Append(into, KindName(sample.kind));
  tools::Append(into, "\",\"class\":");
  AppendJsonString(into, names_->Class(sample.class_id));
  const bool has_size = sample.size > 0 || format::CountsEvents(sample.stream());
  tools::Append(into, ",\"size\":");
  has_size ? tools::Append(into, sample.size) : tools::Append(into, "null");
  tools::Append(into, ",\"tlab_size\":");
  tools::Append(into, sample.tlab_size);
  tools::Append(into, ",\"weight_bytes\":");
  AppendJsonNumber(into, sample.weight_bytes());
  tools::Append(into, ",\"weight_objects\":");
  has_size ? AppendJsonNumber(into, sample.weight_objects()) : tools::Append(into, "null");
  tools::Append(into, ",\"probability\":");
  has_size ? AppendJsonNumber(into, sample.probability()) : tools::Append(into, "null");
  tools::Append(into, ",\"window\":");
  tools::Append(into, uint64_t{sample.window});
  tools::Append(into, ",\"thread\":");
  tools::Append(into, Thread(sample.thread));
  tools::Append(into, ",\"stack\":");
  tools::Append(into, Stack(sample.stack));
  tools::Append(into, "}");
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
  if (const format::Method* method = names_->MethodOf(frame.method)) {
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

}  // namespace heaprec::tools
