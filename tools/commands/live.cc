// heaprec live: what is alive, where it came from, how old it is, how it grows; how long objects live; which ones died.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "tools/commands/live_options.h"
#include "tools/input/stream_traits.h"
#include "tools/options/command.h"
#include "tools/report/live/live_report.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

// Rows on a terminal, unless told: of one table, and of each of two.
constexpr size_t kRowsOfOne = 20, kRowsOfTwo = 10;
constexpr size_t kTraces = 200;
constexpr uint64_t kPromoted = 3;

struct LiveOptions {
  LiveCommandOptions common;
  bool csv = false;  // deprecated: --format csv
  std::string sort = "bytes", garbage;
  std::optional<size_t> limit;
  uint64_t survived = 0;
  std::string min_age;
  bool lifetimes = false;
};

// What is wrong with them; empty: nothing.
std::string Objection(const LiveOptions& options) {
  const bool of_garbage = !options.garbage.empty();
  if (options.lifetimes && of_garbage) return "--lifetimes and --garbage exclude each other";
  if (of_garbage && !options.common.by.empty()) return "--garbage shows single objects; remove --by";
  if (options.lifetimes && options.common.by == "method")
    return "--lifetimes does not support --by method; use --by site";
  return {};
}

ExitCode ShowLive(LiveOptions options) {
  if (options.csv) options.common.output.format = "csv";
  if (const std::string objection = Objection(options); !objection.empty()) return Fail(ExitCode::kUsage, objection);
  const bool of_garbage = !options.garbage.empty();
  LiveQuery question;
  if (!options.min_age.empty()) {
    const auto age = ParseDuration(options.min_age);
    if (!age.ok()) return Fail(ExitCode::kUsage, "--min-age " + age.error().message);
    question.least_age_ns = *age;
  }
  question.survived = options.lifetimes ? 0 : options.survived;
  question.grown = std::max<uint64_t>(1, options.survived);
  question.promoted = options.survived > 0 ? options.survived : kPromoted;
  question.lifetimes = options.lifetimes;
  question.garbage = of_garbage ? kTraces : 0;
  const std::vector<By> usual =
      of_garbage ? std::vector<By>{By::kClass, By::kThread, By::kStack} : std::vector<By>{By::kClass, By::kSite};
  LiveScan living;
  const ExitCode read = Read(options.common, std::move(question), usual, &living);
  if (read == ExitCode::kUsage || read == ExitCode::kUnreadable) return read;
  if (options.sort == "survived" && !TraitsOf(living.live->stream()).lifecycle.is_collected) {
    PrintError(fmt::format("--sort survived: {} are not subject to garbage collection",
                           TraitsOf(living.live->stream()).lifecycle.things));
    return ExitCode::kUsage;
  }
  const bool has_one_table = of_garbage || living.live->tables().size() == 1;
  const size_t limit = !options.common.output.is_for_people() ? 0 : has_one_table ? kRowsOfOne : kRowsOfTwo;
  const LiveAnswer answer{*living.scan, *living.live, *living.tree, {options.sort, options.limit.value_or(limit)}};
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
      .AddOption("--at", options->common.at, "Time to show: an offset (10s), ISO 8601 or epoch ns (default: the end)")
      .Value("TIME");
  command.AddOption("--by", options->common.by, "Group rows by this key (default: one table by class and one by site)")
      .Value("KEY")
      .OneOf(Grouping::Words());
  command
      .AddOption("--survived", options->survived,
                 "Count objects that survived at least N collections; with --lifetimes: collections until an object "
                 "counts as promoted (default: 3)")
      .Value("N");
  command.AddOption("--min-age", options->min_age, "Count objects that are at least this old, such as 10s")
      .Value("DURATION");
  command.AddOption("--sort", options->sort, "Sort by bytes (default), objects, growth, age, survived, samples or name")
      .Value("COLUMN")
      .OneOf(LiveSortKeys());
  command
      .AddOption("--limit", options->limit,
                 "Maximum rows; 0 = all (default: 20, or 10 per table; --json and --csv: all)")
      .Value("N");
  command.AddFlag("--lifetimes", options->lifetimes,
                  "Show lifetimes: medians, objects that die young, survival curves");
  command
      .AddOption("--garbage", options->garbage,
                 "Show objects that died: recent (the last 200) or sample (200 at random)")
      .Value("WHICH")
      .OneOf({"recent", "sample"});
  options->common.output.AddTo(command);
  command.AddFlag("--csv", options->csv, "Deprecated: --format csv");
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
