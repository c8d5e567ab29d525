// Rows that come one by one, in any form: what a query answers, which may not fit into memory.
//
//   RowStream rows({"class", "bytes"}, options, &output);
//   while (query.Step()) rows.Add(query.Row());
//   rows.End();
//
// JSON is an array of objects. Text shows all of each value, and what is unknown as nothing.
//
// Memory:   a thousand rows, by which text aligns its columns; Markdown and HTML all.
// Threads:  one.
#pragma once

#include <string>
#include <vector>

#include "tools/render/print.h"
#include "tools/render/report.h"
#include "tools/text/output.h"

namespace heaprec::tools::render {

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
