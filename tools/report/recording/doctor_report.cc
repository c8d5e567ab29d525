#include "tools/report/recording/doctor_report.h"

#include <algorithm>

#include "tools/input/loss_summary.h"
#include "tools/text/text.h"

namespace heaprec::tools {

using namespace render;

namespace {

uint64_t CountOf(const std::vector<Finding>& symptoms, Level level) {
  return static_cast<uint64_t>(std::ranges::count(symptoms, level, &Finding::level));
}

// "trustworthy: yes, 2 warnings"
render::Line Verdict(const std::vector<Finding>& symptoms) {
  render::Line line = Sentence("trustworthy: {}", {{"trustworthy", IsTrustworthy(symptoms)}});
  for (const Level level : {Level::kProblem, Level::kWarning, Level::kNote}) {
    const uint64_t count = CountOf(symptoms, level);
    if (count == 0) continue;
    line.text += ", {} " + std::string(LevelName(level)) + (count == 1 ? "" : "s");
    line.fields.push_back({std::string(LevelName(level)) + "_count", count, Unit::kInteger});
  }
  return line;
}

Table Findings(const std::vector<Finding>& symptoms, bool with_ok) {
  const std::vector<Column<Finding>> columns{
      {"level", "level", Unit::kText, Detail::kAlways, [](const Finding& of) { return LevelName(of.level); }},
      {"id", "check", Unit::kText, Detail::kAlways, &Finding::id},
      {"value", "", Unit::kNumber, Detail::kJsonOnly, &Finding::value},
      {"impact", "", Unit::kProse, Detail::kJsonOnly, &Finding::impact},
      {"action", "", Unit::kProse, Detail::kJsonOnly, &Finding::action},
      {"what", "finding", Unit::kProse, Detail::kAlways, &Finding::what}};
  std::vector<Finding> shown;
  std::ranges::copy_if(symptoms, std::back_inserter(shown),
                       [with_ok](const Finding& one) { return with_ok || one.level != Level::kOk; });
  Table table = MakeTable("findings", columns, shown);
  for (size_t i = 0; i < shown.size(); ++i) {
    if (!shown[i].impact.empty()) table.rows[i].below.push_back("impact: " + shown[i].impact);
    if (!shown[i].action.empty()) table.rows[i].below.push_back("action: " + shown[i].action);
  }
  return table;
}

}  // namespace

bool IsTrustworthy(const std::vector<Finding>& symptoms) { return CountOf(symptoms, Level::kProblem) == 0; }

Group DoctorReport(const Recording& recording, const std::vector<Finding>& symptoms, bool is_one_of_many,
                   bool with_ok) {
  Group group{"recordings[]", {}};
  const std::string file = ToUtf8(recording.source().name());
  if (is_one_of_many) group.Add(Sentence("{}: {}", {{"", file}, {"", IdText(recording.header())}}));
  group.Add(Verdict(symptoms));
  group.Add(Hidden({{"file", file}, {"recording", HeaderValue(recording.header())}}));
  group.Add(Findings(symptoms, with_ok));
  return group;
}

}  // namespace heaprec::tools
