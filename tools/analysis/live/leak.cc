#include "tools/analysis/live/leak.h"

#include <algorithm>

#include "tools/analysis/estimate/difference.h"

namespace heaprec::tools {

std::vector<Leak> LeaksOf(const std::vector<const LiveGroup*>& groups, double rate) {
  std::vector<Leak> leaks;
  std::vector<Difference> rows;
  for (const LiveGroup* group : groups) {
    Leak leak{Growth::Of(group->growth), Growth::Of(group->late)};
    leak.p = std::max(leak.all.p, leak.late.p);
    Difference row;
    row.after = leak.all.per_second;
    row.p = leak.p;
    row.least_p = std::max(leak.all.least_p, leak.late.least_p);
    leaks.push_back(leak);
    rows.push_back(row);
  }
  Judge(&rows, rate);
  for (size_t i = 0; i < rows.size(); ++i) {
    leaks[i].q = rows[i].q;
    leaks[i].leaks = rows[i].verdict == Verdict::kNew || rows[i].verdict == Verdict::kMore;
  }
  return leaks;
}

}  // namespace heaprec::tools
