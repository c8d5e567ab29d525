#include "tools/fleet/source/folder_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "tools/text/messages.h"

namespace heaprec::tools::fleet {
namespace {

bool Passes(const std::optional<std::vector<uint64_t>>& wanted, uint64_t id) {
  return !wanted || std::ranges::binary_search(*wanted, id);
}

std::optional<std::vector<uint64_t>> Sorted(std::optional<std::vector<uint64_t>> ids) {
  if (ids) std::ranges::sort(*ids);
  return ids;
}

RowFilter Sorted(RowFilter filter) { return {Sorted(std::move(filter.classes)), Sorted(std::move(filter.sites))}; }

RowKey KeyAt(RowGrain by, const RowKey& row) {
  const bool tells_class = by != RowGrain::kSite && by != RowGrain::kWhole;
  return {by, tells_class ? row.class_id : 0, by == RowGrain::kSite || by == RowGrain::kClassAndSite ? row.site : 0};
}

}  // namespace

std::vector<std::string> RecordingsIn(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> found;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(path, options, error), end; !error && at != end; at.increment(error)) {
    if (at->is_regular_file(error) && at->path().extension() == ".hrec") found.push_back(at->path().string());
  }
  std::ranges::sort(found);
  return found;
}

format::Result<std::unique_ptr<FolderSource>> FolderSource::Open(const std::string& folder, uint32_t slice_seconds,
                                                                 double samples_per_second, const GivenLabels& given) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return format::Error{folder + ": no such file or folder"};
  auto source = std::unique_ptr<FolderSource>(new FolderSource(slice_seconds, samples_per_second));
  for (const std::string& path : RecordingsIn(folder)) source->Read(path, given);
  if (source->held_.empty()) return format::Error{folder + ": no recording (*.hrec) that can be read"};
  return source;
}

void FolderSource::Read(const std::string& path, const GivenLabels& given) {
  auto recordings = Recording::OpenAll(path);
  if (!recordings.ok()) {
    PrintError(recordings.error().message);
    is_damaged_ = true;
    return;
  }
  for (const auto& recording : *recordings) {
    Held held{.info = InfoOf(recording->header(), given), .slices = {}};
    held.info.file = path;
    SliceReader reader(recording.get(), {.slice_seconds = slice_seconds_, .samples_per_second = samples_per_second_});
    while (auto slice = reader.Next(true)) {
      for (NamedId& name : slice->names) names_.emplace(std::pair(name.kind, name.id), std::move(name.name));
      for (FleetStack& stack : slice->stacks) stacks_.emplace(stack.id, std::move(stack.methods));
      held.slices.push_back({slice->time, std::move(slice->minutes), std::move(slice->rows), std::move(slice->samples),
                             std::move(slice->live), slice->live_at});
    }
    held.info.seen = reader.seen();
    held.info.SetTrust(reader.TrustReasons());
    held.info.ended = recording->ending() && !recording->is_dump();
    if (recording->damaged()) is_damaged_ = true;
    // A copy of the recording may be shorter.
    const Held* other = Find(held.info.id);
    if (other == nullptr || other->info.seen < held.info.seen) held_.insert_or_assign(held.info.id, std::move(held));
  }
}

const FolderSource::Held* FolderSource::Find(uint64_t recording) const {
  const auto found = held_.find(recording);
  return found != held_.end() ? &found->second : nullptr;
}

template <typename Visit>
void FolderSource::ForEachRow(const Held& held, const TimeRange& range, RowGrain by, const RowFilter& filter,
                              Visit visit) const {
  const RowGrain level = GrainToRead(by, filter);
  for (const SliceRows& slice : held.slices) {
    if (!range.Holds(slice.time)) continue;
    for (const auto& [key, sums] : slice.rows) {
      if (key.level != level || !Passes(filter.classes, key.class_id) || !Passes(filter.sites, key.site)) continue;
      visit(slice.time, KeyAt(by, key), sums);
    }
  }
}

std::map<RowKey, Sums> FolderSource::SumsOf(uint64_t recording, const TimeRange& range, RowGrain by,
                                            const RowFilter& filter) const {
  std::map<RowKey, Sums> sums;
  if (const Held* held = Find(recording)) {
    ForEachRow(*held, range, by, filter, [&](uint32_t, const RowKey& key, const Sums& one) { sums[key] += one; });
  }
  return sums;
}

