#include "tools/query/why/changes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "tools/analysis/groups/grouping.h"
#include "tools/query/scan/scan.h"

namespace heaprec::tools {
namespace {

using format::AccountItem;
using render::Unit;

constexpr uint64_t kSecondNs = 1'000'000'000, kSpanNs = 10 * kSecondNs;
constexpr size_t kLeastSpans = 6, kMostSpans = 12, kParts = 8;
constexpr double kFactor = 2;
constexpr double kLeastRate = 256 << 10;  // bytes per second
constexpr double kLeastThrown = 1;        // exceptions per second
constexpr double kLeastBytes = 8 << 20, kLeastShare = 0.1;

// Spans of equal length that end with the recording: 0 is the first, the last is the end.
struct Spans {
  uint64_t begin_ns = 0, span_ns = 0;
  size_t before = 0;
  uint64_t BeginOf(size_t span) const { return begin_ns + span * span_ns; }
};

Spans SpansOf(const EndFacts& facts) {
  const uint64_t span_ns = std::min(kSpanNs, facts.duration_ns() / kParts);
  if (span_ns < kSecondNs) return {};
  const size_t before = std::min<size_t>(facts.duration_ns() / span_ns - 1, kMostSpans);
  return {facts.end_ns - (before + 1) * span_ns, span_ns, before};
}

void AddIfDifferent(std::string_view id, std::string name, Unit unit, double least, const Estimate& at_end,
                    const std::vector<double>& before, std::vector<Change>* into) {
  if (before.size() < kLeastSpans) return;
  const double most = std::max(0.0, *std::ranges::max_element(before));
  if (at_end.low < least || at_end.low < kFactor * most) return;
  into->push_back({std::string(id), std::move(name), unit, at_end, most});
}

void AddCounted(std::string_view id, std::string name, Unit unit, double least, const std::vector<double>& by_span,
                std::vector<Change>* into) {
  if (by_span.empty()) return;
  const double last = by_span.back();
  AddIfDifferent(id, std::move(name), unit, least, {last, last, last}, {by_span.begin(), std::prev(by_span.end())},
                 into);
}

// An amount whose change within a span is looked at.
struct Watched {
  AccountItem item;
  const char* name;
  Unit unit;
  double least;
};
constexpr std::array<Watched, 11> kWatched{{
    {AccountItem::kMallocUsed, "malloc", Unit::kByteChange, kLeastBytes},
    {AccountItem::kDirectUsed, "direct buffers", Unit::kByteChange, kLeastBytes},
    {AccountItem::kMetaspaceUsed, "metaspace", Unit::kByteChange, kLeastBytes},
    {AccountItem::kSwap, "swap", Unit::kByteChange, kLeastBytes},
    {AccountItem::kCgroupShmem, "tmpfs and shared memory", Unit::kByteChange, kLeastBytes},
    {AccountItem::kOldAfterCollection, "old generation, live", Unit::kByteChange, kLeastBytes},
    {AccountItem::kThreads, "threads", Unit::kCountChange, 10},
    {AccountItem::kThreadStarts, "thread starts", Unit::kCountChange, 20},
    {AccountItem::kDescriptors, "open files", Unit::kCountChange, 20},
    {AccountItem::kClassesLoaded, "classes", Unit::kCountChange, 200},
    {AccountItem::kCgroupMaxEvents, "times that the memory limit was met", Unit::kCountChange, 10},
}};

// The latest account at or before a time, unless it is older than half a span.
const AccountAt* AccountAtTime(const EndFacts& facts, uint64_t time_ns, uint64_t span_ns) {
  const auto after = std::ranges::upper_bound(facts.accounts, time_ns, {}, &AccountAt::time_ns);
  if (after == facts.accounts.begin()) return nullptr;
  const AccountAt& at = *std::prev(after);
  return at.time_ns + span_ns / 2 < time_ns ? nullptr : &at;
}

// The changes by span; empty: the last span's is not known. Spans that are not known are left out.
template <typename AmountOf>
std::vector<double> ChangesBySpan(const EndFacts& facts, const Spans& spans, AmountOf amount_of) {
  std::vector<double> changes;
  for (size_t i = 0; i <= spans.before; ++i) {
    const AccountAt* const from = AccountAtTime(facts, spans.BeginOf(i), spans.span_ns);
    const AccountAt* const to = AccountAtTime(facts, spans.BeginOf(i + 1), spans.span_ns);
    const std::optional<uint64_t> low = from != nullptr ? amount_of(*from) : std::nullopt;
    const std::optional<uint64_t> high = to != nullptr ? amount_of(*to) : std::nullopt;
    if (low && high) {
      changes.push_back(static_cast<double>(*high) - static_cast<double>(*low));
    } else if (i == spans.before) {
      changes.clear();
    }
  }
  return changes;
}

void AddAccount(const EndFacts& facts, const Spans& spans, std::vector<Change>* into) {
  std::vector<double> gc;
  for (size_t i = 0; i <= spans.before; ++i)
    gc.push_back(facts.GcBetween(spans.BeginOf(i), spans.BeginOf(i + 1)).Share());
  AddCounted("gc", "GC pauses", Unit::kShare, kLeastShare, gc, into);
  const double span_ns = static_cast<double>(spans.span_ns);
  std::vector<double> throttled = ChangesBySpan(facts, spans, [](const AccountAt& at) -> std::optional<uint64_t> {
    const format::Amount amount = at.account[AccountItem::kCgroupThrottledNs];
    return amount.is_known() ? std::optional(amount.value()) : std::nullopt;
  });
  for (double& share : throttled) share /= span_ns;
  AddCounted("cgroup_throttled_ns", "CPU throttled (all threads)", Unit::kShare, kLeastShare, throttled, into);
  const auto rss = ChangesBySpan(facts, spans, [](const AccountAt& at) -> std::optional<uint64_t> {
    return at.rss > 0 ? std::optional(at.rss) : std::nullopt;
  });
  AddCounted("rss", "RSS", Unit::kByteChange, kLeastBytes, rss, into);
  for (const Watched& one : kWatched) {
    const auto changes = ChangesBySpan(facts, spans, [&](const AccountAt& at) -> std::optional<uint64_t> {
      const format::Amount amount = at.account[one.item];
      return amount.is_known() ? std::optional(amount.value()) : std::nullopt;
    });
    AddCounted(format::kAccountItemNames[static_cast<size_t>(one.item)], one.name, one.unit, one.least, changes, into);
  }
}

// Sums of samples by span: of each key, and of all.
class SpanSums : public ScanVisitor {
 public:
  SpanSums(const Spans& spans, uint64_t start_epoch_ns, By by, CallTree* tree)
      : spans_(spans), begin_ns_(start_epoch_ns + spans.begin_ns), grouping_(by), tree_(tree) {}
  // A block that covers two spans is read from its samples.
  bool takes_rows(uint64_t begin_ns, uint64_t end_ns) const override {
    return grouping_.takes_rows() && SpanAt(begin_ns) == SpanAt(end_ns - 1);
  }
  void Begin(const format::FileHeader& header) override {
    start_ns_ = header.start_epoch_ns;
    grouping_.Start();
    sums_.Start();
  }
  void Visit(const MatchedBlock& matched_block) override {
    grouping_.KeysOf(matched_block.block, matched_block.drawn, &matched_block.names, &matched_block.tree, &keys_);
    for (size_t i = 0; i < matched_block.drawn.size(); ++i) {
      const WeightedSample& drawn = *matched_block.drawn[i];
      const auto span = SpanAt(start_ns_ + matched_block.block.samples[drawn.index].time_ns);
      if (!span) continue;
      const auto [place, is_new] = places_.emplace(keys_[i], places_.size());
      sums_.Add(static_cast<GroupTable::Key>(place->second * (spans_.before + 1) + *span), drawn);
    }
  }
  void End(const Estimator& estimator, double) override { sums_.Close(estimator); }

