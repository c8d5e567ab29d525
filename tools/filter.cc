#include "tools/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "format/thread_name.h"
#include "tools/render/kind_name.h"
#include "tools/render/utf8.h"

namespace heaprec::tools {
namespace {

using format::Error;
using format::Result;

constexpr std::string_view kOsTidPrefix = "os:";

// "#12" or "#os:12".
Result<uint64_t> ParseTid(std::string_view digits, std::string_view whole) {
  uint64_t tid = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), tid);
  if (error == std::errc() && end == digits.data() + digits.size()) return tid;
  return Error{fmt::format("--thread '{}': a thread id is #N (Java) or #os:N (operating system)", whole)};
}

Result<std::optional<TimePoint>> ParseTime(const std::string& text, const char* option) {
  if (text.empty()) return std::optional<TimePoint>();
  const auto time = ParseTimePoint(text);
  if (!time.ok()) return Error{fmt::format("{} {}", option, time.error().message)};
  return std::optional<TimePoint>(*time);
}

Result<std::optional<NamePattern>> ParseNames(const std::string& text, const char* option) {
  if (text.empty()) return std::optional<NamePattern>();
  auto pattern = NamePattern::ForNames(text);
  if (!pattern.ok()) return Error{fmt::format("{} {}", option, pattern.error().message)};
  return std::optional<NamePattern>(std::move(*pattern));
}

constexpr const char* kGroup = "Which events";

}  // namespace

bool FilterOptions::ChoosesAll() const {
  return from.empty() && to.empty() && thread.empty() && class_name.empty() && site.empty() && kinds.empty() &&
         labels.empty();
}

void FilterOptions::AddTo(CLI::App* verb) {
  AddChoiceTo(verb);
  verb->add_option("--limit", limit, "At most N events, then stop")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->group(kGroup);
}

void FilterOptions::AddChoiceTo(CLI::App* verb) {
  verb->add_option("--from", from, "From this time on: an offset (10s, 1m30s, 250ms), ISO 8601 or epoch ns")
      ->type_name("TIME")
      ->group(kGroup);
  verb->add_option("--to", to, "Before this time")->type_name("TIME")->group(kGroup);
  verb->add_option("--thread", thread,
                   "Threads whose name holds TEXT (or matches it as a regular expression); "
                   "#N: Java thread id; #os:N: OS thread id")
      ->type_name("TEXT")
      ->group(kGroup);
  verb->add_option("--class", class_name,
                   "Objects of this class, as Java writes it: a name, its end after a dot, "
                   "a glob (java.util.*) or /regex/")
      ->type_name("NAME")
      ->group(kGroup);
  verb->add_option("--site", site, "A frame of the stack is this Class.method: as --class")
      ->type_name("NAME")
      ->group(kGroup);
  const char* help = allocations_only ? "tlab, outside or exception (repeatable; default: tlab and outside)"
                                      : "tlab, outside or exception (repeatable; default: all)";
  if (with_states) help = "tlab, outside, exception, gc or heap (repeatable; default: the first three)";
  std::vector<std::string> known{"tlab", "outside", "exception"};
  if (with_states) known.insert(known.end(), {kCollectionKind, kHeapKind});
  verb->add_option("--kind", kinds, help)
      ->type_name("KIND")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(known))
      ->group(kGroup);
  verb->add_option("--label", labels,
                   "Of threads with this label: KEY=VALUE, or KEY for any value (repeatable: all of them)")
      ->type_name("LABEL")
      ->allow_extra_args(false)
      ->group(kGroup);
}

