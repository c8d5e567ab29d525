// Prints a report on standard output, in the form that the options select.
//
// Failure:  reports on stderr if standard output cannot be written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/options/command.h"
#include "tools/render/renderers.h"
#include "tools/render/report.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools::render {

struct OutputOptions {
  std::string format = "text";
  bool json = false, wide = false;
  std::optional<size_t> limit;  // maximum rows; 0: all

  // Adds --format, --json and --wide. `others`: formats that the command writes itself.
  void AddTo(Command& command, const std::vector<std::string>& others = {});
  // Adds --limit; `text` describes the default.
  void AddLimitTo(Command& command, std::string text = "Maximum rows; 0 = all (default: 20; --json: all)");
  Form form() const;
  // Whether rows are limited by default: people read the first ones, programs need all.
  bool is_for_people() const { return form() != Form::kJson && form() != Form::kCsv; }
  // 0: all. `usual`: the default for people.
  size_t Rows(size_t usual) const { return limit.value_or(is_for_people() ? usual : 0); }
};

// Returns `code`, or the exit code of a failed write.
ExitCode Print(const Report& report, const OutputOptions& options, ExitCode code = ExitCode::kOk);

// Writes rows one by one, in any form, for query results that may not fit into memory.
//
//   RowStream rows({"class", "bytes"}, options, &output);
//   while (query.Step()) rows.Add(query.Row());
//   rows.End();
//
// JSON is an array of objects. Text shows complete values, and unknown ones as empty.
//
// Memory:   for text a thousand rows, from which columns are aligned; for Markdown and HTML all rows.
class RowStream {
 public:
  RowStream(const std::vector<std::string>& names, const OutputOptions& options, Output* output);
  void Add(std::vector<Value> cells);
  void End();

 private:
  void AddJson(std::vector<Value> cells);
  void Flush();

  const OutputOptions& options_;
  Output& output_;
  Table table_;
  bool is_first_ = true;  // nothing was written yet
};

}  // namespace heaprec::tools::render
