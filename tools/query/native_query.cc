#include "tools/query/native_query.h"

#include <map>
#include <utility>

#include "tools/analysis/health/unavailable.h"

namespace heaprec::tools {
namespace {

LiveQuestion GroupedBy(LiveQuestion question, const Grouping& by) {
  question.by = {by};
  return question;
}

std::vector<Survival> SurvivalOf(const LiveGroup& group) {
  // Steps are the same whatever the recording's length.
  return LifeSteps::OfSeconds(UINT64_MAX / 4).CurveOf(group.seconds);
}

}  // namespace

NativeSurvey::NativeSurvey(const Grouping& by, bool own_frames, LiveQuestion question, CallTree* tree)
    : allocated_(by, own_frames), live_(GroupedBy(std::move(question), by), tree, format::Stream::kNative) {}

void NativeSurvey::Begin(const format::FileHeader& header, std::optional<Grain> chosen_by) {
  allocated_.Begin(chosen_by);
  live_.Begin(header, chosen_by);
  if (std::string refusal = RefusalOfNative(header); !refusal.empty()) refusal_ = std::move(refusal);
}

void NativeSurvey::See(const Sighting& sighting) {
  allocated_.See(sighting);
  live_.See(sighting);
}

void NativeSurvey::End(const Estimator& estimator, double seconds) {
  allocated_.End(estimator);
  live_.End(estimator, seconds);
}

std::vector<NativeSurvey::Row> NativeSurvey::Rows() const {
  std::map<uint32_t, Row> rows;
  for (const GroupTable::Row& row : allocated_.own().Rows()) rows[row.key].allocated = row.figures;
  for (const LiveTable::Row& row : live_.tables().front().rows) {
    Row& into = rows[row.key];
    into.live = FiguresOf(row.group.alive, live_.total(), live_.unit());
    into.growth = Growth::Of(row.group.growth);
    into.survival = SurvivalOf(row.group);
  }
  std::vector<Row> all;
  for (auto& [key, row] : rows) {
    row.key = key;
    all.push_back(row);
  }
  return all;
}

LiveFigures NativeSurvey::AllAlive() const { return FiguresOf(live_.all().alive, live_.total(), live_.unit()); }

Slope NativeSurvey::AllGrowth() const { return Growth::Of(live_.all().growth); }

std::vector<Survival> NativeSurvey::AllSurvival() const { return SurvivalOf(live_.all()); }

}  // namespace heaprec::tools
