// A query of the user's on a database, which it can only read.
//
//   SqliteQuery query(store.database(), "select class, size from samples");
//   while (query.Step()) use(query.Row());
//   if (!query.error().empty()) ...
//
// Failure:  error() is a sentence: what is wrong, where in the query, and which tables there are.
#pragma once

#include <sqlite3.h>

#include <string>
#include <vector>

#include "tools/render/value.h"

namespace heaprec::tools {

class SqliteQuery {
 public:
  // Both must outlive it.
  SqliteQuery(sqlite3* database, const std::string& text);
  ~SqliteQuery() { sqlite3_finalize(statement_); }
  SqliteQuery(const SqliteQuery&) = delete;
  SqliteQuery& operator=(const SqliteQuery&) = delete;

  const std::string& error() const { return error_; }
  std::vector<std::string> Columns() const;
  // False: there is no further row, or an error.
  bool Step();
  std::vector<render::Value> Row() const;

 private:
  sqlite3* const database_;
  const std::string& text_;
  sqlite3_stmt* statement_ = nullptr;
  std::string error_;
};

// The tables as they are created, then each view with its columns and the remark behind its name.
std::string SchemaText(sqlite3* database);

}  // namespace heaprec::tools
