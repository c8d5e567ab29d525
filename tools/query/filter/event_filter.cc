#include "tools/query/filter/event_filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <utility>

#include "format/model/names.h"
#include "tools/analysis/groups/call_tree.h"
#include "tools/input/stream_traits.h"
#include "tools/options/command.h"
#include "tools/text/messages.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

constexpr std::string_view kOsTidPrefix = "#os:";

Result<uint64_t> ParseTid(std::string_view digits, std::string_view whole) {
  uint64_t tid = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), tid);
  if (error == std::errc() && end == digits.data() + digits.size()) return tid;
  return Error{fmt::format("--thread '{}': not a thread ID; use #N (Java) or #os:N (operating system)", whole)};
}

StackMatch::Test TestOf(const NamePattern& pattern) { return std::bind_front(&NamePattern::Matches, pattern); }

constexpr const char* kGroup = "Filters";

}  // namespace

Result<std::optional<TimePoint>> TimeOption(const char* option, const std::string& text) {
  if (text.empty()) return std::optional<TimePoint>();
  const auto time = ParseTimePoint(text);
  if (!time.ok()) return Error{std::string(option) + " " + time.error().message};
  return std::optional<TimePoint>(*time);
}

Result<std::vector<Grouping>> GroupingsOption(const std::string& text, const std::vector<By>& usual) {
  if (text.empty()) return std::vector<Grouping>(usual.begin(), usual.end());
  auto one = Grouping::Parse(text);
  if (!one.ok()) return one.error();
  return std::vector<Grouping>{std::move(*one)};
}

bool FilterOptions::ChoosesAll() const {
  return from.empty() && to.empty() && thread.empty() && class_name.empty() && site.empty() && frame.empty() &&
         kinds.empty() && labels.empty() && focus.empty() && ignore.empty();
}

void FilterOptions::AddTo(Command& command) {
  AddChoiceTo(command);
  command.AddOption("--limit", limit, "Stop after N samples").Value("N").InRange(0, INFINITY).InGroup(kGroup);
}

void FilterOptions::AddChoiceTo(Command& command) {
  const auto add = [&command](const char* option, auto& into, const char* value, const char* help) {
    command.AddOption(option, into, help).Value(value).InGroup(kGroup);
  };
  add("--from", from, "TIME",
      "Samples from this time on: an offset (10s, 1m30s; -30s = from the end), ISO 8601, 23:27:50 or epoch ns");
  add("--to", to, "TIME", "Samples before this time");
  add("--thread", thread, "TEXT",
      "Threads whose name contains TEXT or matches it as a regular expression; #N: Java thread ID; #os:N: OS thread "
      "ID");
  add("--class", class_name, "NAME", "Objects of this class: full name, simple name, glob (java.util.*) or /regex/");
  add("--site", site, "NAME", "Samples that this Class.method allocated; same patterns as --class");
  add("--frame", frame, "NAME", "Samples with this Class.method anywhere on the stack; same patterns");
  AddKindTo(command);
  add("--label", labels, "LABEL", "Threads with this label: KEY=VALUE or KEY (repeat to require several)");
}

void FilterOptions::AddKindTo(Command& command) {
  const char* help =
      allocations_only
          ? "Kind of sample: tlab, outside, exception, malloc or mmap (repeatable; default: tlab and outside)"
          : "Kind of sample: tlab, outside, exception, malloc or mmap (repeatable; default: all)";
  if (with_states) {
    help =
        "Kind of event: tlab, outside, exception, malloc, mmap, gc, heap, memory, cpu, event, path, died, evicted, "
        "untracked, shrunk, census or row (repeatable; default: the first five)";
  }
  if (heap_only)
    help = "Kind of heap sample: tlab or outside (repeatable; default: both); other kinds: heaprec top --kind";
  std::vector<std::string> known{"tlab", "outside"};
  if (!heap_only) known.insert(known.end(), {"exception", "malloc", "mmap"});
  if (with_states)
    known.insert(known.end(), {kCollectionKind, kHeapKind, kMemoryKind, kCpuKind, kEventKind, kPathKind, "died",
                               "evicted", "untracked", "shrunk", kCensusKind, kRowKind});
  command.AddOption("--kind", kinds, help).Value("KIND").SplitAtCommas().OneOf(known).InGroup(kGroup);
}

