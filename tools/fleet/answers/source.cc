#include "tools/fleet/answers/source.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "tools/text/messages.h"

namespace heaprec::tools::fleet {

RowGrain GrainToRead(RowGrain by, const RowFilter& filter) {
  if (by == RowGrain::kWhole) return by;
  const bool tells_class = by != RowGrain::kSite || filter.classes.has_value();
  const bool tells_site = by != RowGrain::kClass || filter.sites.has_value();
  if (tells_class && tells_site) return RowGrain::kClassAndSite;
  return tells_class ? RowGrain::kClass : RowGrain::kSite;
}

void PooledSums::Add(const Sums& of, const RecordingScale& scale) {
  const double f = scale.factor, f2 = f * f, powers[] = {1, f, f2, f2 * f, f2 * f2};
  for (const SumColumn& column : kSumColumns) sums.*column.value += powers[column.power] * of.*column.value;
  const double q = of.bytes * scale.per_byte, p = of.objects * scale.per_byte;
  shared += f2 * q * of.variance;
  shared_all += f2 * q * q * scale.variance;
  shared_objects += f2 * p * of.covariance;
  shared_objects_all += f2 * p * p * scale.variance;
}

PooledSums& PooledSums::operator+=(const PooledSums& other) {
  sums += other.sums;
  shared += other.shared;
  shared_all += other.shared_all;
  shared_objects += other.shared_objects;
  shared_objects_all += other.shared_objects_all;
  return *this;
}

double ThinnedWeight(uint64_t recording, uint64_t id, double weight, double tau) {
  if (tau <= 0 || weight >= tau) return weight;
  // ClickHouse's intHash64, so that a server makes the same random choices.
  const auto mixed = [](uint64_t x) {
    x ^= 0x4cf2d2baae6da887;
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
    return x ^ (x >> 33);
  };
  const double lot = static_cast<double>(mixed(mixed(recording) ^ id) >> 32) * 0x1p-32;
  return lot * tau < weight ? tau : 0;
}

// Computes the sums from a folder of recordings, without a server.

namespace {

// Classes and sites that pass, sorted.
class Passing {
 public:
  explicit Passing(RowFilter filter) : filter_(std::move(filter)) {
    for (Ids* ids : {&filter_.classes, &filter_.sites}) {
      if (*ids) std::ranges::sort(**ids);
    }
  }
  bool operator()(uint64_t class_id, uint64_t site) const {
    return Holds(filter_.classes, class_id) && Holds(filter_.sites, site);
  }

 private:
  using Ids = std::optional<std::vector<uint64_t>>;
  static bool Holds(const Ids& ids, uint64_t id) { return !ids || std::ranges::binary_search(*ids, id); }

  RowFilter filter_;
};

RowKey KeyAt(RowGrain by, const RowKey& row) {
  const bool tells_class = by != RowGrain::kSite && by != RowGrain::kWhole;
  return {by, tells_class ? row.class_id : 0, by == RowGrain::kSite || by == RowGrain::kClassAndSite ? row.site : 0};
}

// The requested ones of `all`.
template <typename Map>
Map Chosen(const Map& all, const std::vector<uint64_t>& ids) {
  Map chosen;
  for (const uint64_t id : ids) {
    if (const auto found = all.find(id); found != all.end()) chosen.insert(*found);
  }
  return chosen;
}

class FolderSource final : public Source {
 public:
  FolderSource(uint32_t slice_seconds, double samples_per_second)
      : Source(slice_seconds), samples_per_second_(samples_per_second) {}

