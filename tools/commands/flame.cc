// heaprec flame: what allocates, as the page that opens with its flame graph, or as a picture.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "tools/commands/pages.h"
#include "tools/export/flame/flame_builder.h"
#include "tools/export/flame/flame_svg.h"
#include "tools/input/program_recording.h"
#include "tools/input/stream_traits.h"
#include "tools/options/command.h"
#include "tools/query/scan/scan.h"
#include "tools/report/page/flame_header.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/output_file.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

constexpr size_t kMaxBoxes = 20'000;  // of a picture unless told otherwise

struct FlameOptions {
  ScanOptions scan;
  std::string output, title;
  double min_share = 0;
  std::optional<size_t> limit;
  std::string at, min_age;
  bool force = false, svg = false, icicle = false, reverse = false, no_classes = false, quiet = false, live = false;
};

FlameBoxTree ChooseBoxes(const FlameOptions& options, const CallTree& tree, std::span<const double> weights) {
  const FlameBoxTree::Bounds bounds{options.limit.value_or(kMaxBoxes), options.min_share};
  return options.reverse ? FlameBoxTree::Callers(tree, weights, bounds) : FlameBoxTree::Callees(tree, weights, bounds);
}

std::string BaseName(const std::string& path) {
  return path == "-" ? "standard input" : std::filesystem::path(path).filename().string();
}

std::string TitleOf(const FlameOptions& options) {
  if (!options.title.empty()) return ToUtf8(options.title);
  std::string title;
  for (const std::string& file : options.scan.files) title += (title.empty() ? "" : ", ") + ToUtf8(BaseName(file));
  return title;
}

// rec.bin: rec.html in the working directory.
std::string OutputOf(const FlameOptions& options) {
  if (!options.output.empty()) return options.output;
  const std::string& first = options.scan.files.front();
  const std::string stem = first == "-" ? "flame" : std::filesystem::path(first).stem().string();
  return stem + (options.svg ? ".svg" : ".html");
}

FlameGraph Assemble(const FlameOptions& options, const FlameAnswer& answer) {
  FlameGraph graph = MakeFlameGraph(answer);
  graph.title = TitleOf(options);
  graph.headline = options.live ? LiveHeadlineOf(answer.estimates.front(), answer.scan)
                                : HeadlineOf(answer.estimates.front(), answer.scan);
  graph.icicle = options.icicle;
  return graph;
}

ExitCode Write(const FlameOptions& options, const FlameGraph& graph, OutputFile* file, const std::string& path) {
  Output output(file->descriptor());
  AppendFlamePicture(graph, output.text());
  if (const auto failed = file->Finish(&output)) return *failed;
  if (path != "-" && !options.quiet) PrintError(fmt::format("{}: {} boxes", path, graph.boxes.size()));
  return ExitCode::kOk;
}

