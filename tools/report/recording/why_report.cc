#include "tools/report/recording/why_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tools/input/stream_traits.h"
#include "tools/query/summary/headlines.h"
#include "tools/render/value_format.h"
#include "tools/report/columns/live_columns.h"
#include "tools/report/recording/reports.h"
#include "tools/text/text.h"

namespace heaprec::tools {

using namespace render;

namespace {

// Growth that begins in this part of the time begins with the recording.
constexpr double kFromTheStart = 0.05;
constexpr double kLeastGc = 0.01;
constexpr double kNearlyFull = 0.8;   // of a limit
constexpr uint64_t kManyStarts = 10;  // threads
constexpr size_t kUnreadNames = 3;
constexpr size_t kEvidence = 3, kMissing = 1, kGrown = 3, kSites = 2, kChanges = 3, kAdvice = 3;

struct AccountRow {
  const Owner* owner;
  OwnerAmounts at_end, before;
};

Value AmountValue(const format::Amount& amount) { return amount.is_known() ? Value(amount.value()) : Value(); }
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
      {"before", "", Unit::kByRow, Detail::kJsonOnly, PartOf(&AccountRow::before, &OwnerAmounts::Main)},
      {"committed", "", Unit::kByRow, Detail::kJsonOnly,
       [](const AccountRow& row) { return AmountValue(row.at_end.committed); }},
      {"resident", "", Unit::kByRow, Detail::kJsonOnly,
       [](const AccountRow& row) { return AmountValue(row.at_end.resident); }},
      {"limit", "", Unit::kByRow, Detail::kJsonOnly,
       [](const AccountRow& row) { return AmountValue(row.at_end.limit); }},
      {"has_no_limit", "", Unit::kText, Detail::kJsonOnly,
       [](const AccountRow& row) { return Value(row.at_end.limit.has_no_limit()); }},
      {"", "used", Unit::kByRow, Detail::kTextOnly, [](const AccountRow& row) { return OrNothing(row.at_end.Main()); }},
      {"", "before", Unit::kByRow, Detail::kTextOnly,
       [](const AccountRow& row) { return OrNothing(row.before.Main()); }},
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

// "2026-11-28 22:42:22"
std::string SecondText(uint64_t epoch_ns) {
  std::string time = ClockText::Iso(epoch_ns);
  time = time.substr(0, time.find('.'));
  std::ranges::replace(time, 'T', ' ');
  return time;
}

bool IsKnown(const OwnerAmounts& amounts) { return amounts.Main().has_value(); }

void AddAccount(const EndFacts& facts, const std::vector<GrownOwner>& grown, Group* into) {
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
  // A screen shows the first ones: what is full or has grown, then what there is at all.
  const auto rank = [&](const AccountRow& row) {
    const bool has_limit = row.at_end.limit.is_known();
    if (row.owner->id == "process" || (row.owner->id == "cgroup" && has_limit)) return 0;
    if (row.at_end.Share() >= kNearlyFull || std::ranges::find(grown, row.owner, &GrownOwner::owner) != grown.end())
      return 1;
    return row.owner->id != "cgroup" && row.at_end.Main().value_or(0) > 0 ? 2 : 3;
  };
  std::ranges::stable_sort(rows, {}, rank);
  Table table = MakeTable("account", AccountColumns(), rows);
  for (size_t i = 0; i < rows.size(); ++i) table.rows[i].unit = rows[i].owner->is_count ? Unit::kInteger : Unit::kBytes;
  table.more = "--wide shows all";
  const uint64_t end_ns = std::max(facts.end_ns, last->time_ns);
  into->Add(Hidden({{"account_ns", last->time_ns, Unit::kNanoseconds},
                    {"before_ns", before != nullptr ? Value(before->time_ns) : Value(), Unit::kNanoseconds}}));
  const char* const when = facts.is_running ? "now" : "the end";
  if (before == nullptr) {
    into->Add(Fact("account", "{} before {}; the only one",
                   {{"", end_ns - last->time_ns, Unit::kNanoseconds}, {"", when}}, Detail::kTextOnly));
  } else {
    into->Add(Fact("account", "{} before {}; column 'before': {} earlier",
                   {{"", end_ns - last->time_ns, Unit::kNanoseconds},
                    {"", when},
                    {"", last->time_ns - before->time_ns, Unit::kNanoseconds}},
                   Detail::kTextOnly));
  }
  into->Add(std::move(table));
}

std::string Shown(const Value& value, Unit unit) { return FormatInline(value, unit, true); }

void AddGrown(const EndFacts& facts, const std::vector<GrownOwner>& grown, size_t most, Group* into) {
  static const std::vector<Column<GrownOwner>> columns{
      {"owner", "", Unit::kText, Detail::kJsonOnly, [](const GrownOwner& one) { return Value(one.owner->id); }},
      {"per_second", "", Unit::kNumber, Detail::kJsonOnly, &GrownOwner::per_second},
      {"since_s", "", Unit::kSeconds, Detail::kJsonOnly, &GrownOwner::since_s},
      {"from", "", Unit::kInteger, Detail::kJsonOnly, &GrownOwner::from},
      {"to", "", Unit::kInteger, Detail::kJsonOnly, &GrownOwner::to},
  };
  into->Add(HiddenTable("grew", columns, grown));
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
    const std::string since = one.since_s.value < kFromTheStart * static_cast<double>(facts.end_ns) * 1e-9
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
      {"site", "", Unit::kText, Detail::kJsonOnly, &LiveSite::site},
      {"leak", "", Unit::kText, Detail::kJsonOnly, [](const LiveSite& one) { return one.leak.has_value(); }},
      {"bytes", "", Unit::kBytes, Detail::kJsonOnly, &LiveSite::bytes},
      {"share", "", Unit::kShare, Detail::kJsonOnly, &LiveSite::share},
      {"bytes_per_second", "", Unit::kGrowth, Detail::kJsonOnly,
       [](const LiveSite& one) { return one.leak ? Value(one.leak->per_second) : Value(); }},
      {"since_s", "", Unit::kSeconds, Detail::kJsonOnly,
       [](const LiveSite& one) { return one.leak ? Value(one.leak->since_s) : Value(); }},
      {"held_by", "", Unit::kText, Detail::kJsonOnly, [](const LiveSite& one) { return PathsValue(one.paths); }},
      {"held_by_share", "", Unit::kShare, Detail::kJsonOnly,
       [](const LiveSite& one) { return PathSharesValue(one.paths); }},
  };
  into->Add(HiddenTable("live_sites", columns, sites));
  const bool tracks = facts.header.tracks(), has_objects = facts.header.source != kPreloaded;
  if (facts.header.max_tracked_objects == 0 && has_objects)
    into->Add(Fact("leak", "not known: no objects were tracked (live=on)", {}, Detail::kTextOnly));
  const bool has_leak = !sites.empty() && sites.front().leak.has_value();
  if (tracks && !has_leak && sites.empty() && is_heap_full)
    into->Add(Fact("leak", "no live sample at the end", {}, Detail::kTextOnly));
  for (size_t i = 0; i < std::min(sites.size(), most); ++i) {
    const LiveSite& one = sites[i];
    // What is live matters where the heap is full, or grows.
    if (has_leak ? !one.leak : !is_heap_full) break;
    const std::string kind =
        one.stream == format::Stream::kAllocations ? "" : std::string(TraitsOf(one.stream).name) + " ";
    std::string text = kind + one.site + "  " + Shown(one.bytes, Unit::kBytes);
    if (one.stream != format::Stream::kAllocations) text += " requested";  // not all of it need be resident
    if (one.leak) text += ", " + Shown(one.leak->per_second, Unit::kGrowth);
    if (one.leak && one.leak->since_s && one.leak->since_s->low > 0)
      text += " since " + Shown(one.leak->since_s->value, Unit::kSeconds);
    into->Add(Fact(has_leak ? "leak" : "live", "{}", {{"", text}}, Detail::kTextOnly));
    for (const GroupPath& path : one.paths)
      into->Add(Fact("held by", "{}  {}", {{"", path.share, Unit::kShare}, {"", path.path}}, Detail::kTextOnly));
  }
}

void AddChangeLines(const Changes& changes, size_t most, Group* into) {
  if (changes.span_ns == 0) return;
  static const std::vector<Column<Change>> columns{
      {"id", "", Unit::kText, Detail::kJsonOnly, &Change::id},
      {"name", "", Unit::kText, Detail::kJsonOnly, &Change::name},
      {"at_end", "", Unit::kNumber, Detail::kJsonOnly, &Change::at_end},
      {"most_before", "", Unit::kNumber, Detail::kJsonOnly, &Change::most_before},
  };
  into->Add(Hidden({{"differs.span_ns", changes.span_ns, Unit::kNanoseconds},
                    {"differs.spans_before", changes.spans_before, Unit::kInteger}}));
  into->Add(HiddenTable("differs.rows", columns, changes.rows));
  const std::string span = Shown(static_cast<double>(changes.span_ns) * 1e-9, Unit::kSeconds);
  for (size_t i = 0; i < std::min(changes.rows.size(), most); ++i) {
    const Change& one = changes.rows[i];
    into->Add(Fact("differs", "{}: {} in the last " + span + ", at most {} before",
                   {{"", one.name}, {"", one.at_end, one.unit}, {"", one.most_before, one.unit}}, Detail::kTextOnly));
  }
}

const char* OriginName(format::Setting::Origin origin) {
  switch (origin) {
    case format::Setting::Origin::kDefault:
      return "default";
    case format::Setting::Origin::kSet:
      return "set";
    case format::Setting::Origin::kChosen:
      return "chosen by the JVM";
    case format::Setting::Origin::kUnknown:
      break;
  }
  return "not known";
}

void AddSettings(const EndFacts& facts, Group* into) {
  using format::Setting;
  static const std::vector<Column<Setting>> columns{
      {"name", "", Unit::kText, Detail::kJsonOnly, [](const Setting& one) { return Value(ToUtf8(one.name)); }},
      {"value", "", Unit::kText, Detail::kJsonOnly, [](const Setting& one) { return Value(ToUtf8(one.value)); }},
      {"origin", "", Unit::kText, Detail::kJsonOnly, [](const Setting& one) { return Value(OriginName(one.origin)); }},
  };
  into->Add(HiddenTable("settings", columns, facts.header.settings));
  std::string set;
  for (const Setting& one : facts.header.settings) {
    if (one.origin == Setting::Origin::kSet) set += (set.empty() ? "" : ", ") + ToUtf8(one.name + "=" + one.value);
  }
  if (!set.empty()) into->Add(Fact("settings", {"", set}, Detail::kWide));
}

void AddAdvice(const std::vector<NextStep>& advice, size_t most, Group* into) {
  static const std::vector<Column<NextStep>> columns{
      {"text", "", Unit::kText, Detail::kJsonOnly, &NextStep::text},
      {"reason", "", Unit::kText, Detail::kJsonOnly, &NextStep::reason},
  };
  into->Add(HiddenTable("next", columns, advice));
  for (size_t i = 0; i < std::min(advice.size(), most); ++i)
    into->Add(Fact("next", "{}  # {}", {{"", advice[i].text}, {"", advice[i].reason}}, Detail::kTextOnly));
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
                  {"gc.at_end_ns", facts.gc_at_end.of_ns, Unit::kNanoseconds}},
                 facts.gc_at_end.Share() >= kLeastGc ? Detail::kAlways : Detail::kWide));
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
      {"name", "", Unit::kText, Detail::kJsonOnly, &LivePart::name},
      {"bytes", "", Unit::kBytes, Detail::kJsonOnly, &LivePart::bytes},
      {"share", "", Unit::kShare, Detail::kJsonOnly, &LivePart::share},
  };
  into->Add(HiddenTable("heap_full.live", columns, parts));
  for (size_t i = 0; i < std::min(parts.size(), most); ++i) {
    into->Add(Fact("filled by", "{}  {}, {}",
                   {{"", parts[i].name}, {"", parts[i].bytes, Unit::kBytes}, {"", parts[i].share, Unit::kShare}},
                   Detail::kTextOnly));
  }
}

