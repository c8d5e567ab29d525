// heaprec flame: writes a flame graph, as an interactive page or as a picture.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "tools/commands/page_output.h"
#include "tools/export/flame_svg.h"
#include "tools/input/stream_traits.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/live/live_query.h"
#include "tools/query/scan/scan.h"
#include "tools/report/page/recording_page.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

constexpr size_t kMaxBoxes = 20'000;  // of a picture, by default

struct FlameOptions {
  PageRequest page;
  PageOutput output;
  std::string at;
  std::optional<uint64_t> survived, min_age_ns;
  std::optional<size_t> limit;
  bool svg = false;
};

ExitCode WritePicture(const PageRequest& page, const PageOutput& to, size_t most_boxes) {
  const auto scan = RecordingScan::Parse(page.scan);
  if (!scan.ok()) return Fail(ExitCode::kUsage, scan.error().message);
  const std::string path = to.PathFor(page, ".svg");
  if (IsOneOf(path, page.scan.files)) return Fail(ExitCode::kCannotWrite, path + ": is the recording itself");
  FlameScan flame(*scan, {.live = page.live,
                          .at = page.at,
                          .survived = page.survived,
                          .least_age_ns = page.least_age_ns,
                          .callers = page.reverse,
                          .classes = !page.no_classes,
                          .bounds = {most_boxes, page.least_share}});
  const ExitCode read = flame.Run();
  if (read == ExitCode::kUnreadable) return read;
  if (page.live && flame.tracked() == 0)
    return Fail(ExitCode::kUnreadable, page.scan.files.front() + TraitsOf(scan->stream()).lifecycle.not_tracked);
  auto file = OutputFile::Open(path, to.force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  flame.scan().PrintTrust();
  const GroupEstimates& all = flame.estimates().front();
  const FlameCaption caption{
      .title = TitleOf(page),
      .headline = page.live ? LiveHeadlineOf(all, flame.scan(), page.survived) : HeadlineOf(all, flame.scan()),
      .icicle = page.icicle};
  const size_t boxes = AppendFlamePicture(flame, caption, (*file)->output().text());
  if (const auto failed = (*file)->Finish()) return *failed;
  if (path != "-" && !to.quiet) PrintError(fmt::format("{}: {} boxes", path, boxes));
  return read;
}

ExitCode Flame(const FlameOptions& options) {
  PageRequest page = options.page;
  if (!page.live && (!options.at.empty() || options.survived || options.min_age_ns))
    return Fail(ExitCode::kUsage, "--at, --survived and --min-age need --live");
  const auto scan = RecordingScan::Parse(page.scan);
  if (!scan.ok()) return Fail(ExitCode::kUsage, scan.error().message);
  const auto choice = ParseLiveChoice(options.at, options.survived.value_or(0), page.scan.files, scan->stream());
  if (!choice.ok()) return Fail(ExitCode::kUsage, choice.error().message);
  if (const Status known = CheckSurvivors(choice->survived, page.scan.files); !known)
    return Fail(ExitCode::kUnreadable, known.error().message);
  page.at = choice->at;
  page.survived = choice->survived;
  if (!options.at.empty()) page.live_given = {"--at", options.at};
  if (options.survived) {
    page.live_given.emplace_back("--survived");
    page.live_given.push_back(std::to_string(*options.survived));
  }
  page.least_age_ns = options.min_age_ns.value_or(0);
  page.most_boxes = options.limit.value_or(0);
  return options.svg || options.output.path.ends_with(".svg")
             ? WritePicture(page, options.output, options.limit.value_or(kMaxBoxes))
             : options.output.Write(page);
}

}  // namespace

Command FlameCommand() {
  auto options = std::make_shared<FlameOptions>();
  PageRequest& page = options->page;
  page.OpenAsFlameGraph();
  Command command("flame", "Write a flame graph: HTML page or SVG");
  command
      .AddOption("-o,--output", options->output.path,
                 "Output file: a page, or a picture if it ends in .svg; - is standard output (default: the "
                 "recording's name with .html, or .svg with --svg)")
      .Value("OUT");
  command.AddFlag("-f,--force", options->output.force, "Overwrite the output file if it exists");
  command.AddFlag("-q,--quiet", options->output.quiet, "Do not print the name of the output file");
  command.AddFlag("--svg", options->svg, "Write a static SVG picture instead of an HTML page");
  command.AddFlag("--callers,--reverse", page.reverse, "Open with callers first (reversed stacks)");
  command.AddFlag("--icicle", page.icicle, "Draw the root at the top");
  command.AddFlag("--no-classes", page.no_classes, "Leave out the allocated class at the end of each stack");
  command.AddFlag("--live", page.live, "Show live objects instead of all allocations");
  command
      .AddOption("--at", options->at,
                 "Time at which objects must be live, or peak: when the heap was fullest after a collection (default: "
                 "the end)")
      .Value("TIME");
  command.AddOption("--survived", options->survived, "Show objects that survived at least N collections").Value("N");
  command.AddDuration("--min-age", options->min_age_ns, "Show objects that are at least this old, such as 10s");
  command.AddOption("--title", page.title, "Title of the graph (default: the recording's name)").Value("TEXT");
  command
      .AddOption("--limit", options->limit,
                 "Maximum number of boxes; a picture merges smaller ones (default: 20000), a page omits them")
      .Value("N")
      .Positive();
  command.AddPercent("--min-share", page.least_share,
                     "Merge or omit boxes below this share of the bytes, such as 0.1%");
  page.scan.AddTo(command);
  command.footer = R"(Examples:
  heaprec flame app.hrec -o flame.html
  heaprec flame --from 10s --to 20s --thread worker app.hrec -o -  > worker.html
  heaprec flame --reverse --class 'byte[]' app.hrec -o bytes.html
  heaprec flame --live --min-age 30s app.hrec -o live.html
  heaprec flame --live --at peak app.hrec -o peak.html
  heaprec flame --min-share 0.5% app.hrec -o flame.svg)";
  command.run = [options](const auto&) { return Flame(*options); };
  return command;
}

}  // namespace heaprec::tools
