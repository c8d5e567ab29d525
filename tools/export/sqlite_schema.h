// The tables and views of `export --format sqlite` and `sql`.
//
// The text is what users see: docs/reference/sql-tables.md is made of it.
#pragma once

namespace heaprec::tools {

extern const char kSqliteTables[];
extern const char kSqliteViews[];
// Worth their time if the database is asked more than once.
extern const char kSqliteIndices[];

}  // namespace heaprec::tools
