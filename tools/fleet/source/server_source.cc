#include "tools/fleet/source/server_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace heaprec::tools::fleet {
namespace {

constexpr uint32_t kHour = 3600;

std::vector<std::string> AllColumns() {
  std::vector<std::string> names;
  for (const SumColumn& column : kSumColumns) names.emplace_back(column.name);
  return names;
}

// sum(bytes) AS s_bytes, ...
std::string SumOfColumns() {
  std::string sql;
  for (const SumColumn& column : kSumColumns) sql += fmt::format(", sum({0}) AS s_{0}", column.name);
  return sql;
}

// Columns of an answer with sums, found once.
class SumsOfRows {
 public:
  explicit SumsOfRows(const Answer& answer) {
    for (const SumColumn& column : kSumColumns) columns_.push_back(answer.Column(fmt::format("s_{}", column.name)));
  }
  Sums At(size_t row) const {
    Sums sums;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] != nullptr && row < columns_[i]->reals.size())
        sums.*kSumColumns[i].value = columns_[i]->reals[row];
    }
    return sums;
  }

 private:
  std::vector<const AnswerColumn*> columns_;
};

RowKey KeyOf(const Answer& answer, RowGrain by, size_t row) {
  return {by, answer.Number("class", row), answer.Number("site", row)};
}

Totals TotalsAt(const Answer& answer, const SumsOfRows& sums, const char* prefix, size_t row) {
  Totals totals;
  totals.seconds = answer.Real(fmt::format("{}seconds", prefix), row);
  totals.counted = answer.Real(fmt::format("{}counted", prefix), row);
  totals.weighed = answer.Real(fmt::format("{}weighed", prefix), row);
  totals.lost = answer.Real(fmt::format("{}lost", prefix), row);
  totals.all = sums.At(row);
  return totals;
}

constexpr char kTotals[] =
    "sum(seconds) AS s_seconds, sum(counted) AS s_counted, sum(weighed) AS s_weighed, sum(lost) AS s_lost";

std::string KeyColumns(RowGrain by) {
  if (by == RowGrain::kClass) return "class";
  return by == RowGrain::kSite ? "site" : "class, site";
}

std::vector<uint64_t> RecordingsOf(const std::vector<UnitShare>& shares) {
  std::vector<uint64_t> ids;
  for (const UnitShare& share : shares) ids.push_back(share.recording);
  return ids;
}
std::vector<uint32_t> UnitsOf(const std::vector<UnitShare>& shares) {
  std::vector<uint32_t> units;
  for (const UnitShare& share : shares) units.push_back(share.unit);
  return units;
}
std::vector<double> WeightsOf(const std::vector<UnitShare>& shares) {
  std::vector<double> weights;
  for (const UnitShare& share : shares) weights.push_back(share.weight);
  return weights;
}

}  // namespace

format::Result<std::unique_ptr<ServerSource>> ServerSource::Open(Server* server) {
  auto schema = ReadSchema(server);
  if (!schema.ok()) return schema.error();
  return std::unique_ptr<ServerSource>(new ServerSource(server, std::move(*schema)));
}

format::Result<std::vector<RecordingInfo>> ServerSource::Recordings() {
  auto answer = server_.Select(fmt::format(
      "SELECT recording, started, seen, ended, service, version, environment, host, pod, jdk, gc, file, rate, "
      "trustworthy, why_not FROM {} ORDER BY recording, seen, ended",
      Table("recordings")));
  if (!answer.ok()) return answer.error();
  std::vector<RecordingInfo> infos;
  for (size_t row = 0; row < answer->rows; ++row) {
    RecordingInfo info;
    info.id = answer->Number("recording", row);
    // The last row of a recording counts.
    if (!infos.empty() && infos.back().id == info.id) infos.pop_back();
    info.started = static_cast<uint32_t>(answer->Number("started", row));
    info.seen = static_cast<uint32_t>(answer->Number("seen", row));
    info.ended = answer->Number("ended", row) != 0;
    info.service = answer->Text("service", row);
    info.version = answer->Text("version", row);
    info.environment = answer->Text("environment", row);
    info.host = answer->Text("host", row);
    info.pod = answer->Text("pod", row);
    info.jdk = answer->Text("jdk", row);
    info.gc = answer->Text("gc", row);
    info.file = answer->Text("file", row);
    info.per_second = answer->Real("rate", row);
    info.trustworthy = answer->Number("trustworthy", row) != 0;
    info.why_not = answer->Text("why_not", row);
    infos.push_back(std::move(info));
  }
  return infos;
}