Result<Filter> Filter::Parse(const FilterOptions& options) {
  Filter filter;
  auto from = ParseTime(options.from, "--from");
  if (!from.ok()) return from.error();
  auto to = ParseTime(options.to, "--to");
  if (!to.ok()) return to.error();
  auto class_name = ParseNames(options.class_name, "--class");
  if (!class_name.ok()) return class_name.error();
  auto site = ParseNames(options.site, "--site");
  if (!site.ok()) return site.error();
  filter.from_ = *from;
  filter.to_ = *to;
  filter.class_ = std::move(*class_name);
  filter.site_ = std::move(*site);
  if (options.limit) filter.limit_ = static_cast<uint64_t>(*options.limit);
  for (size_t kind = 0; kind < filter.kinds_.size(); ++kind) {
    const auto of = static_cast<format::Kind>(kind);
    const bool by_default = !options.allocations_only || format::StreamOf(of) == format::Stream::kAllocations;
    const bool asked_for = std::count(options.kinds.begin(), options.kinds.end(), KindName(of)) > 0;
    filter.kinds_[kind] = options.kinds.empty() ? by_default : asked_for;
  }
  filter.collections_ = std::count(options.kinds.begin(), options.kinds.end(), kCollectionKind) > 0;
  filter.heap_ = std::count(options.kinds.begin(), options.kinds.end(), kHeapKind) > 0;
  for (const std::string& label : options.labels) {
    const size_t equals = label.find('=');
    if (label.empty() || equals == 0) return Error{fmt::format("--label '{}': KEY=VALUE, or KEY", label)};
    filter.labels_.push_back({label.substr(0, equals), std::nullopt});
    if (equals != std::string::npos) filter.labels_.back().value = label.substr(equals + 1);
  }
  const std::string_view thread = options.thread;
  if (thread.starts_with('#')) {
    const bool of_os = thread.substr(1).starts_with(kOsTidPrefix);
    const auto tid = ParseTid(thread.substr(of_os ? 1 + kOsTidPrefix.size() : 1), thread);
    if (!tid.ok()) return tid.error();
    (of_os ? filter.os_tid_ : filter.java_tid_) = *tid;
  } else if (!thread.empty()) {
    auto pattern = NamePattern::ForFreeText(thread);
    if (!pattern.ok()) return Error{"--thread " + pattern.error().message};
    filter.thread_ = std::move(*pattern);
  }
  return filter;
}

void Filter::Start(const format::FileHeader& header) {
  if (from_) from_ns_ = from_->InRecording(header.start_epoch_ns);
  if (to_) to_ns_ = to_->InRecording(header.start_epoch_ns);
}

void Filter::Enter(const format::Block& block, Names* names) {
  const format::Dictionaries& dictionaries = *block.dictionaries;
  if (names_ == nullptr || block.chunk != chunk_ || dictionaries.stacks.size() < stacks_.size()) {
    threads_.clear();
    classes_.clear();
    frames_.clear();
    stacks_.clear();
  }
  chunk_ = block.chunk;
  names_ = names;
  threads_.resize(dictionaries.threads.size());
  classes_.resize(dictionaries.classes.size());
  frames_.resize(dictionaries.frames.size());
  stacks_.resize(dictionaries.stacks.size());
}

bool Filter::Keeps(const format::Sample& sample) {
  const auto time = static_cast<int64_t>(sample.time_ns);
  if (time < from_ns_ || time >= to_ns_) return false;
  if (!kinds_[static_cast<size_t>(sample.kind)]) return false;
  if ((thread_ || java_tid_ || os_tid_ || !labels_.empty()) && !KeepsThread(sample.thread)) return false;
  if (class_ && !KeepsClass(sample.class_id)) return false;
  return !site_ || KeepsStack(sample.stack);
}

bool Filter::Keeps(const format::HeapState& state) const {
  const auto time = static_cast<int64_t>(state.time_ns);
  if (time < from_ns_ || time >= to_ns_) return false;
  if (thread_ || java_tid_ || os_tid_ || !labels_.empty() || class_ || site_) return false;
  return state.kind == format::StateKind::kPeriodic ? heap_ : collections_;
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
  if (index >= threads_.size()) return false;
  Match& match = threads_[index];
  if (match == Match::kNotLooked) match = MatchesThread(index) ? Match::kYes : Match::kNo;
  return match == Match::kYes;
}

bool Filter::KeepsClass(format::Index index) {
  if (index >= classes_.size()) return false;
  Match& match = classes_[index];
  if (match == Match::kNotLooked) match = class_->Matches(names_->Class(index)) ? Match::kYes : Match::kNo;
  return match == Match::kYes;
}

bool Filter::KeepsFrame(format::Index index) {
  if (index >= frames_.size()) return false;
  Match& match = frames_[index];
  if (match == Match::kNotLooked) {
    match = site_->Matches(names_->Method(names_->FrameOf(index)->method)) ? Match::kYes : Match::kNo;
  }
  return match == Match::kYes;
}

// The answer of a node is its frame's or its parent's; walked upwards until one is known, then remembered for the leaf.
bool Filter::KeepsStack(format::Index index) {
  if (index >= stacks_.size()) return false;
  const format::Index leaf = index;
  if (stacks_[leaf] != Match::kNotLooked) return stacks_[leaf] == Match::kYes;
  bool found = false;
  while (index != format::kNone && index < stacks_.size() && !found) {
    if (stacks_[index] != Match::kNotLooked) {
      found = stacks_[index] == Match::kYes;
      break;
    }
    const format::StackNode& node = *names_->NodeOf(index);
    found = KeepsFrame(node.frame);
    if (node.parent != format::kNone && node.parent >= index) break;
    index = node.parent;
  }
  stacks_[leaf] = found ? Match::kYes : Match::kNo;
  return found;
}

}  // namespace heaprec::tools
