// heaprec native: native memory by call site: exactly, of a program with libheaprec-native.so, or sampled, of a
// recording.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <memory>
#include <optional>

#include "tools/analysis/native_table_rows.h"
#include "tools/commands/native_categories.h"
#include "tools/commands/native_samples.h"
#include "tools/input/native_table_file.h"
#include "tools/options/command.h"
#include "tools/report/native_table_report.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

struct NativeOptions {
  std::string file;
  std::string by = "site", sort = "live";
  std::optional<size_t> limit;
  size_t callers = 0;
  std::optional<double> leaks_s;
  std::string before;  // an older table
  bool categories = false;
  bool json = false;
};

ExitCode Fail(ExitCode code, const std::string& sentence) {
  Complain(sentence);
  return code;
}

// Rows of a text, unless told.
constexpr size_t kRows = 20;
size_t LimitOf(const NativeOptions& options) { return options.limit.value_or(options.json ? 0 : kRows); }

bool IsByLive(const NativeOptions& options) { return options.sort == "live"; }

TableBy TableByOf(const std::string& by) {
  if (by == "site") return TableBy::kSite;
  return by == "function" ? TableBy::kFunction : TableBy::kLibrary;
}

ExitCode Print(const std::string& report) {
  Output output(STDOUT_FILENO);
  output.Append(report);
  output.Flush();
  return output.Report("standard output");
}

ExitCode NativeOfTable(const NativeOptions& options) {
  const auto table = ReadNativeTable(options.file);
  if (!table.ok()) return Fail(ExitCode::kUnreadable, table.error().message);
  if (options.leaks_s) {
    return Fail(ExitCode::kUsage,
                options.file + ": --leaks: a table of sums does not tell ages; a recording with native=on does");
  }
  const TableBy by = TableByOf(options.by);
  std::vector<TableRow> rows = TableRowsOf(*table, by, IsByLive(options));
  if (!options.before.empty()) {
    const auto older = ReadNativeTable(options.before);
    if (!older.ok()) return Fail(ExitCode::kUnreadable, older.error().message);
    CompareRows(TableRowsOf(*older, by, IsByLive(options)), &rows);
  }
  const TableReport report{.table = *table,
                           .rows = rows,
                           .by = options.by.c_str(),
                           .compared = !options.before.empty(),
                           .limit = LimitOf(options),
                           .callers = options.callers};
  return Print(options.json ? TableJson(report) : TableText(report));
}

ExitCode NativeOfRecording(const NativeOptions& options) {
  if (!options.before.empty()) {
    return Fail(ExitCode::kUsage, options.file + ": --before compares tables; heaprec diff --kind native compares " +
                                      "recordings, heaprec native --leaks tells what stays");
  }
  return ShowNativeRecording({.file = options.file,
                              .by = options.by == "library" ? By::kLibrary : By::kSite,
                              .by_live = IsByLive(options),
                              .limit = LimitOf(options),
                              .callers = options.callers,
                              .least_age_ns = static_cast<uint64_t>(options.leaks_s.value_or(0) * 1e9),
                              .json = options.json});
}

ExitCode Native(const NativeOptions& options) {
  if (options.categories) return ShowMemory({.file = options.file, .limit = LimitOf(options), .json = options.json});
  return IsRecording(options.file) ? NativeOfRecording(options) : NativeOfTable(options);
}

}  // namespace

Command NativeCommand() {
  auto options = std::make_shared<NativeOptions>();
  Command command("native",
                  "Native memory by call site: sampled, of a recording with native=on; "
                  "exactly, of a program with libheaprec-native.so");
  command
      .AddOption(
          "FILE", options->file,
          "A recording; heaprec-native-PID.bin; /dev/shm/heaprec-native-PID of a process that runs or was killed")
      .Required();
  command.AddOption("--by", options->by, "What a row is: site (default), function, library")
      .Value("KEY")
      .OneOf({"site", "function", "library"});
  command.AddOption("--sort", options->sort, "live (default) or allocated").Value("KEY").OneOf({"live", "allocated"});
  command.AddOption("--limit", options->limit, "So many rows; 0: all. Default: 20; all with --json").Value("N");
  command
      .AddOption("--callers", options->callers,
                 "Callers below a site: of the first call that was counted there (default: 0)")
      .Value("N");
  command
      .AddOption("--leaks", options->leaks_s, "Of a recording: only what was not freed for so many seconds, or longer")
      .Value("SECONDS")
      .InRange(0, INFINITY);
  command.AddOption("--before", options->before, "Of a table: what is alive more, and less, than in this older one")
      .Value("TABLE");
  command.AddFlag("--categories", options->categories,
                  "Of a recording: the JVM's own categories, RSS and PSS, over time");
  command.AddFlag("--json", options->json, "All rows as JSON");
  command.footer = R"(Examples:
  LD_PRELOAD=/path/libheaprec-native.so ./program
  LD_PRELOAD=/path/libheaprec-native.so HEAPREC_NATIVE=file=n.bin,only=java,depth=8 java -jar app.jar
  heaprec native n.bin
  heaprec native --leaks 60 --callers 5 rec.bin
  cp /dev/shm/heaprec-native-4711 before.bin; sleep 60; heaprec native --before before.bin /dev/shm/heaprec-native-4711
  heaprec native --categories rec.bin
  heaprec native --by library --sort allocated n.bin)";
  command.run = [options](const auto&) { return Native(*options); };
  return command;
}

}  // namespace heaprec::tools
