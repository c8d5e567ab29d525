#include "tools/report/page/recording_page.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "tools/export/page/report_page.h"
#include "tools/input/recording.h"
#include "tools/input/stream_traits.h"
#include "tools/query/samples/sample_columns.h"
#include "tools/render/renderers.h"
#include "tools/render/value_format.h"
#include "tools/report/columns/live_columns.h"
#include "tools/report/estimates/reports.h"
#include "tools/report/page/page_parts.h"
#include "tools/text/text.h"

namespace heaprec::tools {

using namespace render;

std::string HeadlineOf(const GroupEstimates& all, const RecordingScan& scan) {
  const double seconds = scan.summary().scanned().seconds;
  if (scan.of_exceptions()) return FormatLine(Sentence("{} exceptions", {{"", all.bytes, Unit::kCount}}), true);
  // The bytes of the whole recording were counted.
  Line line = Sentence(
      std::string("{} in {} ") + TraitsOf(scan.stream()).lifecycle.things,
      {{"", scan.filter().chooses_all() ? scan.total() : all.bytes, Unit::kBytes}, {"", all.objects, Unit::kCount}});
  if (seconds > 0) line.Continue(", {value}", {{"", Scaled(all.bytes, 1 / seconds), Unit::kBytesPerSecond}});
  return FormatLine(line, true);
}

std::string LiveHeadlineOf(const GroupEstimates& all, const RecordingScan& scan, uint64_t survived) {
  Line line = Sentence(std::string("{} live in {} ") + TraitsOf(scan.stream()).lifecycle.things,
                       {{"", all.bytes, Unit::kBytes}, {"", all.objects, Unit::kCount}});
  return FormatLine(line.Continue(Survived(survived)), true);
}

namespace {

constexpr size_t kMaxRecordings = 255;  // per side: numbered in a byte
constexpr double kManyDegrees = 1e6;    // replaces infinity, which JSON cannot represent

// Reads the recordings' data other than samples.
class Reading final : public ScanVisitor {
 public:
  explicit Reading(const PageRequest& request) {
    if (request.live) live_ = LiveTimes{request.at};
  }
  std::optional<LiveTimes> live_times() const override { return live_; }
  void Begin(const format::FileHeader& header) override { headers_.push_back(header); }
  void Visit(const MatchedBlock&) override {}
  void End(const Estimator&, double) override {}

  const std::vector<format::FileHeader>& headers() const { return headers_; }

