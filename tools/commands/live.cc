// heaprec live: shows live objects, their sites, ages and growth; how long objects live; and dead ones.
// heaprec leaks: finds sites whose live bytes keep growing.
// heaprec paths: shows what holds live objects.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/input/stream_traits.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/live/live_query.h"
#include "tools/query/live/path_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/print.h"
#include "tools/report/estimates/reports.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

struct LiveCommandOptions {
  ScanOptions scan;
  std::string at, by;
  std::optional<uint64_t> survived;
  render::OutputOptions output;
};

// The result of reading: everything that a report needs.
struct LiveScan {
  NamePool names;
  std::optional<RecordingScan> scan;
  std::optional<CallTree> tree;
  std::unique_ptr<LiveVisitor> live;
};

using MakeVisitor = std::function<std::unique_ptr<LiveVisitor>(LiveQuery question, CallTree* tree)>;

ExitCode Usage(const Error& error) { return Fail(ExitCode::kUsage, error.message); }

Status SetSpan(const LiveCommandOptions& options, LiveQuery* question) {
  FilterOptions times;
  times.from = options.scan.filter.from;
  times.to = options.scan.filter.to;
  auto span = Filter::Parse(times);
  if (!span.ok()) return span.error();
  question->span = std::move(*span);
  return {};
}

// `question`: without times and groups. `by`: default groups. kUsage, kUnreadable: no report can be made.
ExitCode Read(const LiveCommandOptions& options, LiveQuery question, const std::vector<By>& by, LiveScan* into,
              const MakeVisitor& make = {}) {
  auto groupings = GroupingsOption(options.by, by);
  if (!groupings.ok()) return Usage(groupings.error());
  question.by = std::move(*groupings);
  if (const Status status = SetSpan(options, &question); !status) return Usage(status.error());
  // Reads objects of all times: --from and --to select when live objects are listed.
  ScanOptions all_times = options.scan;
  all_times.filter.from.clear();
  all_times.filter.to.clear();
  all_times.fold = question.by.front().by() == By::kMethod;
  auto scan = RecordingScan::Parse(all_times);
  if (!scan.ok()) return Usage(scan.error());
  const LifecycleTerms words = TraitsOf(scan->stream()).lifecycle;
  if (!words.is_tracked()) return Usage({fmt::format("--kind {}", words.not_tracked)});
  const auto choice = ParseLiveChoice(options.at, options.survived.value_or(0), options.scan.files, scan->stream());
  if (!choice.ok()) return Usage(choice.error());
  question.at = choice->at;
  // With --lifetimes, --survived says what counts as promoted.
  question.survived =
      question.lifetimes ? std::min<uint64_t>(choice->survived, options.at == "peak" ? 1 : 0) : choice->survived;
  into->scan.emplace(std::move(*scan));
  into->names = NamePool(all_times.Naming());
  const ExitCode read = into->scan->Run(&into->names, &into->tree, [&] {
    into->live = make ? make(question, &*into->tree)
                      : std::make_unique<LiveVisitor>(question, &*into->tree, into->scan->stream());
    return into->live.get();
  });
  if (read == ExitCode::kUnreadable || into->live->result().tracked > 0) return read;
  return Fail(ExitCode::kUnreadable, options.scan.files.front() + TraitsOf(into->scan->stream()).lifecycle.not_tracked);
}

// Default number of rows on a terminal: of one table, and of each of two.
constexpr size_t kRowsOfOne = 20, kRowsOfTwo = 10;
constexpr size_t kTraces = 200;
constexpr uint64_t kPromoted = 3;

struct LiveOptions {
  LiveCommandOptions common;
  std::string sort = "bytes", garbage;
  uint64_t min_age_ns = 0;
  bool lifetimes = false;
};

bool IsKey(const std::vector<std::string>& keys, const std::string& key) {
  return std::ranges::find(keys, key) != keys.end();
}

