#include "tools/commands/live_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "tools/analysis/lifecycle_terms.h"
#include "tools/input/program_recording.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

ExitCode Usage(const format::Error& error) {
  Complain(error.message);
  return ExitCode::kUsage;
}

format::Result<std::vector<Grouping>> GroupingsOf(const std::string& text, const std::vector<By>& usual) {
  std::vector<Grouping> groupings;
  if (text.empty()) {
    for (const By by : usual) groupings.emplace_back(by);
    return groupings;
  }
  auto one = Grouping::Parse(text);
  if (!one.ok()) return one.error();
  groupings.push_back(std::move(*one));
  return groupings;
}

std::optional<format::Error> SetTimes(const LivingOptions& options, LiveQuestion* question) {
  FilterOptions times;
  times.from = options.survey.filter.from;
  times.to = options.survey.filter.to;
  auto span = Filter::Parse(times);
  if (!span.ok()) return span.error();
  question->span = std::move(*span);
  if (options.at.empty()) return std::nullopt;
  const auto at = ParseTimePoint(options.at);
  if (!at.ok()) return format::Error{"--at " + at.error().message};
  question->at = *at;
  return std::nullopt;
}

}  // namespace

ExitCode Read(const LivingOptions& options, LiveQuestion question, const std::vector<By>& by, Living* into) {
  auto groupings = GroupingsOf(options.by, by);
  if (!groupings.ok()) return Usage(groupings.error());
  question.by = std::move(*groupings);
  if (const auto wrong = SetTimes(options, &question)) return Usage(*wrong);
  // Objects of all times count: --from and --to say when they are looked at.
  SurveyOptions all_times = options.survey;
  all_times.filter.from.clear();
  all_times.filter.to.clear();
  all_times.fold = question.by.front().by() == By::kMethod;
  auto survey = Survey::Parse(all_times);
  if (!survey.ok()) return Usage(survey.error());
  if (survey->of_exceptions()) return Usage({"--kind exception: exceptions are not tracked; use another kind"});
  const LiveWords words = WordsOf(survey->stream());
  const bool asks_collections = question.survived > 0 || question.promoted != LiveQuestion().promoted;
  if (asks_collections && !words.is_collected) {
    return Usage({fmt::format("--survived: {} are not subject to garbage collection; they live until they are {}",
                              words.things, words.ended)});
  }
  into->survey.emplace(std::move(*survey));
  into->tree.emplace(&into->names, into->survey->TreeOptions());
  into->live.emplace(std::move(question), &*into->tree, into->survey->stream());
  const ExitCode read = into->survey->Run(&*into->tree, &*into->live);
  if (read == ExitCode::kUnreadable || into->live->followed() > 0) return read;
  const bool is_of_heap = into->survey->stream() == format::Stream::kAllocations;
  Complain(options.survey.files.front() + (is_of_heap ? kNoLive : kNoNative));
  return ExitCode::kUnreadable;
}

ExitCode Say(const std::string& report, ExitCode read) {
  Output output(STDOUT_FILENO);
  output.Append(report);
  output.Flush();
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : read;
}

}  // namespace heaprec::tools