format::Result<std::vector<RecordingInfo>> FolderSource::Recordings() {
  std::vector<RecordingInfo> infos;
  for (const auto& [id, held] : held_) infos.push_back(held.info);
  return infos;
}

format::Result<std::map<uint64_t, Totals>> FolderSource::TotalsOf(const TimeRange& range,
                                                                  const std::vector<uint64_t>& recordings) {
  std::map<uint64_t, Totals> totals;
  for (const uint64_t recording : recordings) {
    const Held* held = Find(recording);
    if (held == nullptr) continue;
    for (const SliceRows& slice : held->slices) {
      if (!range.Holds(slice.time)) continue;
      for (const MinuteTotals& minute : slice.minutes) totals[recording] += minute.totals;
    }
  }
  return totals;
}

format::Result<std::vector<StepTotals>> FolderSource::TotalsByTime(const TimeRange& range,
                                                                   const std::vector<uint64_t>& recordings,
                                                                   uint32_t step) {
  std::map<uint32_t, StepTotals> steps;
  for (const uint64_t recording : recordings) {
    const Held* held = Find(recording);
    if (held == nullptr) continue;
    for (const SliceRows& slice : held->slices) {
      if (!range.Holds(slice.time)) continue;
      for (const MinuteTotals& minute : slice.minutes) {
        StepTotals& at = steps[minute.time / step * step];
        (minute.totals.counted > 0 ? at.totals : at.uncounted) += minute.totals;
      }
    }
  }
  std::vector<StepTotals> rows;
  for (auto& [time, one] : steps) {
    one.time = time;
    rows.push_back(one);
  }
  return rows;
}

format::Result<std::vector<PooledRow>> FolderSource::Pool(const PoolQuery& query) {
  const RowFilter filter = Sorted(query.filter);
  std::map<std::pair<RowKey, uint32_t>, PooledSums> pooled;
  for (const RecordingScale& scale : query.recordings) {
    const Held* held = Find(scale.recording);
    if (held == nullptr) continue;
    std::map<std::pair<RowKey, uint32_t>, Sums> sums;
    ForEachRow(*held, query.range, query.by, filter, [&](uint32_t time, const RowKey& key, const Sums& one) {
      sums[query.step > 0 ? std::pair(RowKey{}, time / query.step * query.step) : std::pair(key, 0u)] += one;
    });
    for (const auto& [key, one] : sums) pooled[key].Add(one, scale);
  }
  std::vector<PooledRow> rows;
  for (const auto& [key, one] : pooled) rows.push_back({key.first, key.second, one});
  return rows;
}

format::Result<std::vector<Moments>> FolderSource::Compare(const CompareQuery& query) {
  const RowFilter filter = Sorted(query.filter);
  std::map<std::pair<RowKey, uint32_t>, std::pair<double, double>> rates;  // before, after
  for (const UnitShare& share : query.before.shares) {
    for (const auto& [key, sums] : SumsOf(share.recording, query.before.range, query.by, filter)) {
      rates[{key, share.unit}].first += share.weight * sums.bytes;
    }
  }
  for (const UnitShare& share : query.after.shares) {
    for (const auto& [key, sums] : SumsOf(share.recording, query.after.range, query.by, filter)) {
      rates[{key, share.unit}].second += share.weight * sums.bytes;
    }
  }
  std::map<RowKey, Moments> moments;
  for (const auto& [of, rate] : rates) {
    Moments& one = moments[of.first];
    const auto [before, after] = rate;
    one.key = of.first;
    one.before += before, one.before_squares += before * before;
    one.after += after, one.after_squares += after * after;
    one.difference_squares += (after - before) * (after - before);
  }
  std::vector<Moments> rows;
  for (const auto& [key, one] : moments) rows.push_back(one);
  return rows;
}

format::Result<std::vector<UnitRate>> FolderSource::Rates(RowGrain by, const RowFilter& asked, const Side& side) {
  const RowFilter filter = Sorted(asked);
  std::map<std::pair<RowKey, uint32_t>, UnitRate> rates;
  for (const UnitShare& share : side.shares) {
    for (const auto& [key, sums] : SumsOf(share.recording, side.range, by, filter)) {
      UnitRate& rate = rates[{key, share.unit}];
      rate.key = key, rate.unit = share.unit;
      rate.rate += share.weight * sums.bytes;
      rate.variance += share.weight * share.weight * sums.variance;
    }
  }
  std::vector<UnitRate> rows;
  for (const auto& [of, rate] : rates) rows.push_back(rate);
  return rows;
}

