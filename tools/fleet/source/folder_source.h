// The fleet's sums from a folder of recordings, without a server: all slices of all recordings in memory.
//
// Memory:   about 150 B for each class, site and pair of them in each slice of each recording.
// Failure:  Open returns an Error if there is no folder or no recording in it. Files that cannot be read are named on
//           stderr and left out; damaged() says so.
#pragma once

#include <memory>
#include <string>

#include "tools/fleet/source/source.h"

namespace heaprec::tools::fleet {

class FolderSource final : public Source {
 public:
  // `samples_per_second`: how many samples of a recording are kept, with their stacks; 0: none.
  static format::Result<std::unique_ptr<FolderSource>> Open(const std::string& folder, uint32_t slice_seconds,
                                                            double samples_per_second, const GivenLabels& given);

  bool is_damaged() const { return is_damaged_; }
  uint32_t slice_seconds() const override { return slice_seconds_; }
  format::Result<std::vector<RecordingInfo>> Recordings() override;
  format::Result<std::map<uint64_t, Totals>> TotalsOf(const TimeRange& range,
                                                      const std::vector<uint64_t>& recordings) override;
  format::Result<std::vector<StepTotals>> TotalsByTime(const TimeRange& range, const std::vector<uint64_t>& recordings,
                                                       uint32_t step) override;
  format::Result<std::vector<PooledRow>> Pool(const PoolQuery& query) override;
  format::Result<std::vector<Moments>> Compare(const CompareQuery& query) override;
  format::Result<std::vector<UnitRate>> Rates(RowGrain by, const RowFilter& filter, const Side& side) override;
  format::Result<std::vector<LiveMoment>> LiveMoments(const TimeRange& range,
                                                      const std::vector<uint64_t>& recordings) override;
  format::Result<std::vector<PooledLive>> Live(const std::vector<LiveMoment>& snapshots, RowGrain by,
                                               const RowFilter& filter) override;
  format::Result<std::vector<FleetSample>> Samples(const SampleQuery& query) override;
  format::Result<std::vector<FleetStack>> StacksOf(const std::vector<uint64_t>& ids) override;
  format::Result<std::vector<NamedId>> Names(NameKind kind) override;
  format::Result<std::map<uint64_t, std::string>> NamesOf(NameKind kind, const std::vector<uint64_t>& ids) override;

 private:
  struct SliceRows {
    uint32_t time = 0;
    std::vector<MinuteTotals> minutes;
    std::vector<std::pair<RowKey, Sums>> rows;
    std::vector<ThinnedSample> samples;
    std::vector<LiveRow> live;
    uint32_t live_at = 0;
  };
  struct Held {
    RecordingInfo info;
    std::vector<SliceRows> slices;
  };
  FolderSource(uint32_t slice_seconds, double samples_per_second)
      : slice_seconds_(slice_seconds), samples_per_second_(samples_per_second) {}
  void Read(const std::string& path, const GivenLabels& given);
  const Held* Find(uint64_t recording) const;
  // Calls visit(key, sums) for rows of the recording by `by` within the range that pass the filter.
  template <typename Visit>
  void ForEachRow(const Held& held, const TimeRange& range, RowGrain by, const RowFilter& filter, Visit visit) const;
  // Sums by key of a recording.
  std::map<RowKey, Sums> SumsOf(uint64_t recording, const TimeRange& range, RowGrain by, const RowFilter& filter) const;

  const uint32_t slice_seconds_;
  const double samples_per_second_;
  bool is_damaged_ = false;
  std::map<uint64_t, Held> held_;
  std::map<std::pair<NameKind, uint64_t>, std::string> names_;
  std::map<uint64_t, std::vector<uint64_t>> stacks_;
};

// Files in a folder, and below it, whose names end in .hrec; a file is itself.
std::vector<std::string> RecordingsIn(const std::string& path);

}  // namespace heaprec::tools::fleet
