#include "tools/fleet/answers/server_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "tools/fleet/server/schema.h"

namespace heaprec::tools::fleet {
namespace {

constexpr uint32_t kHour = 3600;

// Returns "(1,2,3)"; never empty, because no recording has id 0.
std::string List(const std::vector<uint64_t>& ids) {
  return ids.empty() ? "(0)" : fmt::format("({})", fmt::join(ids, ","));
}

std::string Within(const TimeRange& range) {
  return fmt::format("toUInt32(time) >= {} AND toUInt32(time) < {}", range.from, range.to);
}

// Returns " AND class IN (...) AND site IN (...)" for the given filters.
std::string Passing(const RowFilter& filter) {
  std::string sql;
  if (filter.classes) sql += " AND class IN " + List(*filter.classes);
  if (filter.sites) sql += " AND site IN " + List(*filter.sites);
  return sql;
}

std::string KeyColumns(RowGrain by) {
  if (by == RowGrain::kWhole) return "grain";
  if (by == RowGrain::kClass) return "class";
  return by == RowGrain::kSite ? "site" : "class, site";
}

// Key columns of the query.
std::string KeysOf(const RowQuery& query) { return query.step > 0 ? "step" : KeyColumns(query.by); }

std::string SelectFrom(const std::string& table, const std::string& when, const RowQuery& query) {
  std::string sql = "SELECT recording, ";
  sql += query.step > 0 ? fmt::format("intDiv(toUInt32(time), {0}) * {0} AS step", query.step) : KeysOf(query);
  for (const std::string& column : query.columns) sql += fmt::format(", sum({0}) AS s_{0}", column);
  sql += fmt::format(" FROM {} WHERE grain = {} AND ({}) AND recording IN {}", table,
                     static_cast<int>(GrainToRead(query.by, query.filter)), when, List(query.recordings));
  return sql + Passing(query.filter) + " GROUP BY recording, " + KeysOf(query);
}

// Condition for rows of `sums`; empty: none are read.
std::string WhenOfSums(const TimeRange& range, const TimeRange& hours, const OpenHours& open) {
  if (hours.from >= hours.to) return Within(range);
  std::vector<std::string> parts;
  if (range.from < hours.from) parts.push_back(Within({range.from, hours.from}));
  if (hours.to < range.to) parts.push_back(Within({hours.to, range.to}));
  if (!open.empty()) {
    std::string pairs;
    for (const auto& [recording, hour] : open)
      pairs += fmt::format("{}({},{})", pairs.empty() ? "" : ",", recording, hour);
    parts.push_back(
        fmt::format("({} AND (recording, intDiv(toUInt32(time), {})) IN ({}))", Within(hours), kHour, pairs));
  }
  return fmt::format("{}", fmt::join(parts, " OR "));
}

// ", sum(bytes) AS s_bytes, ..."
template <typename Column, size_t kCount>
std::string SumOfColumns(const Column (&columns)[kCount]) {
  std::string sql;
  for (const Column& column : columns) sql += fmt::format(", sum({0}) AS s_{0}", column.name);
  return sql;
}

// Sets the sums of an answer's row; absent ones are 0.
template <typename Column, size_t kCount, typename Of>
void ReadSums(const Answer& answer, const char* prefix, size_t row, const Column (&columns)[kCount], Of* sums) {
  for (const Column& column : columns) sums->*column.value = answer.Real(fmt::format("{}{}", prefix, column.name), row);
}

uint32_t Number32(const Answer& answer, std::string_view name, size_t row) {
  return static_cast<uint32_t>(answer.Number(name, row));
}

RowKey KeyOf(const Answer& answer, RowGrain by, size_t row) {
  return {by, answer.Number("class", row), answer.Number("site", row)};
}

template <typename Value>
std::vector<Value> Each(const std::vector<RecordingScale>& recordings, Value RecordingScale::*value) {
  std::vector<Value> values;
  for (const RecordingScale& scale : recordings) values.push_back(scale.*value);
  return values;
}

// Returns "transform(recording, [...], [...], 0.)": a value per recording.
template <typename Value>
std::string Lookup(const std::vector<RecordingScale>& recordings, Value RecordingScale::*value) {
  constexpr bool is_real = std::is_floating_point_v<Value>;
  std::string values;
  for (const RecordingScale& scale : recordings) {
    if (!values.empty()) values += ',';
    if constexpr (is_real) {
      values += fmt::format("{:.17e}", scale.*value);
    } else {
      values += fmt::format("{}", scale.*value);
    }
  }
  return fmt::format("transform(recording, [{}], [{}], {})",
                     fmt::join(Each(recordings, &RecordingScale::recording), ","), values, is_real ? "0." : "0");
}

class ServerSource final : public Source {
 public:
  ServerSource(Server* server, Schema schema)
      : Source(schema.slice_seconds), server_(*server), schema_(std::move(schema)) {}

