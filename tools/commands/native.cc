// heaprec native: shows native memory by call site: exact counts of a program with libheaprec-native.so, or samples of
// a recording; and the native memory categories of a recorded JVM over time.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/groups/grouping.h"
#include "tools/analysis/health/trust.h"
#include "tools/analysis/totals/process_states.h"
#include "tools/input/confined_open.h"
#include "tools/input/loss_summary.h"
#include "tools/input/native_table_file.h"
#include "tools/input/recording.h"
#include "tools/input/stream_traits.h"
#include "tools/options/command.h"
#include "tools/query/live/native_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/print.h"
#include "tools/report/estimates/reports.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

struct MemoryQuery {
  std::string file;
  render::OutputOptions output;
  // Printed after the file's name: why the requested table is not available, so that this is shown instead. Empty: this
  // was requested.
  std::string instead_of = "";
};

// Default number of snapshots in text, maximum number with estimates of sites, and of sites.
constexpr size_t kShown = 6, kMaxWithSites = 200, kMaxSites = 8;

MemoryTimeline ReadTimeline(Recording* recording) {
  MemoryTimeline timeline;
  Walk(recording, [&](const format::Block& block) { timeline.Add(block); });
  return timeline;
}

SiteTimeline SitesOf(const std::string& file, const std::vector<MemorySnapshot>& at) {
  std::vector<uint64_t> times;
  for (const MemorySnapshot& snapshot : at) times.push_back(snapshot.time_ns);
  return times.empty() ? SiteTimeline() : SitesAt(file, times, kMaxSites);
}

// `is_alone`: the file contains no other recording; with several, sites cannot be assigned to one of them.
render::Group GroupOf(const Recording& recording, std::vector<MemorySnapshot> snapshots, const MemoryQuery& query,
                      bool is_alone) {
  render::Group group{"recordings[]", {}};
  group.Add(render::Hidden({{"header", HeaderValue(recording.header())}}));
  MemoryAnswer answer{std::move(snapshots), {}, {}, {}};
  // When shown instead of another table, --limit refers to that table.
  answer.shown =
      ChooseSnapshots(answer.snapshots, query.instead_of.empty() ? query.output.limit.value_or(kShown) : kShown);
  answer.with_sites = query.output.is_for_people() ? answer.shown : ChooseSnapshots(answer.snapshots, kMaxWithSites);
  if (is_alone && recording.header().max_tracked_blocks > 0) answer.sites = SitesOf(query.file, answer.with_sites);
  AddMemory(answer, &group);
  return group;
}

// Also returns kUnreadable if it is shown instead of another table and there are no snapshots.
ExitCode ShowMemory(const MemoryQuery& query) {
  const auto recordings = Recording::OpenAll(query.file);
  if (!recordings.ok()) return Fail(ExitCode::kUnreadable, recordings.error().message);
  std::vector<MemoryTimeline> timelines;
  for (const auto& recording : *recordings) timelines.push_back(ReadTimeline(recording.get()));
  const bool is_asked_for = query.instead_of.empty();
  if (!is_asked_for && std::ranges::none_of(timelines, &MemoryTimeline::has_snapshots)) {
    PrintError(query.file + query.instead_of + "; record with nmt=10s for NMT categories, RSS and PSS");
    return ExitCode::kUnreadable;
  }
  render::Report report("heaprec.memory/1");
  if (!is_asked_for) {
    report.Add(render::Sentence("# {}", {{"", query.instead_of.substr(2)}}));  // follows a file name: ": WHY"
    report.Add(render::Sentence("# so these are the JVM's and the kernel's numbers"));
  }
  ExitCode read = ExitCode::kOk;
  for (size_t i = 0; i < recordings->size(); ++i) {
    const Recording& recording = *(*recordings)[i];
    const bool is_alone = recordings->size() == 1;
    if (!is_alone) report.Add(render::Sentence("{}", {{"", WhichText(recording.header(), i, recordings->size())}}));
    report.Add(GroupOf(recording, timelines[i].Snapshots(), query, is_alone));
    if (ReportDamage(recording) != ExitCode::kOk) read = ExitCode::kDamaged;
  }
  return render::Print(report, query.output, read);
}

