// A report on standard output, in the form that the options ask for.
//
// Failure:  says on stderr why standard output cannot be written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/options/command.h"
#include "tools/render/renderers.h"
#include "tools/render/report.h"
#include "tools/text/exit_code.h"
#include "tools/text/output.h"

namespace heaprec::tools::render {

struct OutputOptions {
  std::string format = "text";
  bool json = false, wide = false;
  std::optional<size_t> limit;  // of rows; 0: all

  // --format, --json and --wide. `others`: formats that the command writes itself.
  void AddTo(Command& command, const std::vector<std::string>& others = {});
  // --limit; `text` says what is shown without it.
  void AddLimitTo(Command& command, std::string text = "Maximum rows; 0 = all (default: 20; --json: all)");
  Form form() const;
  // Whether rows are limited unless told otherwise: people read the first ones, programs take all.
  bool is_for_people() const { return form() != Form::kJson && form() != Form::kCsv; }
  // 0: all. `usual`: what people see without --limit.
  size_t Rows(size_t usual) const { return limit.value_or(is_for_people() ? usual : 0); }
};

// Returns `code`, or why the report could not be written.
ExitCode Print(const Report& report, const OutputOptions& options, ExitCode code = ExitCode::kOk);

// Rows that come one by one, in any form: what a query answers, which may not fit into memory.
//
//   RowStream rows({"class", "bytes"}, options, &output);
//   while (query.Step()) rows.Add(query.Row());
//   rows.End();
//
// JSON is an array of objects. Text shows all of each value, and what is unknown as nothing.
//
// Memory:   a thousand rows, by which text aligns its columns; Markdown and HTML all.
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
  bool is_first_ = true;  // nothing was written
};

}  // namespace heaprec::tools::render
