// heaprec report: a recording, or two, as one HTML page to explore.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/commands/pages.h"
#include "tools/export/inputs.h"
#include "tools/export/output_file.h"
#include "tools/export/page/report_data.h"
#include "tools/export/page/report_html.h"
#include "tools/input/loss_summary.h"
#include "tools/input/program_recording.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/query/sample_columns.h"
#include "tools/report/page_facts.h"
#include "tools/report/page_tabs.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

// Samples of a page unless told otherwise: it stays below 10 MB, and answers each click at once.
constexpr size_t kMaxSamples = 300'000;

struct ReportOptions {
  std::vector<std::string> files;
  std::string output, title, own;
  size_t max_samples = kMaxSamples;
  bool force = false, no_census = false, quiet = false;
};

ExitCode Fail(ExitCode code, std::string_view sentence) {
  PrintError(sentence);
  return code;
}

std::string BaseName(const std::string& path) {
  return path == "-" ? "standard input" : ToUtf8(std::filesystem::path(path).filename().string());
}

// rec.hrec: rec.html in the working directory.
std::string OutputOf(const ReportOptions& options) {
  if (!options.output.empty()) return options.output;
  const std::string& first = options.files.front();
  return first == "-" ? "report.html" : std::filesystem::path(first).stem().string() + ".html";
}

// One recording as data of the page.
struct Part {
  std::string data;
  size_t shown = 0;
  uint64_t samples = 0;
  ExitCode code = ExitCode::kOk;
};

Part ReadPart(const std::string& path, const ReportOptions& options, bool with_tabs) {
  Part part;
  auto recordings = Recording::OpenAll(path);
  if (!recordings.ok()) {
    part.code = Fail(ExitCode::kUnreadable, recordings.error().message);
    return part;
  }
  Recording& recording = *recordings->front();
  if (MainStream(recording.header()) != format::Stream::kAllocations) {
    part.code = Fail(ExitCode::kUnreadable, recording.source().name() + kNoHeap);
    return part;
  }
  if (recordings->size() > 1) {
    PrintError(fmt::format("{}: holds {} recordings; the report shows the first", path, recordings->size()));
  }
  const SampleColumns columns = ReadSampleColumns(&recording, options.max_samples, !options.no_census);
  part.code = ReportDamage(recording);
  nlohmann::json facts = PageFacts(recording, !options.no_census);
  facts["file"] = BaseName(path);
  facts["own"] = ToUtf8(options.own);
  if (with_tabs) facts["tabs"] = PageTabs(path, recording.header());
  part.data = ReportData(columns, std::move(facts));
  part.shown = columns.second.size();
  part.samples = columns.samples;
  return part;
}

ExitCode WritePage(const std::string& path, bool force, const std::string& text) {
  auto file = OutputFile::Open(path, force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  Output output((*file)->descriptor());
  output.Append(text);
  output.Flush();
  const ExitCode written = output.Report(path == "-" ? "standard output" : path);
  if (written != ExitCode::kOk || output.failed()) return written;
  if (const auto error = (*file)->Commit()) return Fail(ExitCode::kCannotWrite, error->message);
  return ExitCode::kOk;
}

void SayWhere(const std::string& path, size_t bytes, const Part& part) {
  std::string text = fmt::format("{}: {}, {} samples", path, Bytes(static_cast<double>(bytes)), Grouped(part.shown));
  if (part.shown < part.samples) text += fmt::format(", reduced from {}", Grouped(part.samples));
  PrintError(text);
}

ExitCode Report(const ReportOptions& options) {
  if (options.files.size() > 2) return Fail(ExitCode::kUsage, "report takes one recording, or two to compare");
  if (options.max_samples == 0) return Fail(ExitCode::kUsage, "--max-samples must be at least 1");
  const std::string output = OutputOf(options);
  if (IsOneOf(output, options.files)) return Fail(ExitCode::kCannotWrite, output + ": is the recording itself");
  ReportPage page;
  page.title = options.title.empty() ? BaseName(options.files.front()) : ToUtf8(options.title);
  ExitCode code = ExitCode::kOk;
  const Part first = ReadPart(options.files.front(), options, /*with_tabs=*/true);
  if (first.code == ExitCode::kUnreadable) return first.code;
  if (first.code != ExitCode::kOk) code = first.code;
  page.data = first.data;
  if (options.files.size() > 1) {
    const Part other = ReadPart(options.files.back(), options, /*with_tabs=*/false);
    if (other.code == ExitCode::kUnreadable) return other.code;
    if (other.code != ExitCode::kOk) code = other.code;
    page.other_data = other.data;
  }
  const std::string html = ReportHtml(page);
  const ExitCode written = WritePage(output, options.force, html);
  if (written != ExitCode::kOk) return written;
  if (output != "-" && !options.quiet) SayWhere(output, html.size(), first);
  return code;
}

}  // namespace

ExitCode WriteReportPage(const PageRequest& request) {
  ReportOptions options;
  options.files = {request.recording};
  options.output = request.output;
  options.title = request.title;
  options.force = request.force;
  options.quiet = request.quiet;
  return Report(options);
}

Command ReportCommand() {
  auto options = std::make_shared<ReportOptions>();
  Command command("report", "Write an interactive page of one or two recordings");
  command.AddOption("REC", options->files, "Recording to show; a second one is compared with it").Required();
  command.AddOption("-o,--output", options->output, "File to write; - is standard output (default: REC.html)")
      .Value("FILE");
  command.AddOption("--title", options->title, "Title of the page (default: name of the recording)").Value("TEXT");
  command.AddOption("--own", options->own, "Packages of your code, separated by commas (default: detected)")
      .Value("PACKAGE");
  command.AddOption("--max-samples", options->max_samples, "Reduce recordings with more samples (default: 300000)")
      .Value("N");
  command.AddFlag("--no-census", options->no_census, "Ignore the census; estimate from samples only");
  command.AddFlag("-f,--force", options->force, "Overwrite FILE if it exists");
  command.AddFlag("-q,--quiet", options->quiet, "Do not print the name and size of FILE");
  command.footer = R"(Examples:
  heaprec report app.hrec
  heaprec report --own com.acme app.hrec -o report.html
  heaprec report before.hrec after.hrec -o change.html)";
  command.run = [options](const auto&) { return Report(*options); };
  return command;
}

}  // namespace heaprec::tools