std::vector<std::string> AllSortKeys() {
  std::vector<std::string> keys = LiveSortKeys();
  for (const std::string& key : LifetimeSortKeys()) {
    if (!IsKey(keys, key)) keys.push_back(key);
  }
  return keys;
}

Result<LiveQuery> QuestionOf(const LiveOptions& options) {
  const bool of_garbage = !options.garbage.empty();
  if (options.lifetimes && of_garbage) return Error{"--lifetimes and --garbage exclude each other"};
  if (of_garbage && !options.common.by.empty()) return Error{"--garbage shows single objects; remove --by"};
  if (!IsKey(options.lifetimes ? LifetimeSortKeys() : LiveSortKeys(), options.sort)) {
    return Error{fmt::format("--sort {} {} --lifetimes", options.sort, options.lifetimes ? "excludes" : "needs")};
  }
  if (options.lifetimes && options.common.by == "method")
    return Error{"--lifetimes does not support --by method; use --by site"};
  LiveQuery question;
  question.least_age_ns = options.min_age_ns;
  const uint64_t survived = options.common.survived.value_or(0);
  question.grown = std::max<uint64_t>(1, survived);
  question.promoted = survived > 0 ? survived : kPromoted;
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

constexpr size_t kRows = 20;

struct LeaksOptions {
  LiveCommandOptions common;
  double fdr = 0.05;
  bool all = false;
};

ExitCode ShowLeaks(const LeaksOptions& options) {
  LiveQuery question;
  question.grown = options.common.survived;
  question.leaks = true;
  LiveScan living;
  const GroupPathVisitor* paths = nullptr;
  MakeVisitor make;
  if (options.common.scan.filter.kinds.empty() && options.common.by != "method") {
    make = [&](LiveQuery asked, CallTree* tree) -> std::unique_ptr<LiveVisitor> {
      auto searches = FindPathSearches(options.common.scan.files, std::nullopt, tree->names().merged());
      // Most recordings have none.
      if (!searches.ok()) return std::make_unique<LiveVisitor>(std::move(asked), tree);
      auto made = std::make_unique<GroupPathVisitor>(std::move(asked), std::move(*searches), tree);
      paths = made.get();
      return made;
    };
  }
  const ExitCode read = Read(options.common, std::move(question), {By::kSite}, &living, make);
  if (read == ExitCode::kUsage || read == ExitCode::kUnreadable) return read;
  const LiveAnswer answer{*living.scan, living.live->result(), *living.tree, {}};
  const LeakRanking ranking{options.fdr, options.common.output.Rows(kRows), options.all};
  return render::Print(LeaksReport(answer, ranking, paths), options.common.output, read);
}

struct PathsOptions {
  ScanOptions scan;
  std::string at;
  PathLimits limits;
  render::OutputOptions output;
};

ExitCode ShowPaths(const PathsOptions& options) {
  const auto at = TimeOption("--at", options.at);
  if (!at.ok()) return Usage(at.error());
  if (!options.scan.filter.kinds.empty()) return Fail(ExitCode::kUsage, "--kind: only objects of the heap have paths");
  auto scan = RecordingScan::Parse(options.scan);
  if (!scan.ok()) return Usage(scan.error());
  NamePool names(options.scan.Naming());
  const auto find = [&] { return FindPathSearches(options.scan.files, *at, names.merged()); };
  auto searches = find();
  if (!searches.ok()) return Fail(ExitCode::kUnreadable, searches.error().message);
  std::optional<CallTree> tree;
  std::optional<PathVisitor> paths;
  const ExitCode read = scan->Run(&names, &tree, [&] {
    // If more names are merged than at first, the chains have them, too.
    if (paths) searches = find();
    return &paths.emplace(searches.ok() ? *searches : std::vector<PathSearch>(), &*tree);
  });
  if (read == ExitCode::kUnreadable) return read;
  return render::Print(PathsReport(*scan, *paths, options.limits), options.output, read);
}

}  // namespace

