#include "tools/query/why/crash_loop.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace heaprec::tools {
namespace {

// Of equally frequent values the one of the latest end. `value_of`: nullopt: it has none.
template <typename T, typename ValueOf>
Shared<T> MostFrequent(const std::vector<const ProcessEnd*>& ends, ValueOf value_of) {
  std::map<T, size_t> counts;
  for (const ProcessEnd* end : ends) {
    if (std::optional<T> value = value_of(*end)) ++counts[*value];
  }
  Shared<T> most;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    const std::optional<T> value = value_of(**end);
    if (value && counts[*value] > most.ends) most = {*value, counts[*value]};
  }
  return most;
}

std::optional<std::string> OrNone(const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); }

// The owner that grew fastest, in the order in which they are shown: RSS and the cgroup grow with any of the others.
const GrownOwner* OwnGrowth(const ProcessEnd& end) {
  const auto is_own = [](const GrownOwner& one) { return one.owner->id != "cgroup" && one.owner->id != "process"; };
  const auto own = std::ranges::find_if(end.grown, is_own);
  if (own != end.grown.end()) return &*own;
  return end.grown.empty() ? nullptr : &end.grown.front();
}

std::optional<std::string> GrowthName(const ProcessEnd& end) {
  const GrownOwner* const grown = OwnGrowth(end);
  return grown != nullptr ? std::optional(std::string(grown->owner->name)) : std::nullopt;
}

}  // namespace

bool ProcessEnd::is_over() const {
  return verdict.id != "running" && verdict.id != "continues" && verdict.id != "stopped" && verdict.id != "nothing";
}

ProcessEnd EndOf(const Explanation& one) {
  const EndFacts& facts = one.facts;
  ProcessEnd end;
  end.file = one.file;
  end.end_epoch_ns = facts.header.start_epoch_ns + facts.end_ns;
  end.lived_ns = facts.end_ns;
  end.verdict = one.verdict;
  end.cause = CauseOf(facts, one.verdict);
  end.grown = one.grown;
  if (!one.sites.empty() && one.sites.front().leak) end.leak = one.sites.front().site;
  end.heap_limit = facts.NumberOf("MaxHeapSize");
  if (facts.last() != nullptr) {
    const format::Amount limit = facts.last()->account[format::AccountItem::kCgroupMax];
    if (limit.is_known()) end.memory_limit = limit.value();
  }
  return end;
}

CrashLoop CrashLoopOf(const std::vector<ProcessEnd>& ends) {
  std::vector<const ProcessEnd*> over;
  for (const ProcessEnd& end : ends) {
    if (end.is_over()) over.push_back(&end);
  }
  CrashLoop loop;
  loop.ends = over.size();
  if (over.empty()) return loop;
  loop.cause = MostFrequent<std::string>(over, [](const ProcessEnd& end) { return OrNone(end.cause); });
  loop.grown = MostFrequent<std::string>(over, GrowthName);
  loop.leak = MostFrequent<std::string>(over, [](const ProcessEnd& end) { return OrNone(end.leak); });
  loop.heap_limit = MostFrequent<uint64_t>(over, [](const ProcessEnd& end) { return end.heap_limit; });
  loop.memory_limit = MostFrequent<uint64_t>(over, [](const ProcessEnd& end) { return end.memory_limit; });
  std::vector<uint64_t> lived;
  std::vector<double> rates;
  for (const ProcessEnd* end : over) {
    if (end->cause == loop.cause.value) lived.push_back(end->lived_ns), loop.typical = end;
    if (GrowthName(*end) == loop.grown.value && OwnGrowth(*end) != nullptr)
      rates.push_back(OwnGrowth(*end)->per_second.value);
  }
  std::ranges::sort(lived);
  std::ranges::sort(rates);
  loop.lived_ns = lived[lived.size() / 2];
  loop.shortest_ns = lived.front();
  loop.longest_ns = lived.back();
  if (!rates.empty()) loop.grown_per_second = Estimate{rates[rates.size() / 2], rates.front(), rates.back()};
  return loop;
}

}  // namespace heaprec::tools