void FilterOptions::AddStackChoiceTo(Command& command) {
  const auto add = [&command](const char* option, std::string* into, const char* help) {
    command.AddOption(option, *into, help).Value("REGEX").InGroup(kGroup);
  };
  add("--focus", &focus, "Samples with a frame whose Class.method contains a match (RE2)");
  add("--ignore", &ignore, "Samples without a matching frame");
  add("--hide", &hide, "Remove matching frames from the stacks");
}

Result<Filter> Filter::Parse(const FilterOptions& options) {
  Filter filter;
  auto from = TimeOption("--from", options.from);
  if (!from.ok()) return from.error();
  auto to = TimeOption("--to", options.to);
  if (!to.ok()) return to.error();
  if (*from && *to && (*from)->origin == (*to)->origin && (*from)->origin != TimePoint::Origin::kDay &&
      (*from)->ns >= (*to)->ns)
    return Error{fmt::format("--from {} is not before --to {}", options.from, options.to)};
  filter.from_ = *from;
  filter.to_ = *to;
  if (auto wrong = filter.SetPatterns(options)) return std::move(*wrong);
  if (options.limit) filter.limit_ = static_cast<uint64_t>(*options.limit);
  filter.asked_kinds_ = options.kinds;
  for (size_t kind = 0; kind < filter.kinds_.size(); ++kind) {
    const auto of = static_cast<format::Kind>(kind);
    const bool by_default = !options.allocations_only || format::StreamOf(of) == format::Stream::kAllocations;
    filter.kinds_[kind] = options.kinds.empty() ? by_default : filter.AsksFor(KindName(of));
  }
  for (const std::string& label : options.labels) {
    const size_t equals = label.find('=');
    if (label.empty() || equals == 0) return Error{fmt::format("--label '{}': expected KEY=VALUE or KEY", label)};
    filter.labels_.push_back({label.substr(0, equals), std::nullopt});
    if (equals != std::string::npos) filter.labels_.back().value = label.substr(equals + 1);
    filter.asked_.push_back(
        {Named::kLabel, fmt::format("--label '{}'", label), label, std::bind_front(std::equal_to<>(), label)});
  }
  filter.NoteChoice(options);
  return filter;
}

std::optional<Error> Filter::SetPatterns(const FilterOptions& options) {
  std::optional<NamePattern> site, frame, focus, ignore, hide;
  struct Given {
    const char* option;
    const std::string& text;
    Result<NamePattern> (*parse)(std::string_view pattern);
    std::optional<NamePattern>& into;
    std::optional<Named> named;  // nullopt: need not match
  };
  const bool is_tid = options.thread.starts_with('#');
  const std::string thread = is_tid ? "" : options.thread;
  for (const Given& one : {Given{"--class", options.class_name, NamePattern::ForNames, class_, Named::kClass},
                           {"--site", options.site, NamePattern::ForNames, site, Named::kMethod},
                           {"--frame", options.frame, NamePattern::ForNames, frame, Named::kMethod},
                           {"--focus", options.focus, NamePattern::ForFrames, focus, Named::kMethod},
                           {"--ignore", options.ignore, NamePattern::ForFrames, ignore, {}},
                           {"--hide", options.hide, NamePattern::ForFrames, hide, {}},
                           {"--thread", thread, NamePattern::ForFreeText, thread_, Named::kThread}}) {
    if (one.text.empty()) continue;
    auto pattern = one.parse(one.text);
    if (!pattern.ok()) return Error{fmt::format("{} {}", one.option, pattern.error().message)};
    one.into = *pattern;
    if (one.named)
      asked_.push_back({*one.named, fmt::format("{} '{}'", one.option, one.text), one.text, TestOf(*pattern)});
  }
  if (is_tid) {
    const bool of_os = options.thread.starts_with(kOsTidPrefix);
    const auto tid = ParseTid(options.thread.substr(of_os ? kOsTidPrefix.size() : 1), options.thread);
    if (!tid.ok()) return tid.error();
    (of_os ? os_tid_ : java_tid_) = *tid;
    asked_.push_back({Named::kThread, fmt::format("--thread '{}'", options.thread), options.thread,
                      std::bind_front(std::equal_to<>(), options.thread)});
  }
  if (frame) frame_.emplace(TestOf(*frame));
  if (focus) focus_.emplace(TestOf(*focus));
  if (ignore) ignore_.emplace(TestOf(*ignore));
  if (hide) hides_ = TestOf(*hide);
  if (site) {
    is_site_ = TestOf(*site);
    SetPrimitives(std::bind_front(&AllocationPrimitives::Contains, AllocationPrimitives::Default()));
  }
  return std::nullopt;
}

