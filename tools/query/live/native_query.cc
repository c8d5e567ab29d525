#include "tools/query/live/native_query.h"

#include <map>
#include <utility>

#include "tools/analysis/health/unavailable.h"

namespace heaprec::tools {
namespace {

LiveQuery GroupedBy(LiveQuery question, const Grouping& by) {
  question.by = {by};
  return question;
}

std::vector<Survival> SurvivalOf(const LiveGroup& group) {
  // Steps are the same whatever the recording's length.
  return AgeAxis::InSeconds(UINT64_MAX / 4).CurveOf(group.seconds);
}

}  // namespace

NativeVisitor::NativeVisitor(const Grouping& by, LiveQuery question, CallTree* tree)
    : allocated_(by), live_(GroupedBy(std::move(question), by), tree, format::Stream::kNative) {}

void NativeVisitor::Begin(const format::FileHeader& header) {
  allocated_.Begin();
  live_.Begin(header);
  if (std::string refusal = RefusalOfNative(header); !refusal.empty()) refusal_ = std::move(refusal);
}

void NativeVisitor::Visit(const MatchedBlock& matched_block) {
  allocated_.Visit(matched_block);
  live_.Visit(matched_block);
}

void NativeVisitor::End(const Estimator& estimator, double seconds) {
  allocated_.End(estimator);
  live_.End(estimator, seconds);
}

std::vector<NativeVisitor::Row> NativeVisitor::Rows() const {
  std::map<uint32_t, Row> rows;
  for (const GroupTable::Row& row : allocated_.own().Rows()) rows[row.key].allocated = row.estimates;
  for (const LiveTable::Row& row : live_.tables().front().rows) {
    Row& into = rows[row.key];
    into.live = EstimateGroup(row.group.alive, live_.total(), live_.unit());
    into.growth = Growth::Of(row.group.growth[kWholeTime]);
    into.survival = SurvivalOf(row.group);
  }
  std::vector<Row> all;
  for (auto& [key, row] : rows) {
    row.key = key;
    all.push_back(row);
  }
  return all;
}

LiveEstimates NativeVisitor::AllAlive() const { return EstimateGroup(live_.all().alive, live_.total(), live_.unit()); }

Slope NativeVisitor::AllGrowth() const { return Growth::Of(live_.all().growth[kWholeTime]); }

std::vector<Survival> NativeVisitor::AllSurvival() const { return SurvivalOf(live_.all()); }

}  // namespace heaprec::tools