Command LiveCommand() {
  auto options = std::make_shared<LiveOptions>();
  Command command("live", "Show live objects at any time, and lifetimes");
  command
      .AddOption("--at", options->common.at,
                 "Time to show: an offset (10s; -30s = from the end), ISO 8601, 23:27:50, epoch ns, or peak: when the "
                 "heap was fullest after a collection (default: the end)")
      .Value("TIME");
  command.AddOption("--by", options->common.by, "Group rows by this key (default: one table by class and one by site)")
      .Value("KEY")
      .OneOf(Grouping::Words());
  command
      .AddOption("--survived", options->common.survived,
                 "Count objects that survived at least N collections; with --lifetimes: collections until an object "
                 "counts as promoted (default: 3)")
      .Value("N");
  command.AddDuration("--min-age", options->min_age_ns, "Count objects that are at least this old, such as 10s");
  command
      .AddOption("--sort", options->sort,
                 "Sort by bytes (default), objects, growth, age, survived, samples or name; with --lifetimes by bytes "
                 "(default), promoted, gc, samples or name")
      .Value("COLUMN")
      .OneOf(AllSortKeys());
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
  heaprec live --at peak app.hrec
  heaprec live --sort growth --from 1m --by stack app.hrec
  heaprec live --lifetimes --by class app.hrec
  heaprec live --lifetimes --by site --sort promoted --survived 5 app.hrec
  heaprec live --garbage sample --json app.hrec | jq -r '.traces[].class')";
  command.run = [options](const auto&) { return ShowLive(*options); };
  return command;
}

Command LeaksCommand() {
  auto options = std::make_shared<LeaksOptions>();
  Command command("leaks", "Find sites whose live bytes keep growing");
  command.AddOption("--by", options->common.by, "Group by this key (default: site)")
      .Value("KEY")
      .OneOf(Grouping::Words());
  command
      .AddOption("--survived", options->common.survived,
                 "Count objects that survived at least N collections (default: 3, fewer in short recordings)")
      .Value("N");
  command.AddOption("--at", options->common.at, "Time at which live bytes are shown, or peak (default: the end)")
      .Value("TIME");
  command.AddPercent("--fdr", options->fdr, "False discovery rate among reported leaks (default: 5%)");
  command.AddFlag("--all", options->all, "Also show sites whose growth is not significant");
  options->common.output.AddLimitTo(command);
  options->common.output.AddTo(command);
  options->common.scan.AddTo(command);
  command.footer = R"(--from and --to bound the time in which growth is measured; exclude the start-up
of the program.

Examples:
  heaprec leaks app.hrec
  heaprec leaks --from 2m --survived 5 app.hrec
  heaprec leaks --by stack --hide '^java\.' --all app.hrec
  heaprec leaks --json app.hrec | jq -e '.leaks == 0')";
  command.run = [options](const auto&) { return ShowLeaks(*options); };
  return command;
}

Command PathsCommand() {
  auto options = std::make_shared<PathsOptions>();
  Command command("paths", "Show what holds live objects, as paths from roots");
  command.AddOption("--at", options->at, "Show the last search until this time, as in live (default: the last)")
      .Value("TIME");
  command.AddOption("--limit", options->limits.children, "Maximum children per holder; 0 = all (default)").Value("N");
  command.AddPercent("--min-share", options->limits.min_share, "Hide holders of less than this share (default: 1%)");
  options->output.AddTo(command);
  options->scan.AddTo(command);
  command.footer = R"(The recording needs the agent option paths. Shares and bytes are those of the
matching live objects that a path was found for. The PID of a JVM that records
with it searches the heap now. Of several recordings, such as those of the hosts
of a service, there is one tree.

Examples:
  heaprec paths app.hrec
  heaprec paths 12345
  heaprec paths --class 'byte[]' app.hrec
  heaprec paths --site 'com.acme.*' --min-share 5% app.hrec
  heaprec paths hosts/*.hrec
  heaprec paths --json app.hrec | jq '.children[0].steps')";
  command.run = [options](const auto&) { return ShowPaths(*options); };
  return command;
}

}  // namespace heaprec::tools