format::Result<std::map<uint64_t, Totals>> ServerSource::TotalsOf(const TimeRange& range,
                                                                  const std::vector<uint64_t>& recordings) {
  auto answer = server_.Select(fmt::format(
      "SELECT recording, {}{} FROM {} WHERE toUInt32(slice) >= {} AND toUInt32(slice) < {} AND recording IN {} "
      "GROUP BY recording",
      kTotals, SumOfColumns(), Table("totals"), range.from, range.to, List(recordings)));
  if (!answer.ok()) return answer.error();
  std::map<uint64_t, Totals> totals;
  const SumsOfRows sums(*answer);
  for (size_t row = 0; row < answer->rows; ++row) {
    totals.emplace(answer->Number("recording", row), TotalsAt(*answer, sums, "s_", row));
  }
  return totals;
}

format::Result<std::vector<StepTotals>> ServerSource::TotalsByTime(const TimeRange& range,
                                                                   const std::vector<uint64_t>& recordings,
                                                                   uint32_t step) {
  auto answer = server_.Select(fmt::format(
      "SELECT intDiv(toUInt32(time), {0}) * {0} AS step, counted > 0 AS is_counted, {1}{2} FROM {3} "
      "WHERE toUInt32(slice) >= {4} AND toUInt32(slice) < {5} AND recording IN {6} GROUP BY step, is_counted "
      "ORDER BY step",
      step, kTotals, SumOfColumns(), Table("totals"), range.from, range.to, List(recordings)));
  if (!answer.ok()) return answer.error();
  std::vector<StepTotals> steps;
  const SumsOfRows sums(*answer);
  for (size_t row = 0; row < answer->rows; ++row) {
    const auto time = static_cast<uint32_t>(answer->Number("step", row));
    if (steps.empty() || steps.back().time != time) steps.push_back({time, {}, {}});
    const Totals totals = TotalsAt(*answer, sums, "s_", row);
    (answer->Number("is_counted", row) != 0 ? steps.back().totals : steps.back().uncounted) = totals;
  }
  return steps;
}

format::Result<OpenHours> ServerSource::FindOpenHours(const TimeRange& range) {
  if (open_range_.from == range.from && open_range_.to == range.to) return open_hours_;
  auto answer = server_.Select(
      fmt::format("SELECT recording, intDiv(toUInt32(time), {}) AS hour FROM {} WHERE toUInt32(time) >= {} AND "
                  "toUInt32(time) < {} GROUP BY recording, hour HAVING countIf(kind = 2) = 0",
                  kHour, Table("shipped"), range.from, range.to));
  if (!answer.ok()) return answer.error();
  open_hours_.clear();
  for (size_t row = 0; row < answer->rows; ++row) {
    open_hours_.emplace_back(answer->Number("recording", row), static_cast<uint32_t>(answer->Number("hour", row)));
  }
  open_range_ = range;
  return open_hours_;
}

format::Result<std::string> ServerSource::Rows(RowQuery query) {
  query.sums = Table("sums");
  query.hours = Table("hours");
  const TimeRange hours = WholeHours(query.range);
  if (hours.from >= hours.to) return RowsSql(query, {});
  auto open = FindOpenHours(hours);
  if (!open.ok()) return open.error();
  return RowsSql(query, *open);
}

