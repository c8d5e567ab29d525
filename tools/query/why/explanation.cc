#include "tools/query/why/explanation.h"

namespace heaprec::tools {
namespace {

constexpr size_t kSites = 3;

}  // namespace

Explanation ExplainEnd(Recording* recording, const std::string& file, bool is_alone, const std::string& cgroup) {
  Explanation one;
  one.file = file;
  one.is_alone = is_alone;
  EndFactsReader reader(recording->header());
  while (const auto block = recording->Next()) reader.Add(*block);
  one.facts = reader.Finish(*recording);
  one.facts.crash = FindCrashReport(file, one.facts);
  if (!one.facts.is_running) one.facts.survivor = ReadSurvivor(one.facts.header, cgroup);
  one.verdict = EndVerdictOf(one.facts);
  one.grown = GrowthOf(one.facts);
  if (is_alone) one.sites = SearchLiveSites(file, one.facts.header, kSites);
  if (is_alone && !one.facts.heap_full.empty())
    one.filled = SearchLiveAt(file, one.facts.header, one.facts.heap_full.back().time_ns, kSites);
  one.advice = NextStepsOf(one.facts, one.verdict, one.grown, one.sites, file);
  return one;
}

void AddChanges(Explanation* into) { into->changes = ChangesOf(into->facts, into->is_alone ? into->file : ""); }

}  // namespace heaprec::tools
