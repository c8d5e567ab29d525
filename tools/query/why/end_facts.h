// What a recording, and the files beside it, say about the end of its process.
//
//   EndFactsReader reader(recording.header());
//   reader.Add(block);                               // every block
//   EndFacts facts = reader.Finish(recording);
//   facts.crash = FindCrashReport(path, facts);
//   facts.survivor = ReadSurvivor(facts.header, "");
//
// Units:    bytes; ns since the start of the recording.
// Memory:   bounded: accounts before the last two minutes are thinned, of errors the last ones are kept.
// Failure:  none: what is missing stays empty.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "format/model/model.h"
#include "format/reader/reader.h"
#include "tools/analysis/totals/trend.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"

namespace heaprec::tools {

// An event with its names in Java's spelling. `frames`: "java.lang.Runtime.exit:115", the leaf first.
struct EndEvent {
  format::ProcessState state;
  std::string thread, class_name;
  std::vector<std::string> frames;
  bool is_in_main = false;  // of the main thread, certainly
};

// The process at one time. The account has the latest amount of each item.
struct AccountAt {
  uint64_t time_ns = 0;
  uint64_t heap_used = 0, heap_committed = 0, rss = 0, threads = 0;  // 0: unknown
  format::ProcessAccount account;
};

// Of a collection, or of several that the JVM only counts.
struct GcPause {
  uint64_t end_ns = 0, paused_ns = 0;
};

struct GcTime {
  uint64_t paused_ns = 0, of_ns = 0;
  double Share() const { return of_ns > 0 ? static_cast<double>(paused_ns) / static_cast<double>(of_ns) : 0; }
};

// A hs_err file of HotSpot.
struct CrashReport {
  std::string file;
  std::string problem;  // "SIGSEGV (0xb) at pc=0x00007f0f84115150"
  std::string frame;    // "C  [libx.so+0x1139]  crash+0x9"
  std::string thread;   // "JavaThread "main""
  double uptime_s = 0;  // of the JVM; 0: not known
};

// A counter of the process' cgroup, as it is now.
struct Survivor {
  std::string file;
  uint64_t oom_kills = 0;
};

struct ThreadSite {
  std::string site;  // the method that called Thread.start
  uint64_t started = 0, failed = 0;
};

struct EndFacts {
  format::FileHeader header;
  std::optional<std::string> end_reason;  // of the end marker; nullopt: none
  bool is_running = false;
  bool was_in_ring = false;  // the last second is in the shared ring
  bool breaks_off = false;   // what follows the last block cannot be read
  uint64_t begin_ns = 0, end_ns = 0;
  std::vector<EndEvent> errors;  // the last ones, in order of time
  std::vector<EndEvent> ends;    // exits, signals, uncaught exceptions
  uint64_t errors_seen = 0, first_error_ns = 0;
  std::vector<format::ProcessState> heap_full;  // when it was; in order of time
  std::optional<TimeToFull::Answer> full;       // what would have been full first
  std::vector<ThreadSite> thread_sites;         // the one with the most starts first
  std::vector<AccountAt> accounts;              // in order of time; all of the last two minutes, before them thinned
  std::vector<GcPause> pauses;                  // the last ones, in order of time
  GcTime gc_at_end, gc;                         // the last ten seconds, all
  std::string last_gc_cause;
  uint64_t last_gc_ns = 0;
  std::optional<CrashReport> crash;
  std::optional<Survivor> survivor;

  // The pauses that ended in [from_ns, to_ns), cut at its ends.
  GcTime GcBetween(uint64_t from_ns, uint64_t to_ns) const;
  uint64_t duration_ns() const { return end_ns > begin_ns ? end_ns - begin_ns : 0; }
  // nullptr: the recording has no account of the process.
  const AccountAt* last() const { return accounts.empty() ? nullptr : &accounts.back(); }
  // Ten minutes before the last, or a tenth of the recording if that is shorter; nullptr: there is none.
  const AccountAt* before() const;
  // ns from then to the end.
  uint64_t BeforeEnd(uint64_t time_ns) const { return end_ns - std::min(end_ns, time_ns); }
  // nullptr: the JVM does not have this setting, or none is recorded.
  const format::Setting* SettingOf(std::string_view name) const;
  std::optional<uint64_t> NumberOf(std::string_view setting) const;
};

class EndFactsReader {
 public:
  explicit EndFactsReader(const format::FileHeader& header);
  void Add(const format::Block& block);
  // After the last block.
  EndFacts Finish(const Recording& recording);

 private:
  void AddEvent(const format::ProcessState& state);
  void AddSnapshot(const format::ProcessState& state);
  EndEvent Named(const format::ProcessState& state);
  void NoteThreads(const format::Block& block);
  void NameThread(const format::Thread& thread, EndEvent* event) const;

  EndFacts facts_;
  Names names_;
  AccountAt current_;
  bool has_current_ = false;
  std::deque<AccountAt> recent_;
  uint64_t step_ns_ = 0;  // between two older accounts that are kept
  std::optional<uint64_t> gc_begun_ns_;
  std::map<std::string, ThreadSite> thread_sites_;
  std::map<uint32_t, format::Thread> java_threads_;  // the latest platform thread with each id of the kernel's
  uint32_t chunk_ = 0;
  size_t chunk_threads_ = 0;  // noted of this chunk
  TimeToFull full_;
};

// The hs_err file of the process in the folder of `recording`. Not one that an older process with the same id has
// written: in a container they all have the same.
std::optional<CrashReport> FindCrashReport(const std::string& recording, const EndFacts& facts);
// Reads such a file's text.
CrashReport ParseCrashReport(const std::string& file, const std::string& text);

// Reads the count of OOM kills of the process' cgroup. `folder`: that cgroup; empty: the recorded one, or the one of
// the recorded container, if this is the same host since the same boot. nullopt: it is not there, or not readable.
// `root`: where cgroups are mounted, for tests.
std::optional<Survivor> ReadSurvivor(const format::FileHeader& header, const std::string& folder,
                                     const std::string& root = "/sys/fs/cgroup");

}  // namespace heaprec::tools