// The file is opened between the passes: a long second one is not for nothing.
ExitCode WriteAllocated(const FlameOptions& options, const std::string& path, RecordingScan* scan, CallTree* tree,
                        LeafVisitor* leaves) {
  RecordingScan rehearsal = *scan;
  rehearsal.BeQuiet();
  const ExitCode first = rehearsal.Run(tree, leaves);
  if (first == ExitCode::kUnreadable) return first;
  auto file = OutputFile::Open(path, options.force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  FlameBoxTree tree_of_boxes = ChooseBoxes(options, *tree, leaves->weights());
  BoxVisitor boxes(leaves, {&tree_of_boxes});
  const ExitCode read = scan->Run(tree, &boxes);
  if (read == ExitCode::kUnreadable) return read;
  scan->PrintTrust();
  std::vector<GroupEstimates> estimates;
  for (FlameBoxTree::BoxId box = 0; box < tree_of_boxes.boxes().size(); ++box) estimates.push_back(boxes.Of(0, box));
  const FlameAnswer answer{*scan, *tree, *leaves, std::move(tree_of_boxes), std::move(estimates)};
  const ExitCode written = Write(options, Assemble(options, answer), file->get(), path);
  return written != ExitCode::kOk ? written : read;
}

ExitCode WriteLive(const FlameOptions& options, const LiveLeafVisitor::Question& question, const std::string& path,
                   RecordingScan* scan, CallTree* tree, LeafVisitor* leaves) {
  LiveLeafVisitor live(leaves, question);
  const ExitCode read = scan->Run(tree, &live);
  if (read == ExitCode::kUnreadable) return read;
  if (live.tracked() == 0)
    return Fail(ExitCode::kUnreadable, options.scan.files.front() + TraitsOf(scan->stream()).lifecycle.not_tracked);
  auto file = OutputFile::Open(path, options.force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  scan->PrintTrust();
  FlameBoxTree boxes = ChooseBoxes(options, *tree, live.weights());
  std::vector<GroupEstimates> estimates = live.EstimatesOf(boxes);
  const FlameAnswer answer{*scan, *tree, *leaves, std::move(boxes), std::move(estimates)};
  const ExitCode written = Write(options, Assemble(options, answer), file->get(), path);
  return written != ExitCode::kOk ? written : read;
}

// Of --at and --min-age.
format::Result<LiveLeafVisitor::Question> QuestionOf(const FlameOptions& options, format::Stream stream) {
  LiveLeafVisitor::Question question;
  question.stream = stream;
  if (!options.live && !(options.at.empty() && options.min_age.empty())) {
    return format::Error{"--at and --min-age need --live"};
  }
  if (!options.at.empty()) {
    const auto at = ParseTimePoint(options.at);
    if (!at.ok()) return format::Error{"--at " + at.error().message};
    question.at = *at;
  }
  if (!options.min_age.empty()) {
    const auto age = ParseDuration(options.min_age);
    if (!age.ok()) return format::Error{"--min-age " + age.error().message};
    question.least_age_ns = *age;
  }
  return question;
}

ExitCode WritePicture(const FlameOptions& options) {
  auto scan = RecordingScan::Parse(options.scan);
  if (!scan.ok()) return Fail(ExitCode::kUsage, scan.error().message);
  const auto question = QuestionOf(options, scan->stream());
  if (!question.ok()) return Fail(ExitCode::kUsage, question.error().message);
  const std::string path = OutputOf(options);
  if (IsOneOf(path, options.scan.files)) return Fail(ExitCode::kCannotWrite, path + ": is the recording itself");
  NamePool names;
  CallTree tree(&names, scan->TreeOptions());
  LeafVisitor leaves(!options.no_classes);
  return options.live ? WriteLive(options, *question, path, &*scan, &tree, &leaves)
                      : WriteAllocated(options, path, &*scan, &tree, &leaves);
}

// The page, as it shows the same.
ExitCode WriteView(const FlameOptions& options) {
  const auto question = QuestionOf(options, format::Stream::kAllocations);
  if (!question.ok()) return Fail(ExitCode::kUsage, question.error().message);
  PageRequest request;
  request.scan = options.scan;
  request.output = OutputOf(options);
  request.title = options.title;
  request.force = options.force;
  request.quiet = options.quiet;
  request.at = question->at;
  request.view = "flame";
  request.icicle = options.icicle;
  request.reverse = options.reverse;
  request.live = options.live;
  request.least_age_ns = question->least_age_ns;
  request.no_classes = options.no_classes;
  request.least_share = options.min_share;
  request.most_boxes = options.limit.value_or(0);
  return WritePage(request);
}

}  // namespace

ExitCode WriteFlamePage(PageRequest request) {
  request.view = "flame";
  request.icicle = false;
  return WritePage(request);
}

Command FlameCommand() {
  auto options = std::make_shared<FlameOptions>();
  Command command("flame", "Write a flame graph: HTML page or SVG");
  command
      .AddOption("-o,--output", options->output,
                 "Output file; - is standard output (default: the recording's name with .html, or .svg with --svg)")
      .Value("OUT");
  command.AddFlag("-f,--force", options->force, "Overwrite OUT if it exists");
  command.AddFlag("-q,--quiet", options->quiet, "Do not print the name of the output file");
  command.AddFlag("--svg", options->svg, "Write a static SVG picture instead of an HTML page");
  command.AddFlag("--callers,--reverse", options->reverse, "Open with callers first (reversed stacks)");
  command.AddFlag("--icicle", options->icicle, "Draw the root at the top");
  command.AddFlag("--no-classes", options->no_classes, "Leave out the allocated class at the end of each stack");
  command.AddFlag("--live", options->live, "Show live objects instead of all allocations");
  command.AddOption("--at", options->at, "Time at which objects must be live (default: the end)").Value("TIME");
  command.AddOption("--min-age", options->min_age, "Show objects that are at least this old, such as 10s")
      .Value("DURATION");
  command.AddOption("--title", options->title, "Title of the graph (default: the recording's name)").Value("TEXT");
  command
      .AddOption("--limit", options->limit,
                 "Maximum number of boxes; a picture merges smaller ones (default: 20000), a page omits them")
      .Value("N")
      .Positive();
  command.AddPercent("--min-share", options->min_share,
                     "Merge or omit boxes below this share of the bytes, such as 0.1%");
  options->scan.AddTo(command);
  command.footer = R"(Examples:
  heaprec flame app.hrec -o flame.html
  heaprec flame --from 10s --to 20s --thread worker app.hrec -o -  > worker.html
  heaprec flame --reverse --class 'byte[]' app.hrec -o bytes.html
  heaprec flame --live --min-age 30s app.hrec -o live.html
  heaprec flame --svg --min-share 0.5% app.hrec -o flame.svg)";
  command.run = [options](const auto&) { return options->svg ? WritePicture(*options) : WriteView(*options); };
  return command;
}

}  // namespace heaprec::tools