  Result<std::vector<RecordingInfo>> Recordings() override {
    constexpr std::pair<const char*, std::string RecordingInfo::*> kTexts[] = {
        {"service", &RecordingInfo::service},
        {"version", &RecordingInfo::version},
        {"environment", &RecordingInfo::environment},
        {"host", &RecordingInfo::host},
        {"pod", &RecordingInfo::pod},
        {"jdk", &RecordingInfo::jdk},
        {"gc", &RecordingInfo::gc},
        {"file", &RecordingInfo::file},
        {"why_not", &RecordingInfo::why_not},
        {"fills", &RecordingInfo::fills}};
    ASSIGN_OR_RETURN(
        auto answer,
        server_.Select(fmt::format(
            "SELECT recording, started, seen, ended, service, version, environment, host, pod, jdk, gc, file, rate, "
            "trustworthy, why_not, fills, full_s, full_low_s, full_high_s FROM {} ORDER BY recording, seen, ended",
            Table("recordings"))));
    std::vector<RecordingInfo> infos;
    for (size_t row = 0; row < answer.rows; ++row) {
      RecordingInfo info;
      info.id = answer.Number("recording", row);
      // The last row of a recording is used.
      if (!infos.empty() && infos.back().id == info.id) infos.pop_back();
      info.started = Number32(answer, "started", row);
      info.seen = Number32(answer, "seen", row);
      info.ended = answer.Number("ended", row) != 0;
      for (const auto& [name, text] : kTexts) info.*text = answer.Text(name, row);
      info.per_second = answer.Real("rate", row);
      info.trustworthy = answer.Number("trustworthy", row) != 0;
      info.full_s = {answer.Real("full_s", row), answer.Real("full_low_s", row), answer.Real("full_high_s", row)};
      infos.push_back(std::move(info));
    }
    return infos;
  }

  Result<std::vector<TotalsRow>> TotalsOf(const TimeRange& range, const std::vector<uint64_t>& recordings,
                                          uint32_t step) override {
    const std::string key = step > 0 ? fmt::format("intDiv(toUInt32(time), {0}) * {0} AS step", step) : "recording";
    const std::string key_name = step > 0 ? "step" : "recording";
    ASSIGN_OR_RETURN(auto answer,
                     server_.Select(fmt::format("SELECT {}, counted > 0 AS is_counted, sum(seconds) AS t_seconds, "
                                                "sum(counted) AS t_counted, sum(weighed) AS "
                                                "t_weighed, sum(lost) AS t_lost{} FROM {} WHERE toUInt32(slice) >= {} "
                                                "AND toUInt32(slice) < {} AND recording "
                                                "IN "
                                                "{} GROUP BY {}, is_counted ORDER BY {}",
                                                key, SumOfColumns(kSumColumns), Table("totals"), range.from, range.to,
                                                List(recordings), key_name, key_name)));
    std::vector<TotalsRow> rows;
    for (size_t row = 0; row < answer.rows; ++row) {
      const uint64_t recording = answer.Number("recording", row);
      const uint32_t time = Number32(answer, "step", row);
      if (rows.empty() || rows.back().recording != recording || rows.back().step != time) {
        rows.push_back({recording, time, {}, {}});
      }
      Totals& totals = answer.Number("is_counted", row) != 0 ? rows.back().counted : rows.back().uncounted;
      totals.seconds = answer.Real("t_seconds", row);
      totals.counted = answer.Real("t_counted", row);
      totals.weighed = answer.Real("t_weighed", row);
      totals.lost = answer.Real("t_lost", row);
      ReadSums(answer, "s_", row, kSumColumns, &totals.all);
    }
    return rows;
  }

