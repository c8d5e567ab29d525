// heaprec tree: shows allocations as a tree of callees or callers.
#include <cstdint>
#include <memory>
#include <optional>

#include "tools/options/command.h"
#include "tools/query/allocations/flame_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/print.h"
#include "tools/report/estimates/reports.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

struct TreeOptions {
  ScanOptions scan;
  bool callers = false, unfolded = false;
  uint32_t depth = 0;
  TreeLimits limits;
  render::OutputOptions output;
};

// Nodes a little below the share are boxes, too: the report decides by their estimates.
constexpr double kMargin = 0.99;

ExitCode ShowTree(TreeOptions options) {
  options.scan.fold = !options.unfolded;
  auto scan = RecordingScan::Parse(options.scan);
  if (!scan.ok()) return Fail(ExitCode::kUsage, scan.error().message);
  FlameScan tree(*scan, {.at = {},
                         .callers = options.callers,
                         .classes = false,
                         .bounds = {SIZE_MAX, kMargin * options.limits.min_share, options.depth}});
  const ExitCode read = tree.Run();
  if (read == ExitCode::kUnreadable) return read;
  return Print(TreeReport(tree, options.limits), options.output, read);
}

}  // namespace

Command TreeCommand() {
  auto options = std::make_shared<TreeOptions>();
  Command command("tree", "Show allocations as a tree of callees or callers");
  command.AddFlag("--callers,--reverse", options->callers, "Start at the allocating frames and show their callers");
  command.AddOption("--depth", options->depth, "Maximum depth in frames; 0 = all (default)").Value("N");
  command.AddOption("--limit", options->limits.children, "Maximum children per node; 0 = all (default)").Value("N");
  command.AddPercent("--min-share", options->limits.min_share,
                     "Hide nodes below this share of the total (default: 1%)");
  command.AddFlag("--no-fold", options->unfolded, "Keep recursive calls (default: a method appears once per path)");
  options->output.AddTo(command);
  options->scan.AddShareTo(command);
  options->scan.AddTo(command);
  command.footer = R"(Examples:
  heaprec tree app.hrec
  heaprec tree --callers --class 'char[]' --depth 6 app.hrec
  heaprec tree --focus 'com\.acme\.' --hide '^java\.' --min-share 0.5% app.hrec
  heaprec tree --json app.hrec | jq '.children[].name')";
  command.run = [options](const auto&) { return ShowTree(*options); };
  return command;
}

}  // namespace heaprec::tools
