// Runs a user's query, read-only, on a database.
//
//   SqliteQuery query(store.database(), "select class, size from samples");
//   while (query.Step()) query.Row() ...
//   if (!query.error().empty()) ...
//
// Failure:  error() is a message: what is wrong, where in the query, and which tables exist.
#pragma once

#include <sqlite3.h>

#include <string>
#include <vector>

#include "tools/render/value.h"

namespace heaprec::tools {

class SqliteQuery {
 public:
  // Both must outlive this.
  SqliteQuery(sqlite3* database, const std::string& text);
  ~SqliteQuery() { sqlite3_finalize(statement_); }
  SqliteQuery(const SqliteQuery&) = delete;
  SqliteQuery& operator=(const SqliteQuery&) = delete;

  const std::string& error() const { return error_; }
  std::vector<std::string> Columns() const;
  // Returns false if there is no further row, or on an error.
  bool Step();
  std::vector<render::Value> Row() const;

 private:
  sqlite3* const database_;
  const std::string& text_;
  sqlite3_stmt* statement_ = nullptr;
  std::string error_;
};

// Returns the CREATE statements of the tables, then each view with its columns and the comment after its name.
std::string SchemaText(sqlite3* database);

}  // namespace heaprec::tools