  void Read(const std::string& path) {
    auto recordings = Recording::OpenAll(path);
    if (!recordings.ok()) {
      PrintError(recordings.error().message);
      is_damaged_ = true;
      return;
    }
    for (const auto& recording : *recordings) {
      Held held{.info = InfoOf(recording->header(), {}), .slices = {}};
      held.info.file = path;
      SliceReader reader(recording.get(),
                         {.slice_seconds = slice_seconds(), .samples_per_second = samples_per_second_});
      while (auto slice = reader.Next(true)) {
        for (NamedId& name : std::exchange(slice->names, {})) names_[name.kind].emplace(name.id, std::move(name.name));
        for (FleetStack& stack : std::exchange(slice->stacks, {})) stacks_.emplace(stack.id, std::move(stack.methods));
        held.slices.push_back(std::move(*slice));
      }
      held.info.seen = reader.seen();
      held.info.SetTrust(reader.TrustReasons());
      held.info.SetFull(reader.Full(), recording->header().start_epoch_ns);
      held.info.ended = recording->ending() && !recording->is_dump();
      if (recording->damaged()) is_damaged_ = true;
      // The folder may contain a shorter copy of the recording.
      const auto other = held_.find(held.info.id);
      if (other == held_.end() || other->second.info.seen < held.info.seen) {
        held_.insert_or_assign(held.info.id, std::move(held));
      }
    }
  }

  bool empty() const { return held_.empty(); }

  Result<std::vector<RecordingInfo>> Recordings() override {
    std::vector<RecordingInfo> infos;
    for (const auto& [id, held] : held_) infos.push_back(held.info);
    return infos;
  }

  Result<std::vector<TotalsRow>> TotalsOf(const TimeRange& range, const std::vector<uint64_t>& recordings,
                                          uint32_t step) override {
    std::map<std::pair<uint64_t, uint32_t>, TotalsRow> totals;
    for (const uint64_t recording : recordings) {
      ForEachSlice(recording, range, [&](const Slice& slice) {
        for (const MinuteTotals& minute : slice.minutes) {
          const auto key = step > 0 ? std::pair(uint64_t{0}, minute.time / step * step) : std::pair(recording, 0u);
          TotalsRow& row = totals.try_emplace(key, TotalsRow{key.first, key.second, {}, {}}).first->second;
          (minute.totals.counted > 0 ? row.counted : row.uncounted) += minute.totals;
        }
      });
    }
    std::vector<TotalsRow> rows;
    for (const auto& [key, row] : totals) rows.push_back(row);
    return rows;
  }

  Result<std::vector<PooledRow>> Pool(const PoolQuery& query) override {
    using Key = std::pair<RowKey, uint32_t>;  // key, and the step or host
    const Passing passes(query.filter);
    const RowGrain grain = GrainToRead(query.by, query.filter);
    std::map<Key, PooledSums> pooled;
    for (const RecordingScale& scale : query.recordings) {
      std::map<Key, Sums> sums;
      ForEachSlice(scale.recording, query.range, [&](const Slice& slice) {
        for (const auto& [key, one] : slice.rows) {
          if (key.level != grain || !passes(key.class_id, key.site)) continue;
          sums[query.rows_of == RowsOf::kStep ? Key(RowKey{}, slice.time / query.step * query.step)
                                              : Key(KeyAt(query.by, key), scale.host)] += one;
        }
      });
      for (const auto& [key, one] : sums) {
        pooled[query.rows_of == RowsOf::kAll ? Key(key.first, 0) : key].Add(one, scale);
      }
    }
    std::vector<PooledRow> rows;
    for (const auto& [key, one] : pooled) {
      PooledRow& row = rows.emplace_back(PooledRow{.key = key.first, .pooled = one});
      (query.rows_of == RowsOf::kStep ? row.step : row.host) = key.second;
    }
    return rows;
  }

