// Native memory of recordings in groups: what was allocated, what of it is alive, how that grows.
//
// Threads:  one.
#pragma once

#include <string>
#include <vector>

#include "tools/query/allocations/group_query.h"
#include "tools/query/live/live_query.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {

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
  const LiveVisitor& live() const { return live_; }

 private:
  Groups allocated_;
  LiveVisitor live_;
  std::string refusal_;
};

}  // namespace heaprec::tools
