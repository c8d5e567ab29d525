#include <algorithm>
#include <bit>
#include <utility>

#include "tools/input/stream_traits.h"
#include "tools/report/recording/event_text.h"
#include "tools/text/text.h"

namespace heaprec::tools {

bool StateText::Append(const format::ProcessState& state, Text& into) {
  switch (state.kind) {
    case format::ProcessStateKind::kSnapshot:
      AppendPeriodic(state, into);
      return true;
    case format::ProcessStateKind::kMemory:
      AppendMemory(state, into);
      return true;
    case format::ProcessStateKind::kCpu:
      AppendCpu(state, into);
      return true;
    case format::ProcessStateKind::kGcBegin:
      // The beginning may arrive after its own end, which has already printed its duration, from another lane.
      if (!ended_ns_ || state.time_ns >= *ended_ns_) begun_ = state;
      return false;
    default:
      break;
  }
  ended_ns_ = state.time_ns;
  const auto begun = std::exchange(begun_, std::nullopt);
  AppendCollection(begun && state.kind == format::ProcessStateKind::kGcEnd ? &*begun : nullptr, &state, into);
  return true;
}

bool StateText::AppendUnfinished(Text& into) {
  const auto begun = std::exchange(begun_, std::nullopt);
  if (begun) AppendCollection(&*begun, nullptr, into);
  return begun.has_value();
}

void StateText::AppendEvent(const format::ProcessState& state, Names* names, std::string_view thread,
                            std::string_view stack, Text& into) {
  const auto number = [&](std::string_view plain, std::string_view json, uint64_t value) {
    CountField(plain, json, value, into);
  };
  const bool is_path = state.kind == format::ProcessStateKind::kPath;
  Open(is_path ? "heaprec.Path" : "heaprec.ProcessEvent", is_path ? kPathKind : kEventKind, state.time_ns, into);
  if (!is_path) TextField("event", "event", EventName(state.kind), into);
  switch (state.kind) {
    case format::ProcessStateKind::kResourceExhausted:
      number("flags", "flags", state.used);
      break;
    case format::ProcessStateKind::kError:
      number("count", "count", state.used);
      if (state.committed != 0) number("endsJvm", "ends_jvm", state.committed);
      break;
    case format::ProcessStateKind::kExit:
      TextField("call", "call", state.committed != 0 ? "halt" : "exit", into);
      Field("code", "code", into);
      if (state.used == 0) {
        tools::Append(into, style_.json ? "null" : "unknown");
      } else {
        tools::Append(into, fmt::format("{}", static_cast<int32_t>(state.used - 1)));
      }
      break;
    case format::ProcessStateKind::kSignal:
      number("signal", "signal", state.used);
      if (state.committed != 0) number("sender", "sender_pid", state.committed);
      break;
    case format::ProcessStateKind::kThreadStarts:
      number("started", "started", state.used);
      number("failed", "failed", state.committed);
      break;
    case format::ProcessStateKind::kHeapFull:
      SizeField("used", "used", state.used, into);
      SizeField("largest", "max", state.committed, into);
      break;
    case format::ProcessStateKind::kPathWalk:
      number("objects", "objects", state.used);
      number("paths", "paths", state.pauses);
      number("pausedNs", "paused_ns", state.paused_ns);
      break;
    case format::ProcessStateKind::kPath:
      if (state.used == 0) {
        number("holder", "holder", static_cast<uint64_t>(std::countr_zero(state.pauses)));
        break;
      }
      number("sample", "sample", state.used);
      Field("retainedBy", "retained_by", into);
      tools::Append(into, "[");
      for (uint64_t holders = state.pauses; holders != 0; holders &= holders - 1) {
        if (holders != state.pauses) tools::Append(into, ",");
        tools::Append(into, static_cast<uint64_t>(std::countr_zero(holders)));
      }
      tools::Append(into, "]");
      break;
    default:
      break;
  }
  if (!state.cause.empty()) TextField("message", "message", ToUtf8(state.cause), into);
  if (state.class_id != format::kNone) TextField("thrownClass", "class", names->Class(state.class_id), into);
  Field("eventThread", "thread", into);
  tools::Append(into, thread);
  Field("stackTrace", "stack", into);
  tools::Append(into, stack);
  Close(into);
}

// JSON: what is not known is null, and -1 is no limit.
void StateText::AppendAccount(const format::ProcessAccount& account, Text& into) {
  if (account.empty()) return;
  bool is_first = true;
  if (style_.json) Field("", "account", into);
  for (const auto& [item, amount] : account.taken()) {
    const std::string_view name = format::kAccountItemNames[static_cast<size_t>(item)];
    if (style_.json) {
      fmt::format_to(fmt::appender(into), "{}\"{}\":", std::exchange(is_first, false) ? "{" : ",", name);
    } else {
      Field(name, "", into);
    }
    if (amount.is_known()) {
      tools::Append(into, amount.value());
    } else if (amount.has_no_limit()) {
      tools::Append(into, style_.json ? "-1" : "no limit");
    } else {
      tools::Append(into, style_.json ? "null" : "unknown");
    }
  }
  if (style_.json) tools::Append(into, "}");
}

void StateText::Append(const format::LifecycleEvent& lifecycle, Text& into) {
  Open("heaprec.ObjectLifecycle", LifecycleKindName(lifecycle.kind), lifecycle.time_ns, into);
  CountField("sample", "sample", lifecycle.sample, into);
  CountField("collections", "collections", lifecycle.collections, into);
  if (lifecycle.kind == format::LifecycleKind::kEvicted) {
    Field("threshold", "threshold_bytes", into);
    style_.json ? tools::Append(into, fmt::format("{:.17g}", lifecycle.threshold))
                : AppendBytes(into, lifecycle.threshold);
  }
  if (lifecycle.kind == format::LifecycleKind::kShrunk) SizeField("left", "left", lifecycle.left, into);
  Close(into);
}

void StateText::Append(const format::CensusRow& row, Names* names, Text& into) {
  Open("heaprec.ClassCensus", kCensusKind, row.time_ns, into);
  TextField("thread", "thread", names->Thread(row.thread), into);
  TextField("objectClass", "class", names->Class(row.class_id), into);
  CountField("walks", "walks", row.walks, into);
  NumberField("objects", "objects", row.objects.estimate(), into);
  NumberField("bytes", "bytes", row.bytes.estimate(), into);
  if (row.objects.variance > 0) {
    NumberField("objectsVariance", "objects_variance", row.objects.variance, into);
    NumberField("bytesVariance", "bytes_variance", row.bytes.variance, into);
    NumberField("objectsCovariance", "objects_covariance", row.objects.covariance, into);
    NumberField("bytesCovariance", "bytes_covariance", row.bytes.covariance, into);
  }
  Close(into);
}

void StateText::Append(const format::Row& row, uint64_t time_ns, Names* names, std::string_view path, Text& into) {
  Open("heaprec.AllocationRow", kRowKind, time_ns, into);
  TextField("objectClass", "class", names->Class(row.class_id), into);
  CountField("points", "points", row.points, into);
  CountField("seen", "seen_bytes", row.seen, into);
  NumberField("bytes", "bytes", row.bytes, into);
  NumberField("objects", "objects", row.objects, into);
  NumberField("bytesVariance", "bytes_variance", row.bytes_variance, into);
  NumberField("objectsVariance", "objects_variance", row.objects_variance, into);
  NumberField("covariance", "covariance", row.covariance, into);
  NumberField("bytesFourth", "bytes_fourth", row.bytes_fourth, into);
  NumberField("objectsFourth", "objects_fourth", row.objects_fourth, into);
  Field("path", "path", into);
  tools::Append(into, path);
  Close(into);
}

void StateText::AppendPeriodic(const format::ProcessState& state, Text& into) {
  Open("heaprec.HeapState", kHeapKind, state.time_ns, into);
  SizeField("heapUsed", "used", state.used, into);
  SizeField("heapCommitted", "committed", state.committed, into);
  SizeField("residentMemory", "rss", state.rss, into);
  Field("liveThreads", "threads", into);
  state.threads > 0 ? tools::Append(into, state.threads) : tools::Append(into, style_.json ? "null" : "N/A");
  AppendAccount(state.account, into);
  Close(into);
}

void StateText::AppendMemory(const format::ProcessState& state, Text& into) {
  Open("heaprec.NativeMemory", kMemoryKind, state.time_ns, into);
  if (state.cause.empty()) {
    SizeField("residentMemory", "rss", state.rss, into);
    SizeField("proportionalShare", "pss", state.used, into);
    SizeField("notShared", "private", state.committed, into);
  } else {
    TextField("category", "category", ToUtf8(state.cause), into);
    SizeField("reserved", "reserved", state.used, into);
    SizeField("committed", "committed", state.committed, into);
  }
  Close(into);
}

void StateText::AppendCpu(const format::ProcessState& state, Text& into) {
  const auto time = [&](std::string_view plain, std::string_view json, uint64_t ns) {
    Field(plain, json, into);
    if (ns == 0) return tools::Append(into, style_.json ? "null" : "N/A");
    style_.json ? tools::Append(into, ns)
                : tools::Append(into, fmt::format("{:.3f} s", static_cast<double>(ns) * 1e-9));
  };
  Open("heaprec.CpuTime", kCpuKind, state.time_ns, into);
  time("processCpuTime", "process_cpu_ns", state.used);
  time("collectorCpuTime", "gc_cpu_ns", state.committed);
  Close(into);
}

void StateText::AppendCollection(const format::ProcessState* begin, const format::ProcessState* end, Text& into) {
  const uint64_t paused_ns = end != nullptr ? end->paused_ns : 0;
  // A single pause began at its end minus its duration; counted ones ended before the snapshot.
  const uint64_t since_ns = begin != nullptr ? begin->time_ns : end->time_ns - std::min(end->time_ns, paused_ns);
  Open("heaprec.GarbageCollection", kCollectionKind, since_ns, into);
  if (end == nullptr) {
    Field("pause", "unfinished", into);
    tools::Append(into, style_.json ? "true" : "unfinished");
  } else {
    Field("pause", "pause_ns", into);
    style_.json ? tools::Append(into, paused_ns)
                : tools::Append(into, fmt::format("{:.3f} ms", static_cast<double>(paused_ns) * 1e-6));
    CountField("pauses", "pauses", end->pauses, into);
  }
  std::string cause = end != nullptr ? ToUtf8(end->cause) : "";
  if (cause.empty() && begin != nullptr) cause = ToUtf8(begin->cause);
  TextField("cause", "cause", cause.empty() && !style_.json ? "N/A" : cause, into);
  if (begin != nullptr) SizeField("heapBefore", "used_before", begin->used, into);
  if (end != nullptr) SizeField("heapAfter", "used_after", end->used, into);
  SizeField("heapCommitted", "committed", end != nullptr ? end->committed : begin->committed, into);
  Close(into);
}

}  // namespace heaprec::tools
