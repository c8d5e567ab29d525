#include "tools/fleet/answers/questions.h"

#include <fmt/format.h>

#include <ctime>
#include <functional>
#include <map>

#include "tools/fleet/answers/answers.h"
#include "tools/fleet/answers/fleet_time.h"
#include "tools/fleet/answers/reports.h"

namespace heaprec::tools::fleet {
namespace {

using Answered = format::Result<render::Report>;

RowGrain GrainOf(const std::string& by) {
  if (by == "class") return RowGrain::kClass;
  return by == "site" ? RowGrain::kSite : RowGrain::kClassAndSite;
}

Answered AnswerServices(const FleetQuestion& of) {
  auto rows = Services(of.selection);
  if (!rows.ok()) return rows.error();
  return ServicesReport(ScopeOf(of.selection), *rows, of.limit);
}

Answered AnswerTop(const FleetQuestion& of) {
  const RowGrain by = GrainOf(of.options.by);
  auto answer = Top(of.source, of.selection, by, of.limit);
  if (!answer.ok()) return answer.error();
  return TopReport(ScopeOf(of.selection), *answer, by);
}

Answered AnswerTimeline(const FleetQuestion& of) {
  uint32_t step = 0;
  if (!of.options.step.empty()) {
    auto length = ParseLength(of.options.step);
    if (!length.ok()) return length.error();
    step = *length;
  }
  auto rows = Timeline(of.source, of.selection, step);
  if (!rows.ok()) return rows.error();
  return TimelineReport(ScopeOf(of.selection), *rows);
}

Answered AnswerDiff(const FleetQuestion& of) {
  const RowGrain by = GrainOf(of.options.by);
  const DiffOptions how{.by = by, .rate = of.options.rate, .min_share = of.options.min_share};
  const auto answer = [&]() -> format::Result<DiffAnswer> {
    if (!of.options.deploy.empty()) {
      auto deploy = ParseFleetTime(of.options.deploy, static_cast<uint32_t>(std::time(nullptr)));
      if (!deploy.ok()) return deploy.error();
      return DiffDeploy(of.source, of.selection, *deploy, how);
    }
    return DiffVersions(of.source, of.selection, of.options.words[0], of.options.words[1], how);
  }();
  if (!answer.ok()) return answer.error();
  return DiffReport(ScopeOf(of.selection), *answer, by, how.rate, of.limit);
}

Answered AnswerOutliers(const FleetQuestion& of) {
  const RowGrain by = GrainOf(of.options.by);
  auto rows = Outliers(of.source, of.selection, by, of.options.min_share, of.options.least_z);
  if (!rows.ok()) return rows.error();
  return OutliersReport(ScopeOf(of.selection), *rows, by, of.options.least_z, of.limit);
}

Answered AnswerLive(const FleetQuestion& of) {
  const RowGrain by = GrainOf(of.options.by);
  auto answer = FleetLive(of.source, of.selection, by, of.limit);
  if (!answer.ok()) return answer.error();
  return LiveReport(*answer, by);
}

Answered AnswerShow(const FleetQuestion& of) {
  auto answer = Show(of.source, of.selection, of.options.words[0]);
  if (!answer.ok()) return answer.error();
  return ShowReport(ScopeOf(of.selection), *answer, of.limit);
}

}  // namespace

std::string QuestionOptions::Objection() const {
  const size_t count = words.size();
  if (what == "diff" && deploy.empty() && count != 2) {
    return "diff needs two versions, or --deploy TIME";
  }
  if (what == "diff" && !deploy.empty() && count != 0) return "diff --deploy TIME needs no versions";
  if (what == "show" && count != 1) return "show needs one site, such as java.util.HashMap.resize";
  if (what != "diff" && what != "show" && count > 0) {
    return fmt::format("{} needs no '{}'", what, words[0]);
  }
  return "";
}

Answered AnswerTo(const FleetQuestion& question) {
  static const std::map<std::string, std::function<Answered(const FleetQuestion&)>> kQuestions{
      {"services", AnswerServices}, {"top", AnswerTop},   {"live", AnswerLive}, {"timeline", AnswerTimeline},
      {"outliers", AnswerOutliers}, {"diff", AnswerDiff}, {"show", AnswerShow}};
  return kQuestions.at(question.options.what)(question);
}

}  // namespace heaprec::tools::fleet