format::Result<std::vector<PooledRow>> ServerSource::Pool(const PoolQuery& query) {
  std::vector<uint64_t> ids;
  std::vector<double> factors, per_bytes, variances;
  for (const RecordingScale& scale : query.recordings) {
    ids.push_back(scale.recording);
    factors.push_back(scale.factor);
    per_bytes.push_back(scale.per_byte);
    variances.push_back(scale.variance);
  }
  auto rows = Rows({.sums = {},
                    .hours = {},
                    .range = query.range,
                    .recordings = ids,
                    .by = query.by,
                    .filter = query.filter,
                    .step = query.step,
                    .columns = AllColumns()});
  if (!rows.ok()) return rows.error();
  // PooledSums::Add, name for name.
  const std::string keys = query.step > 0 ? "step" : KeyColumns(query.by);
  auto answer = server_.Select(fmt::format(
      "SELECT {0}, sum(f * s_bytes) AS p_bytes, sum(f * s_objects) AS p_objects, sum(s_seen) AS p_seen, "
      "sum(s_samples) AS p_samples, sum(f * f * s_variance) AS p_variance, "
      "sum(f * f * s_variance_objects) AS p_variance_objects, sum(f * f * s_covariance) AS p_covariance, "
      "sum(f * f * f * f * s_fourth) AS p_fourth, "
      "sum(f * f * f * f * s_fourth_objects) AS p_fourth_objects, "
      "sum(f * f * s_bytes * b * s_variance) AS shared, sum(f * f * s_bytes * b * s_bytes * b * c) AS shared_all, "
      "sum(f * f * s_objects * b * s_covariance) AS shared_objects, "
      "sum(f * f * s_objects * b * s_objects * b * c) AS shared_objects_all FROM "
      "(SELECT *, {1} AS f, {2} AS b, {3} AS c FROM ({4}) AS rows) AS scaled GROUP BY {0}",
      keys, Lookup(ids, factors), Lookup(ids, per_bytes), Lookup(ids, variances), *rows));
  if (!answer.ok()) return answer.error();
  std::vector<PooledRow> pooled;
  for (size_t row = 0; row < answer->rows; ++row) {
    PooledRow one;
    one.key = query.step > 0 ? RowKey{} : KeyOf(*answer, query.by, row);
    one.time = static_cast<uint32_t>(answer->Number("step", row));
    for (const SumColumn& column : kSumColumns) {
      one.pooled.sums.*column.value = answer->Real(fmt::format("p_{}", column.name), row);
    }
    one.pooled.shared = answer->Real("shared", row);
    one.pooled.shared_all = answer->Real("shared_all", row);
    one.pooled.shared_objects = answer->Real("shared_objects", row);
    one.pooled.shared_objects_all = answer->Real("shared_objects_all", row);
    pooled.push_back(one);
  }
  return pooled;
}

format::Result<std::string> ServerSource::SideSql(const CompareQuery& query, const Side& side, bool is_before) {
  const std::vector<uint64_t> ids = RecordingsOf(side.shares);
  auto rows = Rows({.sums = {},
                    .hours = {},
                    .range = side.range,
                    .recordings = ids,
                    .by = query.by,
                    .filter = query.filter,
                    .step = 0,
                    .columns = {"bytes"}});
  if (!rows.ok()) return rows.error();
  const std::string rate = fmt::format("s_bytes * {}", Lookup(ids, WeightsOf(side.shares)));
  return fmt::format("SELECT {} AS unit, {}, {} AS b, {} AS a FROM ({}) AS rows", Lookup(ids, UnitsOf(side.shares)),
                     KeyColumns(query.by), is_before ? rate : "0.", is_before ? "0." : rate, *rows);
}

format::Result<std::vector<Moments>> ServerSource::Compare(const CompareQuery& query) {
  auto before = SideSql(query, query.before, true);
  if (!before.ok()) return before.error();
  auto after = SideSql(query, query.after, false);
  if (!after.ok()) return after.error();
  auto answer = server_.Select(
      fmt::format("SELECT {0}, sum(rb) AS b1, sum(rb * rb) AS b2, sum(ra) AS a1, sum(ra * ra) AS a2, "
                  "sum((ra - rb) * (ra - rb)) AS d2 FROM (SELECT unit, {0}, sum(b) AS rb, sum(a) AS ra FROM "
                  "({1} UNION ALL {2}) AS sides GROUP BY unit, {0}) AS units GROUP BY {0}",
                  KeyColumns(query.by), *before, *after));
  if (!answer.ok()) return answer.error();
  std::vector<Moments> moments;
  for (size_t row = 0; row < answer->rows; ++row) {
    moments.push_back({KeyOf(*answer, query.by, row), answer->Real("b1", row), answer->Real("b2", row),
                       answer->Real("a1", row), answer->Real("a2", row), answer->Real("d2", row)});
  }
  return moments;
}

