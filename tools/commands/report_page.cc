// heaprec report: a recording, or two, as one HTML page to explore; and such pages for other commands.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/commands/pages.h"
#include "tools/export/output_file.h"
#include "tools/export/page/report_data.h"
#include "tools/export/page/report_html.h"
#include "tools/input/program_recording.h"
#include "tools/input/recording.h"
#include "tools/input/stream_traits.h"
#include "tools/options/command.h"
#include "tools/query/sample_columns.h"
#include "tools/query/scan.h"
#include "tools/report/flame_header.h"
#include "tools/report/page_facts.h"
#include "tools/report/page_tabs.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

constexpr size_t kMaxRecordings = 255;  // of a side: numbered in a byte

// Reads recordings for what is known of them beside their samples.
class Reading final : public ScanVisitor {
 public:
  OrderLevel finest() const override { return OrderLevel::kClass; }
  void Begin(const format::FileHeader& header, std::optional<OrderLevel>) override { headers_.push_back(header); }
  void Visit(const MatchedBlock&) override {}
  void End(const Estimator&, double) override {}

  const std::vector<format::FileHeader>& headers() const { return headers_; }

 private:
  std::vector<format::FileHeader> headers_;
};

std::string BaseName(const std::string& path) {
  return path == "-" ? "standard input" : ToUtf8(std::filesystem::path(path).filename().string());
}

// Recordings as data of the page.
struct Part {
  ExitCode code = ExitCode::kOk;
  std::string data{};
  size_t shown = 0;
  uint64_t samples = 0;
};

std::string NamesOf(const std::vector<std::string>& files) {
  std::string names;
  for (const std::string& file : files) names += (names.empty() ? "" : ", ") + BaseName(file);
  return names;
}

// The filters as they were given, for the commands that the page prints.
std::vector<std::string> GivenOptions(const ScanOptions& options) {
  std::vector<std::string> words;
  const auto add = [&words](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, ToUtf8(value)});
  };
  const FilterOptions& filter = options.filter;
  add("--from", filter.from);
  add("--to", filter.to);
  add("--thread", filter.thread);
  add("--class", filter.class_name);
  add("--site", filter.site);
  for (const std::string& kind : filter.kinds) add("--kind", kind);
  for (const std::string& label : filter.labels) add("--label", label);
  add("--focus", filter.focus);
  add("--ignore", filter.ignore);
  add("--hide", filter.hide);
  add("--primitives", options.primitives);
  if (options.lines) words.emplace_back("--lines");
  if (options.exact_sites) words.emplace_back("--exact-sites");
  if (options.no_census) words.emplace_back("--no-census");
  return words;
}

// The times of --from and --to, apart from the other filters.
FilterOptions TakeTimes(FilterOptions* filter) {
  FilterOptions times;
  std::swap(times.from, filter->from);
  std::swap(times.to, filter->to);
  return times;
}

// Where the page of one recording opens, which shows all times. In seconds.
nlohmann::json RangeOf(const FilterOptions& times, const format::FileHeader& header, const SampleColumns& columns) {
  Filter filter = *Filter::Parse(times);
  filter.Start(header);
  const auto [from_ns, to_ns] = filter.Span(columns.begin_ns, columns.end_ns);
  return {static_cast<double>(from_ns) * 1e-9, static_cast<double>(to_ns) * 1e-9};
}

nlohmann::json Sentence(const char* id, const char* mood, const std::string& text) {
  return {{"id", id}, {"mood", mood}, {"text", ToUtf8(text)}};
}

nlohmann::json HeadlineOf(const PageComparison& comparison) {
  nlohmann::json headlines = {Sentence("change", "neutral", comparison.headline)};
  for (const std::string& warning : comparison.warnings) headlines.push_back(Sentence("trust", "warning", warning));
  return headlines;
}

// What stands above the page where it shows a part of what was recorded.
nlohmann::json HeadlineOfPart(const PageRequest& request, const RecordingScan& scan) {
  if (request.comparison) return HeadlineOf(*request.comparison);
  const std::string text = request.live ? "What is live at the end of the recording" : HeadlineOf(scan.matched(), scan);
  nlohmann::json headlines = {Sentence("selection", "neutral", text)};
  if (!scan.trust_reasons().empty()) {
    headlines.push_back(Sentence("trust", "warning", "Trustworthy: " + scan.TrustVerdict()));
  }
  return headlines;
}

