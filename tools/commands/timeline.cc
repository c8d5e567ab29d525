// heaprec timeline: shows allocation over time, with the sampler's state and the heap.
#include <unistd.h>

#include <memory>
#include <optional>

#include "tools/commands/page_output.h"
#include "tools/export/timeline_svg.h"
#include "tools/options/command.h"
#include "tools/query/allocations/timeline_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/print.h"
#include "tools/render/renderers.h"
#include "tools/render/value_format.h"
#include "tools/report/columns/group_columns.h"
#include "tools/report/estimates/reports.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {
namespace {

struct TimelineOptions {
  ScanOptions scan;
  std::string by, svg, html;
  size_t limit = 5, steps = 0;
  bool force = false;
  render::OutputOptions output;
};

constexpr size_t kStepsOfPictures = 240;

bool IsPicture(const TimelineOptions& options) { return !options.svg.empty() || !options.html.empty(); }

// Writes the page, with the steps as a tab.
ExitCode WriteView(const TimelineOptions& options, const render::Report& steps) {
  PageRequest request;
  request.scan = options.scan;
  request.said = true;
  request.view = request.tab = "timeline";
  request.report = render::HtmlBody(steps, /*wide=*/true);
  const ExitCode code = PageOutput{options.html, options.force, /*quiet=*/true}.Write(request);
  return code == ExitCode::kDamaged ? ExitCode::kOk : code;
}

ExitCode Write(const TimelineOptions& options, const RecordingScan& scan, const Timeline& timeline) {
  const std::string title = render::FormatLine(HeadlineOf(scan).front(), true);
  ExitCode code = ExitCode::kOk;
  if (!options.svg.empty()) code = WriteFile(options.svg, options.force, SvgOf(timeline, title));
  if (code == ExitCode::kOk && !options.html.empty()) code = WriteView(options, TimelineReport(scan, timeline));
  if (IsPicture(options) && options.output.form() == render::Form::kText) {
    scan.PrintTrust();
    return code;
  }
  return code != ExitCode::kOk ? code : Print(TimelineReport(scan, timeline), options.output);
}

// At most one document may go to standard output, and none may overwrite a recording.
std::optional<ExitCode> Objection(const TimelineOptions& options) {
  if ((options.svg == "-") + (options.html == "-") + (options.output.form() != render::Form::kText) > 1) {
    return Fail(ExitCode::kUsage, "only one of --svg, --html and --format can use standard output");
  }
  for (const std::string& path : {options.svg, options.html}) {
    if (IsOneOf(path, options.scan.files)) return Fail(ExitCode::kCannotWrite, path + ": is the recording itself");
  }
  return {};
}

ExitCode ShowTimeline(const TimelineOptions& options) {
  if (const auto objection = Objection(options)) return *objection;
  std::optional<Grouping> by;
  if (!options.by.empty()) {
    auto parsed = Grouping::Parse(options.by);
    if (!parsed.ok()) return Fail(ExitCode::kUsage, parsed.error().message);
    by = std::move(*parsed);
  }
  auto scan = RecordingScan::Parse(options.scan);
  if (!scan.ok()) return Fail(ExitCode::kUsage, scan.error().message);
  const bool is_text = options.output.form() == render::Form::kText && !IsPicture(options);
  const size_t usual = is_text ? StepsWithin(Terminal::Of(STDOUT_FILENO).width) : kStepsOfPictures;
  Timeline timeline;
  const ExitCode read = ReadTimeline(by, options.limit, options.steps > 0 ? options.steps : usual, &*scan, &timeline);
  if (read == ExitCode::kUnreadable) return read;
  const ExitCode written = Write(options, *scan, timeline);
  return written != ExitCode::kOk ? written : read;
}

}  // namespace

Command TimelineCommand() {
  auto options = std::make_shared<TimelineOptions>();
  Command command("timeline", "Show allocation, heap and collections over time");
  command.AddOption("--by", options->by, "Add a row for each of the largest groups of this kind")
      .Value("KEY")
      .OneOf(Grouping::Words());
  command.AddOption("--limit", options->limit, "Maximum number of such rows (default: 5)").Value("N");
  command
      .AddOption("--steps", options->steps, "Maximum number of time steps (default: terminal width; 240 in pictures)")
      .Value("N");
  command.AddOption("--svg", options->svg, "Write an SVG picture; - is standard output").Value("FILE");
  command.AddOption("--html", options->html, "Write the report page, opened with its timeline; - is standard output")
      .Value("FILE");
  command.AddFlag("-f,--force", options->force, "Overwrite the output file if it exists");
  options->output.AddTo(command);
  options->scan.AddTo(command);
  command.footer = R"(Examples:
  heaprec timeline app.hrec
  heaprec timeline --by class --limit 8 --from 1m --to 2m app.hrec
  heaprec timeline --by thread --html timeline.html app.hrec
  heaprec timeline --json app.hrec | jq '.steps[].bytes_per_second.value')";
  command.run = [options](const auto&) { return ShowTimeline(*options); };
  return command;
}

}  // namespace heaprec::tools
