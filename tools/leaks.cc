// heaprec leaks: which sites hold more and more.
#include <memory>
#include <optional>

#include "tools/choice.h"
#include "tools/leaks_form.h"
#include "tools/living.h"
#include "tools/percent_option.h"
#include "tools/verb.h"

namespace heaprec::tools {
namespace {

constexpr size_t kRows = 20;

struct LeaksOptions {
  LivingOptions living;
  std::optional<uint64_t> survived;
  std::optional<size_t> limit;
  double fdr = 0.05;
  bool all = false;
};

ExitCode ShowLeaks(const LeaksOptions& options) {
  LiveQuestion question;
  question.grown = options.survived;
  question.survived = options.survived.value_or(0);
  Living living;
  const ExitCode read = Read(options.living, std::move(question), {By::kSite}, &living);
  if (read == ExitCode::kUsage || read == ExitCode::kUnreadable) return read;
  const LiveReport report{*living.survey, *living.live, *living.tree, {}};
  const LeakRanking ranking{options.fdr, options.limit.value_or(options.living.json ? 0 : kRows), options.all};
  return Say(options.living.json ? LeaksJson(report, ranking) : LeaksText(report, ranking), read);
}

}  // namespace

Verb DeclareLeaks(CLI::App& heaprec) {
  auto options = std::make_shared<LeaksOptions>();
  CLI::App* verb = heaprec.add_subcommand("leaks", "Which sites hold more and more, and which are but noise");
  verb->add_option("--by", options->living.by, "What may leak (default: site)")
      ->type_name("KEY")
      ->check(OneOf(Grouping::Words()));
  verb->add_option("--survived", options->survived,
                   "Only what has survived so many collections (default: 3, less of a recording of few)")
      ->type_name("N");
  verb->add_option("--at", options->living.at, "As seen at this time (default: the end)")->type_name("TIME");
  AddPercent(verb, "--fdr", &options->fdr, "So much of what is called a leak may be none (default: 5%)");
  verb->add_flag("--all", options->all, "Show also what is not shown to leak");
  verb->add_option("--limit", options->limit, "So many rows; 0: all. Default: 20; all with --json")->type_name("N");
  verb->add_flag("--json", options->living.json, "JSON instead of text");
  options->living.survey.AddTo(verb);
  verb->footer(R"(--from and --to say when growth is measured: leave out the time in which a program starts.

Examples:
  heaprec leaks rec.bin
  heaprec leaks --from 2m --survived 5 rec.bin
  heaprec leaks --by stack --hide '^java\.' --all rec.bin
  heaprec leaks --json rec.bin | jq -e '.leaks == 0')");
  return {verb, [options](const auto&) { return ShowLeaks(*options); }};
}

}  // namespace heaprec::tools