nlohmann::json StateOf(const PageRequest& request) {
  nlohmann::json state = {{"icicle", request.icicle}, {"reverse", request.reverse}, {"live", request.live}};
  if (!request.view.empty()) state["view"] = request.view;
  if (!request.tab.empty()) state["tab"] = request.tab;
  if (request.least_age_ns > 0) state["age"] = static_cast<double>(request.least_age_ns) * 1e-9;
  return state;
}

nlohmann::json AsJson(const PageComparison& comparison) {
  return {{"suffix", comparison.suffix}, {"shares", comparison.shares},       {"objects", comparison.objects},
          {"before", comparison.before}, {"after", comparison.after},         {"fdr", comparison.fdr},
          {"margin", comparison.margin}, {"deviation", comparison.deviation}, {"freedom", comparison.freedom}};
}

nlohmann::json FactsOf(const PageRequest& request, const ScanOptions& options, const RecordingScan& scan,
                       const Recording& first) {
  nlohmann::json facts = PageFacts(first, !options.no_census);
  const bool is_all = scan.chooses_all() && scan.stream() == format::Stream::kAllocations && options.files.size() == 1;
  if (!is_all || request.live || request.comparison) {
    facts["headlines"] = HeadlineOfPart(request, scan);
    facts.erase("next");
  }
  facts["file"] = NamesOf(options.files);
  for (const std::string& file : options.files) facts["files"].push_back(BaseName(file));
  facts["given"] = GivenOptions(options);
  facts["title"] = ToUtf8(request.title);
  facts["own"] = ToUtf8(request.own);
  facts["stream"] = TraitsOf(scan.stream()).name;
  facts["seconds"] = scan.scanned().seconds;
  facts["state"] = StateOf(request);
  facts["boxes"] = {
      {"no_classes", request.no_classes}, {"least_share", request.least_share}, {"most", request.most_boxes}};
  if (request.comparison) facts["compare"] = AsJson(*request.comparison);
  return facts;
}

Part ReadPart(ScanOptions options, const PageRequest& request, bool is_first) {
  auto scan = RecordingScan::Parse(options);
  if (!scan.ok()) return {.code = Fail(ExitCode::kUsage, scan.error().message)};
  NamePool names;
  CallTree tree(&names, scan->TreeOptions());
  Reading reading;
  if (request.said) scan->BeQuiet();
  Part part{.code = scan->Run(&tree, &reading)};
  if (part.code == ExitCode::kUnreadable) return part;
  std::vector<std::unique_ptr<Recording>> recordings;
  for (const std::string& file : options.files) {
    auto opened = Recording::OpenAll(file);
    if (!opened.ok()) return {.code = Fail(ExitCode::kUnreadable, opened.error().message)};
    std::ranges::move(*opened, std::back_inserter(recordings));
  }
  if (recordings.size() > kMaxRecordings) {
    return {.code = Fail(ExitCode::kUsage, fmt::format("a page holds at most {} recordings", kMaxRecordings))};
  }
  const FilterOptions times = recordings.size() == 1 ? TakeTimes(&options.filter) : FilterOptions();
  const SampleColumns columns =
      ReadSampleColumns(recordings, {.max_samples = request.max_samples,
                                     .stream = scan->stream(),
                                     .use_census = !options.no_census,
                                     .filter = *Filter::Parse(options.filter),
                                     .runs = request.other ? NamePool::Runs::kSeveral : NamePool::Runs::kOne,
                                     .tree = scan->TreeOptions(),
                                     .at = request.at});
  if (request.live && !columns.tracks_objects) {
    return {.code =
                Fail(ExitCode::kUnreadable, options.files.front() + TraitsOf(scan->stream()).lifecycle.not_tracked)};
  }
  if (!request.view.empty() && !request.said) scan->PrintTrust();
  nlohmann::json facts = FactsOf(request, options, *scan, *recordings.front());
  if (!times.from.empty() || !times.to.empty()) {
    facts["state"]["a"] = RangeOf(times, reading.headers().front(), columns);
  }
  if (request.other_times) facts["state"]["b"] = RangeOf(*request.other_times, reading.headers().front(), columns);
  if (is_first && recordings.size() == 1) facts["tabs"] = PageTabs(options.files.front(), reading.headers().front());
  if (is_first && !request.report.empty()) facts["tabs"][request.tab] = request.report;
  part.data = ReportData(columns, std::move(facts));
  part.shown = columns.second.size();
  part.samples = columns.samples;
  return part;
}