void Filter::SetPrimitives(const StackMatch::Test& is_primitive) {
  if (!is_site_) return;
  site_.emplace(is_site_, [is_primitive, hides = hides_](std::string_view method) {
    return (is_primitive && is_primitive(method)) || (hides && hides(method));
  });
}

bool Filter::HoldsTime(const TimeOfRows& time) const {
  return static_cast<int64_t>(time.begin_ns) >= from_ns_ && static_cast<int64_t>(time.end_ns) <= to_ns_;
}

bool Filter::IsBeside(const TimeOfRows& time) const {
  return static_cast<int64_t>(time.end_ns) <= from_ns_ || static_cast<int64_t>(time.begin_ns) >= to_ns_;
}

ByRows Filter::RowsTaken(uint64_t interval_ns) const {
  return [*this, interval_ns](const format::Block& block) {
    const auto time = TimeOf(block, interval_ns);
    return time && TakesRows(*time);
  };
}

ByRows Filter::RowsWithin(uint64_t interval_ns) const {
  return [*this, interval_ns](const format::Block& block) {
    const auto time = TimeOf(block, interval_ns);
    return time && HoldsTime(*time) && !IsBeside(*time);
  };
}

ByRows Filter::RowsBeside(uint64_t interval_ns) const {
  return [*this, interval_ns](const format::Block& block) {
    const auto time = TimeOf(block, interval_ns);
    return time && IsBeside(*time);
  };
}

bool Filter::KeepsAllKinds() const {
  return std::ranges::all_of(format::kAllocationKinds,
                             [this](format::Kind kind) { return kinds_[static_cast<size_t>(kind)]; });
}

// A row's path ends at the built-in primitives' site, so it does not contain frames beyond it.
bool Filter::NeedsSamples() const {
  return !KeepsAllKinds() || !KeepsAnyThread() || frame_ || focus_ || ignore_ || hides_;
}

// A requested or unwanted frame may be in the path itself.
Filter::OfRow Filter::Judge(const format::Sample& row) {
  if (!KeepsTime(row.time_ns) || (class_ && !KeepsClass(row.class_id)) || (site_ && !site_->Passes(row.stack)) ||
      (ignore_ && ignore_->Passes(row.stack)))
    return OfRow::kLeftOut;
  const bool is_known = KeepsAllKinds() && KeepsAnyThread() && !ignore_ && (!frame_ || frame_->Passes(row.stack)) &&
                        (!focus_ || focus_->Passes(row.stack));
  return is_known ? OfRow::kKept : OfRow::kUnknown;
}

void Filter::NoteChoice(const FilterOptions& options) {
  const bool one_of_two =
      kinds_[static_cast<size_t>(format::Kind::kTlab)] != kinds_[static_cast<size_t>(format::Kind::kOutside)];
  chooses_classes_ = class_.has_value();
  chooses_others_ =
      site_ || frame_ || focus_ || ignore_ || from_ || to_ || !options.thread.empty() || !labels_.empty() || one_of_two;
}

