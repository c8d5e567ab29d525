// heaprec summary: what was recorded, how much of what was allocated, and whether it can be trusted.
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/analysis/allocation_totals.h"
#include "tools/analysis/estimate/estimator.h"
#include "tools/analysis/health/trust.h"
#include "tools/input/loss_summary.h"
#include "tools/input/recording.h"
#include "tools/options/command.h"
#include "tools/query/census_strata.h"
#include "tools/query/class_site_totals.h"
#include "tools/query/filter/event_filter.h"
#include "tools/query/summary_query.h"
#include "tools/report/class_site_report.h"
#include "tools/report/summary_report.h"
#include "tools/report/summary_totals.h"
#include "tools/text/messages.h"
#include "tools/text/output.h"

namespace heaprec::tools {
namespace {

struct SummaryOptions {
  std::string recording;
  bool json = false, no_census = false;
  std::optional<size_t> limit;  // of classes and of sites; 0: all
  FilterOptions filter;         // of what the tables show
};

std::string SummaryOf(Recording* recording, const SummaryOptions& options, TotalOfRecordings* total) {
  auto filter = Filter::Parse(options.filter);  // valid: Summarise has looked
  Filter* const chosen = options.filter.ChoosesAll() ? nullptr : &*filter;
  const ByCensus census = options.no_census ? ByCensus() : StrataOf(*recording);
  VolumeOfBlocks blocks(recording->header(), census.strata);
  Breakdown breakdown(KeptBy(chosen));
  Facts facts = FactsOf(recording, chosen, &blocks, &breakdown);
  facts.by_census = census;
  const Trust trust =
      Judge(*recording, {{facts.tally, facts.thrown_tally, facts.native_tally, facts.mapped_tally}}, facts.volume);
  const Estimator estimator(blocks.design(), recording->books());
  total->Add(facts.tally.events(), recording->books().candidate_bytes, facts.volume);
  if (options.json) {
    return SummaryJson(*recording, facts, trust, AsJson(breakdown, estimator, options.limit.value_or(0)));
  }
  const std::string tables = AsText(breakdown, estimator, options.limit.value_or(kMostGroups));
  return SummaryText(*recording, facts, trust, tables);
}

ExitCode Summarise(const SummaryOptions& options) {
  if (auto filter = Filter::Parse(options.filter); !filter.ok()) {
    Complain(filter.error().message);
    return ExitCode::kUsage;
  }
  auto recordings = Recording::OpenAll(options.recording);
  if (!recordings.ok()) {
    Complain(recordings.error().message);
    return ExitCode::kUnreadable;
  }
  const size_t count = recordings->size();
  TotalOfRecordings total;
  Output output(STDOUT_FILENO);
  ExitCode read = ExitCode::kOk;
  for (size_t i = 0; i < count; ++i) {
    Recording& recording = *(*recordings)[i];
    if (count > 1 && options.json) output.Append(i == 0 ? "{\"recordings\": [\n" : ",\n");
    if (count > 1 && !options.json) {
      output.Append(fmt::format("{}# recording {}\n", i == 0 ? "" : "\n", WhichText(recording.header(), i, count)));
    }
    output.Append(SummaryOf(&recording, options, &total));
    const ExitCode one = ReportDamage(recording);
    if (one != ExitCode::kOk) read = one;
  }
  if (count > 1) output.Append(options.json ? "],\n\"total\": " + total.Json().dump() + "}\n" : total.Text(count));
  output.Flush();
  const ExitCode written = output.Report("standard output");
  return written != ExitCode::kOk ? written : read;
}

}  // namespace

Command SummaryCommand() {
  auto options = std::make_shared<SummaryOptions>();
  Command command("summary", "Show totals, top classes and sites, trustworthiness");
  command.AddOption("REC", options->recording, "Recording to read; - is standard input").Required();
  command.AddFlag("--json", options->json, "Print JSON");
  command
      .AddOption("--limit", options->limit, "Maximum number of classes and of sites; 0 = all (default: 5; --json: all)")
      .Value("N");
  command.AddFlag("--no-census", options->no_census, "Ignore the census; estimate from samples only");
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
