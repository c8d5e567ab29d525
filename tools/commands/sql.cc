// heaprec sql: a query on recordings, through SQLite.
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>

#include "tools/commands/export_pipeline.h"
#include "tools/export/sqlite_store.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"
#include "tools/report/sql_report.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

struct SqlOptions {
  std::vector<std::string> words;  // recordings, then the query if there is one
  bool json = false, csv = false;
  FilterOptions filter;
};

// The query is one word of the command line, and no file: recordings have no blanks in their names, or are there.
bool IsQuery(const std::string& word) {
  const bool has_blank = std::ranges::any_of(word, [](unsigned char c) { return std::isspace(c) != 0; });
  return has_blank && access(word.c_str(), F_OK) != 0;
}

// Rows of a query of our own, its columns joined.
std::string Listed(sqlite3* database, const char* sql) {
  std::string text;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) return text;
  while (sqlite3_step(statement) == SQLITE_ROW)
    text += reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
  return text;
}

// The tables as they are created, then each view with its columns and the remark behind its name.
std::string Schema(sqlite3* database) {
  std::string text = std::string(kSqliteTables).substr(1) + "\n";
  return text + Listed(database,
                       "SELECT 'VIEW ' || name || ' (' || "
                       "(SELECT group_concat(c.name, ', ') FROM pragma_table_info(m.name) c) || ')\n  -- ' || "
                       "substr(sql, instr(sql, '-- ') + 3, instr(sql, char(10)) - instr(sql, '-- ') - 3) || char(10) "
                       "FROM sqlite_master m WHERE type = 'view' ORDER BY rowid");
}

std::string Names(sqlite3* database) {
  return Listed(database,
                "SELECT iif(type = 'view', 'views: ', '; tables: ') || group_concat(name, ', ') "
                "FROM sqlite_master WHERE type IN ('table', 'view') GROUP BY type ORDER BY type DESC");
}

// What a query may do: look.
int Allow(void*, int action, const char*, const char* second, const char*, const char*) {
  if (action == SQLITE_FUNCTION) return std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ? SQLITE_OK : SQLITE_DENY;
}

// The error, where in the query it is, and what there is.
std::string Sentence(sqlite3* database, const std::string& query) {
  std::string sentence = fmt::format("sql: {}", sqlite3_errmsg(database));
  if (sqlite3_errcode(database) == SQLITE_AUTH)
    sentence = "sql: only reading queries are allowed (select, with, values)";
  const int offset = sqlite3_error_offset(database);
  if (offset >= 0 && static_cast<size_t>(offset) < query.size()) {
    sentence += fmt::format(", at character {}: {}", offset + 1, query.substr(static_cast<size_t>(offset), 40));
  }
  sqlite3_set_authorizer(database, nullptr, nullptr);
  return sentence + "; " + Names(database) + "; 'heaprec sql REC' lists their columns";
}

class Query {
 public:
  Query(sqlite3* database, const std::string& text) : database_(database), text_(text) {
    sqlite3_set_authorizer(database, Allow, nullptr);
    const char* rest = nullptr;
    if (sqlite3_prepare_v2(database, text.c_str(), -1, &statement_, &rest) != SQLITE_OK) {
      error_ = Sentence(database, text);
    } else if (statement_ == nullptr ||
               std::string_view(rest).find_first_not_of(" \t\r\n;") != std::string_view::npos) {
      error_ = "sql: more than one query; give exactly one";
    }
  }
  ~Query() { sqlite3_finalize(statement_); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  const std::string& error() const { return error_; }
  void Write(ResultForm form, Output* output) {
    const int result = WriteResult(statement_, form, output);
    if (result != SQLITE_DONE && !output->failed()) error_ = Sentence(database_, text_);
  }

 private:
  sqlite3* const database_;
  const std::string& text_;
  sqlite3_stmt* statement_ = nullptr;
  std::string error_;
};

ExitCode ShowSchema() {
  SqliteStore store("", false, {});
  if (const auto error = store.Finish()) return Fail(ExitCode::kCannotWrite, error->message);
  Output output(STDOUT_FILENO);
  output.Append(Schema(store.database()));
  output.Flush();
  return output.Report("standard output");
}

ExitCode Ask(const Recordings& recordings, const Filter& filter, const std::string& query, ResultForm form) {
  {
    SqliteStore empty("", false, {});  // so that nobody waits for the reading to learn of a slip of the pen
    if (const auto error = empty.Finish()) return Fail(ExitCode::kCannotWrite, error->message);
    const Query trial(empty.database(), query);
    if (!trial.error().empty()) return Fail(ExitCode::kUsage, trial.error());
  }
  SqliteStore store("", false, HiddenBy(filter));
  const auto passed =
      Pass(recordings, filter, Weights::kCalibrated, &store, Progress::Beside::kNothing, [] { return false; });
  if (const auto error = store.Finish()) return Fail(ExitCode::kCannotWrite, error->message);
  Output output(STDOUT_FILENO);
  Query asked(store.database(), query);
  if (asked.error().empty()) asked.Write(form, &output);
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
  const auto filter = Filter::Parse(options.filter);
  if (!filter.ok()) return Fail(ExitCode::kUsage, filter.error().message);
  const auto recordings = OpenRecordings(options.words);
  if (!recordings.ok()) return Fail(ExitCode::kUnreadable, recordings.error().message);
  if (query.empty()) return ShowSchema();
  return Ask(*recordings, *filter, query,
             options.json  ? ResultForm::kJson
             : options.csv ? ResultForm::kCsv
                           : ResultForm::kTable);
}

}  // namespace

Command SqlCommand() {
  auto options = std::make_shared<SqlOptions>();
  options->filter.allocations_only = true;  // as export
  Command command("sql", "Query recordings with SQL");
  command.AddOption("REC", options->words, "Recordings, then a query; without a query: list tables and views")
      .Required();
  command.AddFlag("--json", options->json, "Print rows as JSON objects");
  command.AddFlag("--csv", options->csv, "Print rows as CSV").Excludes("--json");
  options->filter.AddChoiceTo(command);
  options->filter.AddStackChoiceTo(command);
  command.footer = R"(Examples:
  heaprec sql app.hrec
  heaprec sql app.hrec "select class, sum(weight_bytes) from samples group by 1 order by 2 desc limit 10"
  heaprec sql app.hrec "select * from by_site limit 20"
  heaprec sql --csv a.hrec b.hrec "select recording, second, weight_bytes from by_second")";
  command.run = [options](const auto&) { return Sql(*options); };
  return command;
}

}  // namespace heaprec::tools