format::Result<std::vector<UnitRate>> ServerSource::Rates(RowGrain by, const RowFilter& filter, const Side& side) {
  const std::vector<uint64_t> ids = RecordingsOf(side.shares);
  auto rows = Rows({.sums = {},
                    .hours = {},
                    .range = side.range,
                    .recordings = ids,
                    .by = by,
                    .filter = filter,
                    .step = 0,
                    .columns = {"bytes", "variance"}});
  if (!rows.ok()) return rows.error();
  auto answer = server_.Select(
      fmt::format("SELECT unit, {0}, sum(w * s_bytes) AS rate, sum(w * w * s_variance) AS spread FROM "
                  "(SELECT *, {1} AS unit, {2} AS w FROM ({3}) AS rows) AS weighted GROUP BY unit, {0}",
                  KeyColumns(by), Lookup(ids, UnitsOf(side.shares)), Lookup(ids, WeightsOf(side.shares)), *rows));
  if (!answer.ok()) return answer.error();
  std::vector<UnitRate> rates;
  for (size_t row = 0; row < answer->rows; ++row) {
    rates.push_back({KeyOf(*answer, by, row), static_cast<uint32_t>(answer->Number("unit", row)),
                     answer->Real("rate", row), answer->Real("spread", row)});
  }
  return rates;
}

format::Result<std::vector<LiveMoment>> ServerSource::LiveMoments(const TimeRange& range,
                                                                  const std::vector<uint64_t>& recordings) {
  auto answer = server_.Select(fmt::format(
      "SELECT recording, any(process) AS of_process, max(toUInt32(time)) AS last, argMax(toUInt32(at), time) AS "
      "last_at "
      "FROM {} WHERE grain = 0 AND toUInt32(time) >= {} AND toUInt32(time) < {} AND recording IN {} GROUP BY recording",
      Table("live"), range.from, range.to, List(recordings)));
  if (!answer.ok()) return answer.error();
  std::vector<LiveMoment> snapshots;
  for (size_t row = 0; row < answer->rows; ++row) {
    snapshots.push_back({answer->Number("recording", row), answer->Number("of_process", row),
                         static_cast<uint32_t>(answer->Number("last", row)),
                         static_cast<uint32_t>(answer->Number("last_at", row))});
  }
  return snapshots;
}

format::Result<std::vector<PooledLive>> ServerSource::Live(const std::vector<LiveMoment>& snapshots, RowGrain by,
                                                           const RowFilter& filter) {
  std::map<uint32_t, std::vector<uint64_t>> recordings;  // by time
  for (const LiveMoment& one : snapshots) recordings[one.time].push_back(one.recording);
  if (recordings.empty()) return std::vector<PooledLive>();
  std::string when;
  for (const auto& [time, of_time] : recordings) {
    when += fmt::format("{}(toUInt32(time) = {} AND recording IN {})", when.empty() ? "" : " OR ", time, List(of_time));
  }
  std::string keys = by == RowGrain::kWhole ? "grain" : KeyColumns(by);
  std::string sql = "SELECT state, " + keys;
  for (const LiveColumn& column : kLiveColumns) sql += fmt::format(", sum({0}) AS s_{0}", column.name);
  sql += fmt::format(" FROM {} WHERE grain = {} AND toUInt32(time) >= {} AND toUInt32(time) <= {} AND ({})",
                     Table("live"), static_cast<int>(GrainToRead(by, filter)), recordings.begin()->first,
                     recordings.rbegin()->first, when);
  if (filter.classes) sql += " AND class IN " + List(*filter.classes);
  if (filter.sites) sql += " AND site IN " + List(*filter.sites);
  auto answer = server_.Select(sql + " GROUP BY state, " + keys);
  if (!answer.ok()) return answer.error();
  std::map<RowKey, PooledLive> pooled;
  for (size_t row = 0; row < answer->rows; ++row) {
    LiveSums sums;
    for (const LiveColumn& column : kLiveColumns) {
      sums.*column.value = answer->Real(fmt::format("s_{}", column.name), row);
    }
    PooledLive& one = pooled[KeyOf(*answer, by, row)];
    const bool is_live = answer->Number("state", row) == static_cast<uint64_t>(LiveState::kLive);
    (is_live ? one.live : one.may_be_garbage) += sums;
  }
  std::vector<PooledLive> rows;
  for (auto& [key, one] : pooled) {
    one.key = key;
    rows.push_back(one);
  }
  return rows;
}

