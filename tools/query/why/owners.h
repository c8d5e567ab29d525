// Who owns the memory of a process, and what of it grew.
//
// Units:    bytes, seconds.
// Failure:  none. What the account does not know stays unknown.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/analysis/totals/trend.h"
#include "tools/query/why/end_facts.h"

namespace heaprec::tools {

// An owner of memory, or a countable resource, in the account.
struct Owner {
  std::string_view id, name;
  bool is_count = false;  // not bytes
  std::optional<format::AccountItem> used, committed, resident, limit;
  bool limits_committed = false;  // the limit is of what is committed
};
// In the order of the table.
const std::vector<Owner>& Owners();

// The amounts of an owner at one time. Heap and RSS come from the snapshot itself, all others from its account, which
// may be older. Growth of RSS since the mappings were read that no owner explains counts as unexplained.
struct OwnerAmounts {
  format::Amount used, committed, resident, limit;
  bool limits_committed = false;
  // What the owner costs: its used amount, else the committed one, else the resident one.
  std::optional<uint64_t> Main() const;
  // What counts against the limit, and in growth.
  std::optional<uint64_t> Charged() const;
  // Of the limit; 0: not known, or there is none.
  double Share() const;
};
OwnerAmounts AmountsOf(const Owner& owner, const AccountAt& at);

struct GrownOwner {
  const Owner* owner = nullptr;
  Estimate per_second;
  Estimate since_s;  // since the start of the recording; from its first account: low is that account's time
  uint64_t from = 0, to = 0;
};
// The owners whose minimum over time has grown, the fastest first; counts behind bytes. The heap counts only with
// collections, a cgroup only with a limit.
std::vector<GrownOwner> GrowthOf(const EndFacts& facts);

// nullptr: not known.
format::Amount AmountAt(const AccountAt* at, format::AccountItem item);

// Use and limit of the cgroup.
struct Fill : ContainerUse {
  double Share() const { return static_cast<double>(needed) / static_cast<double>(std::max<uint64_t>(limit, 1)); }
};
std::optional<Fill> FillOf(const AccountAt* at);

std::string BytesText(double bytes);  // "46.0 MiB"
std::string BytesText(uint64_t bytes);
std::string OfText(uint64_t used, uint64_t limit);  // "46.0 MiB of 48.0 MiB"

}  // namespace heaprec::tools