bool Filter::TakesAny(format::Stream stream) const {
  for (size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (kinds_[kind] && format::StreamOf(static_cast<format::Kind>(kind)) == stream) return true;
  }
  return false;
}

std::pair<uint64_t, uint64_t> Filter::Span(uint64_t begin_ns, uint64_t end_ns) const {
  const auto within = [&](int64_t time_ns) {
    return std::clamp(static_cast<uint64_t>(std::max<int64_t>(time_ns, 0)), begin_ns, std::max(begin_ns, end_ns));
  };
  return {within(from_ns_), std::max(within(from_ns_), within(to_ns_))};
}

uint64_t EndOf(const Recording& recording) {
  uint64_t end_ns = 0;
  const auto again = WalkAgain(recording, [&](const format::Block& block) { end_ns = std::max(end_ns, block.end_ns); });
  if (!again.ok()) return 0;
  return (*again)->ending() ? (*again)->ending()->time_ns : end_ns;
}

void Filter::Start(const Recording& recording) {
  const bool needs_end = (from_ && from_->needs_end()) || (to_ && to_->needs_end());
  Start(recording.header().start_epoch_ns, needs_end ? EndOf(recording) : 0);
}

void Filter::Start(uint64_t start_epoch_ns, uint64_t end_ns) {
  if (from_) from_ns_ = from_->InRecording(start_epoch_ns, end_ns);
  if (to_) to_ns_ = to_->InRecording(start_epoch_ns, end_ns);
}

void Filter::Enter(const format::Block& block, Names* names) {
  const format::Dictionaries& dictionaries = *block.dictionaries;
  const bool is_new = names_ == nullptr || block.chunk != chunk_ || dictionaries.stacks.size() < stacks_;
  if (is_new) {
    threads_.clear();
    classes_.clear();
  }
  for (std::optional<StackMatch>* match : {&site_, &frame_, &focus_, &ignore_}) {
    if (*match) (*match)->Enter(block, names, is_new);
  }
  chunk_ = block.chunk;
  names_ = names;
  threads_.resize(dictionaries.threads.size());
  classes_.resize(dictionaries.classes.size());
  stacks_ = dictionaries.stacks.size();
}

bool Filter::Keeps(const format::Sample& sample) {
  if (!KeepsTime(sample.time_ns)) return false;
  if (!kinds_[static_cast<size_t>(sample.kind)]) return false;
  if (!KeepsAnyThread() && !KeepsThread(sample.thread)) return false;
  if (class_ && !KeepsClass(sample.class_id)) return false;
  return KeepsStack(sample.stack);
}

bool Filter::Keeps(const format::ProcessState& state) const {
  return KeepsTime(state.time_ns) && KeepsAnyThreadAndPlace() && AsksFor(StateKindName(state.kind));
}

bool Filter::Keeps(const format::LifecycleEvent& lifecycle) const {
  return KeepsTime(lifecycle.time_ns) && KeepsAnyThreadAndPlace() && AsksFor(LifecycleKindName(lifecycle.kind));
}

bool Filter::Keeps(const format::CensusRow& row) {
  if (!AsksFor(kCensusKind) || !KeepsTime(row.time_ns) || !labels_.empty() || site_ || frame_ || focus_ || ignore_)
    return false;
  if ((thread_ || java_tid_ || os_tid_) && !KeepsThread(row.thread)) return false;
  return !class_ || KeepsClass(row.class_id);
}

bool Filter::Keeps(const format::Row& row, uint64_t time_ns) {
  if (!AsksFor(kRowKind) || !KeepsTime(time_ns) || thread_ || java_tid_ || os_tid_ || !labels_.empty()) return false;
  return (!class_ || KeepsClass(row.class_id)) && KeepsStack(row.stack);
}

