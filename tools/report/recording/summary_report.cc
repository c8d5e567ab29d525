#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <optional>

#include "tools/analysis/health/trust.h"
#include "tools/input/file_source.h"
#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"
#include "tools/report/columns/group_columns.h"
#include "tools/report/recording/reports.h"
#include "tools/text/text.h"

namespace heaprec::tools {

using namespace render;

namespace {

// Growth over a shorter time may belong to the start or the end of the program.
constexpr double kMinGrowthSeconds = 5;
// Maximum reasons, notes and damaged ranges of a brief summary.
constexpr size_t kBriefCount = 2;
// Columns of the longest sentence of advice, with its indent.
constexpr size_t kAdviceWidth = 43;

size_t ShownOf(size_t count, const SummaryAnswer& answer) {
  return answer.is_brief ? std::min(count, kBriefCount) : count;
}

void AddRest(size_t count, const char* what, Group* into) {
  if (count > 0) into->Add(Sentence(std::string("{} more ") + what + " with --verbose", {{"", count, Unit::kInteger}}));
}

// "2026-11-21 22:50:05 to 22:50:07 UTC", in local time.
std::string TimesText(uint64_t begin_ns, uint64_t end_ns) {
  const auto fields_of = [](uint64_t epoch_ns) {
    const auto when = static_cast<time_t>(epoch_ns / 1'000'000'000);
    std::tm fields{};
    localtime_r(&when, &fields);
    return fields;
  };
  const std::tm begin = fields_of(begin_ns), end = fields_of(end_ns);
  const bool same_day = begin.tm_year == end.tm_year && begin.tm_yday == end.tm_yday;
  return fmt::format("{:%F %T} to {} {:%Z}", begin, fmt::format(fmt::runtime(same_day ? "{:%T}" : "{:%F %T}"), end),
                     end);
}

Value OrUnknown(uint64_t number) { return number > 0 ? Value(number) : Value(); }

ClassSiteTotals::Groups Ranked(ClassSiteTotals::Groups groups, size_t limit) {
  std::ranges::sort(groups, [](const auto& a, const auto& b) {
    const double of_a = a.second.bytes(), of_b = b.second.bytes();
    return of_a != of_b ? of_a > of_b : a.first < b.first;
  });
  if (limit > 0 && groups.size() > limit) groups.resize(limit);
  return groups;
}

Table GroupsTable(const char* name, const char* heading, const ClassSiteTotals::Groups& groups,
                  const SummaryAnswer& answer) {
  std::vector<GroupRow> rows;
  for (const auto& [group, sum] : Ranked(groups, answer.limit)) {
    rows.push_back({.name = group,
                    .own = EstimateGroup(sum, answer.estimator),
                    .seconds = static_cast<double>(answer.facts.asked_ns) * 1e-9,
                    .other = {},
                    .frames = {}});
  }
  GroupWords words;
  words.name = heading;
  if (answer.breakdown.matched() != nullptr) words.share = "of all";
  return MakeTable(name, GroupColumns(words), rows, groups.size());
}

std::optional<HeadlineInputs::Top> TopOf(const ClassSiteTotals::Groups& groups, const SummaryAnswer& answer) {
  const ClassSiteTotals::Groups largest = Ranked(groups, 1);
  if (largest.empty()) return std::nullopt;
  return HeadlineInputs::Top{largest.front().first, answer.estimator.Share(largest.front().second)};
}

std::optional<Estimate> OutOfMemoryErrors(const ExceptionTotals& thrown) {
  const auto found = std::ranges::find(thrown.classes, "java.lang.OutOfMemoryError", &ExceptionTotals::Group::name);
  return found != thrown.classes.end() ? std::optional(found->events) : std::nullopt;
}

void AddVerdict(const SummaryAnswer& answer, Group* into) {
  const std::vector<std::string> reasons = TextsOf(answer.trust.reasons);
  const size_t shown = ShownOf(reasons.size(), answer);
  into->Add(Sentence("trustworthy: " + TrustText({reasons.begin(), reasons.begin() + static_cast<ptrdiff_t>(shown)})));
  AddRest(reasons.size() - shown, "reason(s)", into);
  into->Add(Hidden({{"trustworthy", reasons.empty()}, {"reasons", reasons}}));
}

void AddHeadline(const SummaryAnswer& answer, Group* into) {
  const Facts& facts = answer.facts;
  const double seconds = static_cast<double>(facts.duration_ns) * 1e-9;
  const Field duration{"duration_ns", facts.duration_ns, Unit::kNanoseconds};
  if (!HasHeap(answer.recording.header())) {
    into->Add(Sentence("native memory of a program without a JVM, recorded for {}", {duration}));
  } else {
    const Estimate rate = seconds > 0 ? Scaled(facts.volume.bytes, 1 / seconds) : kUnknownEstimate;
    into->Add(Sentence(seconds > 0 ? "{} allocated in {}, {value}; {} object(s)" : "{} allocated in {}",
                       {{"estimates.bytes", facts.volume.bytes, Unit::kBytes},
                        duration,
                        {"estimates.bytes_per_second", rate, Unit::kBytesPerSecond},
                        {"estimates.objects", facts.volume.objects, Unit::kCount}}));
  }
  const Headlines headlines = HeadlinesOf(answer, answer.recording.source().name());
  for (const Headline& one : headlines.sentences) {
    if (one.id != "trust") into->Add(Sentence("{}", {{"headlines." + one.id, one.text}}));
  }
  if (HasHeap(answer.recording.header())) into->Add(Hidden({{"time_to_full", TimeToFullValue(facts.full.Soonest())}}));
  AddVerdict(answer, into);
  if (headlines.next_command.empty()) return;
  into->Add(Sentence("next: {}  # {}",
                     {{"next.command", ToUtf8(headlines.next_command)}, {"next.reason", headlines.next_reason}}));
}

void AddOrigin(const SummaryAnswer& answer, Group* into) {
  const format::FileHeader& header = answer.recording.header();
  const std::string program = ProgramOf(header);
  if (!program.empty()) {
    into->Add(Fact("program", "{}, PID {}", {{"", ToUtf8(program)}, {"", header.pid}}));
  } else {
    const std::string gc = header.gc_name.empty() ? "" : ", " + ToUtf8(header.gc_name);
    into->Add(Fact("JVM", "{} {}{}, PID {}",
                   {{"", ToUtf8(header.jvm_name)}, {"", ToUtf8(header.jvm_version)}, {"", gc}, {"", header.pid}}));
  }
  const uint64_t end_ns = header.start_epoch_ns + answer.facts.end_ns;
  into->Add(Hidden({{"end_ns", end_ns, Unit::kEpochNs}}));
  into->Add(Fact("recording", "{}, {}, {}",
                 {{"file", ToUtf8(ShownName(answer.recording.source().name()))},
                  {"times", TimesText(header.start_epoch_ns + header.start.begin_ns, end_ns)},
                  {"ended", answer.facts.ended}}));
  for (const format::ServiceLabel& label : header.service_labels) {
    into->Add(Fact("service label", "{}={}", {{"", ToUtf8(label.key)}, {"", ToUtf8(label.value)}}, Detail::kWide));
  }
  const RecorderCounts known(header);
  into->Add(Fact("agent", known.are_known() ? "{}, options: {}" : "{}",
                 {{"", known(ToUtf8(header.agent_version))}, {"", known(ToUtf8(header.agent_options))}},
                 Detail::kWide));
  into->Add(
      Fact("source", "{} ({})", {{"", ToUtf8(header.source)}, {"", ToUtf8(header.source_reason)}}, Detail::kWide));
  into->Add(Hidden({{"recording", HeaderValue(header)}, {"running", answer.recording.running()}}));
}

void AddSamples(const SummaryAnswer& answer, Group* into) {
  const Facts& facts = answer.facts;
  const format::FileHeader& header = answer.recording.header();
  const double limit = header.CapOf(MainStream(header)).rate_per_second;
  const format::StreamCounters& counters = answer.recording.counters(MainStream(header));
  Field samples{"samples", facts.totals[MainStream(header)].events(), Unit::kInteger};
  Field mean_rate{"mean_rate", facts.mean_rate, Unit::kPerSecond};
  Field bytes_per_sample{"bytes_per_sample", facts.bytes_per_event, Unit::kBytes};
  if (CountsLosses(header)) {
    const uint64_t read = facts.totals[MainStream(header)].events(), lost = counters.AllLost();
    const uint64_t all = read + counters.thinned + counters.second_stage + lost;
    Line line = Fact("samples", samples);
    if (counters.thinned + counters.second_stage > 0) {
      line.Continue(facts.has_rows ? " kept of {} points; classes and sites are estimated from all"
                                   : " kept of {} (rate limit; sums stay unbiased)",
                    {{"", facts.has_rows ? facts.points : all, Unit::kInteger}});
    }
    if (static_cast<double>(lost) > kFewLost * static_cast<double>(all)) {
      line.Continue("; {} lost", {{"", lost, Unit::kInteger}});
    }
    into->Add(line.Continue("; limit {} sample(s)/s, {} of it used",
                            {{"", limit}, {"rate_used", facts.fill, Unit::kShare}, mean_rate, bytes_per_sample}));
  } else {
    into->Add(Fact("samples", "{}; losses and limit unknown",
                   {samples, {"rate_used", Value(), Unit::kShare}, mean_rate, bytes_per_sample}));
  }
  into->Add(Hidden({{"points", facts.points}}));
  into->Add(Fact("file", "{} bytes", {{"file_bytes", answer.recording.bytes_read(), Unit::kInteger}}, Detail::kWide));
}

// Samples by kind, and what they represent. In an import without sizes the kind is unknown, too
// (jdk.ObjectAllocationSample).
void AddKinds(const format::FileHeader& header, const Facts& facts, Group* into) {
  const bool are_known = !IsImported(header.source) || !IsUnknown(facts.volume.objects);
  for (const format::Kind kind : format::kAllocationKinds) {
    const KindTotals& samples = facts.allocations().kinds[static_cast<size_t>(kind)];
    const AllocationTotals::KindSums& of = facts.volume.kinds[static_cast<size_t>(kind)];
    const std::string path = std::string("kinds.") + KindName(kind) + ".";
    const auto known = [are_known](Value value) { return are_known ? std::move(value) : Value(); };
    into->Add(Fact(std::string("  ") + KindName(kind),
                   are_known ? "{} sample(s), representing {} in {} object(s)" : "{}",
                   {{path + "samples", known(samples.events), Unit::kInteger},
                    {path + "bytes", known(of.bytes), Unit::kBytes},
                    {path + "objects", known(of.objects), Unit::kCount},
                    {path + "share", known(of.share), Unit::kShare},
                    {path + "weight_bytes", known(samples.bytes), Unit::kBytes},
                    {path + "weight_objects", IsUnknown(of.objects) ? Value() : known(samples.objects)}},
                   Detail::kWide));
  }
}

void AddCounted(const SummaryAnswer& answer, Group* into) {
  const AllocationTotals& volume = answer.facts.volume;
  const uint64_t bytes = answer.recording.counters().candidate_bytes;
  // Some sources do not count candidates.
  const bool is_counted =
      CountsLosses(answer.recording.header()) && (bytes > 0 || answer.facts.allocations().events() == 0);
  const Value counted = is_counted ? Value(bytes) : Value();
  const Estimate& raw = volume.raw_bytes;
  const Value off = bytes > 0 ? Value(raw.value / static_cast<double>(bytes) - 1) : Value();
  into->Add(Fact("counted", is_counted ? "{} ({} bytes)" : "{}",
                 {{"allocated_bytes", counted, Unit::kBytes}, {"", counted, Unit::kInteger}}, Detail::kWide));
  into->Add(Fact("estimated", bytes > 0 ? "{} from the samples alone, {} off" : "{} from the samples alone",
                 {{"estimates.bytes_uncalibrated", raw, Unit::kBytes},
                  {"estimates.difference", off, Unit::kChange},
                  {"estimates.calibrated", volume.calibrated},
                  {"estimates.calibration", volume.factor}},
                 Detail::kWide));
}

void AddHeap(const GcSummary& heap, Group* into) {
  Object causes;
  for (const auto& [cause, count] : heap.causes) causes.push_back({ToUtf8(cause), count});
  if (!heap.empty()) {
    into->Add(Fact("heap", "peak used {}, peak committed {}; {} GC pause(s), {} in all",
                   {{"heap.used_max", OrUnknown(heap.most_used), Unit::kBytes},
                    {"heap.committed_max", OrUnknown(heap.most_committed), Unit::kBytes},
                    {"heap.pauses", heap.pauses, Unit::kInteger},
                    {"heap.paused_ns", heap.paused_ns, Unit::kNanoseconds}}));
    into->Add(Fact("heap after GC", "first {}, last {}, peak {}",
                   {{"heap.used_after_first", OrUnknown(heap.first_after), Unit::kBytes},
                    {"heap.used_after_last", OrUnknown(heap.last_after), Unit::kBytes},
                    {"heap.used_after_max", OrUnknown(heap.most_after), Unit::kBytes}},
                   Detail::kWide));
    into->Add(Fact("longest pause", {"heap.longest_pause_ns", OrUnknown(heap.longest_pause_ns), Unit::kNanoseconds},
                   Detail::kWide));
    for (const auto& [cause, count] : heap.causes) {
      into->Add(Fact("  GC cause", "{}: {}", {{"", ToUtf8(cause)}, {"", count, Unit::kInteger}}, Detail::kWide));
    }
    into->Add(Fact("process", "peak resident {}, peak threads {}",
                   {{"heap.rss_max", OrUnknown(heap.most_rss), Unit::kBytes},
                    {"heap.threads_max", OrUnknown(heap.most_threads), Unit::kInteger}},
                   Detail::kWide));
  }
  into->Add(Hidden(
      {{"heap.counted_only", heap.counted_only}, {"heap.unfinished", heap.unfinished}, {"heap.causes", causes}}));
}

void AddLive(const SummaryAnswer& answer, Group* into) {
  if (!answer.facts.live) return into->Add(Hidden({{"live", nullptr}}));
  const LiveAtEndTotals& live = *answer.facts.live;
  const RecorderCounts known(answer.recording.header());
  into->Add(Fact("live at end", "{} in {} object(s), from {} sample(s)",
                 {{"live.bytes", live.bytes, Unit::kBytes},
                  {"live.objects", live.objects, Unit::kCount},
                  {"live.samples", live.samples, Unit::kInteger}}));
  into->Add(Fact("  tracked",
                 known.are_known() ? "up to {} object(s) at a time; {} sample(s) were not tracked (table full); others "
                                     "carry their weight"
                                   : "{}",
                 {{"", known(answer.recording.header().max_tracked_objects), Unit::kInteger},
                  {"live.untracked", known(live.untracked), Unit::kInteger}},
                 Detail::kWide));
}

void AddCensus(const SummaryAnswer& answer, Group* into) {
  const format::FileHeader& header = answer.recording.header();
  const CensusTotals& census = answer.facts.census;
  into->Add(Hidden({{"census_adjustment", answer.facts.by_census.AsValue()}}));
  if (!header.census_unavailable_reason.empty())
    into->Add(Fact("census", "none: {}", {{"", ToUtf8(header.census_unavailable_reason)}}));
  if (header.census == format::CensusMode::kOff) return into->Add(Hidden({{"census", nullptr}}));
  const format::CensusCounters& counters = census.counters();
  into->Add(Fact("census", "{} in {} object(s)" + answer.facts.by_census.Text(),
                 {{"census.bytes", census.Bytes(), Unit::kBytes},
                  {"census.objects", census.Objects(), Unit::kCount},
                  {"census.missing_bytes", census.MissingBytes()}}));
  into->Add(Fact("  counted", "{} walk(s) of {} TLAB(s) and {} object(s) outside",
                 {{"census.walks", counters.walks, Unit::kInteger},
                  {"census.tlabs", counters.tlabs, Unit::kInteger},
                  {"census.outside", counters.outside, Unit::kInteger}},
                 Detail::kWide));
}

// Only detours see the class of such an object. For another recorder this is unknown.
bool MayCountOutside(const format::FileHeader& header) {
  return IsImported(header.source) || (header.source == "hooks" && !header.Has(format::SourceFact::kOutsideUncounted));
}

void AddOutside(const SummaryAnswer& answer, Group* into) {
  using Named = std::pair<std::string, OutsideSums>;
  const OutsideTotals& outside = answer.facts.outside;
  if (outside.all.objects == 0) {
    if (!MayCountOutside(answer.recording.header()))
      into->Add(Fact("outside TLABs", {"outside_tlabs.unavailable_reason", "not counted with this source"}));
    return;
  }
  into->Add(Fact("outside TLABs", "{} in {} object(s), counted",
                 {{"outside_tlabs.bytes", outside.all.bytes, Unit::kBytes},
                  {"outside_tlabs.objects", outside.all.objects, Unit::kInteger}}));
  std::vector<Named> rows(outside.classes.begin(), outside.classes.end());
  std::ranges::sort(rows, std::greater{}, [](const Named& row) { return row.second.bytes; });
  if (answer.limit > 0 && rows.size() > answer.limit) rows.resize(answer.limit);
  const std::vector<Column<Named>> columns{
      {"bytes", "bytes", Unit::kBytes, Detail::kAlways, PartOf(&Named::second, &OutsideSums::bytes)},
      {"objects", "objects", Unit::kInteger, Detail::kAlways, PartOf(&Named::second, &OutsideSums::objects)},
      {"name", "class outside TLABs", Unit::kText, Detail::kAlways, &Named::first}};
  Table table = MakeTable("outside_tlabs.classes", columns, rows, outside.classes.size());
  table.detail = Detail::kWide;
  into->Add(std::move(table));
}

void AddThrown(const SummaryAnswer& answer, Group* into) {
  const ExceptionTotals& thrown = answer.facts.thrown;
  const bool is_recorded = answer.recording.header().exceptions.interval_ns > 0;
  const RecorderCounts known(answer.recording.header());
  const Detail shown = is_recorded ? Detail::kAlways : Detail::kJsonOnly;
  into->Add(Fact("exceptions", "{} thrown, counted; {} sample(s)",
                 {{"exceptions.thrown", known(thrown.counted), Unit::kInteger},
                  {"exceptions.samples", thrown.samples, Unit::kInteger},
                  {"exceptions.estimated", known(thrown.estimated), Unit::kCount},
                  {"exceptions.calibrated", thrown.calibrated},
                  {"exceptions.calibration", known(thrown.factor)}},
                 shown));
  using ThrownGroup = ExceptionTotals::Group;
  for (const auto& [name, heading, groups] : {std::tuple{"exceptions.classes", "exception class", &thrown.classes},
                                              {"exceptions.sites", "exception site", &thrown.sites}}) {
    const std::vector<Column<ThrownGroup>> columns{
        {"events", "throws", Unit::kCount, Detail::kAlways, &ThrownGroup::events, Detail::kAlways},
        {"share", "share", Unit::kShare, Detail::kAlways, &ThrownGroup::share},
        {"samples", "samples", Unit::kInteger, Detail::kWide, &ThrownGroup::samples},
        {"name", heading, Unit::kText, Detail::kAlways, &ThrownGroup::name}};
    std::vector<ThrownGroup> rows = *groups;
    if (answer.limit > 0 && rows.size() > answer.limit) rows.resize(answer.limit);
    Table table = MakeTable(name, columns, rows, groups->size());
    table.detail = is_recorded ? Detail::kWide : Detail::kJsonOnly;
    into->Add(std::move(table));
  }
}

// Shows the number of samples of the other streams; StreamFacts shows the rest.
void AddStreams(const SummaryAnswer& answer, Group* into) {
  const format::FileHeader& header = answer.recording.header();
  const Facts& facts = answer.facts;
  for (const StreamTraits& traits : kStreamTraits) {
    const bool is_heap = traits.stream == format::Stream::kAllocations;
    if (!is_heap && header.CapOf(traits.stream).interval_ns == 0) continue;
    const StreamTotals& totals = facts.totals[traits.stream];
    if (traits.counts_calls) {
      const format::StreamCounters& counters = answer.recording.counters(traits.stream);
      const std::string path = traits.json_path;
      into->Add(Fact(path.substr(0, path.size() - 1), "{} in {} call(s), counted; {} sample(s)",
                     {{path + "allocated_bytes", counters.candidate_bytes, Unit::kBytes},
                      {path + "calls", counters.candidates, Unit::kInteger},
                      {path + "samples", totals.events(), Unit::kInteger}}));
    }
    into->Add(StreamFacts(answer.recording, traits, totals));
  }
}

void AddMatched(const SummaryAnswer& answer, Group* into) {
  const Estimator& estimator = answer.estimator;
  const GroupEstimates limit = EstimateUnseen(estimator);
  if (const Subset* matched = answer.breakdown.matched()) {
    const GroupEstimates all = EstimateGroup(*matched, estimator);
    into->Add(Fact("matched", std::string("{} ") + answer.facts.observed() + "(s), {} of the bytes, {} in {} object(s)",
                   {{"matched.points", all.samples, Unit::kInteger},
                    {"matched.share", all.share, Unit::kShare},
                    {"matched.bytes", all.bytes, Unit::kBytes},
                    {"matched.objects", all.objects, Unit::kCount}}));
  }
  into->Add(Hidden({{"detection_limit.bytes", limit.bytes},
                    {"detection_limit.objects", limit.objects},
                    {"detection_limit.share", limit.share}}));
}

void AddDamage(const SummaryAnswer& answer, Group* into) {
  const std::vector<format::SkippedRange>& ranges = answer.recording.skipped();
  const size_t shown = ShownOf(ranges.size(), answer);
  for (size_t i = 0; i < shown; ++i) {
    const format::SkippedRange& range = ranges[i];
    into->Add(Fact(range.repaired ? "repaired" : "skipped",
                   std::string("bytes {} to {}") + (range.at_end ? " (the end)" : "") + ": {}",
                   {{"", range.begin, Unit::kInteger}, {"", range.end, Unit::kInteger}, {"", range.why}}));
  }
  AddRest(ranges.size() - shown, "damaged range(s)", into);
}

void AddNotes(const SummaryAnswer& answer, Group* into) {
  std::vector<std::string> notes = TextsOf(answer.trust.notes);
  if (std::string why = RefusalOfNative(answer.recording.header()); !why.empty()) notes.push_back(std::move(why));
  const size_t shown = ShownOf(notes.size(), answer);
  for (size_t i = 0; i < shown; ++i) into->Add(Note(notes[i]));
  AddRest(notes.size() - shown, "note(s)", into);
}

}  // namespace

Headlines HeadlinesOf(const SummaryAnswer& answer, const std::string& file) {
  if (answer.breakdown.matched() != nullptr || !HasHeap(answer.recording.header())) return {};
  const Facts& facts = answer.facts;
  const format::StreamCounters& counters = answer.recording.counters();
  HeadlineInputs inputs;
  inputs.file = file;
  inputs.site = TopOf(answer.breakdown.sites(), answer);
  inputs.klass = TopOf(answer.breakdown.classes(), answer);
  inputs.allocated_bytes = facts.volume.bytes.value;
  if (facts.volume.calibrated) inputs.estimated_bytes = facts.volume.raw_bytes;
  inputs.chance_bytes = facts.volume.slack;
  inputs.duration_ns = facts.duration_ns;
  inputs.heap = &facts.heap;
  inputs.full = facts.full.Soonest();
  inputs.is_running = answer.recording.running();
  if (facts.live && !IsUnknown(facts.live->bytes)) inputs.live_bytes = facts.live->bytes;
  inputs.out_of_memory = OutOfMemoryErrors(facts.thrown);
  for (const FoundLeak& one : answer.leaks) {
    if (!one.since_s || static_cast<double>(facts.end_ns) * 1e-9 - one.since_s->high >= kMinGrowthSeconds)
      inputs.leaks.push_back(one);
  }
  inputs.trust_reasons = TextsOf(answer.trust.reasons);
  inputs.lost_samples = counters.AllLost();
  inputs.sample_points = counters.points;
  return HeadlinesOf(inputs);
}

void SummaryTotal::Add(const Facts& facts, uint64_t counted_bytes) {
  ++recordings;
  events += facts.allocations().events();
  counted += counted_bytes;
  bytes = Sum(bytes, facts.volume.bytes);
  objects = Sum(objects, facts.volume.objects);
}

Group SummaryReport(const SummaryAnswer& answer, const char* name) {
  const bool has_heap = HasHeap(answer.recording.header());
  Group group{name, {}};
  AddHeadline(answer, &group);
  AddOrigin(answer, &group);
  AddSamples(answer, &group);
  if (has_heap) {
    AddKinds(answer.recording.header(), answer.facts, &group);
    AddCounted(answer, &group);
    AddHeap(answer.facts.heap, &group);
    AddLive(answer, &group);
    AddCensus(answer, &group);
    AddOutside(answer, &group);
    AddMatched(answer, &group);
  }
  AddThrown(answer, &group);
  AddStreams(answer, &group);
  group.Add(Hidden({{"losses", LossesValue(answer.recording)}}));
  AddDamage(answer, &group);
  AddNotes(answer, &group);
  if (!has_heap) return group;
  group.Add(AdviceTable(answer.advice, answer.limit));
  group.Add(GroupsTable("classes", "class", answer.breakdown.classes(), answer));
  group.Add(GroupsTable("sites", "site", answer.breakdown.sites(), answer));
  group.Add(
      Hidden({{"class_count", answer.breakdown.classes().size()}, {"site_count", answer.breakdown.sites().size()}}));
  Line limit = LimitLine(std::string("a class or site without ") + answer.facts.observed() + "s allocated",
                         EstimateUnseen(answer.estimator).bytes, Unit::kBytes);
  limit.detail = Detail::kWide;
  group.Add(std::move(limit));
  return group;
}

Table AdviceTable(const std::vector<RuleFinding>& findings, size_t limit) {
  const std::vector<Column<RuleFinding>> columns{
      {"bytes", "bytes", Unit::kBytes, Detail::kWide, PartOf(&RuleFinding::estimates, &GroupEstimates::bytes)},
      {"share", "share", Unit::kShare, Detail::kAlways, PartOf(&RuleFinding::estimates, &GroupEstimates::share),
       Detail::kAlways},
      {"rule", "advice", Unit::kText, Detail::kAlways, [](const RuleFinding& of) { return of.rule->name; }},
      {"frame", "", Unit::kText, Detail::kJsonOnly, &RuleFinding::frame},
      {"line", "", Unit::kDigits, Detail::kJsonOnly,
       [](const RuleFinding& of) { return of.line < 0 ? Value() : Value(of.line); }},
      {"class", "class", Unit::kText, Detail::kHtmlOnly, &RuleFinding::class_name},
      {"text", "what to do", Unit::kProse, Detail::kHtmlOnly, [](const RuleFinding& of) { return of.rule->advice; }},
      {"", "frame to change", Unit::kText, Detail::kAlways, &RuleFinding::Place}};
  std::vector<RuleFinding> rows = findings;
  if (limit > 0 && rows.size() > limit) rows.resize(limit);
  Table table = MakeTable("advice", columns, rows, findings.size());
  table.columns.back().min_width = kAdviceWidth;
  for (size_t i = 0; i < rows.size(); ++i) table.rows[i].below = {std::string(rows[i].rule->advice)};
  return table;
}

Group TotalReport(const SummaryTotal& total) {
  Group group{"total", {}};
  group.Add(Sentence("total of {} recording(s): {} in {} object(s), {} counted, {} sample(s)",
                     {{"recordings", total.recordings, Unit::kInteger},
                      {"bytes", total.bytes, Unit::kBytes},
                      {"objects", total.objects, Unit::kCount},
                      {"allocated_bytes", total.counted, Unit::kBytes},
                      {"samples", total.events, Unit::kInteger}}));
  return group;
}

}  // namespace heaprec::tools
