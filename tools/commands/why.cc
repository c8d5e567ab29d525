// heaprec why: shows why a process died, and what to do; of several processes, what their ends have in common.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/fleet/rows/slices.h"
#include "tools/input/loss_summary.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/query/summary/headlines.h"
#include "tools/query/why/explanation.h"
#include "tools/render/print.h"
#include "tools/render/renderers.h"
#include "tools/report/recording/why_report.h"
#include "tools/rewrite/recording_editor.h"
#include "tools/text/messages.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {
namespace {

// The screen is that of a terminal of 80x30; its last line is the prompt.
constexpr size_t kScreenLines = 29;

struct WhyOptions {
  std::vector<std::string> recordings;
  std::string cgroup;
  render::OutputOptions output;
};

struct Found {
  std::vector<Explanation> processes;  // in order of their ends
  std::vector<CrashLoopAnswer::Unread> unread;
  ExitCode read = ExitCode::kOk;
};

// A folder may contain copies of a recording: the one that ends last counts.
void Add(Explanation one, Found* found) {
  const auto id_of = [](const Explanation& other) { return other.facts.header.recording_id; };
  const auto other = std::ranges::find(found->processes, id_of(one), id_of);
  if (other == found->processes.end()) {
    found->processes.push_back(std::move(one));
  } else if (other->facts.end_ns < one.facts.end_ns) {
    *other = std::move(one);
  }
}

Found Find(const WhyOptions& options) {
  Found found;
  for (const std::string& word : options.recordings) {
    for (const std::string& file : JoinParts(fleet::RecordingsIn(word))) {
      const auto recordings = Recording::OpenAll(file);
      if (!recordings.ok()) {
        PrintError(recordings.error().message);
        found.unread.push_back({file, recordings.error().message});
        continue;
      }
      for (const auto& recording : *recordings) {
        Add(ExplainEnd(recording.get(), file, recordings->size() == 1, options.cgroup), &found);
        const ExitCode one = ReportDamage(*recording);
        if (one != ExitCode::kOk) found.read = one;
      }
    }
  }
  std::ranges::stable_sort(found.processes, {},
                           [](const Explanation& one) { return one.facts.header.start_epoch_ns + one.facts.end_ns; });
  return found;
}

bool IsBrief(const WhyOptions& options) { return options.output.form() == render::Form::kText && !options.output.wide; }

ExitCode PrintGroup(render::Group group, const WhyOptions& options, ExitCode read) {
  if (IsBrief(options)) render::FitScreen(Terminal::Of(STDOUT_FILENO), kScreenLines, &group);
  render::Report report("heaprec.why/1");
  report.sections = std::move(group.sections);
  return Print(report, options.output, read);
}

ExitCode Compare(const Found& found, const WhyOptions& options, ExitCode read) {
  std::vector<ProcessEnd> ends;
  for (const Explanation& one : found.processes) ends.push_back(EndOf(one));
  const CrashLoop common = CrashLoopOf(ends);
  std::vector<NextStep> advice;
  if (common.typical != nullptr) {
    advice.push_back({"heaprec why " + ShellQuoted(common.typical->file), "the latest of them: its memory, what grew"});
    if (common.cause.ends > 1)
      std::ranges::copy(found.processes[static_cast<size_t>(common.typical - ends.data())].advice,
                        std::back_inserter(advice));
  }
  return PrintGroup(CrashLoopReport({ends, common, found.unread, advice}), options, read);
}

ExitCode Explain(const WhyOptions& options) {
  Found found = Find(options);
  std::error_code error;
  if (found.processes.empty()) {
    return found.unread.empty()
               ? Fail(ExitCode::kUnreadable, options.recordings.front() + ": no recording (*.hrec) in this folder")
               : ExitCode::kUnreadable;
  }
  const bool is_folder = std::filesystem::is_directory(options.recordings.front(), error);
  if (!found.unread.empty() && !is_folder) return ExitCode::kUnreadable;
  const ExitCode read = found.unread.empty() ? found.read : ExitCode::kDamaged;
  if (found.processes.size() > 1) return Compare(found, options, read);
  AddChanges(&found.processes.front());
  return PrintGroup(WhyReport(found.processes.front(), IsBrief(options)), options, read);
}

}  // namespace

Command WhyCommand() {
  auto options = std::make_shared<WhyOptions>();
  Command command("why", "Show why the process died, and what to do");
  command.AddOption("REC", options->recordings, "Recordings, or folders with recordings (*.hrec); - is standard input")
      .Required();
  command
      .AddOption(
          "--cgroup", options->cgroup,
          "Folder of the process' cgroup on this host, to read whether the kernel killed it (default: that of the "
          "recorded container or cgroup, if it is here)")
      .Value("DIR");
  options->output.AddTo(command);
  command.footer = R"(A file hs_err_pidPID.log beside the recording is read, too. If the recordings
are of several processes, such as a container that restarts again and again,
their ends are compared. The parts of a rotated recording are read as one.

Examples:
  heaprec why app.hrec
  heaprec why recordings/
  heaprec why 12345
  heaprec why --format markdown app.hrec
  heaprec why --cgroup /sys/fs/cgroup/system.slice/app.service app.hrec
  heaprec why --json app.hrec | jq -r .why.text)";
  command.run = [options](const auto&) { return Explain(*options); };
  return command;
}

}  // namespace heaprec::tools
