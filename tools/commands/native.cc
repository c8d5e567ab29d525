// heaprec native: native memory by call site: exactly, of a program with libheaprec-native.so, or sampled, of a
// recording.
#include <memory>
#include <optional>

#include "tools/commands/native_categories.h"
#include "tools/commands/native_samples.h"
#include "tools/input/native_table_file.h"
#include "tools/options/command.h"
#include "tools/query/live/native_query.h"
#include "tools/render/print.h"
#include "tools/report/native/reports.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

constexpr size_t kRows = 20;

struct NativeOptions {
  std::string file;
  std::string by = "site", sort = "live";
  size_t callers = 0;
  std::optional<uint64_t> min_age_ns;
  std::string baseline;  // an older table
  bool categories = false;
  render::OutputOptions output;
};

bool IsByLive(const NativeOptions& options) { return options.sort == "live"; }

ExitCode NativeOfTable(const NativeOptions& options) {
  const auto table = ReadNativeTable(options.file);
  if (!table.ok()) return Fail(ExitCode::kUnreadable, table.error().message);
  if (options.min_age_ns) {
    return Fail(ExitCode::kUsage,
                options.file + ": --min-age needs ages, which an exact table does not have; record with native=on");
  }
  std::vector<TableRow> rows = TableRowsOf(*table, TableByOf(options.by), IsByLive(options));
  uint64_t uncounted = table->without_shard;
  if (!options.baseline.empty()) {
    const auto older = ReadNativeTable(options.baseline);
    if (!older.ok()) return Fail(ExitCode::kUnreadable, older.error().message);
    uncounted += older->without_shard;
    CompareRows(TableRowsOf(*older, TableByOf(options.by), IsByLive(options)), &rows);
  }
  const TableAnswer answer{
      *table,          rows,     options.by, IsByLive(options), !options.baseline.empty(), options.output.Rows(kRows),
      options.callers, uncounted};
  return Print(NativeTableReport(answer), options.output);
}

ExitCode NativeOfRecording(const NativeOptions& options) {
  if (!options.baseline.empty()) {
    return Fail(ExitCode::kUsage, options.file +
                                      ": --baseline compares exact tables; use heaprec diff --kind malloc for " +
                                      "recordings, heaprec native --min-age for blocks that are not freed");
  }
  const By by = options.by == "library" ? By::kLibrary : By::kSite;
  return ShowNativeRecording({options.file, by, IsByLive(options), options.output.Rows(kRows), options.callers,
                              options.min_age_ns.value_or(0), options.output});
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
  command.AddOption("--by", options->by, "Group rows by site (default), function or library")
      .Value("KEY")
      .OneOf({"site", "function", "library"});
  command.AddOption("--sort", options->sort, "Sort by live (default) or allocated bytes")
      .Value("KEY")
      .OneOf({"live", "allocated"});
  options->output.AddLimitTo(command);
  command
      .AddOption("--callers", options->callers,
                 "Number of callers to show below a site; sites that look the same are one row (default: 0)")
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
