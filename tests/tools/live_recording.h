// Writes a recording with a leak, short-lived objects and a cache.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {

inline constexpr uint64_t kCollection = 2 * kSecond, kEnd = 60 * kSecond;

inline format::FileHeader LiveHeader() {
  format::FileHeader header = SomeHeader();
  header.max_tracked_objects = 4096;
  return header;
}

inline format::ProcessState Collection(uint64_t number) {
  format::ProcessState state;
  state.id = number + 1;
  state.time_ns = number * kCollection;
  state.kind = number == 0 ? format::ProcessStateKind::kSnapshot : format::ProcessStateKind::kGcEnd;
  state.collections = number;
  return state;
}

// Which collections detect dead objects.
enum class DeathDetection {
  kAll,
  kMajors,     // generational Z: every 10 s
  kSerialOld,  // Serial: every 10 s in the old generation, which has the cache
  kSerialLate  // like kSerialOld, but only the last three collections
};
inline constexpr uint64_t kRare = 5;  // collections

inline Event LeakAt(uint64_t time_ns) {
  Event event{.time_ns = time_ns,
              .class_name = "[B",
              .size = 1000,
              .weight = 10'000,
              .stack = {"p/Leak.add:7", "p/Main.main:3"}};
  return event;
}

// Dies `life` after its birth, and is found by the collection after that.
struct Dying {
  Event event;
  uint64_t life;
};
inline format::LifecycleEvent LifecycleOf(uint64_t id, const Dying& one, uint64_t collection_ns) {
  const uint64_t number = (one.event.time_ns + one.life) / collection_ns + 1;
  return {id, number * collection_ns + 60 * kMs, format::LifecycleKind::kDied, number * collection_ns / kCollection - 1,
          0};
}

// What a search of the heap found: the samples, and the chain that holds each, as the stack of an Event, its holder
// first and its root last ("p/Cache.MAP@1": the root's kind is 1).
struct Chain {
  std::vector<uint64_t> samples;
  std::vector<std::string> steps;
  std::string thread{};  // of the root; empty: none
};
// `id`: of its first row.
inline void AddSearch(RecordingFile* file, uint64_t id, uint64_t time_ns, const std::vector<Chain>& chains,
                      uint64_t number = 1) {
  format::ProcessState walk;
  walk.id = id;
  walk.time_ns = time_ns;
  walk.kind = format::ProcessStateKind::kPathWalk;
  walk.used = 1000;
  walk.committed = number * format::kWalkNumber;
  for (const Chain& chain : chains) walk.pauses += chain.samples.size();
  file->Add(walk);
  format::ProcessState row = walk;
  row.kind = format::ProcessStateKind::kPath;
  row.pauses = 0;
  for (const Chain& chain : chains) {
    row.thread = chain.thread.empty() ? format::kNone : file->Thread({.thread = chain.thread});
    for (const uint64_t sample : chain.samples) {
      ++row.id;
      row.used = sample;
      file->Add(row, chain.steps);
    }
  }
}

inline const std::vector<std::string> kMapChain{"java/util/HashMap$Node.value@1", "[Ljava/util/HashMap$Node;.[]@1",
                                                "java/util/HashMap.table@1", "p/Leak.MAP@1"},
    kListChain{"p/Node.value@1", "p/Node.next@3", "p/Leak.LIST@1"};

// Writes 60 s: a leak of 50 kB/s, strings that die young, and a cache that keeps entries for 5 s. `is_searched`: three
// quarters of the leak are held by kMapChain, one by kListChain.
inline void WriteLeak(const std::string& path, bool leaks = true, DeathDetection detection = DeathDetection::kAll,
                      bool is_searched = false) {
  format::FileHeader header = LiveHeader();
  if (is_searched) header.settings.push_back({"paths", ""});
  Chain map{{}, kMapChain}, list{{}, kListChain};
  const bool is_serial = detection == DeathDetection::kSerialOld || detection == DeathDetection::kSerialLate;
  if (is_serial) header.gc_name = "Serial";
  if (detection == DeathDetection::kMajors) header.gc_name = "Z", header.Note(format::SourceFact::kKeepsYoungReferents);
  RecordingFile file(path, header);
  file.Add(format::Window{1, 0, 1e-4});
  std::vector<Dying> all;
  for (uint64_t at = 50 * kMs; at < kEnd; at += 100 * kMs) {
    Event young = At(at);
    young.stack = {"p/Churn.make:5", "p/Main.main:3"};
    all.push_back({young, 10 * kMs});
    if (at % (200 * kMs) > 100 * kMs) all.push_back({LeakAt(at + kMs), leaks ? kEnd : 300 * kMs});
    Event cached{.time_ns = at + 2 * kMs,
                 .class_name = "java/util/HashMap$Node",
                 .size = 32,
                 .weight = 3'200,
                 .thread = "cache",
                 .stack = {"p/Cache.put:9", "p/Main.main:3"}};
    all.push_back({cached, 5 * kSecond});
  }
  std::vector<format::LifecycleEvent> lifecycle_events;
  uint64_t id = 0;
  for (Dying& one : all) {
    one.event.id = ++id;
    file.Add(one.event);
    if (one.event.class_name == "[B") (map.samples.size() < 3 * list.samples.size() ? map : list).samples.push_back(id);
    const bool is_rare = detection == DeathDetection::kMajors || (is_serial && one.event.thread == "cache");
    if (const format::LifecycleEvent lifecycle = LifecycleOf(id, one, is_rare ? kRare * kCollection : kCollection);
        lifecycle.time_ns < kEnd)
      lifecycle_events.push_back(lifecycle);
  }
  std::sort(lifecycle_events.begin(), lifecycle_events.end(),
            [](const format::LifecycleEvent& a, const format::LifecycleEvent& b) { return a.time_ns < b.time_ns; });
  for (const format::LifecycleEvent& lifecycle : lifecycle_events) file.Add(lifecycle);
  for (uint64_t number = 0; number * kCollection < kEnd; ++number) {
    format::ProcessState state = Collection(number);
    const uint64_t last = kEnd / kCollection - 1;
    if (detection == DeathDetection::kSerialOld) state.old_collections = number / kRare;
    if (detection == DeathDetection::kSerialLate) state.old_collections = number + 3 > last ? number + 3 - last : 0;
    file.Add(state);
  }
  if (is_searched) AddSearch(&file, kEnd / kCollection + 1, kEnd - kMs, {map, list});
  file.End("jvm exit", kEnd);
}

inline nlohmann::json RowOf(const nlohmann::json& document, size_t table, const std::string& name) {
  return RowIn(document["tables"][table]["rows"], name);
}

}  // namespace heaprec::tools::testing
