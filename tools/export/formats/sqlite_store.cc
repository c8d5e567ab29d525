#include "tools/export/formats/sqlite_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "format/model/names.h"
#include "tools/analysis/estimate/row_calibration.h"
#include "tools/input/confined_open.h"
#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"
#include "tools/text/output.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using format::Stream;
using Id = Catalogue::Id;

// A prepared statement that is executed repeatedly with different values. Its functions return SQLite's codes.
class SqliteStatement {
 public:
  SqliteStatement(sqlite3* database, const char* sql) {
    error_ = sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement_, nullptr);
  }
  ~SqliteStatement() { sqlite3_finalize(statement_); }
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  // Binds one value per ?, in order. Returns SQLITE_OK or an error code.
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
  // SQLite's integers are signed; our values do not exceed their range.
  void Bind(int at, uint64_t value) { sqlite3_bind_int64(statement_, at, static_cast<int64_t>(value)); }
  void Bind(int at, uint32_t value) { sqlite3_bind_int64(statement_, at, value); }
  void Bind(int at, int32_t value) { sqlite3_bind_int64(statement_, at, value); }
  void Bind(int at, bool value) { sqlite3_bind_int64(statement_, at, value ? 1 : 0); }
  void Bind(int at, double value) { sqlite3_bind_double(statement_, at, value); }
  // The text outlives the step.
  void Bind(int at, std::string_view text) {
    sqlite3_bind_text(statement_, at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }

  sqlite3_stmt* statement_ = nullptr;
  int error_ = SQLITE_OK;
};

std::string_view StateName(format::ProcessStateKind kind) {
  static constexpr std::string_view kNames[format::kProcessStateKinds] = {"periodic",   "gc_begin", "gc_end",
                                                                          "gc_counted", "memory",   "cpu"};
  return static_cast<size_t>(kind) < format::kProcessStateKinds ? kNames[static_cast<size_t>(kind)] : "?";
}

std::string_view EndName(LifetimeEnd end) {
  static constexpr std::string_view kNames[] = {"live", "died", "evicted", "unknown"};
  return kNames[static_cast<size_t>(end)];
}

std::optional<uint32_t> Known(Id id) { return id == Catalogue::kNone ? std::nullopt : std::optional(id); }
std::optional<int32_t> KnownLine(int32_t line) { return line == -1 ? std::nullopt : std::optional(line); }

std::string EndReason(const Recording& recording) {
  if (recording.ending()) return ToUtf8(recording.ending()->reason);
  return recording.running() ? "still running" : "cut off";
}

// Creates the database in a temporary file under $TMPDIR, whose name is removed before it is written.
class SqliteExporter final : public Exporter {
 public:
  SqliteExporter(const ExportSettings& settings, Output* output) : output_(*output) {
    std::string name = TemporaryPattern();
    file_ = Descriptor(mkostemp(name.data(), O_CLOEXEC));
    if (!file_.is_open()) {
      error_ = name + ": " + std::strerror(errno);
      return;
    }
    store_.emplace(name, true, settings.hides);
    unlink(name.c_str());  // the file stays usable while it is open; a kill leaves nothing in the folder
  }

  void Begin(const Recording& recording) override {
    if (store_) store_->Begin(recording);
  }
  void Add(const FilteredBlock& block) override {
    if (store_) store_->Add(block);
  }
  void End(const Recording& recording, AskedRange asked) override {
    if (store_) store_->End(recording, asked);
  }
  Status Finish() override {
    if (!store_) return Error{error_};
    RETURN_IF_ERROR(store_->Finish());
    store_.reset();
    return Copy();
  }

 private:
  Status Copy() {
    std::array<char, 1 << 16> piece;
    off_t at = 0;
    while (!output_.failed()) {
      const ssize_t size = pread(file_.number(), piece.data(), piece.size(), at);
      if (size < 0) return Error{std::string("the database: ") + std::strerror(errno)};
      if (size == 0) break;
      output_.Append({piece.data(), static_cast<size_t>(size)});
      output_.Tick();
      at += size;
    }
    return {};
  }

  Output& output_;
  Descriptor file_;
  std::string error_;  // why the file could not be created
  std::optional<SqliteStore> store_;
};

}  // namespace