struct NativeOptions {
  std::string file;
  std::string key = "site", sort = "live";
  size_t callers = 0;
  std::optional<uint64_t> min_age_ns;  // minimum age of live blocks
  std::string baseline;                // an older table
  bool categories = false;
  render::OutputOptions output;

  By by() const { return key == "library" ? By::kLibrary : By::kSite; }  // for a recording
  bool is_by_live() const { return sort == "live"; }
  size_t limit() const { return output.Rows(20); }
  uint64_t least_age_ns() const { return min_age_ns.value_or(0); }
};

constexpr char kRecordingMagic[] = "\x89HRFILE\n";

Grouping GroupingOf(const NativeOptions& options) {
  const bool shows_stacks = options.by() == By::kSite && options.callers > 0;
  return Grouping(shows_stacks ? By::kStack : options.by());
}

// Printed after a file's name: why native memory was sampled in none of its recordings; empty: it was in one, or the
// file cannot be read.
std::string WhyNone(const std::string& path) {
  const auto recordings = Recording::OpenAll(path);
  if (!recordings.ok()) return "";
  std::string refused;
  for (const auto& recording : *recordings) {
    if (recording->header().max_tracked_blocks > 0) return "";
    refused = RefusalOfNative(recording->header());
  }
  return refused.empty() ? kNoNative : ": " + refused;
}

bool WantsSamples(const NativeOptions& options) {
  return options.by() != By::kSite || options.callers > 0 || options.least_age_ns() > 0;
}

// Mappings are a separate stream and need a separate scan.
void AddMappingsOf(const NativeOptions& options, render::Report* report) {
  FileScan scan(options.file, {"mmap"});
  MappingVisitor mappings(GroupingOf(options), {}, scan.tree());
  if (!scan.Run(&mappings) || !mappings.has_any()) return;
  AddMappings({scan.scan(), mappings, *scan.tree(), options.limit(), options.callers}, report);
}

ExitCode ShowSamples(const NativeOptions& options) {
  ScanOptions of_malloc;
  of_malloc.files = {options.file};
  of_malloc.filter.kinds = {"malloc"};
  auto scan = RecordingScan::Parse(of_malloc);
  if (!scan.ok()) return Fail(ExitCode::kUsage, scan.error().message);
  LiveQuery of_live;
  of_live.least_age_ns = options.least_age_ns();
  of_live.lifetimes = of_live.least_age_ns > 0;
  NamePool names;
  CallTree tree(&names, scan->TreeOptions());
  NativeVisitor native(GroupingOf(options), std::move(of_live), &tree);
  const ExitCode read = scan->Run(&tree, &native);
  if (read == ExitCode::kUnreadable) return read;
  if (native.live().tracked == 0)
    return Fail(ExitCode::kUnreadable, options.file + (native.refusal().empty() ? kNoNative : ": " + native.refusal()));
  render::Report report = NativeReport(
      {*scan, native, tree, options.is_by_live(), options.limit(), options.callers, options.least_age_ns()});
  // --min-age does not apply to mappings, and standard input can be read only once.
  if (options.least_age_ns() == 0 && options.file != "-") AddMappingsOf(options, &report);
  return Print(report, options.output, read);
}

// Whether the file begins like a recording; true for "-".
bool IsRecording(const std::string& path) {
  if (path == "-") return true;
  const Descriptor file = OpenRegularBelow("", path);
  char magic[sizeof kRecordingMagic - 1] = {};
  return read(file.number(), magic, sizeof magic) == ssize_t{sizeof magic} &&
         std::memcmp(magic, kRecordingMagic, sizeof magic) == 0;
}

