// heaprec top: ranks classes, sites, methods, threads, ... by bytes.
#include <filesystem>
#include <memory>
#include <optional>

#include "tools/options/command.h"
#include "tools/query/allocations/group_query.h"
#include "tools/query/filter/event_filter.h"
#include "tools/render/print.h"
#include "tools/report/estimates/reports.h"
#include "tools/screen/live_session.h"
#include "tools/text/messages.h"

namespace heaprec::tools {
namespace {

// Default number of rows: of one table, of each of two, and with --follow.
constexpr size_t kRowsOfOne = 20, kRowsOfTwo = 10, kRowsFollowed = 500;

struct TopOptions {
  ScanOptions scan;
  std::string by;
  Ranking ranking;
  render::OutputOptions output;
  bool follow = false;
};

// Returns the requested groupings, or classes and sites.
Result<std::vector<Grouping>> GroupingsOf(const TopOptions& options) {
  auto groupings = GroupingsOption(options.by, {By::kClass, By::kSite});
  if (groupings.ok() && !options.ranking.sources.empty() && groupings->back().by() != By::kSite)
    return Error{"--sources needs --by site: other rows have no line"};
  for (const std::string& folder : options.ranking.sources) {
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) return Error{"--sources " + folder + ": is not a folder"};
  }
  if (!groupings.ok() || options.by.empty()) return groupings;
  if (options.ranking.sort == "cumulative" && groupings->front().by() != By::kMethod) {
    return Error{"--sort cumulative needs --by method: other tables have no cumulative column"};
  }
  return groupings;
}

ExitCode Usage(const Error& error) { return Fail(ExitCode::kUsage, error.message); }

// Shows one table, of sites by default.
ExitCode FollowWith(const TopOptions& options, Grouping grouping) {
  if (options.scan.files.size() != 1) return Usage({"--follow shows one JVM, or one recording"});
  if (!options.ranking.sources.empty()) return Usage({"--follow has no source lines"});
  if (options.ranking.sort == "cumulative") return Usage({"--follow has no cumulative column"});
  if (options.output.form() != render::Form::kText) return Usage({"--follow shows text only"});
  FollowOptions follow{.question = {.scan = options.scan, .grouping = std::move(grouping), .opened = {}},
                       .ranking = options.ranking};
  follow.ranking.limit = options.output.limit.value_or(kRowsFollowed);
  return FollowLive(follow);
}

ExitCode Top(TopOptions options) {
  auto groupings = GroupingsOf(options);
  if (!groupings.ok()) return Usage(groupings.error());
  if (options.follow) return FollowWith(options, groupings->back());
  options.scan.lines |= !options.ranking.sources.empty();
  options.scan.fold = groupings->front().by() == By::kMethod;
  auto scan = RecordingScan::Parse(options.scan);
  if (!scan.ok()) return Usage(scan.error());
  options.ranking.limit = options.output.Rows(groupings->size() > 1 ? kRowsOfTwo : kRowsOfOne);

  NamePool names(options.scan.Naming());
  std::optional<CallTree> tree;
  std::optional<GroupsScan> groups;
  const ExitCode read = scan->Run(&names, &tree, [&] { return &groups.emplace(*groupings); });
  if (read == ExitCode::kUnreadable) return read;
  const std::string what = options.by.empty() ? "class or site" : groupings->front().Text();
  return Print(TopReport(*scan, groups->tables(), options.ranking, *tree, what), options.output, read);
}

}  // namespace

Command TopCommand() {
  auto options = std::make_shared<TopOptions>();
  Command command("top", "Rank classes, sites, methods, threads, ... by bytes");
  command.AddOption("--by", options->by, "Group rows by this key (default: one table by class and one by site)")
      .Value("KEY")
      .OneOf(Grouping::Words());
  command
      .AddOption("--sort", options->ranking.sort,
                 "Sort by bytes (default), objects, mean-size, points, cumulative or name")
      .Value("COLUMN")
      .OneOf(SortKeys());
  options->output.AddLimitTo(command, "Maximum rows; 0 = all (default: 20, or 10 per table; json, csv: all)");
  command.AddPercent("--min-share", options->ranking.min_share, "Hide rows below this share of the total, such as 1%");
  command
      .AddOption("--sources", options->ranking.sources,
                 "Show the source line of each site, from this folder, such as src/main/java (implies --lines)")
      .Value("DIR");
  command.AddFlag("--follow", options->follow,
                  "Show a running JVM (PID or main class in place of REC) or a growing recording, updated each second");
  options->output.AddTo(command);
  options->scan.AddShareTo(command);
  options->scan.AddTo(command);
  command.footer = R"(Examples:
  heaprec top app.hrec
  heaprec top --follow 12345
  heaprec top --by method --sort cumulative --hide '^java\.' app.hrec
  heaprec top --by thread --class 'char[]' --from 10s --to 20s app.hrec
  heaprec top --by site --sources src/main/java app.hrec
  heaprec top --by label:request --min-share 1% monday.hrec tuesday.hrec
  heaprec top --json app.hrec | jq -r '.tables[0].rows[].name')";
  command.run = [options](const auto&) { return Top(*options); };
  return command;
}

}  // namespace heaprec::tools
