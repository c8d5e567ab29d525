// heaprec why: shows why a process died, and what to do.
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/input/loss_summary.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/query/live/live_query.h"
#include "tools/query/why/end_facts.h"
#include "tools/query/why/verdict.h"
#include "tools/render/print.h"
#include "tools/render/renderers.h"
#include "tools/report/recording/why_report.h"
#include "tools/text/messages.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {
namespace {

// The screen is that of a terminal of 80x30; its last line is the prompt.
constexpr size_t kScreenLines = 29, kSites = 3;

struct WhyOptions {
  std::vector<std::string> recordings;
  std::string cgroup;
  render::OutputOptions output;
};

// `is_alone`: its file contains no other recording.
render::Group WhyOf(Recording* recording, const WhyOptions& options, const char* name, bool is_alone) {
  EndFactsReader reader(recording->header());
  while (const auto block = recording->Next()) reader.Add(*block);
  EndFacts facts = reader.Finish(*recording);
  const std::string& file = recording->source().name();
  facts.crash = FindCrashReport(file, facts);
  facts.survivor = ReadSurvivor(facts.header, options.cgroup);
  const EndVerdict verdict = EndVerdictOf(facts);
  const std::vector<GrownOwner> grown = GrowthOf(facts);
  std::vector<LiveSite> sites;
  std::vector<LivePart> filled;
  if (is_alone && !facts.heap_full.empty())
    filled = SearchLiveAt(options.recordings.front(), facts.header, facts.heap_full.back().time_ns, kSites);
  if (is_alone) sites = SearchLiveSites(options.recordings.front(), facts.header, kSites);
  const std::vector<NextStep> advice = NextStepsOf(facts, verdict, grown, sites, file);
  const bool is_brief = options.output.form() == render::Form::kText && !options.output.wide;
  render::Group group = WhyReport({facts, verdict, grown, sites, filled, advice, is_brief}, name);
  if (is_brief) render::FitScreen(Terminal::Of(STDOUT_FILENO), kScreenLines, &group);
  return group;
}

ExitCode Explain(const WhyOptions& options) {
  const auto opened = Recording::OpenAll(options.recordings);
  if (!opened.ok()) return Fail(ExitCode::kUnreadable, opened.error().message);
  const auto& recordings = *opened;
  const bool is_one = recordings.size() == 1;
  render::Report report("heaprec.why/1");
  ExitCode read = ExitCode::kOk;
  for (size_t i = 0; i < recordings.size(); ++i) {
    Recording& recording = *recordings[i];
    if (!is_one) report.Add(render::Sentence("# recording " + WhichText(recording.header(), i, recordings.size())));
    report.Add(WhyOf(&recording, options, is_one ? "" : "recordings[]", is_one));
    const ExitCode one = ReportDamage(recording);
    if (one != ExitCode::kOk) read = one;
  }
  return Print(report, options.output, read);
}

}  // namespace

Command WhyCommand() {
  auto options = std::make_shared<WhyOptions>();
  Command command("why", "Show why the process died, and what to do");
  command.AddOption("REC", options->recordings, "Recordings to read; - is standard input").Required();
  command
      .AddOption(
          "--cgroup", options->cgroup,
          "Folder of the process' cgroup on this host, to read whether the kernel killed it (default: that of the "
          "recorded container, if it is here)")
      .Value("DIR");
  options->output.AddTo(command);
  command.footer = R"(A hs_err_pidPID.log in the folder of the recording is read, too.

Examples:
  heaprec why app.hrec
  heaprec why --format markdown app.hrec
  heaprec why --cgroup /sys/fs/cgroup/system.slice/app.service app.hrec
  heaprec why --json app.hrec | jq -r .why.text)";
  command.run = [options](const auto&) { return Explain(*options); };
  return command;
}

}  // namespace heaprec::tools
