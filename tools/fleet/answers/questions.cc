#include "tools/fleet/answers/questions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assign_or_return.h"
#include "base/duration.h"
#include "tools/fleet/answers/answers.h"
#include "tools/fleet/answers/reports.h"

namespace heaprec::tools::fleet {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

// The queries of `heaprec fleet`. Those without an answer are executed by the command: on tables, or with samples.
struct Question {
  const char* what;
  const char* does;
  Answered (*answer)(const FleetQuestion& question) = nullptr;
};
constexpr Question kQuestions[] = {
    {"init", "creates or completes the tables on a server"},
    {"services", "shows allocation by service and version, per host", ServicesReport},
    {"top", "ranks sites or classes by allocated bytes, over all hosts", TopReport},
    {"timeline", "shows bytes per second over time: all, a class or a site", TimelineReport},
    {"diff", "compares two versions, with hosts as the unit", DiffReport},
    {"outliers", "finds hosts that differ from the others", OutliersReport},
    {"live", "ranks sites or classes by live bytes at --to", LiveReport},
    {"show", "shows one site: its services, classes, and bytes over time", ShowReport},
    {"pull", "writes samples as a recording for other commands; threads are hosts"},
    {"flame", "writes a flame graph of pulled samples"},
    {"report", "writes the interactive page of pulled samples"},
    {"prune", "lists data older than the days to keep; --yes drops it"}};

}  // namespace

void QuestionOptions::AddWordsTo(Command& command) {
  std::vector<std::string> all;
  for (const Question& one : kQuestions) all.emplace_back(one.what);
  command.AddOption("WHAT", what, "What to show or do; see below").Required().OneOf(all);
  command.AddOption("ARGUMENT", words, "For diff two versions, for show a site");
}

void QuestionOptions::AddTo(Command& command) {
  command.AddDuration("--step", step_ns, "timeline: time per row, such as 10m (default: about 60 rows)", kSecond,
                      UINT32_MAX * kSecond);
  command.AddOption("--deploy", deploy, "diff: compare each host before and after this time").Value("TIME");
  command.AddPercent("--fdr", rate, "diff: false discovery rate among reported changes (default: 5%)");
  command.AddPercent("--min-share", min_share, "diff, outliers: ignore smaller rows (default: 0.1%)");
  command.AddOption("--min-z", least_z, "outliers: minimum z-score, the distance from the median (default: 3.5)")
      .Value("Z")
      .Positive();
}

std::string QuestionOptions::Help() {
  std::string text;
  for (const Question& one : kQuestions) text += fmt::format("  {:<11}{}\n", one.what, one.does);
  return text;
}

std::string QuestionOptions::Objection() const {
  const size_t count = words.size();
  if (what == "diff" && deploy.empty() && count != 2) {
    return "diff needs two versions, or --deploy TIME";
  }
  if (what == "diff" && !deploy.empty() && count != 0) return "diff --deploy TIME needs no versions";
  if (by == kByTimeToFull && what != "outliers") return "--by time-to-full is for outliers";
  if (what == "show" && count != 1) return "show needs one site, such as java.util.HashMap.resize";
  if (what != "diff" && what != "show" && count > 0) {
    return fmt::format("{} needs no '{}'", what, words[0]);
  }
  return "";
}

Answered AnswerTo(const FleetQuestion& question) {
  return std::ranges::find(kQuestions, question.options.what, &Question::what)->answer(question);
}

void TableOptions::AddTo(Command& command) {
  constexpr char kInit[] = "Tables (init, prune)";
  command.AddOption("--cluster", cluster, "Name of the cluster of which this server is a shard")
      .Value("NAME")
      .InGroup(kInit);
  command.AddDuration("--slice", slice_ns, "Time span of one row of sums (default: 10m; with --from-dir 1m)")
      .InGroup(kInit);
  command.AddOption("--sample-days", retention.sample_days, "Days to keep samples and slices (default: 14)")
      .Value("DAYS")
      .Positive()
      .InGroup(kInit);
  command.AddOption("--sum-days", retention.sum_days, "Days to keep sums by hour (default: 400)")
      .Value("DAYS")
      .Positive()
      .InGroup(kInit);
  command.AddFlag("--yes", drops, "prune: drop the listed days").InGroup(kInit);
}

Result<uint32_t> SliceOf(std::optional<uint64_t> slice_ns, uint32_t otherwise) {
  if (!slice_ns) return otherwise;
  const uint64_t seconds = *slice_ns / 1'000'000'000;
  if (*slice_ns % 1'000'000'000 == 0 && seconds <= UINT32_MAX && IsSliceLength(static_cast<uint32_t>(seconds)))
    return static_cast<uint32_t>(seconds);
  return Error{fmt::format("--slice {}: a slice must divide an hour, and be a part or a multiple of a minute",
                           DurationText(*slice_ns))};
}

Result<SchemaOptions> TableOptions::Schema() const {
  ASSIGN_OR_RETURN(auto seconds, SliceOf(slice_ns, 600));
  if (!cluster.empty() && !IsIdentifier(cluster)) {
    return Error{fmt::format("--cluster: '{}' is not a cluster name", cluster)};
  }
  return SchemaOptions{.slice_seconds = seconds, .cluster = cluster, .retention = retention};
}

Result<render::Report> InitTables(Server* server, const SchemaOptions& schema) {
  ASSIGN_OR_RETURN(auto tables, InitSchema(server, schema));
  return TablesReport(tables, *server);
}

Result<render::Report> PruneTables(Server* server, const TableOptions& options, uint32_t now) {
  RETURN_IF_ERROR(ReadSchema(server));
  ASSIGN_OR_RETURN(auto expired, ExpiredPartitions(server, options.retention, now));
  if (options.drops) {
    for (const Partition& one : expired) {
      RETURN_IF_ERROR(Drop(server, one));
    }
  }
  return PruneReport(expired, options.drops);
}

}  // namespace heaprec::tools::fleet
