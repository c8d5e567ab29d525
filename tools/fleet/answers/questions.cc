#include "tools/fleet/answers/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/result.h"
#include "base/time.h"
#include "tools/fleet/answers/answers.h"
#include "tools/fleet/answers/selection.h"

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

namespace {

using render::Column;
using render::Detail;
using render::Fact;
using render::Hidden;
using render::MakeTable;
using render::Note;
using render::Report;
using render::Sentence;
using render::Unit;
using render::Value;

const char* Heading(RowGrain by) {
  if (by == RowGrain::kClass) return "class";
  return by == RowGrain::kSite ? "site" : "class and site";
}

template <typename Row>
std::vector<Row> FirstOf(const std::vector<Row>& rows, size_t limit) {
  if (limit == 0 || rows.size() <= limit) return rows;
  return {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(limit)};
}

// A table, or a text if it has no rows.
render::Table TableOr(const char* empty, render::Table table) {
  table.empty = empty;
  return table;
}

Report WithScope(const char* schema, const Scope& scope) {
  Report report(schema);
  report.Add(Sentence("{} allocated by {} host(s), {} to {} UTC", {{"scope.bytes", scope.bytes, Unit::kBytes},
                                                                   {"scope.hosts", scope.hosts, Unit::kInteger},
                                                                   {"scope.from", TimeText(scope.from), Unit::kText},
                                                                   {"scope.to", TimeText(scope.to), Unit::kText}}));
  report.Add(Hidden({{"scope.recordings", scope.recordings, Unit::kInteger},
                     {"scope.seconds", scope.seconds, Unit::kSeconds},
                     {"scope.lost_bytes", scope.lost, Unit::kBytes},
                     {"scope.untrustworthy", scope.untrustworthy, Unit::kInteger}}));
  if (scope.untrustworthy > 0) {
    report.Add(Note("not trustworthy: {} recording(s); 'heaprec doctor FILE' says why",
                    {{"", scope.untrustworthy, Unit::kInteger}}));
  }
  return report;
}

std::vector<Column<TopRow>> TopColumns(const char* heading) {
  return {{"bytes", "bytes", Unit::kBytes, Detail::kAlways, &TopRow::bytes, Detail::kAlways},
          {"share", "share", Unit::kShare, Detail::kAlways, &TopRow::share},
          {"objects", "objects", Unit::kCount, Detail::kWide, &TopRow::objects},
          {"points", "", Unit::kInteger, Detail::kJsonOnly, &TopRow::points},
          {"name", heading, Unit::kText, Detail::kAlways, &TopRow::name}};
}

render::Table TimelineTable(const char* name, const std::vector<TimelineRow>& rows) {
  const std::vector<Column<TimelineRow>> columns{
      {"bytes_per_second", "rate", Unit::kBytesPerSecond, Detail::kAlways, &TimelineRow::per_second, Detail::kAlways},
      {"time", "UTC", Unit::kText, Detail::kAlways, [](const TimelineRow& row) { return TimeText(row.time); }}};
  return MakeTable(name, columns, rows);
}

render::Line Course(const std::vector<TimelineRow>& rows) {
  std::vector<double> rates;
  for (const TimelineRow& row : rows) rates.push_back(row.per_second.value);
  return Fact("course", {"", Value(rates), Unit::kSparkline}, Detail::kTextOnly);
}

std::string NameOf(const ServiceRow& row) {
  std::string name = row.service;
  if (!row.version.empty()) name += " " + row.version;
  if (!row.environment.empty()) name += " (" + row.environment + ")";
  return name;
}

std::vector<Column<ServiceRow>> ServiceColumns() {
  return {{"bytes_per_second_per_host", "rate per host", Unit::kBytesPerSecond, Detail::kAlways,
           &ServiceRow::per_second, Detail::kAlways},
          {"share", "share", Unit::kShare, Detail::kAlways, &ServiceRow::share},
          {"hosts", "hosts", Unit::kInteger, Detail::kAlways, &ServiceRow::hosts},
          {"bytes", "bytes", Unit::kBytes, Detail::kWide, &ServiceRow::bytes},
          {"objects_per_second_per_host", "objects per host", Unit::kPerSecond, Detail::kWide,
           &ServiceRow::objects_per_second},
          {"seconds", "", Unit::kSeconds, Detail::kJsonOnly, &ServiceRow::host_seconds},
          {"service", "", Unit::kText, Detail::kJsonOnly, &ServiceRow::service},
          {"version", "", Unit::kText, Detail::kJsonOnly, &ServiceRow::version},
          {"environment", "", Unit::kText, Detail::kJsonOnly, &ServiceRow::environment},
          {"", "service", Unit::kText, Detail::kAlways, [](const ServiceRow& row) { return Value(NameOf(row)); }}};
}

const char* VerdictOf(const HostComparison& rates) {
  if (!rates.is_real) return "same";
  return rates.change.value > 0 ? "more" : "less";
}

// Infinite ends are unknown.
Value ChangeOf(const HostComparison& rates) {
  if (std::isinf(rates.change.low)) return Value(rates.change.value);
  return Value(rates.change);
}

std::vector<Column<DiffRow>> DiffColumns(const char* heading) {
  const auto of = [](auto part) { return render::PartOf(&DiffRow::rates, part); };
  return {{"before", "before", Unit::kBytesPerSecond, Detail::kAlways, of(&HostComparison::before)},
          {"after", "after", Unit::kBytesPerSecond, Detail::kAlways, of(&HostComparison::after)},
          {"change", "change", Unit::kGrowth, Detail::kAlways, of(ChangeOf), Detail::kAlways},
          {"verdict", "", Unit::kText, Detail::kJsonOnly, of(VerdictOf)},
          {"p", "p", Unit::kProbability, Detail::kWide, of(&HostComparison::p)},
          {"q", "", Unit::kProbability, Detail::kJsonOnly, of(&HostComparison::q)},
          {"detectable", "detectable", Unit::kBytesPerSecond, Detail::kWide, of(&HostComparison::detectable)},
          {"name", heading, Unit::kText, Detail::kAlways, &DiffRow::name}};
}

Result<DiffAnswer> DiffOf(const FleetQuestion& of) {
  const DiffOptions how{.by = of.by(), .rate = of.options.rate, .min_share = of.options.min_share};
  if (of.options.deploy.empty()) {
    return DiffVersions(of.source, of.selection, of.options.words[0], of.options.words[1], how);
  }
  ASSIGN_OR_RETURN(const auto deploy, ParseFleetTime(of.options.deploy, static_cast<uint32_t>(std::time(nullptr))));
  return DiffDeploy(of.source, of.selection, deploy, how);
}

// Bytes per day on a server's disk for a process like those that were shipped: measured bytes per row, rows per slice
// and, rolled up, as many per hour. bench/fleet/README.md
double BytesADay(const ShipTotals& totals, double slice_seconds) {
  constexpr double kDay = 86400, kHour = 3600, kBytesOfSums = 56, kBytesOfSample = 27, kBytesOfLive = 43;
  const double slice = kBytesOfSums * static_cast<double>(totals.rows) +
                       kBytesOfSample * static_cast<double>(totals.samples) +
                       kBytesOfLive * static_cast<double>(totals.live);
  const double rolled_up = kBytesOfSums * static_cast<double>(totals.rows) * slice_seconds / kHour;
  return (slice + rolled_up) / static_cast<double>(totals.slices) * kDay / slice_seconds;
}

}  // namespace