  Result<std::vector<Moments>> Compare(const CompareQuery& query) override {
    std::map<std::pair<RowKey, uint32_t>, std::pair<double, double>> rates;  // by key and host: before, after
    for (const auto& [side, rate] : {std::pair(&query.before, &std::pair<double, double>::first),
                                     std::pair(&query.after, &std::pair<double, double>::second)}) {
      const auto rows = Pool({.range = side->range,
                              .recordings = side->recordings,
                              .by = query.by,
                              .filter = query.filter,
                              .rows_of = RowsOf::kHost});
      for (const PooledRow& row : *rows) rates[{row.key, row.host}].*rate = row.pooled.sums.bytes;
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

  Result<std::vector<LiveMoment>> LiveMoments(const TimeRange& range,
                                              const std::vector<uint64_t>& recordings) override {
    std::vector<LiveMoment> snapshots;
    for (const uint64_t recording : recordings) {
      const Slice* last = nullptr;
      ForEachSlice(recording, range, [&last](const Slice& slice) {
        if (!slice.live.empty()) last = &slice;
      });
      if (last != nullptr) {
        snapshots.push_back({recording, held_.at(recording).info.process, last->time, last->live_at});
      }
    }
    return snapshots;
  }

  Result<std::vector<PooledLive>> Live(const std::vector<LiveMoment>& snapshots, RowGrain by,
                                       const RowFilter& filter) override {
    const Passing passes(filter);
    const RowGrain grain = GrainToRead(by, filter);
    std::map<RowKey, PooledLive> pooled;
    for (const LiveMoment& snapshot : snapshots) {
      ForEachSlice(snapshot.recording, {snapshot.time, snapshot.time + 1}, [&](const Slice& slice) {
        for (const LiveRow& row : slice.live) {
          if (row.key.level != grain || !passes(row.key.class_id, row.key.site)) continue;
          const RowKey key = KeyAt(by, row.key);
          PooledLive& one = pooled.try_emplace(key, PooledLive{key, {}, {}}).first->second;
          (row.state == LiveState::kLive ? one.live : one.may_be_garbage) += row.sums;
        }
      });
    }
    std::vector<PooledLive> rows;
    for (const auto& [key, one] : pooled) rows.push_back(one);
    return rows;
  }

  Result<std::vector<FleetSample>> Samples(const SampleQuery& query) override {
    const Passing passes(query.filter);
    std::vector<FleetSample> samples;
    double all = 0;
    for (const RecordingScale& scale : query.recordings) {
      ForEachSlice(scale.recording, query.range, [&](const Slice& slice) {
        for (const ThinnedSample& one : slice.samples) {
          if (!passes(one.class_id, one.site)) continue;
          samples.push_back({scale.recording, one});
          samples.back().sample.weight *= scale.factor;
          all += samples.back().sample.weight;
        }
      });
    }
    const double tau = samples.size() > query.most ? all / static_cast<double>(query.most) : 0;
    for (FleetSample& one : samples) {
      one.sample.weight = ThinnedWeight(one.recording, one.sample.id, one.sample.weight, tau);
    }
    std::erase_if(samples, [](const FleetSample& one) { return !(one.sample.weight > 0); });
    return samples;
  }

  Result<Stacks> StacksOf(const std::vector<uint64_t>& ids) override { return Chosen(stacks_, ids); }

  Result<Names> NamesOf(NameKind kind, const std::optional<std::vector<uint64_t>>& ids) override {
    return ids ? Chosen(names_[kind], *ids) : names_[kind];
  }

 private:
  struct Held {
    RecordingInfo info;
    std::vector<Slice> slices;  // without names and stacks
  };
  template <typename Visit>
  void ForEachSlice(uint64_t recording, const TimeRange& range, const Visit& visit) const {
    const auto found = held_.find(recording);
    if (found == held_.end()) return;
    for (const Slice& slice : found->second.slices) {
      if (range.Holds(slice.time)) visit(slice);
    }
  }

  const double samples_per_second_;
  std::map<uint64_t, Held> held_;
  std::map<NameKind, Names> names_;
  Stacks stacks_;
};

}  // namespace

Result<std::unique_ptr<Source>> OpenFolder(const std::string& folder, uint32_t slice_seconds,
                                           double samples_per_second) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return Error{folder + ": no such file or folder"};
  auto source = std::make_unique<FolderSource>(slice_seconds, samples_per_second);
  for (const std::string& path : RecordingsIn(folder)) source->Read(path);
  if (source->empty()) return Error{folder + ": no recording (*.hrec) that can be read"};
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace heaprec::tools::fleet