format::Result<std::vector<FleetSample>> ServerSource::Samples(const SampleQuery& query) {
  std::vector<uint64_t> ids;
  std::vector<double> factors;
  for (const RecordingScale& scale : query.recordings) ids.push_back(scale.recording), factors.push_back(scale.factor);
  std::string from = fmt::format(
      " FROM (SELECT *, weight * {} AS w FROM {} WHERE toUInt32(slice) >= {} AND toUInt32(slice) < {} AND recording IN "
      "{}",
      Lookup(ids, factors), Table("samples"), query.range.from, query.range.to, List(ids));
  if (query.filter.classes) from += " AND class IN " + List(*query.filter.classes);
  if (query.filter.sites) from += " AND site IN " + List(*query.filter.sites);
  from += ") AS chosen";
  auto totals = server_.Select("SELECT count() AS n, sum(w) AS s" + from);
  if (!totals.ok()) return totals.error();
  const bool is_thinned = totals->Number("n", 0) > query.most;
  const double tau = is_thinned ? totals->Real("s", 0) / static_cast<double>(query.most) : 0;
  if (is_thinned) {
    // ThinnedWeight; the last digits of its product do not matter here, it is asked again below.
    from += fmt::format(
        " WHERE bitShiftRight(intHash64(bitXor(intHash64(recording), id)), 32) / 4294967296. * {:.17e} < w * 1.000001",
        tau);
  }
  auto answer = server_.Select("SELECT recording, time_ns, id, class, site, stack, size, w" + from);
  if (!answer.ok()) return answer.error();
  std::vector<FleetSample> samples;
  for (size_t row = 0; row < answer->rows; ++row) {
    FleetSample one;
    one.recording = answer->Number("recording", row);
    one.sample.id = answer->Number("id", row);
    one.sample.weight = ThinnedWeight(one.recording, one.sample.id, answer->Real("w", row), tau);
    if (!(one.sample.weight > 0)) continue;
    one.sample.time_ns = answer->Number("time_ns", row);
    one.sample.class_id = answer->Number("class", row);
    one.sample.site = answer->Number("site", row);
    one.sample.stack = answer->Number("stack", row);
    one.sample.size = answer->Number("size", row);
    samples.push_back(one);
  }
  return samples;
}

format::Result<std::vector<FleetStack>> ServerSource::StacksOf(const std::vector<uint64_t>& ids) {
  constexpr size_t kAtOnce = 50'000;
  std::vector<FleetStack> stacks;
  for (size_t at = 0; at < ids.size(); at += kAtOnce) {
    const std::vector<uint64_t> some(ids.begin() + static_cast<std::ptrdiff_t>(at),
                                     ids.begin() + static_cast<std::ptrdiff_t>(std::min(at + kAtOnce, ids.size())));
    auto answer = server_.Select(fmt::format(
        "SELECT stack, any(methods) AS path FROM {} WHERE stack IN {} GROUP BY stack", Table("stacks"), List(some)));
    if (!answer.ok()) return answer.error();
    const AnswerColumn* paths = answer->Column("path");
    for (size_t row = 0; row < answer->rows; ++row) {
      if (paths != nullptr && row < paths->arrays.size()) {
        stacks.push_back({answer->Number("stack", row), paths->arrays[row]});
      }
    }
  }
  return stacks;
}

format::Result<std::vector<NamedId>> ServerSource::Names(NameKind kind) {
  auto answer = server_.Select(fmt::format("SELECT id, any(name) AS text FROM {} WHERE kind = {} GROUP BY id",
                                           Table("names"), static_cast<int>(kind)));
  if (!answer.ok()) return answer.error();
  std::vector<NamedId> names;
  for (size_t row = 0; row < answer->rows; ++row) {
    names.push_back({kind, answer->Number("id", row), answer->Text("text", row)});
  }
  return names;
}

format::Result<std::map<uint64_t, std::string>> ServerSource::NamesOf(NameKind kind, const std::vector<uint64_t>& ids) {
  std::map<uint64_t, std::string> names;
  if (ids.empty()) return names;
  auto answer =
      server_.Select(fmt::format("SELECT id, any(name) AS text FROM {} WHERE kind = {} AND id IN {} GROUP BY id",
                                 Table("names"), static_cast<int>(kind), List(ids)));
  if (!answer.ok()) return answer.error();
  for (size_t row = 0; row < answer->rows; ++row) names.emplace(answer->Number("id", row), answer->Text("text", row));
  return names;
}

}  // namespace heaprec::tools::fleet
