// Recordings as a SQLite database, and a user's query on it.
//
// Rows are inserted as blocks come, in one transaction. Memory: SQLite's cache, and the names (Catalogue).
//
// Failure:  after the first error nothing more is written; Finish returns it.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <vector>

#include "tools/export/catalogue.h"
#include "tools/export/exporter.h"
#include "tools/export/live_samples.h"
#include "tools/render/value.h"

namespace heaprec::tools {

extern const char kSqliteTables[];
extern const char kSqliteViews[];
// Useful if the database is queried several times.
extern const char kSqliteIndices[];

class SqliteStore final : public Exporter {
 public:
  // `path`: a new or empty file. Empty: a private database, in memory while it is small.
  SqliteStore(const std::string& path, bool with_indices, Catalogue::Hides hides);
  ~SqliteStore() override;
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;

  void Begin(const Recording& recording) override;
  void Add(const FilteredBlock& block) override;
  void End(const Recording& recording, AskedRange) override;
  Status Finish() override;

  // Valid after Finish.
  sqlite3* database() { return database_; }

 private:
  struct Inserts;
  void Try(int result);
  void Run(const char* sql) { Try(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr)); }
  void AddNames();
  void AddEvents(const FilteredBlock& block);
  void AddRows(const FilteredBlock& block);
  void AddTimeSeries(const format::Block& block);
  void AddMemory(const format::ProcessState& state);
  void AddLifetimes(uint64_t end_ns);
  void AddCounters(const Recording& recording);

  const bool with_indices_;
  sqlite3* database_ = nullptr;
  std::string error_;  // numbers of inserted entries of the catalogue
  std::unique_ptr<Inserts> inserts_;
  Catalogue catalogue_;
  size_t classes_ = 0, methods_ = 0, frames_ = 0, stacks_ = 0, threads_ = 0;  // number of the current recording, from 1
  // objects are garbage-collected; otherwise they live until they are freed
  uint32_t recording_ = 0;
  uint64_t interval_ns_[format::kStreams] = {};
  uint64_t last_block_ns_ = 0;
  struct {
    double heap = 1, exceptions = 1;
  } calibration_;
  struct TrackedSample {
    uint64_t id = 0;
    Catalogue::Id thread = 0, class_id = 0, stack = 0;
    bool is_collected = true;  // else it lives until it is freed
  };
  TrackedSamples<TrackedSample> tracked_;
};

// Runs a user's query, read-only, on a database.
//
//   SqliteQuery query(store.database(), "select class, size from samples");
//   while (query.Step()) query.Row() ...
//   if (!query.error().empty()) ...
//
// Failure:  error() is a message: what is wrong, where in the query, and which tables exist.

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
