#include "tools/query/why/owners.h"

#include <algorithm>

#include "tools/render/value_format.h"

namespace heaprec::tools {

using format::AccountItem;
using format::Amount;

namespace {

constexpr size_t kPieces = 16, kLeastPieces = 6;
constexpr double kLeastGrowth = 0.05;  // of the amount at the end
constexpr double kLeastBytes = 1 << 20, kLeastCount = 5;
constexpr int kLeastCollections = 3;

std::vector<TrendPoint> LowsOf(const Owner& owner, const std::vector<AccountAt>& accounts) {
  std::vector<TrendPoint> points;
  for (const AccountAt& at : accounts) {
    if (const auto amount = AmountsOf(owner, at).Charged())
      points.push_back({static_cast<double>(at.time_ns) * 1e-9, static_cast<double>(*amount)});
  }
  if (points.size() < kLeastPieces) return {};
  return LowsOf(points, std::min(kPieces, points.size()));
}

// Between collections the heap only grows; without a limit, what else is in the cgroup does not matter.
bool CanGrow(const Owner& owner, const EndFacts& facts) {
  if (owner.id == "cgroup") return AmountAt(facts.last(), AccountItem::kCgroupMax).is_known();
  const auto is_late = [&](const GcPause& pause) { return pause.end_ns > facts.begin_ns + facts.duration_ns() / 2; };
  return owner.id != "heap" || std::ranges::count_if(facts.pauses, is_late) >= kLeastCollections;
}

// What owners have of RSS: those of mappings as of their last reading, the others as of now.
uint64_t Explained(const AccountAt& at) {
  const auto amount = [&](AccountItem item) { return at.account[item].ValueOr(0); };
  // After a collection the heap's pages stay resident.
  uint64_t sum = at.heap_committed;
  sum += std::max(amount(AccountItem::kMallocResident), amount(AccountItem::kDirectUsed));
  for (const AccountItem item :
       {AccountItem::kMetaspaceCommitted, AccountItem::kCodeResident, AccountItem::kStacksResident,
        AccountItem::kCollectorResident, AccountItem::kLibrariesResident, AccountItem::kSharedDataResident})
    sum += amount(item);
  return sum;
}

}  // namespace

const std::vector<Owner>& Owners() {
  using enum AccountItem;
  static const std::vector<Owner> owners{
      {"cgroup", "cgroup", false, kCgroupCurrent, {}, {}, kCgroupMax},
      {"process", "process (RSS)", false, {}, {}, {}, {}},
      {"heap", "heap", false, {}, {}, kHeapResident, kHeapMax},
      {"old_generation", "old generation, live", false, kOldAfterCollection, {}, {}, kOldMax},
      {"direct_buffers", "direct buffers", false, kDirectUsed, {}, {}, kDirectMax},
      {"metaspace", "metaspace", false, kMetaspaceUsed, kMetaspaceCommitted, kMetaspaceResident, kMetaspaceMax, true},
      {"stacks", "thread stacks", false, {}, kStacksReserved, kStacksResident, {}},
      {"malloc", "malloc", false, kMallocUsed, {}, kMallocResident, {}},
      {"unexplained", "unexplained", false, {}, {}, kUnexplained, {}},
      {"collector", "collector", false, {}, kCollectorCommitted, kCollectorResident, {}},
      {"code_cache", "code cache", false, kCodeUsed, kCodeCommitted, kCodeResident, kCodeMax},
      {"threads", "threads", true, kThreads, {}, {}, kThreadsMax},
      {"cgroup_threads", "threads of cgroup", true, kCgroupPids, {}, {}, kCgroupPidsMax},
      {"descriptors", "open files", true, kDescriptors, {}, {}, kDescriptorsMax},
      {"class_space", "class space", false, kClassSpaceUsed, kClassSpaceCommitted, {}, kClassSpaceMax, true},
      {"mapped_buffers", "mapped buffers", false, kMappedUsed, {}, {}, {}},
      {"libraries", "libraries, files", false, {}, {}, kLibrariesResident, {}},
      {"shared_classes", "shared classes", false, {}, {}, kSharedDataResident, {}},
  };
  return owners;
}

std::optional<uint64_t> OwnerAmounts::Main() const {
  for (const Amount& amount : {used, committed, resident}) {
    if (amount.is_known()) return amount.value();
  }
  return std::nullopt;
}

std::optional<uint64_t> OwnerAmounts::Charged() const {
  return limits_committed && committed.is_known() ? std::optional(committed.value()) : Main();
}

double OwnerAmounts::Share() const {
  const auto charged = Charged();
  if (!charged || !limit.is_known() || limit.value() == 0) return 0;
  return static_cast<double>(*charged) / static_cast<double>(limit.value());
}

OwnerAmounts AmountsOf(const Owner& owner, const AccountAt& at) {
  const auto of = [&](const std::optional<AccountItem>& item) { return item ? at.account[*item] : Amount(); };
  OwnerAmounts amounts{of(owner.used), of(owner.committed), of(owner.resident), of(owner.limit),
                       owner.limits_committed};
  const auto known = [](uint64_t bytes) { return bytes > 0 ? Amount::Of(bytes) : Amount::NotKnown(); };
  if (owner.id == "heap") amounts.used = known(at.heap_used), amounts.committed = known(at.heap_committed);
  if (owner.id == "process") amounts.resident = known(at.rss);
  if (owner.id == "unexplained" && amounts.resident.is_known())
    amounts.resident = Amount::Of(std::max(amounts.resident.value(), at.rss - std::min(at.rss, Explained(at))));
  // The stacks' address space says nothing about memory.
  if (owner.id == "stacks" && amounts.resident.is_known()) amounts.used = amounts.resident;
  return amounts;
}

std::vector<GrownOwner> GrowthOf(const EndFacts& facts) {
  std::vector<GrownOwner> grown;
  for (const Owner& owner : Owners()) {
    std::vector<TrendPoint> lows = LowsOf(owner, facts.accounts);
    if (lows.size() < kLeastPieces || !CanGrow(owner, facts)) continue;
    const Onset onset = OnsetOf(lows, kLeastPieces);
    // It began between a piece and the next one.
    const Estimate since{lows[onset.best].time_s, lows[onset.first > 0 ? onset.first - 1 : 0].time_s,
                         lows[onset.last + 1].time_s};
    lows.erase(lows.begin(), lows.begin() + static_cast<ptrdiff_t>(onset.best));
    const double rise = lows.back().value - lows.front().value;
    const Estimate slope = SlopeOf(lows);
    const double least = std::max(owner.is_count ? kLeastCount : kLeastBytes, kLeastGrowth * lows.back().value);
    if (slope.low <= 0 || rise < least) continue;
    grown.push_back(
        {&owner, slope, since, static_cast<uint64_t>(lows.front().value), static_cast<uint64_t>(lows.back().value)});
  }
  std::ranges::stable_sort(grown, [](const GrownOwner& a, const GrownOwner& b) {
    return a.owner->is_count != b.owner->is_count ? b.owner->is_count : a.per_second.value > b.per_second.value;
  });
  return grown;
}

Amount AmountAt(const AccountAt* at, AccountItem item) { return at != nullptr ? at->account[item] : Amount(); }

std::optional<Fill> FillOf(const AccountAt* at) {
  const auto use = at != nullptr ? ContainerUseOf(at->account) : std::nullopt;
  return use ? std::optional(Fill{*use}) : std::nullopt;
}

std::string BytesText(double bytes) { return render::FormatInline(bytes, render::Unit::kBytes, true); }

std::string BytesText(uint64_t bytes) { return BytesText(static_cast<double>(bytes)); }

std::string OfText(uint64_t used, uint64_t limit) { return BytesText(used) + " of " + BytesText(limit); }

}  // namespace heaprec::tools
