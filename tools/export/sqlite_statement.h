// A prepared statement that is run again and again with other values.
//
// Threads:  one.
// Failure:  the result of each call is SQLite's; sqlite3_errmsg of the database says more.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace heaprec::tools {

class SqliteStatement {
 public:
  SqliteStatement(sqlite3* database, const char* sql) {
    error_ = sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  }
  ~SqliteStatement() { sqlite3_finalize(statement_); }
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  // One value for each ?, in their order. SQLITE_OK, or what went wrong.
  template <typename... Values>
  int Run(const Values&... values) {
    if (error_ != SQLITE_OK) return error_;
    int at = 0;
    (Bind(++at, values), ...);
    const int stepped = sqlite3_step(statement_);
    const int reset = sqlite3_reset(statement_);
    return stepped == SQLITE_DONE ? SQLITE_OK : reset != SQLITE_OK ? reset : stepped;
  }

 private:
  template <typename Value>
  void Bind(int at, const std::optional<Value>& value) {
    value ? Bind(at, *value) : static_cast<void>(sqlite3_bind_null(statement_, at));
  }
  // SQLite's integers are signed: what is above is none of ours.
  void Bind(int at, uint64_t value) { sqlite3_bind_int64(statement_, at, static_cast<int64_t>(value)); }
  void Bind(int at, uint32_t value) { sqlite3_bind_int64(statement_, at, value); }
  void Bind(int at, int32_t value) { sqlite3_bind_int64(statement_, at, value); }
  void Bind(int at, bool value) { sqlite3_bind_int64(statement_, at, value ? 1 : 0); }
  void Bind(int at, double value) { sqlite3_bind_double(statement_, at, value); }
  // It outlives the step.
  void Bind(int at, std::string_view text) {
    sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }

  sqlite3_stmt* statement_ = nullptr;
  int error_ = SQLITE_OK;
};

}  // namespace heaprec::tools
