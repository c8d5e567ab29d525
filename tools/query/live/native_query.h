// Memory outside of the heap by call site: malloc's blocks and mappings of a recording, and the rows of a table of
// exact sums.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/input/native_table_file.h"
#include "tools/query/allocations/group_query.h"
#include "tools/query/live/live_query.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

// Native memory of recordings in groups: what was allocated, what of it is alive, how that grows.
class NativeVisitor : public ScanVisitor {
 public:
  // `question` without its groups.
  NativeVisitor(const Grouping& by, LiveQuery question, CallTree* tree);

  std::optional<LiveTimes> live_times() const override { return live_.live_times(); }
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  struct Row {
    uint32_t key = 0;
    GroupEstimates allocated;
    LiveEstimates live;
    Slope growth;
    std::vector<Survival> survival;  // by seconds, if the question has lifetimes
  };
  // Returns all groups that allocated or hold something.
  std::vector<Row> Rows() const;
  LiveEstimates AllAlive() const;
  Slope AllGrowth() const;
  std::vector<Survival> AllSurvival() const;

  // RefusalOfNative of the last recording that lacks some native memory.
  const std::string& refusal() const { return refusal_; }
  const Grouping& grouping() const { return allocated_.grouping(); }
  const LiveResult& live() const { return live_.result(); }

 private:
  Groups allocated_;
  LiveVisitor live_;
  std::string refusal_;
};

// Mappings of recordings in groups: address space, what of it may be touched, both as they are at the end, and all that
// was mapped.
class MappingVisitor : public ScanVisitor {
 public:
  // `question` without its groups.
  MappingVisitor(const Grouping& by, const LiveQuery& question, CallTree* tree);

  std::optional<LiveTimes> live_times() const override { return alive_.live_times(); }
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  // What counts as what: docs/format/recording.md#mappings.
  struct Now {
    LiveEstimates reserved;   // address space: reserve and mmap
    LiveEstimates committed;  // what may be touched: commit and mmap
    LiveEstimates alive;      // all mappings; its bytes hold commits twice
  };
  struct Row {
    uint32_t key = 0;
    Now now;
    GroupEstimates mapped;  // in the recording, alive or not; the bytes hold commits twice
  };
  // Returns all groups that mapped or hold something.
  std::vector<Row> Rows() const;
  Now All() const;

  const Grouping& grouping() const { return mapped_.grouping(); }
  // Recordings with mappings in them.
  bool has_any() const { return alive_.result().tracked > 0; }
  uint64_t at_ns() const { return alive_.result().moments.at_ns; }

 private:
  using Keeps = bool (*)(std::string_view class_name);
  static void Show(const MatchedBlock& matched_block, Keeps keeps, LiveVisitor* to);

  Groups mapped_;
  LiveVisitor alive_, reserved_, committed_;
};

// The native memory of a recording's sites at chosen times: what was live there.
//
// Failure:  no lines for a recording that did not track native memory.

// Live sampled bytes of a site, at each time.
struct SiteLine {
  std::string name;
  std::vector<Estimate> live;
};

struct SiteTimeline {
  std::vector<SiteLine> lines;
  std::vector<std::string> trust_reasons;  // why they should not be trusted
};

// `times`: ns since the start of the recording, ascending. The sum of all sites first, then `most` of them, those that
// hold most at the last time first. No lines: there is no native memory in it.
SiteTimeline SitesAt(const std::string& file, const std::vector<uint64_t>& times, size_t most);

// Rows of a table of native memory: its places, put together by what they are called, and how far they differ from
// those of an older table.

enum class TableBy : uint8_t { kSite, kFunction, kLibrary };
// Of "site", "function" or "library".
TableBy TableByOf(std::string_view word);

struct TableRow {
  std::string identity;  // the same in tables of other processes
  std::string name;
  std::vector<std::string> callers;  // of a site
  NativeSums sums;
  NativeSums before;  // in the older table

  int64_t Growth() const { return static_cast<int64_t>(sums.LiveBytes() - before.LiveBytes()); }
  int64_t BlockGrowth() const { return static_cast<int64_t>(sums.LiveBlocks() - before.LiveBlocks()); }
};

// The largest first, by what lives or by what was allocated.
std::vector<TableRow> TableRowsOf(const NativeTableFile& table, TableBy by, bool by_live);
// By how much more is alive than in `before`; what is gone comes last.
void CompareRows(const std::vector<TableRow>& before, std::vector<TableRow>* rows);

// The site of the first block that was found written past its end.
std::string OverrunOf(const NativeTableFile& table);

}  // namespace heaprec::tools