  // The same as PooledSums::Add.
  Result<std::vector<PooledRow>> Pool(const PoolQuery& query) override {
    const bool is_step = query.rows_of == RowsOf::kStep, is_host = query.rows_of == RowsOf::kHost;
    std::vector<std::string> columns;
    std::string sums;
    for (const SumColumn& column : kSumColumns) {
      // There may be millions of rows of hosts.
      if (is_host && column.value != &Sums::bytes && column.value != &Sums::variance) continue;
      columns.emplace_back(column.name);
      std::string factor;
      for (int i = 0; i < column.power; ++i) factor += "f * ";
      sums += fmt::format(", sum({1}s_{0}) AS p_{0}", column.name, factor);
    }
    if (!is_host) {
      sums +=
          ", sum(f * f * s_bytes * b * s_variance) AS shared, sum(f * f * s_bytes * b * s_bytes * b * c) AS "
          "shared_all, "
          "sum(f * f * s_objects * b * s_covariance) AS shared_objects, "
          "sum(f * f * s_objects * b * s_objects * b * c) AS shared_objects_all";
    }
    ASSIGN_OR_RETURN(auto rows, Rows(query, std::move(columns)));
    const std::vector<RecordingScale>& of = query.recordings;
    ASSIGN_OR_RETURN(
        auto answer,
        server_.Select(fmt::format(
            "SELECT {0}{1} FROM (SELECT *, {2} AS host, {3} AS f, {4} AS b, {5} AS c FROM ({6}) AS rows) AS "
            "scaled GROUP BY "
            "{0}",
            is_step ? "step" : KeyColumns(query.by) + (is_host ? ", host" : ""), sums,
            is_host ? Lookup(of, &RecordingScale::host) : "0", Lookup(of, &RecordingScale::factor),
            Lookup(of, &RecordingScale::per_byte), Lookup(of, &RecordingScale::variance), rows)));
    std::vector<PooledRow> pooled;
    for (size_t row = 0; row < answer.rows; ++row) {
      PooledRow& one = pooled.emplace_back();
      if (!is_step) one.key = KeyOf(answer, query.by, row);
      one.step = Number32(answer, "step", row);
      one.host = Number32(answer, "host", row);
      ReadSums(answer, "p_", row, kSumColumns, &one.pooled.sums);
      one.pooled.shared = answer.Real("shared", row);
      one.pooled.shared_all = answer.Real("shared_all", row);
      one.pooled.shared_objects = answer.Real("shared_objects", row);
      one.pooled.shared_objects_all = answer.Real("shared_objects_all", row);
    }
    return pooled;
  }

  Result<std::vector<Moments>> Compare(const CompareQuery& query) override {
    ASSIGN_OR_RETURN(auto before, SideSql(query, query.before, true));
    ASSIGN_OR_RETURN(auto after, SideSql(query, query.after, false));
    ASSIGN_OR_RETURN(auto answer,
                     server_.Select(fmt::format(
                         "SELECT {0}, sum(rb) AS b1, sum(rb * rb) AS b2, sum(ra) AS a1, sum(ra * ra) AS a2, "
                         "sum((ra - rb) * (ra - rb)) AS d2 FROM (SELECT host, {0}, sum(b) AS rb, sum(a) AS ra FROM "
                         "({1} UNION ALL {2}) AS sides GROUP BY host, {0}) AS hosts GROUP BY {0}",
                         KeyColumns(query.by), before, after)));
    std::vector<Moments> moments;
    for (size_t row = 0; row < answer.rows; ++row) {
      moments.push_back({KeyOf(answer, query.by, row), answer.Real("b1", row), answer.Real("b2", row),
                         answer.Real("a1", row), answer.Real("a2", row), answer.Real("d2", row)});
    }
    return moments;
  }

  Result<std::vector<LiveMoment>> LiveMoments(const TimeRange& range,
                                              const std::vector<uint64_t>& recordings) override {
    ASSIGN_OR_RETURN(
        auto answer,
        server_.Select(fmt::format(
            "SELECT recording, any(process) AS of_process, max(toUInt32(time)) AS last, argMax(toUInt32(at), time) AS "
            "last_at FROM {} WHERE grain = 0 AND toUInt32(time) >= {} AND toUInt32(time) < {} AND recording IN {} "
            "GROUP BY "
            "recording",
            Table("live"), range.from, range.to, List(recordings))));
    std::vector<LiveMoment> snapshots;
    for (size_t row = 0; row < answer.rows; ++row) {
      snapshots.push_back({answer.Number("recording", row), answer.Number("of_process", row),
                           Number32(answer, "last", row), Number32(answer, "last_at", row)});
    }
    return snapshots;
  }

