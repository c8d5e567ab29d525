// The rows of a query as an aligned table, CSV or JSON.
//
// Memory:   a table keeps its first rows to find out how wide its columns are; the others none.
#pragma once

#include <sqlite3.h>

#include "tools/text/output.h"

namespace heaprec::tools {

enum class ResultForm { kTable, kCsv, kJson };

// Steps the statement to its end; SQLITE_DONE, or what went wrong.
int WriteResult(sqlite3_stmt* statement, ResultForm form, Output* output);

}  // namespace heaprec::tools
