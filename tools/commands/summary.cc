// heaprec summary: shows totals, top classes and sites, and trustworthiness.
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/health/trust.h"
#include "tools/analysis/totals/totals.h"
#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/live/live_query.h"
#include "tools/query/scan/census_strata.h"
#include "tools/query/scan/scan.h"
#include "tools/render/print.h"
#include "tools/render/renderers.h"
#include "tools/report/recording/reports.h"
#include "tools/text/messages.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {
namespace {

// Number of classes and sites, and of lines, that are shown without --limit and --verbose.
constexpr size_t kUsualGroups = 5, kScreenLines = 25;

struct SummaryOptions {
  std::vector<std::string> recordings;
  bool no_census = false, no_rows = false, verbose = false;
  std::string names;
  FilterOptions filter;  // applies to the tables
  render::OutputOptions output;
};

// `is_alone`: its file contains no other recording.
render::Group SummaryOf(Recording* recording, const SummaryOptions& options, const char* name, bool is_alone,
                        const std::shared_ptr<MergedNames>& merged, AskedTime* asked, SummaryTotal* total) {
  auto filter = Filter::Parse(options.filter);  // valid: Summarise has checked it
  Filter* const matched = options.filter.ChoosesAll() ? nullptr : &*filter;
  if (matched != nullptr) matched->Start(*recording);
  const ByRows by_rows = options.no_rows ? ByRows() : filter->RowsTaken(recording->header().interval_ns);
  const CensusStrata census = options.no_census ? CensusStrata() : StrataOf(*recording, by_rows);
  VolumeOfBlocks blocks(recording->header(), census.strata, by_rows);
  ClassSiteTotals breakdown(KeptBy(matched), merged);
  Facts facts = FactsOf(recording, matched, &blocks, &breakdown, asked);
  if (merged != nullptr && merged->Settle()) {
    if (const auto again = recording->Again(); again.ok())
      return SummaryOf(again->get(), options, name, is_alone, merged, asked, total);
  }
  facts.by_census = census;
  const TrustReport trust = AssessTrust(*recording, facts.totals, facts.volume);
  const Estimator estimator(blocks.design(), recording->counters());
  total->Add(facts, recording->counters().candidate_bytes);
  const size_t limit = options.output.Rows(kUsualGroups);
  const bool is_brief = options.output.form() == render::Form::kText && !options.output.wide;
  SummaryAnswer answer{*recording, facts, trust, breakdown, estimator, limit, is_brief};
  if (is_alone && matched == nullptr) {
    answer.leaks = SearchLeaks(options.recordings.front(), recording->header());
    answer.advice = SearchAdvice(options.recordings.front());
  }
  render::Group group = SummaryReport(answer, name);
  if (const std::string text = merged != nullptr ? merged->Text() : ""; !text.empty())
    group.Add(render::Sentence("# " + text));
  if (is_brief && !options.output.limit) render::FitScreen(Terminal::Of(STDOUT_FILENO), kScreenLines, &group);
  return group;
}

ExitCode Summarise(SummaryOptions options) {
  if (auto filter = Filter::Parse(options.filter); !filter.ok()) return Fail(ExitCode::kUsage, filter.error().message);
  const auto opened = Recording::OpenAll(options.recordings);
  if (!opened.ok()) return Fail(ExitCode::kUnreadable, opened.error().message);
  const auto& recordings = *opened;
  options.output.wide = options.output.wide || options.verbose;
  const bool is_one = recordings.size() == 1;
  render::Report report("heaprec.summary/1");
  AskedTime asked;
  SummaryTotal total;
  ExitCode read = ExitCode::kOk;
  ScanOptions scan;
  scan.files = options.recordings;
  scan.names = options.names;
  for (size_t i = 0; i < recordings.size(); ++i) {
    Recording& recording = *recordings[i];
    if (!is_one) report.Add(render::Sentence("# recording " + WhichText(recording.header(), i, recordings.size())));
    report.Add(SummaryOf(&recording, options, is_one ? "" : "recordings[]", is_one, scan.Naming(), &asked, &total));
    const ExitCode one = ReportDamage(recording);
    if (one != ExitCode::kOk) read = one;
  }
  if (!is_one) report.Add(TotalReport(total));
  asked.Report();
  return Print(report, options.output, read);
}

}  // namespace

Command SummaryCommand() {
  auto options = std::make_shared<SummaryOptions>();
  Command command("summary", "Show totals, top classes and sites, trustworthiness");
  command.AddOption("REC", options->recordings, "Recordings to read; - is standard input").Required();
  options->output.AddTo(command);
  command.AddFlag("-v,--verbose", options->verbose, "Show everything that was counted");
  options->output.AddLimitTo(command,
                             "Maximum number of classes and of sites; 0 = all (default: 5, or fewer if needed to fit "
                             "25 lines; json, csv: all)");
  ScanOptions::AddNamesTo(command, &options->names);
  command.AddFlag("--no-census", options->no_census, "Ignore the census; estimate from samples only");
  command.AddFlag("--no-rows", options->no_rows, kNoRows);
  options->filter.heap_only = true;
  options->filter.AddChoiceTo(command);
  command.footer = R"(Examples:
  heaprec summary app.hrec
  heaprec summary --limit 30 app.hrec
  heaprec summary --label request=42 --from 10s app.hrec
  heaprec summary --json app.hrec | jq .trustworthy)";
  command.run = [options](const auto&) { return Summarise(*options); };
  return command;
}

}  // namespace heaprec::tools
