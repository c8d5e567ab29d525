// heaprec live: what is alive, where it came from, how old it is, how it grows; how long objects live; which ones died.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "tools/commands/live_options.h"
#include "tools/input/stream_traits.h"
#include "tools/options/command.h"
#include "tools/report/live/reports.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

// Rows on a terminal, unless told: of one table, and of each of two.
constexpr size_t kRowsOfOne = 20, kRowsOfTwo = 10;
constexpr size_t kTraces = 200;
constexpr uint64_t kPromoted = 3;

struct LiveOptions {
  LiveCommandOptions common;
  std::string sort = "bytes", garbage;
  uint64_t survived = 0, min_age_ns = 0;
  bool lifetimes = false;
};

Result<LiveQuery> QuestionOf(const LiveOptions& options) {
  const bool of_garbage = !options.garbage.empty();
  if (options.lifetimes && of_garbage) return Error{"--lifetimes and --garbage exclude each other"};
  if (of_garbage && !options.common.by.empty()) return Error{"--garbage shows single objects; remove --by"};
  if (options.lifetimes && options.common.by == "method")
    return Error{"--lifetimes does not support --by method; use --by site"};
  LiveQuery question;
  question.least_age_ns = options.min_age_ns;
  question.survived = options.lifetimes ? 0 : options.survived;
  question.grown = std::max<uint64_t>(1, options.survived);
  question.promoted = options.survived > 0 ? options.survived : kPromoted;
  question.lifetimes = options.lifetimes;
  question.garbage = of_garbage ? kTraces : 0;
  return question;
}

ExitCode ShowLive(const LiveOptions& options) {
  auto question = QuestionOf(options);
  if (!question.ok()) return Fail(ExitCode::kUsage, question.error().message);
  const bool of_garbage = !options.garbage.empty();
  const std::vector<By> usual =
      of_garbage ? std::vector<By>{By::kClass, By::kThread, By::kStack} : std::vector<By>{By::kClass, By::kSite};
  LiveScan living;
  const ExitCode read = Read(options.common, std::move(*question), usual, &living);
  if (read == ExitCode::kUsage || read == ExitCode::kUnreadable) return read;
  if (options.sort == "survived" && !TraitsOf(living.live->result().stream).lifecycle.is_collected) {
    return Fail(ExitCode::kUsage, fmt::format("--sort survived: {} are not subject to garbage collection",
                                              TraitsOf(living.live->result().stream).lifecycle.things));
  }
  const bool has_one_table = of_garbage || living.live->result().tables.size() == 1;
  const size_t limit = options.common.output.Rows(has_one_table ? kRowsOfOne : kRowsOfTwo);
  const LiveAnswer answer{*living.scan, living.live->result(), *living.tree, {options.sort, limit}};
  if (options.common.output.form() == render::Form::kCsv) living.scan->PrintTrust();
  return render::Print(of_garbage          ? GarbageReport(answer, options.garbage == "recent")
                       : options.lifetimes ? LifetimesReport(answer)
                                           : LiveObjectsReport(answer),
                       options.common.output, read);
}

}  // namespace

Command LiveCommand() {
  auto options = std::make_shared<LiveOptions>();
  Command command("live", "Show live objects at any time, and lifetimes");
  command
      .AddOption(
          "--at", options->common.at,
          "Time to show: an offset (10s; -30s = from the end), ISO 8601, 23:27:50 or epoch ns (default: the end)")
      .Value("TIME");
  command.AddOption("--by", options->common.by, "Group rows by this key (default: one table by class and one by site)")
      .Value("KEY")
      .OneOf(Grouping::Words());
  command
      .AddOption("--survived", options->survived,
                 "Count objects that survived at least N collections; with --lifetimes: collections until an object "
                 "counts as promoted (default: 3)")
      .Value("N");
  command.AddDuration("--min-age", options->min_age_ns, "Count objects that are at least this old, such as 10s");
  command.AddOption("--sort", options->sort, "Sort by bytes (default), objects, growth, age, survived, samples or name")
      .Value("COLUMN")
      .OneOf(LiveSortKeys());
  options->common.output.AddLimitTo(command, "Maximum rows; 0 = all (default: 20, or 10 per table; json and csv: all)");
  command.AddFlag("--lifetimes", options->lifetimes,
                  "Show lifetimes: medians, objects that die young, survival curves");
  command
      .AddOption("--garbage", options->garbage,
                 "Show objects that died: recent (the last 200) or sample (200 at random)")
      .Value("WHICH")
      .OneOf({"recent", "sample"});
  options->common.output.AddTo(command);
  options->common.scan.AddTo(command);
  command.footer =
      R"(--from and --to bound the time for growth, births and deaths; they do not limit
which objects can be live.

Examples:
  heaprec live app.hrec
  heaprec live --at 30s --by site --survived 3 app.hrec
  heaprec live --sort growth --from 1m --by stack app.hrec
  heaprec live --lifetimes --by class app.hrec
  heaprec live --garbage sample --json app.hrec | jq -r '.traces[].class')";
  command.run = [options](const auto&) { return ShowLive(*options); };
  return command;
}

}  // namespace heaprec::tools
