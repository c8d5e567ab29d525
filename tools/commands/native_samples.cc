#include "tools/commands/native_samples.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "tools/analysis/health/unavailable.h"
#include "tools/commands/mapping_totals.h"
#include "tools/commands/native_categories.h"
#include "tools/input/program_recording.h"
#include "tools/input/recording.h"
#include "tools/query/native_query.h"
#include "tools/query/scan.h"
#include "tools/report/native_report.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

constexpr char kRecordingMagic[] = "\x89HRFILE\n";

Grouping GroupingOf(const NativeQuestion& question) {
  const bool shows_stacks = question.by == By::kSite && question.callers > 0;
  return Grouping(shows_stacks ? By::kStack : question.by);
}

// Behind a file's name: why native memory was sampled in none of its recordings; empty: it was in one, or the file
// cannot be read.
std::string WhyNone(const std::string& path) {
  const auto recordings = Recording::OpenAll(path);
  if (!recordings.ok()) return "";
  std::string refused;
  for (const auto& recording : *recordings) {
    if (recording->header().native_bound > 0) return "";
    refused = RefusalOfNative(recording->header());
  }
  return refused.empty() ? kNoNative : ": " + refused;
}

bool WantsSamples(const NativeQuestion& question) {
  return question.by != By::kSite || question.callers > 0 || question.least_age_ns > 0;
}

ExitCode Print(const std::string& report, ExitCode read) {
  Output output(STDOUT_FILENO);
  output.Append(report);
  output.Flush();
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : read;
}

ExitCode ShowSamples(const NativeQuestion& question) {
  SurveyOptions options;
  options.files = {question.file};
  options.filter.kinds = {"native"};
  auto survey = Survey::Parse(options);
  if (!survey.ok()) {
    Complain(survey.error().message);
    return ExitCode::kUsage;
  }
  LiveQuestion of_live;
  of_live.least_age_ns = question.least_age_ns;
  of_live.lifetimes = question.least_age_ns > 0;
  NamePool names;
  CallTree tree(&names, survey->TreeOptions());
  NativeSurvey native(GroupingOf(question), /*own_frames=*/false, std::move(of_live), &tree);
  const ExitCode read = survey->Run(&tree, &native);
  if (read == ExitCode::kUnreadable) return read;
  if (native.live().followed() == 0) {
    Complain(question.file + (native.refusal().empty() ? kNoNative : ": " + native.refusal()));
    return ExitCode::kUnreadable;
  }
  const NativeReport report{
      *survey, native, tree, question.by_live, question.limit, question.callers, question.least_age_ns};
  // What is asked for leaks is not asked for what was mapped; and standard input is read once.
  std::optional<MappedAnswer> mapped;
  if (question.least_age_ns == 0 && question.file != "-") {
    mapped = AskForMapped({question.file, GroupingOf(question), question.limit, question.callers});
  }
  if (question.json) return Print(NativeJson(report, mapped ? mapped->json : nlohmann::json()), read);
  return Print(NativeText(report) + (mapped ? mapped->text : ""), read);
}

}  // namespace

bool IsRecording(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(path == "-" ? nullptr : std::fopen(path.c_str(), "rbe"),
                                                   std::fclose);
  char magic[sizeof kRecordingMagic - 1] = {};
  return path == "-" || (file != nullptr && std::fread(magic, 1, sizeof magic, file.get()) == sizeof magic &&
                         std::memcmp(magic, kRecordingMagic, sizeof magic) == 0);
}

ExitCode ShowNativeRecording(const NativeQuestion& question) {
  // Standard input is read once.
  const std::string why_none = question.file == "-" ? "" : WhyNone(question.file);
  if (!why_none.empty() && WantsSamples(question)) {
    Complain(question.file + why_none);
    return ExitCode::kUnreadable;
  }
  if (!why_none.empty()) return ShowMemory({question.file, question.limit, question.json, why_none});
  return ShowSamples(question);
}

}  // namespace heaprec::tools