  // `is_throws`: samples are exceptions.
  void AddChanges(std::string_view id, bool is_throws, std::vector<Change>* into) const {
    const double seconds = static_cast<double>(spans_.span_ns) * 1e-9;
    for (const auto& [key, place] : places_) {
      const auto rate_in = [&, at = place * (spans_.before + 1)](size_t span) {
        return Scaled(sums_.Of(static_cast<GroupTable::Key>(at + span)).bytes, 1 / seconds);
      };
      std::vector<double> before;
      for (size_t span = 0; span < spans_.before; ++span) before.push_back(rate_in(span).value);
      AddIfDifferent(id, grouping_.NameOf(key, *tree_), is_throws ? Unit::kPerSecond : Unit::kBytesPerSecond,
                     is_throws ? kLeastThrown : kLeastRate, rate_in(spans_.before), before, into);
    }
  }

 private:
  std::optional<size_t> SpanAt(uint64_t epoch_ns) const {
    if (epoch_ns < begin_ns_) return std::nullopt;
    return std::min<size_t>((epoch_ns - begin_ns_) / spans_.span_ns, spans_.before);
  }

  const Spans spans_;
  const uint64_t begin_ns_;  // of the first span, since 1970
  Grouping grouping_;
  CallTree* const tree_;
  GroupTable sums_;
  std::unordered_map<uint32_t, size_t> places_;  // by key, in order of occurrence
  std::vector<uint32_t> keys_;
  uint64_t start_ns_ = 0;
};

void AddSamples(const std::string& file, const EndFacts& facts, const Spans& spans, By by, std::string_view id,
                std::vector<std::string> kinds, std::vector<Change>* into) {
  const bool is_throws = !kinds.empty();
  FileScan scan(file, std::move(kinds));
  SpanSums sums(spans, facts.header.start_epoch_ns, by, scan.tree());
  if (scan.Run(&sums)) sums.AddChanges(id, is_throws, into);
}

// Something that never was before comes first.
void Order(std::vector<Change>* changes) {
  const auto factor = [](const Change& one) { return one.at_end.low / std::max(one.most_before, 1e-9); };
  std::ranges::sort(*changes, [&](const Change& a, const Change& b) {
    return factor(a) != factor(b) ? factor(a) > factor(b) : a.name < b.name;
  });
}

}  // namespace

Changes ChangesOf(const EndFacts& facts, const std::string& file) {
  const Spans spans = SpansOf(facts);
  if (spans.before < kLeastSpans) return {};
  Changes changes{spans.span_ns, spans.before, {}};
  AddAccount(facts, spans, &changes.rows);
  Order(&changes.rows);
  if (file.empty()) return changes;
  std::vector<Change> thrown, sites;
  if (facts.header.exceptions.interval_ns > 0)
    AddSamples(file, facts, spans, By::kClass, "exception", {"exception"}, &thrown);
  AddSamples(file, facts, spans, By::kSite, "site", {}, &sites);
  for (std::vector<Change>* const rows : {&thrown, &sites}) {
    Order(rows);
    changes.rows.insert(changes.rows.end(), rows->begin(), rows->end());
  }
  return changes;
}

}  // namespace heaprec::tools
