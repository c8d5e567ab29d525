#include "tools/fleet/source/sql_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heaprec::tools::fleet {
namespace {

constexpr uint32_t kHour = 3600;

std::string Within(const TimeRange& range) {
  return fmt::format("toUInt32(time) >= {} AND toUInt32(time) < {}", range.from, range.to);
}

// Key columns: those that the question tells apart.
std::string KeysOf(const RowQuery& query) {
  if (query.step > 0) return "step";
  if (query.by == RowGrain::kClass) return "class";
  return query.by == RowGrain::kSite ? "site" : "class, site";
}

std::string SelectFrom(const std::string& table, const std::string& when, const RowQuery& query) {
  std::string sql = "SELECT recording, ";
  sql += query.step > 0 ? fmt::format("intDiv(toUInt32(time), {0}) * {0} AS step", query.step) : KeysOf(query);
  for (const std::string& column : query.columns) sql += fmt::format(", sum({0}) AS s_{0}", column);
  sql += fmt::format(" FROM {} WHERE grain = {} AND ({}) AND recording IN {}", table,
                     static_cast<int>(GrainToRead(query.by, query.filter)), when, List(query.recordings));
  if (query.filter.classes) sql += " AND class IN " + List(*query.filter.classes);
  if (query.filter.sites) sql += " AND site IN " + List(*query.filter.sites);
  return sql + " GROUP BY recording, " + KeysOf(query);
}

// When rows of `sums` are taken; empty: never.
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

}  // namespace

std::string List(const std::vector<uint64_t>& ids) {
  return ids.empty() ? "(0)" : fmt::format("({})", fmt::join(ids, ","));
}

std::string Lookup(const std::vector<uint64_t>& recordings, const std::vector<double>& values) {
  std::string texts;
  for (const double value : values) texts += fmt::format("{}{:.17e}", texts.empty() ? "" : ",", value);
  return fmt::format("transform(recording, [{}], [{}], 0.)", fmt::join(recordings, ","), texts);
}

std::string Lookup(const std::vector<uint64_t>& recordings, const std::vector<uint32_t>& values) {
  return fmt::format("transform(recording, [{}], [{}], 0)", fmt::join(recordings, ","), fmt::join(values, ","));
}

TimeRange WholeHours(const TimeRange& range) {
  const uint64_t from = (uint64_t{range.from} + kHour - 1) / kHour * kHour;
  const uint64_t to = range.to / kHour * kHour;
  if (from >= to) return {range.from, range.from};
  return {static_cast<uint32_t>(from), static_cast<uint32_t>(to)};
}

std::string RowsSql(const RowQuery& query, const OpenHours& open) {
  // Steps within an hour are told by slices only.
  const bool asks_hours = query.step == 0 || query.step % kHour == 0;
  const TimeRange hours = asks_hours ? WholeHours(query.range) : TimeRange{0, 0};
  const std::string when = WhenOfSums(query.range, hours, open);
  std::vector<std::string> parts;
  if (hours.from < hours.to) parts.push_back(SelectFrom(query.hours, Within(hours), query));
  if (!when.empty()) parts.push_back(SelectFrom(query.sums, when, query));
  if (parts.size() == 1) return parts.front();
  // Both may have rows of a recording. An aggregate that has the name of its argument would be nested in itself.
  std::string sums;
  for (const std::string& column : query.columns) sums += fmt::format(", sum(s_{0}) AS both_{0}", column);
  std::string renamed;
  for (const std::string& column : query.columns) renamed += fmt::format(", both_{0} AS s_{0}", column);
  const std::string keys = KeysOf(query);
  return fmt::format(
      "SELECT recording, {0}{1} FROM (SELECT recording, {0}{2} FROM ({3}) AS parts GROUP BY recording, {0}) AS sums",
      keys, renamed, sums, fmt::join(parts, " UNION ALL "));
}

}  // namespace heaprec::tools::fleet