bool IsHeapFull(const Explanation& answer) {
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

Group WhyReport(const Explanation& answer, bool is_brief) {
  const EndFacts& facts = answer.facts;
  const EndVerdict& verdict = answer.verdict;
  const auto most = [&](size_t brief) { return is_brief ? brief : SIZE_MAX; };
  Group group{"", {}};
  const uint64_t end_epoch_ns = facts.header.start_epoch_ns + facts.end_ns;
  const std::string errors =
      facts.errors_seen > 0
          ? fmt::format("; {}, the first at {}", CountOf(facts.errors_seen, "error"),
                        Duration(facts.first_error_ns - std::min(facts.first_error_ns, facts.begin_ns)))
          : "";
  group.Add(Fact(IsOver(verdict.id) ? "died" : "recorded", "{} UTC after {}, {}{}",
                 {{"", SecondText(end_epoch_ns)},
                  {"duration_ns", facts.duration_ns(), Unit::kNanoseconds},
                  {"", facts.end_reason == format::kEndRecovered ? "no end marker (recovered)"
                       : facts.end_reason                        ? "end marker: " + *facts.end_reason
                       : facts.is_running                        ? std::string("still running")
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
  AddTexts("missing", verdict.missing, most(kMissing), &group);
  AddAccount(facts, answer.grown, &group);
  AddGrown(facts, answer.grown, most(kGrown), &group);
  group.Add(Hidden({{"time_to_full", TimeToFullValue(facts.full)}}));
  if (facts.full) group.Add(Fact("memory", "{}", {{"", FullText(*facts.full, facts.is_running)}}, Detail::kTextOnly));
  AddHeapFull(facts, answer.filled, most(kSites), &group);
  // What filled the heap says more than what is left of it.
  AddSites(facts, IsHeapFull(answer) && answer.filled.empty(), answer.sites, most(kSites), &group);
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
  AddChangeLines(answer.changes, most(kChanges), &group);
  AddSettings(facts, &group);
  AddAdvice(answer.advice, most(kAdvice), &group);
  return group;
}

namespace {

std::string EndsText(size_t some, size_t ends) {
  return some == ends ? fmt::format("all {}", ends) : fmt::format("{} of {}", some, ends);
}

// "2026-11-28 22:42:22" without the year.
std::string ShortTime(uint64_t epoch_ns) { return SecondText(epoch_ns).substr(5); }

std::string FileName(const std::string& path) { return ToUtf8(path.substr(path.rfind('/') + 1)); }

const std::vector<Column<ProcessEnd>>& EndColumns() {
  static const std::vector<Column<ProcessEnd>> columns{
      {"file", "", Unit::kText, Detail::kJsonOnly, [](const ProcessEnd& end) { return Value(ToUtf8(end.file)); }},
      {"end_epoch_ns", "", Unit::kDigits, Detail::kJsonOnly, &ProcessEnd::end_epoch_ns},
      {"", "ended (UTC)", Unit::kText, Detail::kTextOnly,
       [](const ProcessEnd& end) { return Value(ShortTime(end.end_epoch_ns)); }},
      {"", "after", Unit::kSeconds, Detail::kTextOnly,
       [](const ProcessEnd& end) { return Value(static_cast<double>(end.lived_ns) * 1e-9); }},
      {"lived_ns", "", Unit::kNanoseconds, Detail::kJsonOnly, &ProcessEnd::lived_ns},
      {"verdict", "", Unit::kText, Detail::kJsonOnly, PartOf(&ProcessEnd::verdict, &EndVerdict::id)},
      {"certainty", "", Unit::kText, Detail::kJsonOnly,
       [](const ProcessEnd& end) { return Value(CertaintyName(end.verdict.certainty)); }},
      {"cause", "", Unit::kText, Detail::kJsonOnly, &ProcessEnd::cause},
      {"grew", "", Unit::kText, Detail::kJsonOnly,
       [](const ProcessEnd& end) { return end.grown.empty() ? Value() : Value(end.grown.front().owner->id); }},
      {"leak", "", Unit::kText, Detail::kJsonOnly,
       [](const ProcessEnd& end) { return end.leak.empty() ? Value() : Value(end.leak); }},
      {"heap_limit", "", Unit::kBytes, Detail::kJsonOnly, &ProcessEnd::heap_limit},
      {"memory_limit", "", Unit::kBytes, Detail::kJsonOnly, &ProcessEnd::memory_limit},
      {"", "file", Unit::kText, Detail::kTextOnly, [](const ProcessEnd& end) { return Value(FileName(end.file)); }},
      {"text", "", Unit::kText, Detail::kJsonOnly, PartOf(&ProcessEnd::verdict, &EndVerdict::text)},
      {"", "how it ended", Unit::kText, Detail::kTextOnly,
       [](const ProcessEnd& end) {
         const bool is_sure = end.verdict.certainty == Certainty::kCertain || !end.is_over();
         return Value(is_sure ? end.cause : "probably " + end.cause);
       }},
  };
  return columns;
}

void AddCommon(const CrashLoop& common, Group* into) {
  const size_t ends = common.ends;
  const bool is_loop = common.cause.ends > 1;
  const auto add = [&](const char* heading, const std::string& path, const Shared<std::string>& shared,
                       const std::string& more, std::vector<Field> fields) {
    if (shared.ends == 0) return;
    fields.insert(fields.begin(), {{path + ".value", shared.value}, {"", EndsText(shared.ends, ends)}});
    fields.push_back({path + ".ends", shared.ends, Unit::kInteger});
    into->Add(
        Fact(heading, "{} ({})" + more, std::move(fields), shared.ends > 1 ? Detail::kAlways : Detail::kJsonOnly));
  };
  add("why", "common.cause", common.cause, "", {});
  if (!is_loop) into->Add(Fact("why", "no two of them ended alike", {}, Detail::kTextOnly));
  into->Add(Fact("after", "{} ({} to {})",
                 {{"common.lived_ns", common.lived_ns, Unit::kNanoseconds},
                  {"common.shortest_ns", common.shortest_ns, Unit::kNanoseconds},
                  {"common.longest_ns", common.longest_ns, Unit::kNanoseconds}},
                 is_loop ? Detail::kAlways : Detail::kJsonOnly));
  const bool is_count = std::ranges::any_of(
      Owners(), [&](const Owner& owner) { return owner.name == common.grown.value && owner.is_count; });
  add("grew", "common.grew", common.grown, ", {}",
      {{"common.grew.per_second", common.grown_per_second, is_count ? Unit::kPerSecond : Unit::kGrowth}});
  add("leak", "common.leak", common.leak, "", {});
  std::string limits;
  for (const auto& [name, shared] : {std::pair("MaxHeapSize", common.heap_limit), {"cgroup", common.memory_limit}}) {
    if (shared.ends > 1)
      limits += fmt::format("{}{} {} ({})", limits.empty() ? "" : ", ", name, Shown(shared.value, Unit::kBytes),
                            EndsText(shared.ends, ends));
  }
  if (!limits.empty()) into->Add(Fact("limits", "{}", {{"", limits}}, Detail::kTextOnly));
}

}  // namespace

Group CrashLoopReport(const CrashLoopAnswer& answer) {
  Group group{"", {}};
  const CrashLoop& common = answer.common;
  if (common.ends == 0) {
    group.Add(Fact("died", "no end of a process in {} recording(s)", {{"", answer.ends.size(), Unit::kInteger}}));
  } else {
    const auto is_over = [](const ProcessEnd& end) { return end.is_over(); };
    const auto first = std::ranges::find_if(answer.ends, is_over);
    const auto last = std::find_if(answer.ends.rbegin(), answer.ends.rend(), is_over);
    group.Add(Fact("died", "{} of {} recorded processes, {} to {} UTC",
                   {{"common.ends", common.ends, Unit::kInteger},
                    {"processes", answer.ends.size(), Unit::kInteger},
                    {"", SecondText(first->end_epoch_ns)},
                    {"", SecondText(last->end_epoch_ns)}}));
    AddCommon(common, &group);
  }
  using Unread = CrashLoopAnswer::Unread;
  static const std::vector<Column<Unread>> columns{
      {"file", "", Unit::kText, Detail::kJsonOnly, [](const Unread& one) { return Value(ToUtf8(one.file)); }},
      {"reason", "", Unit::kText, Detail::kJsonOnly, [](const Unread& one) { return Value(ToUtf8(one.reason)); }},
  };
  group.Add(HiddenTable("unreadable", columns, answer.unread));
  if (!answer.unread.empty()) {
    std::string names;
    for (size_t i = 0; i < std::min<size_t>(answer.unread.size(), kUnreadNames); ++i)
      names += (i > 0 ? ", " : "") + FileName(answer.unread[i].file);
    if (answer.unread.size() > kUnreadNames) names += ", ...";
    group.Add(Fact("unreadable", "{} file(s): {}", {{"", answer.unread.size(), Unit::kInteger}, {"", names}},
                   Detail::kTextOnly));
  }
  AddAdvice(answer.advice, kAdvice, &group);
  Table ends = MakeTable("ends", EndColumns(), answer.ends);
  ends.more = "--wide shows all";
  group.Add(std::move(ends));
  return group;
}

}  // namespace heaprec::tools
