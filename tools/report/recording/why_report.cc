#include "tools/report/recording/why_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tools/input/stream_traits.h"
#include "tools/query/summary/headlines.h"
#include "tools/render/value_format.h"
#include "tools/report/recording/reports.h"
#include "tools/text/text.h"

namespace heaprec::tools {

using namespace render;

namespace {

// Growth that begins in this part of the time begins with the recording.
constexpr double kFromTheStart = 0.05;
constexpr uint64_t kManyStarts = 10;  // threads
constexpr size_t kEvidence = 3, kGrown = 3, kSites = 2;

struct AccountRow {
  const Owner* owner;
  OwnerAmounts at_end, before;
};

Value AmountValue(const format::Amount& amount) { return amount.is_known() ? Value(amount.value()) : Value(); }
Value MainValue(const OwnerAmounts& amounts) {
  const auto main = amounts.Main();
  return main ? Value(*main) : Value();
}
// In text.
Value AmountText(const format::Amount& amount) {
  if (amount.has_no_limit()) return "none";
  return amount.is_known() ? Value(amount.value()) : Value(amount.was_taken() ? "not known" : "");
}
Value OrNothing(Value value) { return value.is_unknown() ? Value("") : value; }

const std::vector<Column<AccountRow>>& AccountColumns() {
  static const std::vector<Column<AccountRow>> columns{
      {"owner", "", Unit::kText, Detail::kJsonOnly, [](const AccountRow& row) { return Value(row.owner->id); }},
      {"unit", "", Unit::kText, Detail::kJsonOnly,
       [](const AccountRow& row) { return Value(row.owner->is_count ? "count" : "bytes"); }},
      {"used", "", Unit::kByRow, Detail::kJsonOnly, [](const AccountRow& row) { return AmountValue(row.at_end.used); }},
      {"before", "", Unit::kByRow, Detail::kJsonOnly, [](const AccountRow& row) { return MainValue(row.before); }},
      {"committed", "", Unit::kByRow, Detail::kJsonOnly,
       [](const AccountRow& row) { return AmountValue(row.at_end.committed); }},
      {"resident", "", Unit::kByRow, Detail::kJsonOnly,
       [](const AccountRow& row) { return AmountValue(row.at_end.resident); }},
      {"limit", "", Unit::kByRow, Detail::kJsonOnly,
       [](const AccountRow& row) { return AmountValue(row.at_end.limit); }},
      {"has_no_limit", "", Unit::kText, Detail::kJsonOnly,
       [](const AccountRow& row) { return Value(row.at_end.limit.has_no_limit()); }},
      {"", "used", Unit::kByRow, Detail::kTextOnly,
       [](const AccountRow& row) { return OrNothing(MainValue(row.at_end)); }},
      {"", "before", Unit::kByRow, Detail::kTextOnly,
       [](const AccountRow& row) { return OrNothing(MainValue(row.before)); }},
      {"", "committed", Unit::kByRow, Detail::kTextOnly,
       [](const AccountRow& row) { return AmountText(row.at_end.committed); }},
      {"", "resident", Unit::kByRow, Detail::kTextOnly,
       [](const AccountRow& row) { return AmountText(row.at_end.resident); }},
      {"", "limit", Unit::kByRow, Detail::kTextOnly,
       [](const AccountRow& row) { return AmountText(row.at_end.limit); }},
      {"", "owner", Unit::kText, Detail::kTextOnly, [](const AccountRow& row) { return Value(row.owner->name); }},
  };
  return columns;
}

bool IsKnown(const OwnerAmounts& amounts) { return amounts.Main().has_value(); }

void AddAccount(const EndFacts& facts, Group* into) {
  const AccountAt* const last = facts.last();
  if (last == nullptr) {
    into->Add(Note("no account of memory: the recording has no snapshot of the process"));
    return;
  }
  const AccountAt* const before = facts.before();
  std::vector<AccountRow> rows;
  for (const Owner& owner : Owners()) {
    AccountRow row{&owner, AmountsOf(owner, *last), before != nullptr ? AmountsOf(owner, *before) : OwnerAmounts()};
    if (IsKnown(row.at_end) || IsKnown(row.before)) rows.push_back(std::move(row));
  }
  Table table = MakeTable("account", AccountColumns(), rows);
  for (size_t i = 0; i < rows.size(); ++i) table.rows[i].unit = rows[i].owner->is_count ? Unit::kInteger : Unit::kBytes;
  table.more = "--wide shows all";
  const uint64_t end_ns = std::max(facts.end_ns, last->time_ns);
  into->Add(Hidden({{"account_ns", last->time_ns, Unit::kNanoseconds},
                    {"before_ns", before != nullptr ? Value(before->time_ns) : Value(), Unit::kNanoseconds}}));
  Line line = Fact("account", "{} before the end; column 'before': {} earlier",
                   {{"", end_ns - last->time_ns, Unit::kNanoseconds},
                    {"", before != nullptr ? last->time_ns - before->time_ns : 0, Unit::kNanoseconds}},
                   Detail::kTextOnly);
  into->Add(std::move(line));
  into->Add(std::move(table));
}

std::string Shown(const Value& value, Unit unit) { return FormatInline(value, unit, true); }

void AddGrown(const EndFacts& facts, const std::vector<GrownOwner>& grown, size_t most, Group* into) {
  static const std::vector<Column<GrownOwner>> columns{
      {"owner", "", Unit::kText, Detail::kJsonOnly, [](const GrownOwner& one) { return Value(one.owner->id); }},
      {"per_second", "", Unit::kNumber, Detail::kJsonOnly, [](const GrownOwner& one) { return Value(one.per_second); }},
      {"since_s", "", Unit::kSeconds, Detail::kJsonOnly, [](const GrownOwner& one) { return Value(one.since_s); }},
      {"from", "", Unit::kInteger, Detail::kJsonOnly, [](const GrownOwner& one) { return Value(one.from); }},
      {"to", "", Unit::kInteger, Detail::kJsonOnly, [](const GrownOwner& one) { return Value(one.to); }},
  };
  Table table = MakeTable("grew", columns, grown);
  table.detail = Detail::kJsonOnly;
  into->Add(std::move(table));
  // The cgroup grows with its process.
  const bool has_process = std::ranges::any_of(grown, [](const GrownOwner& one) { return one.owner->id == "process"; });
  size_t shown = 0;
  for (const GrownOwner& one : grown) {
    if (shown == most) break;
    if (has_process && one.owner->id == "cgroup") continue;
    ++shown;
    const std::string name(one.owner->name);
    const Unit rate = one.owner->is_count ? Unit::kPerSecond : Unit::kGrowth;
    const Unit amount = one.owner->is_count ? Unit::kInteger : Unit::kBytes;
    const std::string since = one.since_s < kFromTheStart * static_cast<double>(facts.end_ns) * 1e-9
                                  ? " from the start"
                                  : " since " + Shown(one.since_s, Unit::kSeconds);
    into->Add(Fact("grew", name + " {}" + since + ": {} -> {}",
                   {{"", one.per_second, rate}, {"", one.from, amount}, {"", one.to, amount}}, Detail::kTextOnly));
  }
}

void AddSites(const EndFacts& facts, bool is_heap_full, const std::vector<LiveSite>& sites, size_t most, Group* into) {
  static const std::vector<Column<LiveSite>> columns{
      {"kind", "", Unit::kText, Detail::kJsonOnly,
       [](const LiveSite& one) { return Value(TraitsOf(one.stream).name); }},
      {"site", "", Unit::kText, Detail::kJsonOnly, [](const LiveSite& one) { return Value(one.site); }},
      {"leak", "", Unit::kText, Detail::kJsonOnly, [](const LiveSite& one) { return Value(one.leak.has_value()); }},
      {"bytes", "", Unit::kBytes, Detail::kJsonOnly, [](const LiveSite& one) { return Value(one.bytes); }},
      {"share", "", Unit::kShare, Detail::kJsonOnly, [](const LiveSite& one) { return Value(one.share); }},
      {"bytes_per_second", "", Unit::kGrowth, Detail::kJsonOnly,
       [](const LiveSite& one) { return one.leak ? Value(one.leak->per_second) : Value(); }},
      {"since_s", "", Unit::kSeconds, Detail::kJsonOnly,
       [](const LiveSite& one) { return one.leak ? Value(one.leak->since_s) : Value(); }},
  };
  Table table = MakeTable("live_sites", columns, sites);
  table.detail = Detail::kJsonOnly;
  into->Add(std::move(table));
  const bool tracks = facts.header.tracks();
  if (!tracks) into->Add(Fact("leak", "not known: nothing was tracked (live=on)", {}, Detail::kTextOnly));
  const bool has_leak = !sites.empty() && sites.front().leak.has_value();
  if (tracks && !has_leak && sites.empty()) into->Add(Fact("leak", "no live sample at the end", {}, Detail::kTextOnly));
  for (size_t i = 0; i < std::min(sites.size(), most); ++i) {
    const LiveSite& one = sites[i];
    // What is live matters where the heap is full, or grows.
    if (has_leak ? !one.leak : !is_heap_full) break;
    const std::string kind =
        one.stream == format::Stream::kAllocations ? "" : std::string(TraitsOf(one.stream).name) + " ";
    std::string text = kind + one.site + "  " + Shown(one.bytes, Unit::kBytes);
    if (one.leak) text += ", " + Shown(one.leak->per_second, Unit::kGrowth);
    if (one.leak && one.leak->since_s && one.leak->since_s->low > 0)
      text += " since " + Shown(one.leak->since_s->value, Unit::kSeconds);
    into->Add(Fact(has_leak ? "leak" : "live", "{}", {{"", text}}, Detail::kTextOnly));
  }
}

void AddGc(const EndFacts& facts, Group* into) {
  if (facts.last_gc_ns == 0 && facts.gc.paused_ns == 0) return;
  const auto seconds = [](uint64_t ns) { return Shown(static_cast<double>(ns) * 1e-9, Unit::kSeconds); };
  const uint64_t ago_ns = facts.end_ns - std::min(facts.end_ns, facts.last_gc_ns);
  std::string text = "{} of the last " + seconds(facts.gc_at_end.of_ns) + " in pauses, {} of all";
  if (!facts.last_gc_cause.empty()) text += "; last: {}, " + seconds(ago_ns) + " before the end";
  into->Add(Fact("gc", text,
                 {{"gc.share_at_end", facts.gc_at_end.Share(), Unit::kShare},
                  {"gc.share", facts.gc.Share(), Unit::kShare},
                  {"gc.last_cause", facts.last_gc_cause},
                  {"gc.last_before_end_ns", ago_ns, Unit::kNanoseconds},
                  {"gc.at_end_ns", facts.gc_at_end.of_ns, Unit::kNanoseconds}}));
}

// What had filled the heap when it was full for the last time.
void AddHeapFull(const EndFacts& facts, const std::vector<LivePart>& parts, size_t most, Group* into) {
  if (facts.heap_full.empty()) return;
  const format::ProcessState& mark = facts.heap_full.back();
  std::string time = ClockText::Iso(facts.header.start_epoch_ns + mark.time_ns);
  time = time.substr(0, time.find('.')).substr(time.find('T') + 1);
  into->Add(Fact("full", "{}: {} of {} ({})",
                 {{"", time},
                  {"heap_full.used", mark.used, Unit::kBytes},
                  {"heap_full.limit", mark.committed, Unit::kBytes},
                  {"heap_full.reason", ToUtf8(mark.cause)}}));
  into->Add(Hidden({{"heap_full.time_ns", mark.time_ns, Unit::kNanoseconds}}));
  static const std::vector<Column<LivePart>> columns{
      {"name", "", Unit::kText, Detail::kJsonOnly, [](const LivePart& one) { return Value(one.name); }},
      {"bytes", "", Unit::kBytes, Detail::kJsonOnly, [](const LivePart& one) { return Value(one.bytes); }},
      {"share", "", Unit::kShare, Detail::kJsonOnly, [](const LivePart& one) { return Value(one.share); }},
  };
  Table table = MakeTable("heap_full.live", columns, parts);
  table.detail = Detail::kJsonOnly;
  into->Add(std::move(table));
  for (size_t i = 0; i < std::min(parts.size(), most); ++i) {
    into->Add(Fact("filled by", "{}  {}, {}",
                   {{"", parts[i].name}, {"", parts[i].bytes, Unit::kBytes}, {"", parts[i].share, Unit::kShare}},
                   Detail::kTextOnly));
  }
}

bool IsHeapFull(const WhyAnswer& answer) {
  const EndEvent* const error = LastError(answer.facts);
  return !answer.facts.heap_full.empty() || (error != nullptr && ResourceOf(*error) == Resource::kHeap) ||
         std::ranges::any_of(answer.grown, [](const GrownOwner& one) { return one.owner->id == "old_generation"; });
}

bool IsOver(const std::string& id) {
  return id != "running" && id != "continues" && id != "stopped" && id != "nothing";
}

void AddTexts(const char* heading, const std::vector<std::string>& texts, size_t most, Group* into) {
  for (size_t i = 0; i < std::min(texts.size(), most); ++i)
    into->Add(Fact(heading, "{}", {{"", texts[i]}}, Detail::kTextOnly));
}

}  // namespace

Group WhyReport(const WhyAnswer& answer, const char* name) {
  const EndFacts& facts = answer.facts;
  const EndVerdict& verdict = answer.verdict;
  const auto most = [&](size_t brief) { return answer.is_brief ? brief : SIZE_MAX; };
  Group group{name, {}};
  const uint64_t end_epoch_ns = facts.header.start_epoch_ns + facts.end_ns;
  std::string time = ClockText::Iso(end_epoch_ns);
  time = time.substr(0, time.find('.'));
  std::ranges::replace(time, 'T', ' ');
  const std::string errors =
      facts.errors_seen > 0
          ? fmt::format("; {}, the first at {}", CountOf(facts.errors_seen, "error"),
                        Duration(facts.first_error_ns - std::min(facts.first_error_ns, facts.begin_ns)))
          : "";
  group.Add(Fact(IsOver(verdict.id) ? "died" : "recorded", "{} UTC after {}, {}{}",
                 {{"", time},
                  {"duration_ns", facts.duration_ns(), Unit::kNanoseconds},
                  {"", facts.end_reason   ? "end marker: " + *facts.end_reason
                       : facts.is_running ? std::string("still running")
                                          : std::string("no end marker")},
                  {"", errors}}));
  group.Add(Hidden({{"end_epoch_ns", end_epoch_ns, Unit::kDigits},
                    {"end_marker", facts.end_reason ? Value(*facts.end_reason) : Value()},
                    {"errors", facts.errors_seen, Unit::kInteger},
                    {"why.verdict", verdict.id}}));
  group.Add(Fact("why", verdict.certainty == Certainty::kUnknown ? "{}" : "{} ({})",
                 {{"why.text", verdict.text}, {"why.certainty", CertaintyName(verdict.certainty)}}));
  group.Add(Hidden({{"why.evidence", verdict.evidence}, {"why.missing", verdict.missing}}));
  AddTexts("evidence", verdict.evidence, most(kEvidence), &group);
  AddTexts("missing", verdict.missing, most(kEvidence), &group);
  AddAccount(facts, &group);
  AddGrown(facts, answer.grown, most(kGrown), &group);
  group.Add(Hidden({{"time_to_full", TimeToFullValue(facts.full)}}));
  if (facts.full) group.Add(Fact("memory", "{}", {{"", FullText(*facts.full, facts.is_running)}}, Detail::kTextOnly));
  AddHeapFull(facts, answer.filled, most(kSites), &group);
  AddSites(facts, IsHeapFull(answer), answer.sites, most(kSites), &group);
  if (!facts.thread_sites.empty()) {
    const ThreadSite& site = facts.thread_sites.front();
    const bool is_many = site.started + site.failed >= kManyStarts;
    group.Add(Fact("threads", site.failed > 0 ? "{} started {} or more, {} starts failed" : "{} started {} or more",
                   {{"thread_starts.site", site.site},
                    {"thread_starts.started", site.started, Unit::kInteger},
                    {"thread_starts.failed", site.failed, Unit::kInteger}},
                   is_many ? Detail::kAlways : Detail::kWide));
  }
  AddGc(facts, &group);
  static const std::vector<Column<NextStep>> columns{
      {"text", "", Unit::kText, Detail::kJsonOnly, [](const NextStep& one) { return Value(one.text); }},
      {"reason", "", Unit::kText, Detail::kJsonOnly, [](const NextStep& one) { return Value(one.reason); }},
  };
  Table table = MakeTable("next", columns, answer.advice);
  table.detail = Detail::kJsonOnly;
  group.Add(std::move(table));
  for (size_t i = 0; i < std::min(answer.advice.size(), most(kEvidence)); ++i)
    group.Add(
        Fact("next", "{}  # {}", {{"", answer.advice[i].text}, {"", answer.advice[i].reason}}, Detail::kTextOnly));
  return group;
}

}  // namespace heaprec::tools
