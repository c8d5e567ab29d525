// Memory outside of the heap by call site: malloc's blocks and mappings of a recording, and the rows of a table with
// exact counts.
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

// Native memory of recordings in groups: allocated bytes, live bytes, and their growth.
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
    std::vector<Survival> survival;  // by seconds, if lifetimes are requested
  };
  // Returns all groups with allocated or live bytes.
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

// Mappings of recordings in groups: reserved and accessible bytes, both at the end, and all mapped bytes.
class MappingVisitor : public ScanVisitor {
 public:
  // `question` without its groups.
  MappingVisitor(const Grouping& by, const LiveQuery& question, CallTree* tree);

  std::optional<LiveTimes> live_times() const override { return alive_.live_times(); }
  void Begin(const format::FileHeader& header) override;
  void Visit(const MatchedBlock& matched_block) override;
  void End(const Estimator& estimator, double seconds) override;

  // Defined in docs/format/recording.md#mappings.
  struct Now {
    LiveEstimates reserved;   // address space: reserve and mmap
    LiveEstimates committed;  // accessible memory: commit and mmap
    LiveEstimates alive;      // all mappings; its bytes contain commits twice
  };
  struct Row {
    uint32_t key = 0;
    Now now;
    GroupEstimates mapped;  // in the recording, including mappings that ended; its bytes contain commits twice
  };
  // Returns all groups with mapped or live bytes.
  std::vector<Row> Rows() const;
  Now All() const;

  const Grouping& grouping() const { return mapped_.grouping(); }
  // Whether a recording has mappings.
  bool has_any() const { return alive_.result().tracked > 0; }
  uint64_t at_ns() const { return alive_.result().moments.at_ns; }

 private:
  using Keeps = bool (*)(std::string_view class_name);
  static void Show(const MatchedBlock& matched_block, Keeps keeps, LiveVisitor* to);

  Groups mapped_;
  LiveVisitor alive_, reserved_, committed_;
};

// Live native memory of a recording's sites at selected times.
//
// Failure:  no lines for a recording that did not track native memory.

// Live sampled bytes of a site, at each time.
struct SiteLine {
  std::string name;
  std::vector<Estimate> live;
};

struct SiteTimeline {
  std::vector<SiteLine> lines;
  std::vector<std::string> trust_reasons;  // why they are not trustworthy
};

// `times`: ns since the start of the recording, ascending. Returns the sum of all sites first, then the `most` largest
// ones at the last time. No lines: the recording has no native memory.
SiteTimeline SitesAt(const std::string& file, const std::vector<uint64_t>& times, size_t most);

// Rows of a table of native memory: its sites, grouped by name, and their difference to an older table.

enum class TableBy : uint8_t { kSite, kFunction, kLibrary };
// Parses "site", "function" or "library".
TableBy TableByOf(std::string_view word);

struct TableRow {
  std::string identity;  // equal in tables of other processes
  std::string name;
  std::vector<std::string> callers;  // for a site
  NativeSums sums;
  NativeSums before;  // counts in the older table

  int64_t Growth() const { return static_cast<int64_t>(sums.LiveBytes() - before.LiveBytes()); }
  int64_t BlockGrowth() const { return static_cast<int64_t>(sums.LiveBlocks() - before.LiveBlocks()); }
};

// Orders by live bytes, or by allocated bytes.
std::vector<TableRow> TableRowsOf(const NativeTableFile& table, TableBy by, bool by_live);
// Orders by growth of live bytes since `before`; sites that are gone come last.
void CompareRows(const std::vector<TableRow>& before, std::vector<TableRow>* rows);

// The site of the first block that was written past its end.
std::string OverrunOf(const NativeTableFile& table);

}  // namespace heaprec::tools
