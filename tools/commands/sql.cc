// heaprec sql: queries recordings through SQLite.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>

#include "tools/export/exporter.h"
#include "tools/export/formats/sqlite_store.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"
#include "tools/render/print.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

struct SqlOptions {
  std::vector<std::string> words;  // recordings, followed by an optional query
  bool csv = false;
  render::OutputOptions output;
  FilterOptions filter;
};

// The query is the word of the command line that contains blanks and is not an existing file.
bool IsQuery(const std::string& word) {
  const bool has_blank = std::ranges::any_of(word, [](unsigned char c) { return std::isspace(c) != 0; });
  return has_blank && access(word.c_str(), F_OK) != 0;
}

ExitCode ShowSchema() {
  SqliteStore store("", false, {});
  if (const Status finished = store.Finish(); !finished) return Fail(ExitCode::kCannotWrite, finished.error().message);
  return WriteFile("-", false, SchemaText(store.database()));
}

ExitCode Ask(const Recordings& recordings, const Filter& filter, const std::string& query,
             const render::OutputOptions& options) {
  {
    // checks the query first, so that an error is reported before the recordings are read
    SqliteStore empty("", false, {});
    if (const Status finished = empty.Finish(); !finished)
      return Fail(ExitCode::kCannotWrite, finished.error().message);
    const SqliteQuery trial(empty.database(), query);
    if (!trial.error().empty()) return Fail(ExitCode::kUsage, trial.error());
  }
  SqliteStore store("", false, filter.hides());
  const auto passed = ExportAll(recordings, {filter, CalibratedTo::kCountsApart}, &store);
  if (const Status finished = store.Finish(); !finished) return Fail(ExitCode::kCannotWrite, finished.error().message);
  Output output(STDOUT_FILENO);
  SqliteQuery asked(store.database(), query);
  // A query that fails at run time prints nothing.
  bool has_row = asked.error().empty() && asked.Step();
  if (asked.error().empty()) {
    render::RowStream rows(asked.Columns(), options, &output);
    for (; has_row && !output.failed(); has_row = asked.Step()) rows.Add(asked.Row());
    rows.End();
  }
  output.Flush();
  if (!asked.error().empty()) return Fail(ExitCode::kUsage, asked.error());
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : Close(recordings, passed);
}

ExitCode Sql(SqlOptions options) {
  std::string query;
  if (IsQuery(options.words.back())) {
    query = options.words.back();
    options.words.pop_back();
  }
  if (options.words.empty()) return Fail(ExitCode::kUsage, "sql: no recording given; name it before the query");
  if (options.words.back().empty()) return Fail(ExitCode::kUsage, "sql: the query is empty");
  if (const auto early = std::ranges::find_if(options.words, IsQuery); early != options.words.end())
    return Fail(ExitCode::kUsage, "sql: '" + *early + "' is not a file; the query must be the last argument");
  const auto filter = Filter::Parse(options.filter);
  if (!filter.ok()) return Fail(ExitCode::kUsage, filter.error().message);
  const auto recordings = Recording::OpenAll(options.words);
  if (!recordings.ok()) return Fail(ExitCode::kUnreadable, recordings.error().message);
  return query.empty() ? ShowSchema() : Ask(*recordings, *filter, query, options.output);
}

}  // namespace

Command SqlCommand() {
  auto options = std::make_shared<SqlOptions>();
  options->filter.allocations_only = true;  // as in export
  Command command("sql", "Query recordings with SQL");
  command.AddOption("REC", options->words, "Recordings, then a query; without a query: list tables and views")
      .Required();
  options->output.AddTo(command);
  command.AddFlag("--csv", options->csv, "Short for --format csv").Excludes("--json");
  options->filter.AddChoiceTo(command);
  options->filter.AddStackChoiceTo(command);
  command.footer = R"(Examples:
  heaprec sql app.hrec
  heaprec sql app.hrec "select class, sum(weight_bytes) from samples group by 1 order by 2 desc limit 10"
  heaprec sql app.hrec "select * from by_site limit 20"
  heaprec sql --csv a.hrec b.hrec "select recording, second, weight_bytes from by_second")";
  command.run = [options](const auto&) {
    if (options->csv) options->output.format = "csv";
    return Sql(*options);
  };
  return command;
}

}  // namespace heaprec::tools
