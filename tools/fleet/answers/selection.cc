#include "tools/fleet/answers/selection.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <tuple>

#include "base/time.h"
#include "tools/query/filter/name_pattern.h"
#include "tools/query/filter/time_point.h"

namespace heaprec::tools::fleet {
namespace {

Result<std::vector<uint64_t>> IdsOf(Source* source, NameKind kind, const std::string& pattern) {
  ASSIGN_OR_RETURN(auto matcher, NamePattern::ForNames(pattern));
  ASSIGN_OR_RETURN(const auto names, source->NamesOf(kind, std::nullopt));
  std::vector<uint64_t> ids;
  for (const auto& [id, name] : names) {
    if (matcher.Matches(name)) ids.push_back(id);
  }
  if (ids.empty()) {
    std::set<std::string> all;
    for (const auto& [id, name] : names) all.insert(name);
    const std::string why = NoMatchText(kind == NameKind::kClass ? "class" : "method", NearestNames(pattern, all));
    return Error{fmt::format("'{}': {}", pattern, why)};
  }
  std::ranges::sort(ids);
  return ids;
}

Result<TimeRange> RangeOf(const SelectionOptions& options, uint32_t slice_seconds, uint32_t now) {
  TimeRange range;
  if (!options.from.empty()) {
    auto from = ParseFleetTime(options.from, now);
    if (!from.ok()) return Error{"--from: " + from.error().message};
    range.from = *from / slice_seconds * slice_seconds;
  }
  if (!options.to.empty()) {
    auto to = ParseFleetTime(options.to, now);
    if (!to.ok()) return Error{"--to: " + to.error().message};
    range.to = static_cast<uint32_t>((uint64_t{*to} + slice_seconds - 1) / slice_seconds * slice_seconds);
  }
  if (range.from >= range.to) return Error{"--from must be before --to"};
  return range;
}

bool IsChosen(const RecordingInfo& info, const SelectionOptions& options, const TimeRange& range) {
  return info.started < range.to && info.seen >= range.from && MatchesGlob(options.service, info.service) &&
         MatchesGlob(options.version, info.version) && MatchesGlob(options.environment, info.environment) &&
         MatchesGlob(options.host, info.host);
}

std::string NameIn(const Source::Names& names, uint64_t id) {
  const auto found = names.find(id);
  return found != names.end() ? found->second : fmt::format("[{:016x}]", id);
}

}  // namespace

void SelectionOptions::AddTo(Command& command) {
  constexpr char kGroup[] = "Which recordings";
  command.AddOption("--service", service, "Service; * and ? match any characters").Value("NAME").InGroup(kGroup);
  command.AddOption("--version", version, "Version").Value("NAME").InGroup(kGroup);
  command.AddOption("--env", environment, "Environment").Value("NAME").InGroup(kGroup);
  command.AddOption("--host", host, "Host").Value("NAME").InGroup(kGroup);
  command.AddOption("--from", from, "From this time on: 2h (ago), 14d, or 2026-11-20T10:00Z")
      .Value("TIME")
      .InGroup(kGroup);
  command.AddOption("--to", to, "Up to this time").Value("TIME").InGroup(kGroup);
  command.AddOption("--class", class_name, "Class: name, glob or /regex/").Value("NAME").InGroup(kGroup);
  command.AddOption("--site", site, "Method that allocates: name, glob or /regex/").Value("NAME").InGroup(kGroup);
}

bool MatchesGlob(const std::string& pattern, const std::string& text) {
  return pattern.empty() || fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

std::vector<uint64_t> Selection::ids() const {
  std::vector<uint64_t> ids;
  for (const RecordingInfo& one : recordings) ids.push_back(one.id);
  return ids;
}

const RecordingInfo* Selection::Find(uint64_t recording) const {
  const auto found = std::ranges::lower_bound(recordings, recording, {}, &RecordingInfo::id);
  return found != recordings.end() && found->id == recording ? &*found : nullptr;
}

Result<std::map<uint64_t, Totals>> TotalsIn(Source* source, const Selection& selection, const TimeRange& range) {
  ASSIGN_OR_RETURN(const auto rows, source->TotalsOf(range, selection.ids(), 0));
  std::map<uint64_t, Totals> totals;
  for (const TotalsRow& row : rows) (totals[row.recording] += row.counted) += row.uncounted;
  return totals;
}

Result<Selection> Select(Source* source, const SelectionOptions& options, uint32_t now) {
  Selection selection;
  ASSIGN_OR_RETURN(selection.range, RangeOf(options, source->slice_seconds(), now));
  ASSIGN_OR_RETURN(auto infos, source->Recordings());
  const size_t all = infos.size();
  std::erase_if(infos, [&](const RecordingInfo& info) { return !IsChosen(info, options, selection.range); });
  selection.recordings = std::move(infos);
  std::ranges::sort(selection.recordings, {}, &RecordingInfo::id);
  if (selection.recordings.empty()) {
    return Error{fmt::format("none of {} recordings matches; 'heaprec fleet services' lists them", all)};
  }
  ASSIGN_OR_RETURN(selection.totals, TotalsIn(source, selection, selection.range));
  std::erase_if(selection.recordings, [&](const RecordingInfo& info) { return !selection.totals.contains(info.id); });
  if (selection.recordings.empty()) return Error{"no data in this time"};
  for (const auto& [pattern, kind, into] :
       {std::tuple(&options.class_name, NameKind::kClass, &selection.filter.classes),
        std::tuple(&options.site, NameKind::kMethod, &selection.filter.sites)}) {
    if (pattern->empty()) continue;
    ASSIGN_OR_RETURN(*into, IdsOf(source, kind, *pattern));
  }
  return selection;
}

Result<std::vector<std::string>> NamesOfKeys(Source* source, const std::vector<RowKey>& keys) {
  std::vector<uint64_t> class_ids, site_ids;
  for (const RowKey& key : keys) {
    if (key.class_id != 0) class_ids.push_back(key.class_id);
    if (key.site != 0) site_ids.push_back(key.site);
  }
  ASSIGN_OR_RETURN(const auto classes, source->NamesOf(NameKind::kClass, class_ids));
  ASSIGN_OR_RETURN(const auto sites, source->NamesOf(NameKind::kMethod, site_ids));
  std::vector<std::string> names;
  for (const RowKey& key : keys) {
    const std::string class_name = NameIn(classes, key.class_id), site = NameIn(sites, key.site);
    names.push_back(key.level == RowGrain::kClass  ? class_name
                    : key.level == RowGrain::kSite ? site
                                                   : fmt::format("{} at {}", class_name, site));
  }
  return names;
}

Result<uint32_t> ParseFleetTime(std::string_view text, uint32_t now) {
  if (text.find('-') == std::string_view::npos) {
    const auto ago_ns = ParseDurationWithUnits(text);
    if (ago_ns) return now - static_cast<uint32_t>(std::min<uint64_t>(*ago_ns / 1'000'000'000, now));
  } else if (auto point = ParseTimePoint(text);
             point.ok() && point->origin == TimePoint::Origin::kEpoch && point->ns >= 0) {
    return static_cast<uint32_t>(static_cast<uint64_t>(point->ns) / 1'000'000'000);
  }
  return Error{fmt::format("'{}' is not a time: use how long ago (2h, 14d), or 2026-11-20T10:00Z", text)};
}

std::string TimeText(uint32_t time) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(time)));
}

}  // namespace heaprec::tools::fleet
