#include "tools/query/live/leak_search.h"

#include <algorithm>
#include <utility>

#include "tools/analysis/live/onset.h"
#include "tools/input/stream_traits.h"

namespace heaprec::tools {
namespace {

void SearchStream(const std::string& file, format::Stream stream, std::vector<FoundLeak>* into) {
  FileScan scan(file, stream == format::Stream::kAllocations ? std::vector<std::string>()
                                                             : std::vector<std::string>{TraitsOf(stream).name});
  LiveQuery question;
  question.by = {Grouping(By::kSite)};
  question.leaks = true;
  LiveVisitor live(std::move(question), scan.tree(), stream);
  if (!scan.Run(&live) || IsTooShort(live)) return;
  for (const TestedRow& one : TestRows(live, kUsualFdr)) {
    if (!one.leak.leaks) break;
    into->push_back({stream, live.tables().front().grouping.NameOf(one.row->key, *scan.tree()),
                     one.leak.growth[kWholeTime].per_second, one.since_s});
  }
}

}  // namespace

std::vector<TestedRow> TestRows(const LiveVisitor& live, double rate) {
  std::vector<TestedRow> rows;
  if (!live.knows_growth()) return rows;
  std::vector<const LiveGroup*> groups;
  for (const LiveTable::Row& row : live.tables().front().rows) {
    if (row.group.growth[kWholeTime].slope_square_sum == 0) continue;
    groups.push_back(&row.group);
    rows.push_back({&row, {}, {}});
  }
  const std::vector<Leak> leaks = LeaksOf(groups, rate, live.has_old_growth());
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].leak = leaks[i];
    if (!leaks[i].leaks || live.tracked() != 1) continue;
    rows[i].since_s =
        OnsetOf(groups[i]->alive, static_cast<double>(live.from_ns()) * 1e-9, static_cast<double>(live.at_ns()) * 1e-9);
  }
  std::ranges::stable_sort(rows, [](const TestedRow& a, const TestedRow& b) {
    if (a.leak.leaks != b.leak.leaks) return a.leak.leaks;
    return a.leak.growth[kWholeTime].per_second.value > b.leak.growth[kWholeTime].per_second.value;
  });
  return rows;
}

bool IsTooShort(const LiveVisitor& live) {
  return !live.knows_growth() || (live.tracked() == 1 && live.instants().size() < 3);
}

std::vector<FoundLeak> SearchLeaks(const std::string& file, const format::FileHeader& header) {
  std::vector<FoundLeak> leaks;
  for (const format::Stream stream : format::kAllStreams) {
    if (header.MaxTracked(stream) > 0) SearchStream(file, stream, &leaks);
  }
  std::ranges::stable_sort(leaks, std::ranges::greater(), [](const FoundLeak& one) { return one.per_second.value; });
  return leaks;
}

}  // namespace heaprec::tools
