#include "tools/report/page/page_facts.h"

#include <string>
#include <utility>

#include "tools/analysis/health/diagnosis.h"
#include "tools/analysis/health/trust.h"
#include "tools/query/summary/summary_query.h"
#include "tools/render/value_format.h"
#include "tools/report/recording/summary_report.h"
#include "tools/text/text.h"

namespace heaprec::tools {

using namespace render;

namespace {

List SentencesOf(const std::vector<Headline>& headlines) {
  List sentences;
  for (const Headline& one : headlines) {
    sentences.emplace_back(Object{{"id", one.id}, {"mood", MoodName(one.mood)}, {"text", one.text}});
  }
  return sentences;
}

// The facts of `heaprec summary --verbose`.
List FactsOf(const Group& summary) {
  List facts;
  for (const Section& section : summary.sections) {
    const auto* line = std::get_if<Line>(&section);
    if (line == nullptr || line->kind != Line::Kind::kFact || line->detail == Detail::kJsonOnly) continue;
    facts.emplace_back(List{line->heading, FormatLine(*line, true)});
  }
  return facts;
}

// What `heaprec doctor` finds. Reads the recording to its end.
List FindingsOf(Recording* recording) {
  List findings;
  for (const Finding& one : Diagnose(recording)) {
    findings.emplace_back(Object{{"id", one.id},
                                 {"level", LevelName(one.level)},
                                 {"what", one.what},
                                 {"means", one.impact},
                                 {"do", one.action}});
  }
  return findings;
}

}  // namespace

Object PageFacts(const Recording& recording, const std::string& file, bool use_census,
                 const std::shared_ptr<MergedNames>& merged, const std::vector<Headline>& headlines) {
  Object page;
  if (!headlines.empty()) page.push_back({"headlines", SentencesOf(headlines)});
  auto again = recording.Again();
  if (!again.ok()) return page;
  Recording& one = **again;
  const ByRows by_rows = [interval_ns = one.header().interval_ns](const format::Block& block) {
    return TimeOf(block, interval_ns).has_value();
  };
  const CensusStrata census = use_census ? StrataOf(one, {.by_rows = by_rows}) : CensusStrata();
  VolumeOfBlocks blocks(one.header(), census.strata, by_rows);
  ClassSiteTotals breakdown({}, merged);
  Facts facts = FactsOf(&one, nullptr, &blocks, &breakdown, nullptr);
  facts.by_census = census;
  const TrustReport trust = AssessTrust(one, facts.totals, facts.volume);
  const Estimator estimator(blocks.design(), one.counters());
  const SummaryAnswer summary{
      one,       facts, trust, breakdown,
      estimator, 0,     false, file.empty() ? std::vector<FoundLeak>() : SearchLeaks(file, one.header())};
  page.push_back({"jvm", ToUtf8(one.header().jvm_name + " " + one.header().jvm_version)});
  page.push_back({"gc", ToUtf8(one.header().gc_name)});
  page.push_back({"start_epoch_ns", one.header().start_epoch_ns});
  page.push_back({"trustworthy", trust.reasons.empty()});
  page.push_back({"facts", FactsOf(SummaryReport(summary, ""))});
  if (headlines.empty()) {
    // The page may be read anywhere: where the recording lay here says nothing there.
    const std::string& path = one.source().name();
    Headlines all = HeadlinesOf(summary, path.substr(path.rfind('/') + 1));
    if (all.sentences.empty() && !trust.reasons.empty()) {  // of a program without a JVM
      all.sentences.push_back({"trust", Mood::kWarning, "Trustworthy: " + TrustText(TextsOf(trust.reasons))});
    }
    page.push_back({"headlines", SentencesOf(all.sentences)});
    page.push_back({"next", Object{{"command", all.next_command}, {"reason", all.next_reason}}});
  }
  if (auto third = recording.Again(); third.ok()) page.push_back({"findings", FindingsOf(third->get())});
  return page;
}

}  // namespace heaprec::tools