struct SqliteStore::Inserts {
  explicit Inserts(sqlite3* to)
      : recording(to, "INSERT INTO recordings VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
        one_class(to, "INSERT INTO classes VALUES (?,?)"),
        method(to, "INSERT INTO methods VALUES (?,?,?,?)"),
        frame(to, "INSERT INTO frames VALUES (?,?,?,?)"),
        stack(to, "INSERT INTO stacks VALUES (?,?,?)"),
        thread(to, "INSERT INTO threads VALUES (?,?,?,?,?)"),
        label(to, "INSERT INTO labels VALUES (?,?,?)"),
        event(to, "INSERT INTO events VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
        row(to, "INSERT INTO rows VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
        // A chunk repeats windows of earlier chunks that it needs.
        window(to, "INSERT OR IGNORE INTO windows VALUES (?,?,?,?,?)"),
        interval(to, "INSERT INTO intervals VALUES (?,?,?,?,?,?,?,?,?)"),
        state(to, "INSERT INTO states VALUES (?,?,?,?,?,?,?,?,?,?,?)"),
        process_memory(to, "INSERT INTO process_memory VALUES (?,?,?,?,?)"),
        jvm_memory(to, "INSERT INTO jvm_memory VALUES (?,?,?,?,?)"),
        cpu_time(to, "INSERT INTO cpu_time VALUES (?,?,?,?)"),
        life(to, "INSERT INTO lifetimes VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"),
        counters(to, "INSERT INTO stream_counters VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"),
        loss(to, "INSERT INTO losses VALUES (?,?,?,?,?)"),
        skipped(to, "INSERT INTO skipped VALUES (?,?,?,?,?,?)") {}

  SqliteStatement recording, one_class, method, frame, stack, thread, label, event, row, window, interval, state,
      process_memory, jvm_memory, cpu_time, life, counters, loss, skipped;
};

SqliteStore::SqliteStore(const std::string& path, bool with_indices, Catalogue::Hides hides)
    : with_indices_(with_indices), catalogue_(Catalogue::Detail::kAll, std::move(hides)) {
  Try(sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr));
  // Nobody reads the file before it is complete, and an incomplete file is removed: needs no journal, lock or fsync.
  Run("PRAGMA journal_mode = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA cache_size = "
      "-65536");
  Run(kSqliteTables);
  inserts_ = std::make_unique<Inserts>(database_);
  Run("BEGIN");
}

SqliteStore::~SqliteStore() {
  inserts_.reset();
  sqlite3_close(database_);
}

void SqliteStore::Try(int result) {
  if (result != SQLITE_OK && error_.empty()) error_ = fmt::format("SQLite: {}", sqlite3_errmsg(database_));
}

void SqliteStore::Begin(const Recording& recording) {
  ++recording_;
  last_block_ns_ = 0;
  calibration_ = {};
  catalogue_.StartRecording();
  tracked_.Begin(recording.header());
  for (const Stream stream : format::kAllStreams) {
    interval_ns_[static_cast<size_t>(stream)] = recording.header().CapOf(stream).interval_ns;
  }
}

void SqliteStore::Add(const FilteredBlock& block) {
  if (!error_.empty()) return;
  last_block_ns_ = std::max(last_block_ns_, block.block.end_ns);
  calibration_ = {block.calibration.factor(Stream::kAllocations), block.calibration.factor(Stream::kExceptions)};
  catalogue_.Enter(block.block, &block.names);
  AddEvents(block);
  AddRows(block);
  tracked_.Add(block, [this](const format::Sample& sample) {
    return TrackedSample{sample.id, catalogue_.ThreadOf(sample.thread), catalogue_.ClassOf(sample.class_id),
                         catalogue_.StackOf(sample.stack), TraitsOf(sample.stream()).lifecycle.is_collected};
  });
  AddNames();
  AddTimeSeries(block.block);
}

void SqliteStore::AddEvents(const FilteredBlock& block) {
  for (const format::Sample* const sample : block.samples) {
    const Calibration::Weight calibrated = block.calibration.WeightOf(*sample);
    const bool has_size = sample->size > 0 || format::CountsEvents(sample->stream());
    const auto sized = [has_size](auto value) { return has_size ? std::optional(value) : std::nullopt; };
    Try(inserts_->event.Run(recording_, sample->id, sample->time_ns, std::string_view(KindName(sample->kind)),
                            Known(catalogue_.ThreadOf(sample->thread)), Known(catalogue_.ClassOf(sample->class_id)),
                            Known(catalogue_.StackOf(sample->stack)), sized(sample->size), sample->tlab_size,
                            sample->window, sample->weight_bytes(), sized(sample->weight_objects()),
                            sized(sample->probability()), calibrated.bytes, sized(calibrated.objects)));
  }
}

void SqliteStore::AddRows(const FilteredBlock& block) {
  const TimeOfRows time =
      TimeOf(block.block, interval_ns_[static_cast<size_t>(Stream::kAllocations)]).value_or(TimeOfRows());
  for (const format::Row* const row : block.rows) {
    const Calibration::Weight calibrated = block.calibration.WeightOf(*row);
    const Id stack = catalogue_.StackOfRow(row->stack);
    Try(inserts_->row.Run(recording_, time.begin_ns, time.end_ns, Known(catalogue_.ClassOf(row->class_id)), stack,
                          catalogue_.SiteOf(stack), row->points, row->seen, row->bytes, row->objects,
                          row->bytes_variance, row->objects_variance, row->covariance, calibrated.bytes,
                          calibrated.objects));
  }
}

void SqliteStore::AddNames() {
  const auto& strings = catalogue_.strings();
  for (; classes_ < catalogue_.classes().size(); ++classes_) {
    Try(inserts_->one_class.Run(classes_, catalogue_.ClassName(static_cast<Id>(classes_))));
  }
  for (; methods_ < catalogue_.methods().size(); ++methods_) {
    const Catalogue::Method& method = catalogue_.methods()[methods_];
    Try(inserts_->method.Run(methods_, strings[method.class_name], strings[method.name], strings[method.descriptor]));
  }
  for (; frames_ < catalogue_.frames().size(); ++frames_) {
    const Catalogue::Frame& frame = catalogue_.frames()[frames_];
    Try(inserts_->frame.Run(frames_, Known(frame.method), KnownLine(frame.bci), KnownLine(frame.line)));
  }
  for (; stacks_ < catalogue_.stacks().size(); ++stacks_) {
    const Catalogue::Stack& stack = catalogue_.stacks()[stacks_];
    Try(inserts_->stack.Run(stacks_, Known(stack.parent), stack.frame));
  }
  for (; threads_ < catalogue_.threads().size(); ++threads_) {
    const Catalogue::Thread& thread = catalogue_.threads()[threads_];
    Try(inserts_->thread.Run(threads_, strings[thread.name], thread.java_tid, thread.os_tid, thread.is_virtual));
    format::ForEachLabel(strings[thread.text], [this](std::string_view key, std::string_view value) {
      Try(inserts_->label.Run(threads_, ToUtf8(key), ToUtf8(value)));
    });
  }
}

void SqliteStore::AddTimeSeries(const format::Block& block) {
  for (const format::Window& window : block.windows) {
    const std::string_view stream = TraitsOf(format::StreamOfWindow(window.id)).name;
    Try(inserts_->window.Run(recording_, stream, window.id, window.start_ns, window.lambda));
  }
  for (const format::Interval& interval : block.intervals) {
    Try(inserts_->interval.Run(recording_, std::string_view(TraitsOf(interval.stream).name), interval.index,
                               interval.index * interval_ns_[static_cast<size_t>(interval.stream)], interval.candidates,
                               interval.bytes, interval.buffered, interval.kept, interval.tau));
  }
  for (const format::ProcessState& state : block.states) {
    if (state.kind == format::ProcessStateKind::kMemory) {
      AddMemory(state);
      continue;
    }
    if (format::IsEvent(state.kind)) continue;
    if (state.kind == format::ProcessStateKind::kCpu) {
      Try(inserts_->cpu_time.Run(recording_, state.time_ns, state.used, state.committed));
      continue;
    }
    Try(inserts_->state.Run(recording_, state.id, state.time_ns, StateName(state.kind), state.used, state.committed,
                            state.pauses, state.paused_ns, state.threads, state.rss, ToUtf8(state.cause)));
  }
}

// docs/format/recording.md#states, kind 4
void SqliteStore::AddMemory(const format::ProcessState& state) {
  if (!state.cause.empty()) {
    return Try(inserts_->jvm_memory.Run(recording_, state.time_ns, ToUtf8(state.cause), state.used, state.committed));
  }
  // If PSS is unknown, private bytes are unknown, too.
  const bool knows_pss = state.used > 0;
  const auto known = [](uint64_t bytes, bool is_known) { return is_known ? std::optional(bytes) : std::nullopt; };
  Try(inserts_->process_memory.Run(recording_, state.time_ns, known(state.rss, state.rss > 0),
                                   known(state.used, knows_pss), known(state.committed, knows_pss)));
}

void SqliteStore::AddLifetimes(uint64_t end_ns) {
  tracked_.End(end_ns, [this](const Lifetimes& lives, const Lifetime& life, const TrackedSample& of) {
    const double weight = lives.WeightAt(life, life.end_ns);
    const auto known = [](auto value, bool is_known) { return is_known ? std::optional(value) : std::nullopt; };
    Try(inserts_->life.Run(
        recording_, of.id, Known(of.thread), Known(of.class_id), Known(of.stack), known(life.size, life.size > 0),
        life.birth_ns, life.end_ns, EndName(life.end),
        known(life.Survived(), of.is_collected && lives.knows_survivors()), known(weight, weight > 0),
        known(weight / static_cast<double>(std::max<uint64_t>(life.size, 1)), life.size > 0 && weight > 0),
        !lives.is_range() || life.Survived() > 0));
  });
}

void SqliteStore::AddCounters(const Recording& recording) {
  const bool is_counted = CountsLosses(recording.header());
  const auto known = [is_counted](auto count) { return is_counted ? std::optional(count) : std::nullopt; };
  for (const Stream stream : format::kAllStreams) {
    const format::StreamCounters& counters = recording.counters(stream);
    const std::string_view name = TraitsOf(stream).name;
    Try(inserts_->counters.Run(recording_, name, known(counters.candidates), known(counters.candidate_bytes),
                               known(counters.points), known(counters.thinned), known(counters.committed),
                               counters.written, known(counters.second_stage), known(counters.stacks_walked),
                               known(counters.stacks_from_jvmti), known(counters.stack_mismatches)));
    for (const Loss& loss : LossesOf(counters)) {
      Try(inserts_->loss.Run(recording_, name, std::string_view(loss.reason), known(loss.points), known(loss.weight)));
    }
  }
  for (const format::SkippedRange& range : recording.skipped()) {
    Try(inserts_->skipped.Run(recording_, range.begin, range.end, std::string_view(range.why), range.at_end,
                              range.repaired));
  }
}

void SqliteStore::End(const Recording& recording, AskedRange) {
  AddCounters(recording);
  const format::FileHeader& header = recording.header();
  const Span span = SpanOf(recording, last_block_ns_);
  AddLifetimes(span.end_ns);
  const bool is_counted = CountsLosses(header);
  const auto known = [is_counted](auto count) { return is_counted ? std::optional(count) : std::nullopt; };
  Try(inserts_->recording.Run(recording_, IdText(header), ToUtf8(recording.source().name()), header.start_epoch_ns,
                              ClockText::Iso(header.start_epoch_ns), span.begin_ns, span.end_ns, EndReason(recording),
                              header.pid, ToUtf8(header.jvm_name), ToUtf8(header.jvm_version), ToUtf8(header.gc_name),
                              ToUtf8(header.agent_version), ToUtf8(header.agent_options), ToUtf8(header.source),
                              ToUtf8(header.source_reason), known(header.rate_per_second), known(header.interval_ns),
                              known(header.interval_cap), known(recording.counters().candidate_bytes),
                              calibration_.heap, calibration_.exceptions));
}

Status SqliteStore::Finish() {
  if (error_.empty() && with_indices_) Run(kSqliteIndices);
  if (error_.empty()) Run(kSqliteViews);
  if (error_.empty()) Run("COMMIT");
  inserts_.reset();
  if (!error_.empty()) return Error{error_};
  return {};
}

std::unique_ptr<Exporter> MakeSqlite(const ExportSettings& settings, Output* output) {
  return std::make_unique<SqliteExporter>(settings, output);
}

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