 private:
  std::optional<LiveTimes> live_;
  std::vector<format::FileHeader> headers_;
};

std::string BaseName(const std::string& path) {
  return path == "-" ? "standard input" : ToUtf8(std::filesystem::path(path).filename().string());
}

std::string NamesOf(const std::vector<std::string>& files) {
  std::string names;
  for (const std::string& file : files) names += (names.empty() ? "" : ", ") + BaseName(file);
  return names;
}

// Returns the given filters, for the commands that the page prints.
List GivenOptions(const ScanOptions& options) {
  List words;
  const auto add = [&words](const char* name, const std::string& value) {
    if (value.empty()) return;
    words.emplace_back(name);
    words.emplace_back(ToUtf8(value));
  };
  const FilterOptions& filter = options.filter;
  add("--from", filter.from);
  add("--to", filter.to);
  add("--thread", filter.thread);
  add("--class", filter.class_name);
  add("--site", filter.site);
  add("--frame", filter.frame);
  for (const std::string& kind : filter.kinds) add("--kind", kind);
  for (const std::string& label : filter.labels) add("--label", label);
  add("--focus", filter.focus);
  add("--ignore", filter.ignore);
  add("--hide", filter.hide);
  add("--primitives", options.primitives);
  if (options.lines) words.emplace_back("--lines");
  if (options.exact_sites) words.emplace_back("--exact-sites");
  if (options.no_census) words.emplace_back("--no-census");
  add("--names", options.names);
  return words;
}

// Moves the times of --from and --to out of the other filters.
FilterOptions TakeTimes(FilterOptions* filter) {
  FilterOptions times;
  std::swap(times.from, filter->from);
  std::swap(times.to, filter->to);
  return times;
}

// The initial time range of a page with one recording, which shows all times. In seconds.
List RangeOf(const FilterOptions& times, const format::FileHeader& header, const SampleColumns& columns) {
  Filter filter = *Filter::Parse(times);
  filter.Start(header.start_epoch_ns, columns.end_ns);
  const auto [from_ns, to_ns] = filter.Span(columns.begin_ns, columns.end_ns);
  return {static_cast<double>(from_ns) * 1e-9, static_cast<double>(to_ns) * 1e-9};
}

// "What was live at the time of --at, having survived 3 collections".
std::string WhatIsLive(const PageRequest& request) {
  std::string text = request.at ? "What was live at the time of --at" : "What is live at the end of the recording";
  if (request.survived > 0) text += ", having survived " + CountOf(request.survived, "collection");
  return text;
}

// The headlines of a page that shows a part of the recorded data; empty: it shows all.
std::vector<Headline> HeadlinesOf(const PageRequest& request, const RecordingScan& scan, size_t files) {
  std::vector<Headline> headlines;
  const auto add = [&headlines](const char* id, Mood mood, const std::string& text) {
    headlines.push_back({id, mood, ToUtf8(text)});
  };
  if (request.comparison) {
    add("change", Mood::kNeutral, request.comparison->headline);
    if (!request.comparison->gc.empty()) add("gc", Mood::kNeutral, request.comparison->gc);
    for (const std::string& warning : request.comparison->warnings) add("trust", Mood::kWarning, warning);
    return headlines;
  }
  const bool is_all = scan.filter().chooses_all() && scan.stream() == format::Stream::kAllocations && files == 1;
  if (is_all && !request.live) return headlines;
  add("selection", Mood::kNeutral, request.live ? WhatIsLive(request) : HeadlineOf(scan.matched(), scan));
  if (!scan.summary().trust_reasons().empty())
    add("trust", Mood::kWarning, "Trustworthy: " + scan.summary().TrustVerdict());
  return headlines;
}

Object StateOf(const PageRequest& request) {
  Object state{{"icicle", request.icicle}, {"reverse", request.reverse}, {"live", request.live}};
  if (!request.view.empty()) state.push_back({"view", request.view});
  if (!request.tab.empty()) state.push_back({"tab", request.tab});
  if (request.least_age_ns > 0) state.push_back({"age", static_cast<double>(request.least_age_ns) * 1e-9});
  return state;
}

Object AsObject(const PageComparison& comparison) {
  return {{"suffix", comparison.suffix},      {"shares", comparison.shares},       {"objects", comparison.objects},
          {"before", comparison.before},      {"after", comparison.after},         {"fdr", comparison.fdr},
          {"margin", comparison.margin},      {"deviation", comparison.deviation}, {"freedom", comparison.freedom},
          {"isJudged", comparison.is_judged}, {"tables", comparison.tables}};
}

Object FactsOf(const PageRequest& request, const ScanOptions& options, const RecordingScan& scan,
               const Recording& first, const std::shared_ptr<MergedNames>& merged) {
  const bool is_alone = scan.summary().scanned().recordings == 1;
  Object facts = PageFacts(first, is_alone ? options.files.front() : "", !options.no_census, merged,
                           HeadlinesOf(request, scan, options.files.size()));
  List files;
  for (const std::string& file : options.files) files.emplace_back(BaseName(file));
  for (Member& member : Object{{"file", NamesOf(options.files)},
                               {"files", std::move(files)},
                               {"given", GivenOptions(options)},
                               {"live_given", request.live_given},
                               {"title", ToUtf8(request.title)},
                               {"own", ToUtf8(request.own)},
                               {"stream", TraitsOf(scan.stream()).name},
                               {"seconds", scan.summary().scanned().seconds},
                               {"boxes", Object{{"no_classes", request.no_classes},
                                                {"least_share", request.least_share},
                                                {"most", request.most_boxes}}}}) {
    facts.push_back(std::move(member));
  }
  if (request.comparison) facts.push_back({"compare", AsObject(*request.comparison)});
  return facts;
}

Object TabsOf(const PageRequest& request, const std::string& file, const format::FileHeader* header, Object* facts) {
  Object tabs;
  if (header != nullptr) {
    for (auto& [name, html] : PageTabs(file, *header, facts)) tabs.push_back({name, std::move(html)});
  }
  if (!request.report.empty()) tabs.push_back({request.tab, request.report});
  return tabs;
}

// Reads the recordings of one side; `html`: their data.
RecordingPage ReadSide(ScanOptions options, const PageRequest& request, const std::shared_ptr<MergedNames>& merged,
                       bool is_first) {
  auto scan = RecordingScan::Parse(options);
  if (!scan.ok()) return {.code = ExitCode::kUsage, .error = scan.error().message};
  NamePool names(merged);
  CallTree tree(&names, scan->TreeOptions());
  Reading reading(request);
  if (request.said) scan->SuppressMessages();
  RecordingPage side{.code = scan->Run(&tree, &reading)};
  if (side.has_failed()) return side;
  const auto opened = Recording::OpenAll(options.files);
  if (!opened.ok()) return {.code = ExitCode::kUnreadable, .error = opened.error().message};
  const auto& recordings = *opened;
  if (recordings.size() > kMaxRecordings) {
    return {.code = ExitCode::kUsage,
            .error = "a page holds at most " + std::to_string(kMaxRecordings) + " recordings"};
  }
  const bool is_one = recordings.size() == 1;
  const FilterOptions times = is_one ? TakeTimes(&options.filter) : FilterOptions();
  Filter filter = *Filter::Parse(options.filter);
  filter.SetPrimitives(scan->TreeOptions().is_primitive);
  const SampleColumns columns =
      ReadSampleColumns(recordings, {.max_samples = request.max_samples,
                                     .stream = scan->stream(),
                                     .use_rows = !options.no_rows && options.primitives.empty(),
                                     .use_census = !options.no_census,
                                     .filter = std::move(filter),
                                     .merged = merged,
                                     .tree = scan->TreeOptions(),
                                     .at = request.at,
                                     .survived = request.survived});
  if (request.live && !columns.tracks_objects) {
    return {.code = ExitCode::kUnreadable,
            .error = options.files.front() + TraitsOf(scan->stream()).lifecycle.not_tracked};
  }
  if (!request.view.empty() && !request.said) scan->PrintTrust();
  const format::FileHeader& header = reading.headers().front();
  Object state = StateOf(request);
  if (!times.from.empty() || !times.to.empty()) state.push_back({"a", RangeOf(times, header, columns)});
  if (request.other_times) state.push_back({"b", RangeOf(*request.other_times, header, columns)});
  Object facts = FactsOf(request, options, *scan, *recordings.front(), merged);
  facts.push_back({"state", std::move(state)});
  if (is_first) {
    Object tabs = TabsOf(request, options.files.front(), is_one ? &header : nullptr, &facts);
    facts.push_back({"tabs", std::move(tabs)});
  }
  side.html = ReportData(columns, std::move(facts));
  side.shown = columns.second.size();
  side.samples = columns.samples;
  return side;
}

}  // namespace

std::string TitleOf(const PageRequest& request) {
  return request.title.empty() ? NamesOf(request.scan.files) : ToUtf8(request.title);
}

namespace {

// Both sides use the same names.
RecordingPage ReadSides(const PageRequest& request, const std::shared_ptr<MergedNames>& merged, bool is_again,
                        ReportPage* page) {
  const auto read = [&](ScanOptions side, bool is_first) {
    side.quiet = side.quiet || is_again;
    return ReadSide(std::move(side), request, merged, is_first);
  };
  RecordingPage made = read(request.scan, true);
  if (made.has_failed()) return made;
  page->data = std::move(made.html);
  if (!request.other) return made;
  RecordingPage other = read(*request.other, false);
  if (other.has_failed()) return other;
  if (other.code != ExitCode::kOk) made.code = other.code;
  page->other_data = std::move(other.html);
  return made;
}

}  // namespace

RecordingPage MakePage(const PageRequest& request) {
  ReportPage page;
  page.title = TitleOf(request);
  ScanOptions all = request.scan;
  if (request.other) all.files.insert(all.files.end(), request.other->files.begin(), request.other->files.end());
  const std::shared_ptr<MergedNames> merged = all.Naming();
  RecordingPage made;
  ReadNamed(merged.get(), [&](bool is_again) {
    made = ReadSides(request, merged, is_again, &page);
    return made.code;
  });
  if (made.has_failed()) return made;
  made.html = ReportHtml(page);
  return made;
}

namespace {

// Returns the divisors of the runs' amounts.
std::vector<double> DivisorsOf(const std::vector<Scale>& scales) {
  std::vector<double> divisors;
  for (const Scale& scale : scales) {
    const double divisor = scale.per == Per::kSecond      ? scale.seconds
                           : scale.per == Per::kCpuSecond ? scale.cpu_seconds
                           : scale.per == Per::kOp        ? scale.operations
                                                          : 1;
    divisors.push_back(divisor > 0 ? divisor : 1);
  }
  return divisors;
}

// Returns the tested rows of a table, for the page.
List PageRows(const ComparedTable& table, const CallTree& tree) {
  List rows;
  for (const ComparedRow& row : table.rows) {
    const Difference& of = row.difference;
    if (!(of.p < 1)) continue;
    rows.emplace_back(List{RowName(table.by, row.key, tree), of.p, of.q, VerdictName(of.verdict)});
  }
  return rows;
}

PageComparison ComparisonOf(const DiffScan& diff) {
  const DiffResult& result = diff.result();
  const RunVariation& variation = result.tables.back().runs.variation;
  PageComparison comparison;
  comparison.headline = FormatLine(TotalLine(result, diff.before().scan(0)), true);
  for (const auto& [side, verdict] :
       {std::pair("A", diff.before().TrustVerdict()), std::pair("B", diff.after().TrustVerdict())}) {
    if (!verdict.empty()) comparison.warnings.push_back(std::string(side) + " trustworthy: " + verdict);
  }
  comparison.suffix = result.scale.Suffix();
  comparison.shares = result.scale.per == Per::kShare;
  comparison.objects = result.scale.objects;
  comparison.before = DivisorsOf(diff.ScalesBefore());
  comparison.after = DivisorsOf(diff.ScalesAfter());
  comparison.fdr = result.question.fdr;
  comparison.margin = result.question.margin;
  comparison.deviation = variation.deviation;
  comparison.freedom = std::min(variation.degrees_of_freedom, kManyDegrees);
  comparison.is_judged = result.question.is_judged;
  const DiffSide before{diff.before(), ""}, after{diff.after(), ""};
  for (const Line& line : GcLines(before, after)) comparison.gc = "GC: " + FormatLine(line, true);
  for (const ComparedTable& table : result.tables) {
    const bool is_class = table.by.by() == By::kClass;
    if (!is_class && table.by.by() != By::kSite) continue;
    comparison.tables.push_back({is_class ? "classes" : "sites", PageRows(table, diff.tree())});
  }
  return comparison;
}

}  // namespace

PageRequest DiffPage(const DiffScan& diff, const Report& report) {
  PageRequest page;
  page.scan = diff.scan_before();
  // Only tables by method fold; a page shows stacks unchanged.
  page.scan.fold = false;
  if (diff.are_windows()) {
    page.other_times.emplace();
    page.other_times->from = diff.scan_after().filter.from;
    page.other_times->to = diff.scan_after().filter.to;
  } else {
    page.other = diff.scan_after();
    page.other->fold = false;
  }
  page.said = true;
  page.view = "compare";
  page.tab = "difference";
  page.icicle = false;
  page.report = HtmlBody(report, /*wide=*/false);
  page.comparison = ComparisonOf(diff);
  return page;
}

Result<PageRequest> ComparisonPage(const PageRequest& asked, ExitCode* read) {
  DiffOptions question;
  question.scan = asked.scan;
  auto diff = DiffScan::Parse(question);
  *read = diff.ok() ? diff->Run() : ExitCode::kUsage;
  if (!diff.ok()) return diff.error();
  if (*read == ExitCode::kUnreadable) return Error{""};
  PageRequest page =
      DiffPage(*diff, DiffReport(diff->result(), {diff->before(), ""}, {diff->after(), ""}, DiffRows{}, diff->tree()));
  page.title = asked.title, page.own = asked.own, page.max_samples = asked.max_samples;
  page.view.clear();
  return page;
}

}  // namespace heaprec::tools