  Result<std::vector<PooledLive>> Live(const std::vector<LiveMoment>& snapshots, RowGrain by,
                                       const RowFilter& filter) override {
    std::map<uint32_t, std::vector<uint64_t>> recordings;  // by time
    for (const LiveMoment& one : snapshots) recordings[one.time].push_back(one.recording);
    if (recordings.empty()) return std::vector<PooledLive>();
    std::string when;
    for (const auto& [time, of_time] : recordings) {
      when +=
          fmt::format("{}(toUInt32(time) = {} AND recording IN {})", when.empty() ? "" : " OR ", time, List(of_time));
    }
    const std::string keys = KeyColumns(by);
    ASSIGN_OR_RETURN(
        auto answer,
        server_.Select(fmt::format(
            "SELECT state, {0}{1} FROM {2} WHERE grain = {3} AND toUInt32(time) >= {4} AND toUInt32(time) <= {5} "
            "AND ({6}){7} "
            "GROUP BY state, {0}",
            keys, SumOfColumns(kLiveColumns), Table("live"), static_cast<int>(GrainToRead(by, filter)),
            recordings.begin()->first, recordings.rbegin()->first, when, Passing(filter))));
    std::map<RowKey, PooledLive> pooled;
    for (size_t row = 0; row < answer.rows; ++row) {
      LiveSums sums;
      ReadSums(answer, "s_", row, kLiveColumns, &sums);
      const RowKey key = KeyOf(answer, by, row);
      PooledLive& one = pooled.try_emplace(key, PooledLive{key, {}, {}}).first->second;
      const bool is_live = answer.Number("state", row) == static_cast<uint64_t>(LiveState::kLive);
      (is_live ? one.live : one.may_be_garbage) += sums;
    }
    std::vector<PooledLive> rows;
    for (const auto& [key, one] : pooled) rows.push_back(one);
    return rows;
  }

  Result<std::vector<FleetSample>> Samples(const SampleQuery& query) override {
    std::string from = fmt::format(
        " FROM (SELECT *, weight * {} AS w FROM {} WHERE toUInt32(slice) >= {} AND toUInt32(slice) < {} AND recording "
        "IN "
        "{}{}) AS chosen",
        Lookup(query.recordings, &RecordingScale::factor), Table("samples"), query.range.from, query.range.to,
        List(Each(query.recordings, &RecordingScale::recording)), Passing(query.filter));
    ASSIGN_OR_RETURN(auto totals, server_.Select("SELECT count() AS n, sum(w) AS s" + from));
    const bool is_thinned = totals.Number("n", 0) > query.most;
    const double tau = is_thinned ? totals.Real("s", 0) / static_cast<double>(query.most) : 0;
    if (is_thinned) {
      // As ThinnedWeight; rounding does not matter, because it is checked again below.
      from += fmt::format(
          " WHERE bitShiftRight(intHash64(bitXor(intHash64(recording), id)), 32) / 4294967296. * {:.17e} < w * "
          "1.000001",
          tau);
    }
    ASSIGN_OR_RETURN(auto answer, server_.Select("SELECT recording, time_ns, id, class, site, stack, size, w" + from));
    std::vector<FleetSample> samples;
    for (size_t row = 0; row < answer.rows; ++row) {
      FleetSample one;
      one.recording = answer.Number("recording", row);
      one.sample.id = answer.Number("id", row);
      one.sample.weight = ThinnedWeight(one.recording, one.sample.id, answer.Real("w", row), tau);
      if (!(one.sample.weight > 0)) continue;
      one.sample.time_ns = answer.Number("time_ns", row);
      one.sample.class_id = answer.Number("class", row);
      one.sample.site = answer.Number("site", row);
      one.sample.stack = answer.Number("stack", row);
      one.sample.size = answer.Number("size", row);
      samples.push_back(one);
    }
    return samples;
  }

  Result<Stacks> StacksOf(const std::vector<uint64_t>& ids) override {
    constexpr size_t kAtOnce = 50'000;
    Stacks stacks;
    for (size_t at = 0; at < ids.size(); at += kAtOnce) {
      const auto from = ids.begin() + static_cast<std::ptrdiff_t>(at);
      const std::vector<uint64_t> some(from, from + static_cast<std::ptrdiff_t>(std::min(kAtOnce, ids.size() - at)));
      ASSIGN_OR_RETURN(auto answer, server_.Select(fmt::format(
                                        "SELECT stack, any(methods) AS path FROM {} WHERE stack IN {} GROUP BY stack",
                                        Table("stacks"), List(some))));
      const AnswerColumn* paths = answer.Column("path");
      if (paths == nullptr) continue;
      for (size_t row = 0; row < std::min<size_t>(answer.rows, paths->arrays.size()); ++row) {
        stacks.emplace(answer.Number("stack", row), paths->arrays[row]);
      }
    }
    return stacks;
  }

  Result<Names> NamesOf(NameKind kind, const std::optional<std::vector<uint64_t>>& ids) override {
    Names names;
    if (ids && ids->empty()) return names;
    ASSIGN_OR_RETURN(auto answer, server_.Select(fmt::format(
                                      "SELECT id, any(name) AS text FROM {} WHERE kind = {}{} GROUP BY id",
                                      Table("names"), static_cast<int>(kind), ids ? " AND id IN " + List(*ids) : "")));
    for (size_t row = 0; row < answer.rows; ++row) names.emplace(answer.Number("id", row), answer.Text("text", row));
    return names;
  }