Answered ServicesReport(const FleetQuestion& of) {
  const std::vector<ServiceRow> rows = Services(of.selection);
  Report report = WithScope("heaprec.fleet.services/1", ScopeOf(of.selection));
  report.Add(MakeTable("services", ServiceColumns(), FirstOf(rows, of.limit), rows.size()));
  return report;
}

Answered TopReport(const FleetQuestion& of) {
  const RowGrain by = of.by();
  ASSIGN_OR_RETURN(const auto answer, Top(of.source, of.selection, by, of.limit));
  Report report = WithScope("heaprec.fleet.top/1", ScopeOf(of.selection));
  report.Add(Hidden({{"by", Heading(by), Unit::kText}, {"count", answer.count, Unit::kInteger}}));
  report.Add(TableOr("Nothing matches.", MakeTable("rows", TopColumns(Heading(by)), answer.rows, answer.count)));
  return report;
}

Answered TimelineReport(const FleetQuestion& of) {
  ASSIGN_OR_RETURN(const auto rows,
                   Timeline(of.source, of.selection, static_cast<uint32_t>(of.options.step_ns / 1'000'000'000)));
  Report report = WithScope("heaprec.fleet.timeline/1", ScopeOf(of.selection));
  report.Add(Course(rows));
  report.Add(TimelineTable("rows", rows));
  return report;
}

Answered DiffReport(const FleetQuestion& of) {
  const double rate = of.options.rate;
  ASSIGN_OR_RETURN(const DiffAnswer answer, DiffOf(of));
  Report report = WithScope("heaprec.fleet.diff/1", ScopeOf(of.selection));
  const HostComparison& all = answer.all;
  render::Line headline =
      answer.is_paired ? Sentence("{} host(s) before and after", {{"hosts", answer.hosts_before, Unit::kInteger}})
                       : Sentence("{} host(s) before, {} after", {{"hosts_before", answer.hosts_before, Unit::kInteger},
                                                                  {"hosts_after", answer.hosts_after, Unit::kInteger}});
  report.Add(
      headline.Continue("; per host {} before, {} after, change {}", {{"all.before", all.before, Unit::kBytesPerSecond},
                                                                      {"all.after", all.after, Unit::kBytesPerSecond},
                                                                      {"all.change", ChangeOf(all), Unit::kGrowth}}));
  report.Add(Hidden({{"all.p", all.p, Unit::kProbability},
                     {"all.detectable", all.detectable, Unit::kBytesPerSecond},
                     {"paired", answer.is_paired, Unit::kText},
                     {"false_discovery_rate", rate, Unit::kShare}}));
  report.Add(Sentence("{} of {} rows changed (false discovery rate {}); detects a change of {} in the total",
                      {{"changed", answer.real, Unit::kInteger},
                       {"tested", answer.rows.size(), Unit::kInteger},
                       {"", rate, Unit::kShare},
                       {"", all.detectable, Unit::kBytesPerSecond}}));
  // Text shows significant rows; JSON has all.
  std::vector<DiffRow> shown = answer.rows;
  if (of.limit > 0) std::erase_if(shown, [](const DiffRow& row) { return !row.rates.is_real; });
  report.Add(TableOr("No change is larger than the variation between hosts.",
                     MakeTable("rows", DiffColumns(Heading(of.by())), FirstOf(shown, of.limit), shown.size())));
  return report;
}

// The processes that will be full first, by what they use: no comparison with others.
render::Report FullReport(const FleetQuestion& of) {
  std::vector<RecordingInfo> rows;
  for (const RecordingInfo& info : of.selection.recordings) {
    if (!info.fills.empty() && !info.ended) rows.push_back(info);
  }
  std::ranges::stable_sort(rows, {}, [](const RecordingInfo& info) { return info.full_s.value; });
  static const std::vector<Column<RecordingInfo>> columns{
      {"full_in_seconds", "full in", Unit::kSeconds, Detail::kAlways, &RecordingInfo::full_s},
      {"fills", "what", Unit::kText, Detail::kAlways, &RecordingInfo::fills},
      {"service", "service", Unit::kText, Detail::kAlways, &RecordingInfo::service},
      {"version", "version", Unit::kText, Detail::kAlways, &RecordingInfo::version},
      {"seen", "seen (UTC)", Unit::kText, Detail::kAlways,
       [](const RecordingInfo& info) { return Value(TimeText(info.seen)); }},
      {"host", "host", Unit::kText, Detail::kAlways, &RecordingInfo::host}};
  render::Report report = WithScope("heaprec.fleet.outliers/1", ScopeOf(of.selection));
  report.Add(TableOr("No process grows so that its memory will be full.",
                     MakeTable("rows", columns, FirstOf(rows, of.limit), rows.size())));
  return report;
}

Answered OutliersReport(const FleetQuestion& of) {
  if (of.options.by == kByTimeToFull) return FullReport(of);
  ASSIGN_OR_RETURN(const auto rows,
                   Outliers(of.source, of.selection, of.by(), of.options.min_share, of.options.least_z));
  Report report = WithScope("heaprec.fleet.outliers/1", ScopeOf(of.selection));
  report.Add(Hidden({{"least_z", of.options.least_z, Unit::kNumber}}));
  const std::vector<Column<OutlierRow>> columns{
      {"z", "z", Unit::kNumber, Detail::kAlways, &OutlierRow::z},
      {"rate", "rate", Unit::kBytesPerSecond, Detail::kAlways, &OutlierRow::rate},
      {"median", "median", Unit::kBytesPerSecond, Detail::kAlways, &OutlierRow::median},
      {"host", "host", Unit::kText, Detail::kAlways, &OutlierRow::host},
      {"name", Heading(of.by()), Unit::kText, Detail::kAlways, &OutlierRow::name}};
  report.Add(TableOr("No host differs that much from the others.",
                     MakeTable("rows", columns, FirstOf(rows, of.limit), rows.size())));
  return report;
}

Answered LiveReport(const FleetQuestion& of) {
  const RowGrain by = of.by();
  ASSIGN_OR_RETURN(const FleetLiveAnswer answer, FleetLive(of.source, of.selection, by, of.limit));
  Report report("heaprec.fleet.live/1");
  report.Add(Sentence("{} live in {} processes of {} host(s), {} UTC", {{"live.bytes", answer.all.bytes, Unit::kBytes},
                                                                        {"processes", answer.processes, Unit::kInteger},
                                                                        {"hosts", answer.hosts, Unit::kInteger},
                                                                        {"at", TimeText(answer.at), Unit::kText}}));
  report.Add(Sentence("{} objects, mean age {}", {{"live.objects", answer.all.objects, Unit::kCount},
                                                  {"live.mean_age", answer.all.age_s, Unit::kSeconds}}));
  report.Add(Hidden({{"live.samples", answer.all.samples, Unit::kInteger},
                     {"by", Heading(by), Unit::kText},
                     {"count", answer.count, Unit::kInteger}}));
  if (answer.gone > 0) {
    report.Add(
        Fact("ended", "{} processes ended earlier, or are no longer shipped", {{"gone", answer.gone, Unit::kInteger}}));
  }
  if (answer.untracked > 0) {
    report.Add(
        Fact("untracked", "{} recordings tracked no objects", {{"untracked", answer.untracked, Unit::kInteger}}));
  }
  const std::vector<Column<LiveRowAnswer>> columns{
      {"bytes", "bytes", Unit::kBytes, Detail::kAlways, &LiveRowAnswer::bytes, Detail::kAlways},
      {"share", "share", Unit::kShare, Detail::kAlways, &LiveRowAnswer::share},
      {"objects", "objects", Unit::kCount, Detail::kWide, &LiveRowAnswer::objects},
      {"mean_age", "age", Unit::kSeconds, Detail::kAlways, &LiveRowAnswer::age_s},
      {"samples", "", Unit::kInteger, Detail::kJsonOnly, &LiveRowAnswer::samples},
      {"name", Heading(by), Unit::kText, Detail::kAlways, &LiveRowAnswer::name}};
  report.Add(TableOr("Nothing is live.", MakeTable("rows", columns, answer.rows, answer.count)));
  report.Add(Sentence("detection limit: a row without live samples holds at most {} (95 %)",
                      {{"detection_limit", answer.none.high, Unit::kBytes}}));
  return report;
}

Answered ShowReport(const FleetQuestion& of) {
  ASSIGN_OR_RETURN(const ShowAnswer answer, Show(of.source, of.selection, of.options.words[0]));
  Report report = WithScope("heaprec.fleet.show/1", ScopeOf(of.selection));
  report.Add(Fact("site", {"site", answer.name, Unit::kText}));
  report.Add(Fact("bytes", {"bytes", answer.bytes, Unit::kBytes}));
  report.Add(Fact("share", {"share", answer.share, Unit::kShare}));
  report.Add(Course(answer.timeline));
  report.Add(MakeTable("services", ServiceColumns(), FirstOf(answer.services, of.limit), answer.services.size()));
  report.Add(MakeTable("classes", TopColumns("class"), FirstOf(answer.classes, of.limit), answer.classes.size()));
  render::Table table = TimelineTable("timeline", answer.timeline);
  table.detail = Detail::kJsonOnly;
  report.Add(std::move(table));
  return report;
}

Report PruneReport(const std::vector<Partition>& expired, bool is_dropped) {
  Report report("heaprec.fleet.prune/1");
  uint64_t rows = 0, bytes = 0;
  for (const Partition& one : expired) rows += one.rows, bytes += one.bytes;
  report.Add(Sentence(is_dropped ? "dropped {} partitions: {} rows, {}" : "{} partitions are too old: {} rows, {}",
                      {{"partitions_count", expired.size(), Unit::kInteger},
                       {"rows", rows, Unit::kInteger},
                       {"bytes", bytes, Unit::kBytes}}));
  report.Add(Hidden({{"dropped", is_dropped}}));
  const std::vector<Column<Partition>> columns{
      {"bytes", "bytes", Unit::kBytes, Detail::kAlways, &Partition::bytes},
      {"rows", "rows", Unit::kInteger, Detail::kAlways, &Partition::rows},
      {"from", "from", Unit::kText, Detail::kAlways, [](const Partition& one) { return Value(TimeText(one.from)); }},
      {"to", "to", Unit::kText, Detail::kAlways, [](const Partition& one) { return Value(TimeText(one.to)); }},
      {"table", "table", Unit::kText, Detail::kAlways, &Partition::table}};
  report.Add(TableOr("Nothing is too old.", MakeTable("partitions", columns, expired)));
  if (!is_dropped && !expired.empty()) report.Add(Note("Nothing was dropped; --yes drops these."));
  return report;
}

Report TablesReport(const InitReport& init, const Server& server) {
  Report report("heaprec.fleet.init/1");
  report.Add(Sentence(init.is_new ? "{}: database {} now has the tables of version {} (ClickHouse {})"
                                  : "{}: database {} has the tables of version {} (ClickHouse {})",
                      {{"server", server.name()},
                       {"database", server.database()},
                       {"version", kSchemaVersion, Unit::kInteger},
                       {"clickhouse", init.server_version}}));
  render::List without;
  for (const auto& [address, why] : init.without_tables) without.emplace_back(address);
  report.Add(Hidden({{"created", init.is_new},
                     {"has_retention", init.has_retention},
                     {"replicated", init.is_replicated},
                     {"without_tables", std::move(without)}}));
  for (const auto& [address, why] : init.without_tables) {
    report.Add(
        Note("{} of the cluster: {}; `heaprec ship` and `heaprec fleet` need the tables on every server: run "
             "`heaprec fleet init` with its HTTP address, too",
             {{"", address}, {"", why}}));
  }
  if (init.is_replicated) report.Add(Note("Each replica of this shard keeps all of the shard's rows."));
  if (!init.has_retention) {
    report.Add(Note("This server keeps all rows; 'heaprec fleet prune' drops the old ones."));
  }
  return report;
}

Report ShipReport(const ShipRun& run, const Server* server, bool dry_run) {
  const ShipTotals& totals = run.totals();
  Report report("heaprec.ship/1");
  report.Add(Sentence(dry_run ? "would ship {} slice(s) of {} recording(s): {} row(s), {} sample(s)"
                              : "shipped {} slice(s) of {} recording(s): {} row(s), {} sample(s)",
                      {{"slices", totals.slices, Unit::kInteger},
                       {"recordings", run.recordings(), Unit::kInteger},
                       {"rows", totals.rows, Unit::kInteger},
                       {"samples", totals.samples, Unit::kInteger}}));
  if (totals.slices > 0) {
    report.Add(Fact("disk", "about {} a day on the server for a recording like these",
                    {{"bytes_a_day", BytesADay(totals, run.slice_seconds()), Unit::kBytes}}));
  }
  struct Count {
    uint64_t number;
    const char *heading, *text, *name;
  };
  for (const Count& one :
       {Count{totals.slices_there, "there", "{} slice(s) already on the server", "slices_there"},
        Count{totals.too_old, "older", "{} slice(s) before --since, not sent", "slices_too_old"},
        Count{run.unfinished(), "running", "{} recording(s) that may still grow; --follow waits", "running"},
        Count{totals.copies, "copies",
              "copies of running recordings: {}; the last slice of each is sent with its recording", "copies"},
        Count{totals.differing, "differing",
              "batches whose number of rows on the server differs from their recording: {}", "differing"},
        Count{run.failed(), "unreadable", "{} file(s)", "unreadable"}}) {
    if (one.number > 0) report.Add(Fact(one.heading, one.text, {{one.name, one.number, Unit::kInteger}}));
  }
  if (server != nullptr) report.Add(Hidden({{"bytes_sent", server->bytes_sent(), Unit::kBytes}}));
  return report;
}

}  // namespace heaprec::tools::fleet