ExitCode WriteText(const std::string& path, bool force, const std::string& text) {
  auto file = OutputFile::Open(path, force);
  if (!file.ok()) return Fail(ExitCode::kCannotWrite, file.error().message);
  Output output((*file)->descriptor());
  output.Append(text);
  output.Flush();
  const ExitCode written = output.Report(path == "-" ? "standard output" : path);
  if (written != ExitCode::kOk || output.failed()) return written;
  if (const auto error = (*file)->Commit()) return Fail(ExitCode::kCannotWrite, error->message);
  return ExitCode::kOk;
}

void SayWhere(const std::string& path, size_t bytes, const Part& part) {
  std::string text = fmt::format("{}: {}, {} samples", path, Bytes(static_cast<double>(bytes)), Grouped(part.shown));
  if (part.shown < part.samples) text += fmt::format(", reduced from {}", Grouped(part.samples));
  PrintError(text);
}

// rec.hrec: rec.html in the working directory.
std::string OutputOf(const PageRequest& request) {
  if (!request.output.empty()) return request.output;
  const std::string& first = request.scan.files.front();
  return first == "-" ? "report.html" : std::filesystem::path(first).stem().string() + ".html";
}

}  // namespace

ExitCode WritePage(const PageRequest& request) {
  const std::string output = OutputOf(request);
  std::vector<std::string> files = request.scan.files;
  if (request.other) files.insert(files.end(), request.other->files.begin(), request.other->files.end());
  if (IsOneOf(output, files)) return Fail(ExitCode::kCannotWrite, output + ": is the recording itself");
  ReportPage page;
  page.title = request.title.empty() ? NamesOf(request.scan.files) : ToUtf8(request.title);
  const Part first = ReadPart(request.scan, request, /*is_first=*/true);
  const auto failed = [](ExitCode code) { return code != ExitCode::kOk && code != ExitCode::kDamaged; };
  if (failed(first.code)) return first.code;
  ExitCode code = first.code;
  page.data = first.data;
  if (request.other) {
    const Part other = ReadPart(*request.other, request, /*is_first=*/false);
    if (failed(other.code)) return other.code;
    if (other.code != ExitCode::kOk) code = other.code;
    page.other_data = other.data;
  }
  const std::string html = ReportHtml(page);
  const ExitCode written = WriteText(output, request.force, html);
  if (written != ExitCode::kOk) return written;
  if (output != "-" && !request.quiet) SayWhere(output, html.size(), first);
  return code;
}

Command ReportCommand() {
  auto request = std::make_shared<PageRequest>();
  Command command("report", "Write an interactive page of one or two recordings");
  command.AddOption("REC", request->scan.files, "Recording to show; a second one is compared with it").Required();
  command.AddOption("-o,--output", request->output, "File to write; - is standard output (default: REC.html)")
      .Value("FILE");
  command.AddOption("--title", request->title, "Title of the page (default: name of the recording)").Value("TEXT");
  command.AddOption("--own", request->own, "Packages of your code, separated by commas (default: detected)")
      .Value("PACKAGE");
  command.AddOption("--max-samples", request->max_samples, "Reduce recordings with more samples (default: 300000)")
      .Value("N");
  command.AddFlag("--no-census", request->scan.no_census, "Ignore the census; estimate from samples only");
  command.AddFlag("-f,--force", request->force, "Overwrite FILE if it exists");
  command.AddFlag("-q,--quiet", request->quiet, "Do not print the name and size of FILE");
  command.footer = R"(Examples:
  heaprec report app.hrec
  heaprec report --own com.acme app.hrec -o report.html
  heaprec report before.hrec after.hrec -o change.html)";
  command.run = [request](const auto&) {
    PageRequest asked = *request;
    std::vector<std::string>& files = asked.scan.files;
    if (files.size() > 2) return Fail(ExitCode::kUsage, "report takes one recording, or two to compare");
    if (asked.max_samples == 0) return Fail(ExitCode::kUsage, "--max-samples must be at least 1");
    if (files.size() == 2) {
      asked.other = asked.scan;
      asked.other->files = {files.back()};
      files.pop_back();
    }
    return WritePage(asked);
  };
  return command;
}

}  // namespace heaprec::tools
