#include "tools/commands/page_output.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "tools/options/command.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

// Writes a page with the verdicts of diff.
ExitCode Compare(const PageRequest& asked, const PageOutput& output) {
  ExitCode read = ExitCode::kOk;
  const auto page = ComparisonPage(asked, &read);
  if (!page.ok() && !page.error().message.empty()) PrintError(page.error().message);
  if (!page.ok()) return read;
  const ExitCode written = output.Write(*page);
  return written == ExitCode::kOk ? read : written;
}

}  // namespace

std::string PageOutput::PathFor(const PageRequest& request, const char* extension) const {
  if (!path.empty()) return path;
  const std::string& first = request.scan.files.front();
  const std::string name = request.view.empty() ? "report" : request.view;
  return (first == "-" ? name : std::filesystem::path(first).stem().string()) + extension;
}

ExitCode PageOutput::Write(const PageRequest& request) const {
  const std::string to = PathFor(request);
  std::vector<std::string> files = request.scan.files;
  if (request.other) files.insert(files.end(), request.other->files.begin(), request.other->files.end());
  if (to.ends_with(".svg"))
    return Fail(ExitCode::kUsage, to + ": the report is an HTML page; heaprec flame and timeline --svg write pictures");
  if (IsOneOf(to, files)) return Fail(ExitCode::kCannotWrite, to + ": is the recording itself");
  const RecordingPage page = MakePage(request);
  if (!page.error.empty()) PrintError(page.error);
  if (page.has_failed()) return page.code;
  const ExitCode written = WriteFile(to, force, page.html);
  if (written != ExitCode::kOk) return written;
  if (to != "-" && !quiet) {
    const std::string all = page.shown < page.samples ? ", reduced from " + Grouped(page.samples) : "";
    PrintError(fmt::format("{}: {}, {}{}", to, Bytes(static_cast<double>(page.html.size())),
                           CountOf(page.shown, "sample"), all));
  }
  return page.code;
}

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
  command.AddFlag("-f,--force", output->force, "Overwrite the output file if it exists");
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