 private:
  std::string Table(const std::string& name) const { return server_.database() + "." + schema_.Table(name); }
  Result<OpenHours> FindOpenHours(const TimeRange& range) {
    if (open_range_ == range) return open_hours_;
    ASSIGN_OR_RETURN(auto answer,
                     server_.Select(fmt::format(
                         "SELECT recording, intDiv(toUInt32(time), {}) AS hour FROM {} WHERE toUInt32(time) >= {} AND "
                         "toUInt32(time) < {} GROUP BY recording, hour HAVING countIf(kind = 2) = 0",
                         kHour, Table("shipped"), range.from, range.to)));
    open_hours_.clear();
    for (size_t row = 0; row < answer.rows; ++row) {
      open_hours_.emplace_back(answer.Number("recording", row), Number32(answer, "hour", row));
    }
    open_range_ = range;
    return open_hours_;
  }

  // Returns the SQL for the rows of each recording, from RowsSql.
  Result<std::string> Rows(const PoolQuery& query, std::vector<std::string> columns) {
    const RowQuery rows{.sums = Table("sums"),
                        .hours = Table("hours"),
                        .range = query.range,
                        .recordings = Each(query.recordings, &RecordingScale::recording),
                        .by = query.by,
                        .filter = query.filter,
                        .step = query.rows_of == RowsOf::kStep ? query.step : 0,
                        .columns = std::move(columns)};
    const TimeRange hours = WholeHours(query.range);
    if (hours.from >= hours.to) return RowsSql(rows, {});
    ASSIGN_OR_RETURN(auto open, FindOpenHours(hours));
    return RowsSql(rows, open);
  }

  Result<std::string> SideSql(const CompareQuery& query, const Side& side, bool is_before) {
    ASSIGN_OR_RETURN(
        auto rows,
        Rows({.range = side.range, .recordings = side.recordings, .by = query.by, .filter = query.filter}, {"bytes"}));
    const std::string rate = fmt::format("s_bytes * {}", Lookup(side.recordings, &RecordingScale::factor));
    return fmt::format("SELECT {} AS host, {}, {} AS b, {} AS a FROM ({}) AS rows",
                       Lookup(side.recordings, &RecordingScale::host), KeyColumns(query.by), is_before ? rate : "0.",
                       is_before ? "0." : rate, rows);
  }

  Server& server_;
  const Schema schema_;
  // The cached open hours, and their range.
  TimeRange open_range_{1, 0};
  OpenHours open_hours_;
};

}  // namespace

TimeRange WholeHours(const TimeRange& range) {
  const uint64_t from = (uint64_t{range.from} + kHour - 1) / kHour * kHour;
  const uint64_t to = range.to / kHour * kHour;
  if (from >= to) return {range.from, range.from};
  return {static_cast<uint32_t>(from), static_cast<uint32_t>(to)};
}

std::string RowsSql(const RowQuery& query, const OpenHours& open) {
  // Steps within an hour are only in slices.
  const bool asks_hours = query.step == 0 || query.step % kHour == 0;
  const TimeRange hours = asks_hours ? WholeHours(query.range) : TimeRange{0, 0};
  const std::string when = WhenOfSums(query.range, hours, open);
  std::vector<std::string> parts;
  if (hours.from < hours.to) parts.push_back(SelectFrom(query.hours, Within(hours), query));
  if (!when.empty()) parts.push_back(SelectFrom(query.sums, when, query));
  if (parts.size() == 1) return parts.front();
  // Both tables may have rows of a recording. An aggregate with the same name as its argument would be nested in
  // itself.
  std::string sums;
  for (const std::string& column : query.columns) sums += fmt::format(", sum(s_{0}) AS both_{0}", column);
  std::string renamed;
  for (const std::string& column : query.columns) renamed += fmt::format(", both_{0} AS s_{0}", column);
  const std::string keys = KeysOf(query);
  return fmt::format(
      "SELECT recording, {0}{1} FROM (SELECT recording, {0}{2} FROM ({3}) AS parts GROUP BY recording, {0}) AS sums",
      keys, renamed, sums, fmt::join(parts, " UNION ALL "));
}

Result<std::unique_ptr<Source>> OpenServer(Server* server) {
  ASSIGN_OR_RETURN(auto schema, ReadSchema(server));
  return std::unique_ptr<Source>(std::make_unique<ServerSource>(server, std::move(schema)));
}

}  // namespace heaprec::tools::fleet
