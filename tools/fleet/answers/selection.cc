#include "tools/fleet/answers/selection.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "tools/fleet/answers/fleet_time.h"
#include "tools/query/filter/name_pattern.h"
#include "tools/query/filter/name_search.h"

namespace heaprec::tools::fleet {
namespace {

format::Result<std::vector<uint64_t>> IdsOf(Source* source, NameKind kind, const std::string& pattern) {
  auto matcher = NamePattern::ForNames(pattern);
  if (!matcher.ok()) return matcher.error();
  auto names = source->Names(kind);
  if (!names.ok()) return names.error();
  std::vector<uint64_t> ids;
  for (const NamedId& one : *names) {
    if (matcher->Matches(one.name)) ids.push_back(one.id);
  }
  if (ids.empty()) {
    std::set<std::string> all;
    for (const NamedId& one : *names) all.insert(one.name);
    const std::string why = NoMatchText(kind == NameKind::kClass ? "class" : "method", NearestNames(pattern, all));
    return format::Error{fmt::format("'{}': {}", pattern, why)};
  }
  std::ranges::sort(ids);
  return ids;
}

format::Result<TimeRange> RangeOf(const SelectionOptions& options, uint32_t slice_seconds, uint32_t now) {
  TimeRange range;
  if (!options.from.empty()) {
    auto from = ParseFleetTime(options.from, now);
    if (!from.ok()) return format::Error{"--from: " + from.error().message};
    range.from = *from / slice_seconds * slice_seconds;
  }
  if (!options.to.empty()) {
    auto to = ParseFleetTime(options.to, now);
    if (!to.ok()) return format::Error{"--to: " + to.error().message};
    range.to = static_cast<uint32_t>((uint64_t{*to} + slice_seconds - 1) / slice_seconds * slice_seconds);
  }
  if (range.from >= range.to) return format::Error{"--from must be before --to"};
  return range;
}

bool IsChosen(const RecordingInfo& info, const SelectionOptions& options, const TimeRange& range) {
  return info.started < range.to && info.seen >= range.from && MatchesGlob(options.service, info.service) &&
         MatchesGlob(options.version, info.version) && MatchesGlob(options.environment, info.environment) &&
         MatchesGlob(options.host, info.host);
}

template <typename Ids>
std::string NameIn(const Ids& names, uint64_t id) {
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
  const auto found = std::ranges::find(recordings, recording, &RecordingInfo::id);
  return found != recordings.end() ? &*found : nullptr;
}

format::Result<Selection> Select(Source* source, const SelectionOptions& options, uint32_t now) {
  Selection selection;
  auto range = RangeOf(options, source->slice_seconds(), now);
  if (!range.ok()) return range.error();
  selection.range = *range;
  auto infos = source->Recordings();
  if (!infos.ok()) return infos.error();
  const size_t all = infos->size();
  std::erase_if(*infos, [&](const RecordingInfo& info) { return !IsChosen(info, options, *range); });
  selection.recordings = std::move(*infos);
  std::ranges::sort(selection.recordings, {}, &RecordingInfo::id);
  if (selection.recordings.empty()) {
    return format::Error{fmt::format("none of {} recordings matches; 'heaprec fleet services' lists them", all)};
  }
  auto totals = source->TotalsOf(selection.range, selection.ids());
  if (!totals.ok()) return totals.error();
  selection.totals = std::move(*totals);
  std::erase_if(selection.recordings, [&](const RecordingInfo& info) { return !selection.totals.contains(info.id); });
  if (selection.recordings.empty()) return format::Error{"nothing was recorded in this time"};
  if (!options.class_name.empty()) {
    auto ids = IdsOf(source, NameKind::kClass, options.class_name);
    if (!ids.ok()) return ids.error();
    selection.filter.classes = *ids;
  }
  if (!options.site.empty()) {
    auto ids = IdsOf(source, NameKind::kMethod, options.site);
    if (!ids.ok()) return ids.error();
    selection.filter.sites = *ids;
  }
  return selection;
}

format::Result<RowNames> RowNames::Of(Source* source, const std::vector<RowKey>& keys) {
  std::vector<uint64_t> classes, sites;
  for (const RowKey& key : keys) {
    if (key.class_id != 0) classes.push_back(key.class_id);
    if (key.site != 0) sites.push_back(key.site);
  }
  RowNames names;
  auto of_classes = source->NamesOf(NameKind::kClass, classes);
  if (!of_classes.ok()) return of_classes.error();
  names.classes_ = std::move(*of_classes);
  auto of_sites = source->NamesOf(NameKind::kMethod, sites);
  if (!of_sites.ok()) return of_sites.error();
  names.sites_ = std::move(*of_sites);
  return names;
}

std::string RowNames::Class(uint64_t id) const { return NameIn(classes_, id); }
std::string RowNames::Site(uint64_t id) const { return NameIn(sites_, id); }

std::string RowNames::Of(const RowKey& key) const {
  if (key.level == RowGrain::kClass) return Class(key.class_id);
  if (key.level == RowGrain::kSite) return Site(key.site);
  return fmt::format("{} at {}", Class(key.class_id), Site(key.site));
}

}  // namespace heaprec::tools::fleet
