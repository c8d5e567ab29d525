// Native memory of recordings in groups: what was allocated, what of it is alive, how that grows.
//
// Threads:  one.
#pragma once

#include <string>
#include <vector>

#include "tools/query/group_query.h"
#include "tools/query/live_query.h"
#include "tools/query/scan.h"

namespace heaprec::tools {

class NativeSurvey : public Surveyor {
 public:
  // `question` without its groups.
  NativeSurvey(const Grouping& by, bool own_frames, LiveQuestion question, CallTree* tree);

  Grain finest() const override { return allocated_.finest(); }
  void Begin(const format::FileHeader& header, std::optional<Grain> chosen_by) override;
  void See(const Sighting& sighting) override;
  void End(const Estimator& estimator, double seconds) override;

  struct Row {
    uint32_t key = 0;
    Figures allocated;
    LiveFigures live;
    Slope growth;
    std::vector<Survival> survival;  // by seconds, if the question has lifetimes
  };
  // Of all groups that allocated, or hold, something.
  std::vector<Row> Rows() const;
  LiveFigures AllAlive() const;
  Slope AllGrowth() const;
  std::vector<Survival> AllSurvival() const;

  // Of the recordings, the last that lacks some: RefusalOfNative.
  const std::string& refusal() const { return refusal_; }
  const Grouping& grouping() const { return allocated_.grouping(); }
  const LiveSurvey& live() const { return live_; }

 private:
  Groups allocated_;
  LiveSurvey live_;
  std::string refusal_;
};

}  // namespace heaprec::tools
