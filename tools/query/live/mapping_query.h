// Mappings of recordings in groups: address space, what of it may be touched, both as they are at the end, and all that
// was mapped.
//
// Threads:  one.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tools/query/allocations/group_query.h"
#include "tools/query/live/live_query.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

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
  bool has_any() const { return alive_.tracked() > 0; }
  uint64_t at_ns() const { return alive_.at_ns(); }

 private:
  using Keeps = bool (*)(std::string_view class_name);
  static void Show(const MatchedBlock& matched_block, Keeps keeps, LiveVisitor* to);

  Groups mapped_;
  LiveVisitor alive_, reserved_, committed_;
};

}  // namespace heaprec::tools
