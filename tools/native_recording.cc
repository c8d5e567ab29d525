#include "tools/native_recording.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "tools/complain.h"
#include "tools/mapped_answer.h"
#include "tools/native_form.h"
#include "tools/native_survey.h"
#include "tools/render/output.h"
#include "tools/survey.h"

namespace heaprec::tools {
namespace {

constexpr char kNoNative[] =
    ": native memory was not sampled; record with native=on: heaprec record --set native=on -- java ..., or native=on "
    "among the agent's options";
constexpr char kRecordingMagic[] = "\x89HRFILE\n";

Grouping GroupingOf(const NativeQuestion& question) {
  const bool shows_stacks = question.by == By::kSite && question.callers > 0;
  return Grouping(shows_stacks ? By::kStack : question.by);
}

ExitCode Print(const std::string& report, ExitCode read) {
  Output output(STDOUT_FILENO);
  output.Append(report);
  output.Flush();
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : read;
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
    Complain(question.file + kNoNative);
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

}  // namespace heaprec::tools
