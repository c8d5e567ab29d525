#include "tools/import/jfr/jfr_scan.h"

#include <algorithm>

#include "tools/import/jfr/file.h"
#include "tools/import/jfr/heap_events.h"

namespace heaprec::tools::jfr {
namespace {

constexpr size_t kMaxDoubts = 20, kMaxDoubtBytes = 500;  // they become part of a file header

// Calls `visit(field, cursor)` for the fields of the event.
template <typename Visit>
void ForEachFieldOf(Event event, const Visit& visit) {
  ForEachField(*event.type, &event.fields, visit);
}

void ReadJvm(const Event& event, const Constants& constants, JfrScan* scan) {
  ForEachFieldOf(event, [&](const Field& field, Cursor at) {
    if (field.name == "jvmName") scan->jvm_name = constants.TextOf(field, at);
    if (field.name == "jvmVersion") scan->jvm_version = constants.TextOf(field, at);
    if (field.name == "pid") scan->pid = static_cast<uint64_t>(ReadInteger(*field.type, &at));
  });
}

void CountOldObject(const Event& event, const Constants& constants, JfrScan* scan) {
  const auto object = ReadOldObject(event, constants);
  if (!object) return;
  OldObjects& last = scan->old_objects;
  const bool is_later = last.chunk != scan->chunks || object->seen_ticks > last.seen_ticks;
  if (is_later) last = {0, scan->chunks, object->seen_ticks};
  if (object->seen_ticks == last.seen_ticks) ++last.count;
}

void Look(const Event& event, const Constants& constants, JfrScan* scan) {
  const std::string_view name = event.type->name;
  if (const auto set = EventSetOf(name)) {
    ++scan->events[*set];
  } else if (IsOldObject(name)) {
    CountOldObject(event, constants, scan);
  } else if (name == "jdk.JVMInformation") {
    ReadJvm(event, constants, scan);
  } else if (name == "jdk.DataLoss") {
    ForEachFieldOf(event, [&](const Field& field, Cursor at) {
      if (field.name == "amount") scan->lost_bytes += static_cast<uint64_t>(ReadInteger(*field.type, &at));
    });
  } else if (name == "heaprec.Recording") {
    ForEachFieldOf(event, [&](const Field& field, const Cursor& at) {
      if (field.name == "source") scan->heaprec_source = constants.TextOf(field, at);
    });
  } else if (name == "heaprec.Doubt") {
    ForEachFieldOf(event, [&](const Field& field, const Cursor& at) {
      if (field.name == "reason" && scan->doubts.size() < kMaxDoubts) {
        scan->doubts.push_back(constants.TextOf(field, at).substr(0, kMaxDoubtBytes));
      }
    });
  }
}

}  // namespace

JfrScan ScanOf(format::ByteSource* source) {
  JfrScan scan;
  File file(source);
  while (file.NextChunk()) {
    if (scan.chunks++ == 0) scan.start_ns = file.header().start_ns;
    // The JDK's metadata has no events of this name.
    if (file.metadata().Named("profiler.Log") != nullptr) scan.producer = "async-profiler";
    while (const auto event = file.NextEvent()) Look(*event, file.constants(), &scan);
  }
  scan.damage = file.damage();
  return scan;
}

uint64_t JfrScan::Count(EventSet set) const {
  const auto found = events.find(set);
  return found == events.end() ? 0 : found->second;
}

EventSet JfrScan::Choose(std::string_view asked) const {
  if (asked != "tlab" && Count(EventSet::kOwnSamples) > 0) return EventSet::kOwnSamples;
  const bool takes_tlabs = asked == "tlab" || (asked == "auto" && Count(EventSet::kSamples) == 0);
  return takes_tlabs ? EventSet::kTlabs : EventSet::kSamples;
}

}  // namespace heaprec::tools::jfr