bool Filter::AsksFor(std::string_view kind) const {
  return std::ranges::find(asked_kinds_, kind) != asked_kinds_.end();
}

bool Filter::KeepsClass(format::Index index) {
  return IsMatch(&classes_, index, [&] { return class_->Matches(names_->Class(index)); });
}

bool Filter::KeepsAnyThread() const { return !thread_ && !java_tid_ && !os_tid_ && labels_.empty(); }

bool Filter::KeepsAnyThreadAndPlace() const {
  return KeepsAnyThread() && !class_ && !site_ && !frame_ && !focus_ && !ignore_;
}

bool Filter::MatchesThread(format::Index index) {
  const format::Thread& thread = *names_->ThreadOf(index);
  if (!HasLabels(thread)) return false;
  if (java_tid_) return thread.java_tid == *java_tid_;
  if (os_tid_) return thread.os_tid == *os_tid_;
  return !thread_ || thread_->Matches(names_->Thread(index));
}

bool Filter::HasLabels(const format::Thread& thread) const {
  return std::all_of(labels_.begin(), labels_.end(), [&](const Label& wanted) {
    bool has = false;
    format::ForEachLabel(thread.name, [&](std::string_view key, std::string_view value) {
      has = has || (ToUtf8(key) == wanted.key && (!wanted.value || ToUtf8(value) == *wanted.value));
    });
    return has;
  });
}

bool Filter::KeepsThread(format::Index index) {
  return IsMatch(&threads_, index, [&] { return MatchesThread(index); });
}

bool Filter::KeepsStack(format::Index index) {
  if (site_ && !site_->Passes(index)) return false;
  if (frame_ && !frame_->Passes(index)) return false;
  if (focus_ && !focus_->Passes(index)) return false;
  return !ignore_ || !ignore_->Passes(index);
}

// Returns the time that the file covers: maxsize, maxage and rotation remove earlier data.
std::pair<uint64_t, uint64_t> RecordedTime(const Recording& recording, uint64_t last_ns) {
  const format::FileHeader& header = recording.header();
  const uint64_t end_ns = recording.ending() ? recording.ending()->time_ns : last_ns;
  return {std::min(end_ns, BeginNs(header, MainStream(header))), end_ns};
}

std::pair<uint64_t, uint64_t> AskedTime::Add(const Recording& recording, const Filter& filter, uint64_t last_ns) {
  const auto [begin_ns, end_ns] = RecordedTime(recording, last_ns);
  const auto asked = filter.Span(begin_ns, end_ns);
  Note(recording, begin_ns, end_ns, asked.first != asked.second || begin_ns >= end_ns);
  const uint64_t start_ns = recording.header().start_epoch_ns;
  times_.emplace_back(start_ns + asked.first, start_ns + asked.second);
  return asked;
}

// A file begins with a list of live objects, which may be later than its first interval.
void AskedTime::AddInstant(const Recording& recording, const TimePoint& at, uint64_t last_ns) {
  const format::FileHeader& header = recording.header();
  const uint64_t begin_ns = header.start.begin_ns, end_ns = RecordedTime(recording, last_ns).second;
  const int64_t at_ns = at.InRecording(header.start_epoch_ns, end_ns);
  Note(recording, begin_ns, end_ns, std::cmp_greater_equal(at_ns, begin_ns) && std::cmp_less_equal(at_ns, end_ns));
}

void AskedTime::Note(const Recording& recording, uint64_t begin_ns, uint64_t end_ns, bool has_data) {
  has_data_ |= has_data;
  if (has_data) return;
  missed_.push_back(
      fmt::format("{} has data from {} to {}", recording.source().name(), Duration(begin_ns), Duration(end_ns)));
}

void AskedTime::Report(const char* asked) const {
  if (is_beside_data()) PrintError(fmt::format("no data {}: {}", asked, fmt::join(missed_, "; ")));
}

}  // namespace heaprec::tools