ExitCode NativeOfTable(const NativeOptions& options) {
  const auto table = ReadNativeTable(options.file);
  if (!table.ok()) return Fail(ExitCode::kUnreadable, table.error().message);
  if (options.min_age_ns) {
    return Fail(ExitCode::kUsage,
                options.file + ": --min-age needs ages, which an exact table does not have; record with native=on");
  }
  std::vector<TableRow> rows = TableRowsOf(*table, TableByOf(options.key), options.is_by_live());
  uint64_t uncounted = table->without_shard;
  if (!options.baseline.empty()) {
    const auto older = ReadNativeTable(options.baseline);
    if (!older.ok()) return Fail(ExitCode::kUnreadable, older.error().message);
    uncounted += older->without_shard;
    CompareRows(TableRowsOf(*older, TableByOf(options.key), options.is_by_live()), &rows);
  }
  const TableAnswer answer{
      *table,          rows,     options.key, options.is_by_live(), !options.baseline.empty(), options.limit(),
      options.callers, uncounted};
  return Print(NativeTableReport(answer), options.output);
}

ExitCode NativeOfRecording(const NativeOptions& options) {
  if (!options.baseline.empty()) {
    return Fail(ExitCode::kUsage, options.file +
                                      ": --baseline compares exact tables; use heaprec diff --kind malloc for " +
                                      "recordings, heaprec native --min-age for blocks that are not freed");
  }
  // Standard input can be read only once.
  const std::string why_none = options.file == "-" ? "" : WhyNone(options.file);
  if (!why_none.empty() && WantsSamples(options)) return Fail(ExitCode::kUnreadable, options.file + why_none);
  if (!why_none.empty()) return ShowMemory({options.file, options.output, why_none});
  return ShowSamples(options);
}

ExitCode Native(const NativeOptions& options) {
  if (options.categories) return ShowMemory({.file = options.file, .output = options.output});
  return IsRecording(options.file) ? NativeOfRecording(options) : NativeOfTable(options);
}

}  // namespace

Command NativeCommand() {
  auto options = std::make_shared<NativeOptions>();
  Command command("native", "Show malloc and mmap by call site");
  command
      .AddOption("FILE", options->file,
                 "A recording made with native=on, or an exact table: heaprec-native-PID.hnt, or "
                 "/dev/shm/heaprec-native-PID of a running or killed process")
      .Required();
  command.AddOption("--by", options->key, "Group rows by site (default), function or library")
      .Value("KEY")
      .OneOf({"site", "function", "library"});
  command.AddOption("--sort", options->sort, "Sort by live (default) or allocated bytes")
      .Value("KEY")
      .OneOf({"live", "allocated"});
  options->output.AddLimitTo(command);
  command
      .AddOption(
          "--callers", options->callers,
          "Number of callers to show below a site; sites that differ only in further callers are one row (default: 0)")
      .Value("N");
  command.AddDuration("--min-age", options->min_age_ns,
                      "Recordings only: show blocks that were not freed for at least this long, such as 60s");
  command.AddOption("--baseline", options->baseline, "Tables only: show growth since this older table").Value("TABLE");
  command.AddFlag("--categories", options->categories,
                  "Recordings only: show the JVM's NMT categories, RSS and PSS over time");
  options->output.AddTo(command);
  command.footer =
      R"(A recording has samples of native memory if it was made with native=on. 'heaprec
record --native=exact' counts every block and writes a table instead. Children
that are forked without exec are neither recorded nor counted.

Examples:
  heaprec native app.hrec
  heaprec native --min-age 60s --callers 5 app.hrec
  heaprec native --categories app.hrec
  LD_PRELOAD=/path/libheaprec-native.so ./program
  heaprec native --by library --sort allocated heaprec-native-4711.hnt
  cp /dev/shm/heaprec-native-4711 old.hnt; sleep 60; heaprec native --baseline old.hnt /dev/shm/heaprec-native-4711)";
  command.run = [options](const auto&) { return Native(*options); };
  return command;
}

}  // namespace heaprec::tools
