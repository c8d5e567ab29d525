// heaprec report: a recording, or two, as one HTML page to explore.
#include <memory>

#include "tools/commands/page_output.h"
#include "tools/options/command.h"
#include "tools/report/compare/reports.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

// With the verdicts of diff.
ExitCode Compare(const PageRequest& asked, const PageOutput& output) {
  DiffOptions question;
  question.scan = asked.scan;
  auto diff = DiffScan::Parse(question);
  if (!diff.ok()) return Fail(ExitCode::kUsage, diff.error().message);
  const ExitCode read = diff->Run();
  if (read == ExitCode::kUnreadable) return read;
  PageRequest page =
      DiffPage(*diff, DiffReport(diff->result(), {diff->before(), ""}, {diff->after(), ""}, DiffRows{}, diff->tree()));
  page.title = asked.title, page.own = asked.own, page.max_samples = asked.max_samples;
  page.view.clear();
  const ExitCode written = output.Write(page);
  return written == ExitCode::kOk ? read : written;
}

}  // namespace

Command ReportCommand() {
  auto request = std::make_shared<PageRequest>();
  auto output = std::make_shared<PageOutput>();
  Command command("report", "Write an interactive page of one or two recordings");
  command.AddOption("REC", request->scan.files, "Recording to show; a second one is compared with it").Required();
  command.AddOption("-o,--output", output->path, "File to write; - is standard output (default: REC.html)")
      .Value("FILE");
  command.AddOption("--title", request->title, "Title of the page (default: name of the recording)").Value("TEXT");
  command.AddOption("--own", request->own, "Packages of your code, separated by commas (default: detected)")
      .Value("PACKAGE");
  command.AddOption("--max-samples", request->max_samples, "Reduce recordings with more samples (default: 300000)")
      .Value("N");
  ScanOptions::AddNamesTo(command, &request->scan.names);
  command.AddFlag("--no-census", request->scan.no_census, "Ignore the census; estimate from samples only");
  request->scan.filter.AddKindTo(command);
  command.AddFlag("-f,--force", output->force, "Overwrite FILE if it exists");
  command.AddFlag("-q,--quiet", output->quiet, "Do not print the name and size of FILE");
  command.footer = R"(Examples:
  heaprec report app.hrec
  heaprec report --own com.acme app.hrec -o report.html
  heaprec report --kind malloc app.hrec
  heaprec report before.hrec after.hrec -o change.html)";
  command.run = [request, output](const auto&) {
    PageRequest asked = *request;
    std::vector<std::string>& files = asked.scan.files;
    if (files.size() > 2) return Fail(ExitCode::kUsage, "report takes one recording, or two to compare");
    if (asked.max_samples == 0) return Fail(ExitCode::kUsage, "--max-samples must be at least 1");
    return files.size() == 2 ? Compare(asked, *output) : output->Write(asked);
  };
  return command;
}

}  // namespace heaprec::tools
