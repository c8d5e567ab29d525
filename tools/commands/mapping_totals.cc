#include "tools/commands/mapping_totals.h"

#include "tools/query/mapping_query.h"
#include "tools/query/scan.h"
#include "tools/report/mapping_report.h"

namespace heaprec::tools {

std::optional<MappedAnswer> AskForMapped(const MappedQuestion& question) {
  SurveyOptions options;
  options.files = {question.file};
  options.filter.kinds = {"mapped"};
  auto survey = Survey::Parse(options);
  if (!survey.ok()) return std::nullopt;
  survey->BeQuiet();  // the pass before has said what is damaged
  NamePool names;
  CallTree tree(&names, survey->TreeOptions());
  MappedSurvey mapped(question.by, {}, &tree);
  if (survey->Run(&tree, &mapped) == ExitCode::kUnreadable || !mapped.has_any()) return std::nullopt;
  const MappedReport report{*survey, mapped, tree, question.limit, question.callers};
  return MappedAnswer{MappedText(report), MappedAsJson(report)};
}

}  // namespace heaprec::tools
