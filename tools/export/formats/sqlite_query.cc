#include "tools/export/formats/sqlite_query.h"

#include <fmt/format.h>

#include <string_view>

#include "tools/export/formats/sqlite_store.h"

namespace heaprec::tools {
namespace {

std::string_view TextOf(sqlite3_stmt* statement, int column) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement, column))};
}

// Returns the rows of an internal query, with columns joined.
std::string Listed(sqlite3* database, const char* sql) {
  std::string text;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) return text;
  while (sqlite3_step(statement) == SQLITE_ROW) text += TextOf(statement, 0);
  sqlite3_finalize(statement);
  return text;
}

std::string TableNames(sqlite3* database) {
  return Listed(database,
                "SELECT iif(type = 'view', 'views: ', '; tables: ') || group_concat(name, ', ') "
                "FROM sqlite_master WHERE type IN ('table', 'view') GROUP BY type ORDER BY type DESC");
}

// Allows queries only to read.
int Allow(void*, int action, const char*, const char* second, const char*, const char*) {
  if (action == SQLITE_FUNCTION) return std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ? SQLITE_OK : SQLITE_DENY;
}

// Returns the error, its position in the query, and the available names.
std::string Sentence(sqlite3* database, const std::string& query) {
  std::string sentence = fmt::format("sql: {}", sqlite3_errmsg(database));
  if (sqlite3_errcode(database) == SQLITE_AUTH)
    sentence = "sql: only reading queries are allowed (select, with, values)";
  const int offset = sqlite3_error_offset(database);
  if (offset >= 0 && static_cast<size_t>(offset) < query.size()) {
    sentence += fmt::format(", at character {}: {}", offset + 1, query.substr(static_cast<size_t>(offset), 40));
  }
  sqlite3_set_authorizer(database, nullptr, nullptr);
  return sentence + "; " + TableNames(database) + "; 'heaprec sql REC' lists their columns";
}

}  // namespace

SqliteQuery::SqliteQuery(sqlite3* database, const std::string& text) : database_(database), text_(text) {
  sqlite3_set_authorizer(database, Allow, nullptr);
  const char* rest = nullptr;
  if (sqlite3_prepare_v2(database, text.c_str(), -1, &statement_, &rest) != SQLITE_OK) {
    error_ = Sentence(database, text);
  } else if (statement_ == nullptr || std::string_view(rest).find_first_not_of(" \t\r\n;") != std::string_view::npos) {
    error_ = "sql: more than one query; give exactly one";
  }
}

std::vector<std::string> SqliteQuery::Columns() const {
  std::vector<std::string> names;
  for (int column = 0; column < sqlite3_column_count(statement_); ++column) {
    names.emplace_back(sqlite3_column_name(statement_, column));
  }
  return names;
}

bool SqliteQuery::Step() {
  const int result = sqlite3_step(statement_);
  if (result != SQLITE_ROW && result != SQLITE_DONE) error_ = Sentence(database_, text_);
  return result == SQLITE_ROW;
}

std::vector<render::Value> SqliteQuery::Row() const {
  std::vector<render::Value> cells;
  for (int column = 0; column < sqlite3_column_count(statement_); ++column) {
    const int type = sqlite3_column_type(statement_, column);
    if (type == SQLITE_NULL) {
      cells.emplace_back();
    } else if (type == SQLITE_INTEGER) {
      cells.emplace_back(static_cast<int64_t>(sqlite3_column_int64(statement_, column)));
    } else if (type == SQLITE_FLOAT) {
      cells.emplace_back(sqlite3_column_double(statement_, column));
    } else {
      cells.emplace_back(TextOf(statement_, column));
    }
  }
  return cells;
}

std::string SchemaText(sqlite3* database) {
  std::string text = std::string(kSqliteTables).substr(1) + "\n";
  return text + Listed(database,
                       "SELECT 'VIEW ' || name || ' (' || "
                       "(SELECT group_concat(c.name, ', ') FROM pragma_table_info(m.name) c) || ')\n  -- ' || "
                       "substr(sql, instr(sql, '-- ') + 3, instr(sql, char(10)) - instr(sql, '-- ') - 3) || char(10) "
                       "FROM sqlite_master m WHERE type = 'view' ORDER BY rowid");
}

}  // namespace heaprec::tools