format::Result<std::vector<LiveMoment>> FolderSource::LiveMoments(const TimeRange& range,
                                                                  const std::vector<uint64_t>& recordings) {
  std::vector<LiveMoment> snapshots;
  for (const uint64_t recording : recordings) {
    const Held* held = Find(recording);
    if (held == nullptr) continue;
    const SliceRows* last = nullptr;
    for (const SliceRows& slice : held->slices) {
      if (range.Holds(slice.time) && !slice.live.empty()) last = &slice;
    }
    if (last != nullptr) snapshots.push_back({recording, held->info.process, last->time, last->live_at});
  }
  return snapshots;
}

format::Result<std::vector<PooledLive>> FolderSource::Live(const std::vector<LiveMoment>& snapshots, RowGrain by,
                                                           const RowFilter& asked) {
  const RowFilter filter = Sorted(asked);
  const RowGrain level = GrainToRead(by, filter);
  std::map<RowKey, PooledLive> pooled;
  for (const LiveMoment& snapshot : snapshots) {
    const Held* held = Find(snapshot.recording);
    if (held == nullptr) continue;
    const auto slice = std::ranges::find(held->slices, snapshot.time, &SliceRows::time);
    if (slice == held->slices.end()) continue;
    for (const LiveRow& row : slice->live) {
      if (row.key.level != level || !Passes(filter.classes, row.key.class_id) || !Passes(filter.sites, row.key.site)) {
        continue;
      }
      PooledLive& one = pooled[KeyAt(by, row.key)];
      (row.state == LiveState::kLive ? one.live : one.may_be_garbage) += row.sums;
    }
  }
  std::vector<PooledLive> rows;
  for (auto& [key, one] : pooled) {
    one.key = key;
    rows.push_back(one);
  }
  return rows;
}

format::Result<std::vector<FleetSample>> FolderSource::Samples(const SampleQuery& query) {
  const RowFilter filter = Sorted(query.filter);
  std::vector<FleetSample> samples;
  double all = 0;
  for (const RecordingScale& scale : query.recordings) {
    const Held* held = Find(scale.recording);
    if (held == nullptr) continue;
    for (const SliceRows& slice : held->slices) {
      if (!query.range.Holds(slice.time)) continue;
      for (const ThinnedSample& one : slice.samples) {
        if (!Passes(filter.classes, one.class_id) || !Passes(filter.sites, one.site)) continue;
        samples.push_back({scale.recording, one});
        samples.back().sample.weight *= scale.factor;
        all += samples.back().sample.weight;
      }
    }
  }
  const double tau = samples.size() > query.most ? all / static_cast<double>(query.most) : 0;
  for (FleetSample& one : samples) {
    one.sample.weight = ThinnedWeight(one.recording, one.sample.id, one.sample.weight, tau);
  }
  std::erase_if(samples, [](const FleetSample& one) { return !(one.sample.weight > 0); });
  return samples;
}

format::Result<std::vector<FleetStack>> FolderSource::StacksOf(const std::vector<uint64_t>& ids) {
  std::vector<FleetStack> stacks;
  for (const uint64_t id : ids) {
    const auto found = stacks_.find(id);
    if (found != stacks_.end()) stacks.push_back({id, found->second});
  }
  return stacks;
}

format::Result<std::vector<NamedId>> FolderSource::Names(NameKind kind) {
  std::vector<NamedId> names;
  for (const auto& [of, name] : names_) {
    if (of.first == kind) names.push_back({kind, of.second, name});
  }
  return names;
}

format::Result<std::map<uint64_t, std::string>> FolderSource::NamesOf(NameKind kind, const std::vector<uint64_t>& ids) {
  std::map<uint64_t, std::string> names;
  for (const uint64_t id : ids) {
    const auto found = names_.find({kind, id});
    if (found != names_.end()) names.emplace(id, found->second);
  }
  return names;
}

}  // namespace heaprec::tools::fleet
