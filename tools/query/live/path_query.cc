#include "tools/query/live/path_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "format/model/names.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using format::ProcessState;
using format::ProcessStateKind;
using format::RootKind;

constexpr size_t kMaxFrames = 256;
constexpr uint32_t kNoChain = MergedChains::kNone;
constexpr std::string_view kArrow = " -> ", kStatic = " (static)", kElement = "[].[]";

// `frame`: the name of the root's frame; may be empty.
std::string RootText(RootKind kind, std::string_view frame, std::string_view thread) {
  const auto in = [&](std::string_view what) {
    std::string text(what);
    if (!frame.empty()) text += fmt::format(" in {}", frame);
    if (!thread.empty()) text += fmt::format("{} {}", kind == RootKind::kThread ? "" : ", thread", thread);
    return text;
  };
  switch (kind) {
    case RootKind::kStatic: {
      const size_t name = frame.rfind('.');
      const std::string_view owner = frame.substr(0, name),
                             of = name == std::string_view::npos ? "" : frame.substr(name + 1);
      if (of == format::kClassStep) return fmt::format("class {}", owner);
      if (of == format::kConstantsStep) return fmt::format("constants in {}", owner);
      return fmt::format("{}{}", frame, kStatic);
    }
    case RootKind::kLocal:
      return in("local variable");
    case RootKind::kJniLocal:
      return in("native code");
    case RootKind::kJniGlobal:
      return "JNI global reference";
    case RootKind::kThread:
      return in("running thread");
    case RootKind::kMonitor:
      return "locked object";
    default:
      return "the JVM";
  }
}

// "pool-1-thread-*" for "pool-1-thread-59": what its threads have in common.
std::string NameOfPool(std::string_view thread) {
  constexpr std::string_view kDigits = "0123456789";
  const size_t last = thread.find_last_of(kDigits);
  if (last == std::string_view::npos) return std::string(thread);
  const size_t before = thread.find_last_not_of(kDigits, last);
  const size_t first = before == std::string_view::npos ? 0 : before + 1;
  return fmt::format("{}*{}", thread.substr(0, first), thread.substr(last + 1));
}

struct FieldOf {
  std::string_view owner, field;
};

FieldOf SplitStep(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? FieldOf{{}, name} : FieldOf{name.substr(0, dot), name.substr(dot + 1)};
}

// Fields by which objects of a class refer to each other, as the nodes of a list or a tree do, by class.
class Links {
 public:
  void Add(const std::vector<PathStep>& chain) {
    for (size_t i = 1; i < chain.size(); ++i) {
      const FieldOf step = SplitStep(chain[i].name);
      const bool is_followed = i + 1 < chain.size() && step.owner == SplitStep(chain[i + 1].name).owner;
      const bool is_field = !step.owner.empty() && !step.field.empty() && !step.field.starts_with('<');
      if (is_field && (is_followed || chain[i].most > 1)) fields_[std::string(step.owner)].emplace(step.field);
    }
  }
  // Makes one step of consecutive ones; it is there, 0 times, in chains without them, too: an object that is next to an
  // entry of a map, and one three entries behind it, have the same chain.
  std::vector<PathStep> Folded(const std::vector<PathStep>& chain) const {
    std::vector<PathStep> folded{chain.front()};
    for (size_t i = 1; i < chain.size();) {
      const std::string owner(SplitStep(chain[i].name).owner);
      const auto links = fields_.find(owner);
      if (links != fields_.end()) {
        PathStep run{fmt::format("{}.{}", owner, fmt::join(links->second, "|")), 0, 0};
        for (; i < chain.size() && SplitStep(chain[i].name).owner == owner; ++i) {
          if (!links->second.contains(std::string(SplitStep(chain[i].name).field))) break;
          run.least += chain[i].least, run.most += chain[i].most;
        }
        folded.push_back(std::move(run));
        if (i == chain.size() || SplitStep(chain[i].name).owner != owner) continue;
      }
      folded.push_back(chain[i++]);
    }
    return folded;
  }

 private:
  std::map<std::string, std::set<std::string>> fields_;
};

std::vector<std::string> NamesOf(const std::vector<PathStep>& chain) {
  std::vector<std::string> names;
  for (const PathStep& step : chain) names.push_back(step.name);
  return names;
}

// Collects the searches of a recording; keeps the last one.
class SearchReader {
 public:
  SearchReader(uint64_t until_ns, MergedNames* merged) : until_ns_(until_ns), names_(merged) {}

  void Add(const format::Block& block) {
    if (block.states.empty()) return;
    names_.Enter(block);
    for (const ProcessState& state : block.states) {
      if (state.kind == ProcessStateKind::kPathWalk && state.time_ns <= until_ns_) Begin(state);
      if (state.kind == ProcessStateKind::kPath) AddPath(state);
    }
  }
  const std::optional<PathSearch>& last() const { return last_; }

 private:
  // One that found nothing does not hide the one before.
  void Begin(const ProcessState& state) {
    if (last_ && state.pauses == 0) return;
    number_ = state.committed / format::kWalkNumber;
    last_.emplace();
    last_->time_ns = state.time_ns;
    last_->objects = state.used;
    last_->paused_ns = state.paused_ns;
    last_->announced = state.pauses;
    last_->end = static_cast<format::WalkEnd>(state.committed % format::kWalkNumber);
    last_->failure = ToUtf8(state.cause);
  }

  void AddPath(const ProcessState& state) {
    if (!last_ || state.committed / format::kWalkNumber != number_) return;
    std::vector<PathStep> chain = ChainOf(state);
    if (state.used == 0) return void(last_->holders.push_back({std::move(chain), state.pauses}));
    if (state.pauses != 0) last_->holders_of.emplace(state.used, state.pauses);
    last_->chain_of.emplace(state.used, static_cast<uint32_t>(last_->chains.size()));
    last_->chains.push_back(std::move(chain));
  }

  std::vector<PathStep> ChainOf(const ProcessState& state) {
    std::vector<PathStep> chain;
    RootKind root = RootKind::kUnknown;
    std::string root_frame;
    ForEachFrame(names_, state.stack, kMaxFrames, [&](const format::Frame& frame) {
      std::string name = frame.IsGap() ? "..." : std::string(names_.Method(frame));
      root = static_cast<RootKind>(frame.bci);
      root_frame = frame.method == format::kNone ? "" : name;
      const auto repeats = static_cast<uint64_t>(std::max(frame.bci, 1));
      chain.push_back({std::move(name), repeats, repeats});
    });
    if (chain.empty()) return {{"?"}};
    const format::Thread* const of_thread = names_.ThreadOf(state.thread);
    const std::string thread = of_thread != nullptr ? ToUtf8(format::NameOfThread(of_thread->name)) : std::string();
    chain.back() = {RootText(root, root_frame, thread)};
    if (!thread.empty()) last_->pools.try_emplace(chain.back().name, RootText(root, root_frame, NameOfPool(thread)));
    std::ranges::reverse(chain);
    return chain;
  }

  const uint64_t until_ns_;
  Names names_;
  std::optional<PathSearch> last_;
  uint64_t number_ = 0;
};

PathSearch SearchOf(Recording* recording, const std::string& file, const std::optional<TimePoint>& at, uint64_t end_ns,
                    MergedNames* merged) {
  const format::FileHeader header = recording->header();
  const auto without = [&](std::string reason) {
    PathSearch search;
    search.missing = std::move(reason);
    return search;
  };
  const auto read = [&] {
    const auto asked = std::ranges::find(header.settings, "paths", &format::Setting::name);
    if (asked == header.settings.end()) return without("has no paths; record with the agent option paths=on");
    if (!asked->value.empty()) return without("has no paths: " + asked->value);
    if (merged != nullptr) merged->Start(header.recording_id);
    SearchReader reader(at ? MomentOf(at, header.start_epoch_ns, end_ns) : UINT64_MAX, merged);
    Walk(recording, [&](const format::Block& block) { reader.Add(block); });
    if (reader.last()) {
      PathSearch search = *reader.last();
      const auto by_jvmti = std::ranges::find(header.settings, "paths.jvmti", &format::Setting::name);
      if (by_jvmti != header.settings.end()) search.by_jvmti = by_jvmti->value;
      return search;
    }
    return without(at ? "the heap was not searched until then" : "the heap was not searched");
  };
  PathSearch search = read();
  search.recording = header.recording_id;
  search.file = file;
  return search;
}

bool IsOfJdk(std::string_view name) {
  constexpr std::string_view kPackages[] = {"java.", "javax.", "jdk.", "sun.", "com.sun."};
  return std::ranges::any_of(kPackages, [name](std::string_view of) { return name.starts_with(of); });
}

// Removes places that are there 0 times, and sorts.
void Arrange(PathNode* node) {
  std::vector<PathNode> children;
  for (PathNode& child : node->children) {
    Arrange(&child);
    if (child.step.most > 0) {
      children.push_back(std::move(child));
    } else {
      std::ranges::move(child.children, std::back_inserter(children));
    }
  }
  // Samples of some imports have no weights.
  std::ranges::stable_sort(children, std::ranges::greater(),
                           [](const PathNode& of) { return std::pair(BytesOf(of), of.held.size()); });
  node->children = std::move(children);
}

}  // namespace

Result<std::vector<PathSearch>> FindPathSearches(const std::vector<std::string>& files,
                                                 const std::optional<TimePoint>& at, MergedNames* merged) {
  std::vector<PathSearch> searches;
  for (const std::string& file : files) {
    auto opened = Recording::OpenAll(file);
    if (!opened.ok()) return opened.error();
    std::vector<uint64_t> ends_ns(opened->size());
    if (at) {
      for (size_t i = 0; i < opened->size(); ++i)
        Walk((*opened)[i].get(), [&](const format::Block& block) { ends_ns[i] = std::max(ends_ns[i], block.end_ns); });
      opened = Recording::OpenAll(file);
      if (!opened.ok()) return opened.error();
    }
    for (size_t i = 0; i < std::min(opened->size(), ends_ns.size()); ++i)
      searches.push_back(SearchOf((*opened)[i].get(), file, at, ends_ns[i], merged));
  }
  if (searches.empty()) return Error{"no recording"};
  if (std::ranges::any_of(searches, [](const PathSearch& one) { return one.missing.empty(); })) return searches;
  return Error{fmt::format("{}: {}", searches.front().file, searches.front().missing)};
}

MergedChains::MergedChains(std::vector<PathSearch> searches)
    : searches_(std::move(searches)), current_(searches_.size()) {
  Links links;
  std::map<std::string, std::set<std::string>> roots;  // by pool
  const auto pool_of = [](const PathSearch& search, const std::vector<PathStep>& chain) -> const std::string* {
    const auto pool = search.pools.find(chain.front().name);
    return pool == search.pools.end() ? nullptr : &pool->second;
  };
  for (const PathSearch& search : searches_) {
    for (const std::vector<PathStep>& chain : search.chains) {
      links.Add(chain);
      if (const std::string* pool = pool_of(search, chain)) roots[*pool].insert(chain.front().name);
    }
  }
  NumberHolders();
  std::map<std::vector<std::string>, uint32_t> known;
  for (const PathSearch& search : searches_) {
    std::vector<uint32_t>& numbers = numbers_.emplace_back();
    for (const std::vector<PathStep>& chain : search.chains) {
      std::vector<PathStep> merged = links.Folded(chain);
      const std::string* const pool = pool_of(search, chain);
      if (pool != nullptr && roots[*pool].size() > 1) merged.front().name = *pool;
      const auto [found, is_new] = known.try_emplace(NamesOf(merged), static_cast<uint32_t>(chains_.size()));
      if (is_new) {
        chains_.push_back(std::move(merged));
      } else {
        for (size_t i = 0; i < merged.size(); ++i) chains_[found->second][i].Widen(merged[i]);
      }
      numbers.push_back(found->second);
    }
  }
}

void MergedChains::NumberHolders() {
  std::map<std::vector<std::string>, size_t> known;
  for (const PathSearch& search : searches_) {
    std::vector<size_t>& numbers = holder_numbers_.emplace_back();
    for (const PathSearch::Holder& holder : search.holders) {
      const auto [found, is_new] = known.try_emplace(NamesOf(holder.chain), holders_.size());
      if (is_new) holders_.push_back(holder.chain);
      numbers.push_back(found->second);
    }
  }
}

void MergedChains::Begin(const format::RecordingId& recording) {
  const auto found = std::find_if(searches_.begin() + static_cast<ptrdiff_t>(next_), searches_.end(),
                                  [&](const PathSearch& one) { return one.recording == recording; });
  current_ = static_cast<size_t>(found - searches_.begin());
  if (found != searches_.end()) next_ = current_ + 1;
}

const PathSearch* MergedChains::current() const {
  return current_ == searches_.size() || !searches_[current_].missing.empty() ? nullptr : &searches_[current_];
}

std::vector<size_t> MergedChains::HoldersOf(uint64_t sample) const {
  std::vector<size_t> of;
  const PathSearch* const search = current();
  if (search == nullptr) return of;
  const auto found = search->holders_of.find(sample);
  if (found == search->holders_of.end()) return of;
  for (size_t i = 0; i < search->holders.size(); ++i) {
    if ((found->second & search->holders[i].bit) != 0) of.push_back(holder_numbers_[current_][i]);
  }
  return of;
}

uint32_t MergedChains::Of(uint64_t sample) const {
  const PathSearch* const search = current();
  if (search == nullptr) return kNone;
  const auto found = search->chain_of.find(sample);
  return found == search->chain_of.end() ? kNone : numbers_[current_][found->second];
}

PathVisitor::PathVisitor(std::vector<PathSearch> searches, CallTree* tree)
    : LiveVisitor(
          [] {
            LiveQuery question;
            question.by = {Grouping(By::kClass)};
            question.grown = 1;
            return question;
          }(),
          tree),
      chains_(std::move(searches)) {}

void PathVisitor::Begin(const format::FileHeader& header) {
  chains_.Begin(header.recording_id);
  LiveVisitor::Begin(header);
}

// Nothing is live at the beginning of a recording that was not searched.
std::optional<TimePoint> PathVisitor::at() const {
  const PathSearch* const search = chains_.current();
  return TimePoint{TimePoint::Origin::kStart, search == nullptr ? 0 : static_cast<int64_t>(search->time_ns), {}};
}

std::optional<ScanVisitor::LiveTimes> PathVisitor::live_times() const {
  return chains_.current() == nullptr ? std::nullopt : LiveVisitor::live_times();
}

uint32_t PathVisitor::KeyOf(size_t, const format::Sample& sample, const MatchedBlock&) {
  const Group group{chains_.Of(sample.id), chains_.HoldersOf(sample.id)};
  const auto [number, is_new] = numbers_.try_emplace(group, static_cast<uint32_t>(groups_.size()));
  if (is_new) groups_.push_back(group);
  return number->second;
}

// The live samples of the groups that `matches` accepts.
template <typename Matches>
std::vector<LiveSample> PathVisitor::LiveOf(const Matches& matches) const {
  std::vector<LiveSample> live;
  for (const LiveTable::Row& row : result().tables.front().rows) {
    if (matches(groups_[row.key])) live.insert(live.end(), row.group.alive.begin(), row.group.alive.end());
  }
  return live;
}

GroupPathVisitor::GroupPathVisitor(LiveQuery question, std::vector<PathSearch> searches, CallTree* tree)
    : LiveVisitor(
          [&question] {
            question.by.emplace_back(By::kClass);  // for the pairs
            return std::move(question);
          }(),
          tree),
      chains_(std::move(searches)) {}

void GroupPathVisitor::Begin(const format::FileHeader& header) {
  chains_.Begin(header.recording_id);
  LiveVisitor::Begin(header);
}

uint32_t GroupPathVisitor::KeyOf(size_t table, const format::Sample& sample, const MatchedBlock& matched_block) {
  if (table == 0) return group_ = LiveVisitor::KeyOf(table, sample, matched_block);
  return numbers_.try_emplace({group_, chains_.Of(sample.id)}, static_cast<uint32_t>(numbers_.size())).first->second;
}

std::vector<GroupPath> GroupPathVisitor::PathsOf(uint32_t group) const {
  const LiveTable& pairs = result().tables[1];
  struct Part {
    uint32_t chain;
    const std::vector<LiveSample>* alive;
  };
  std::vector<Part> parts;
  LiveTotal total;
  for (auto pair = numbers_.lower_bound({group, 0}); pair != numbers_.end() && pair->first.first == group; ++pair) {
    const auto slot = pairs.slots.find(pair->second);
    if (pair->first.second == kNoChain || slot == pairs.slots.end()) continue;
    const std::vector<LiveSample>& alive = pairs.rows[slot->second].group.alive;
    if (alive.empty()) continue;
    for (const LiveSample& one : alive) total.Add(one);
    parts.push_back({pair->first.second, &alive});
  }
  std::vector<GroupPath> paths;
  for (const Part& part : parts) {
    paths.push_back({PathText(chains_.At(part.chain), true, kShortPathBytes),
                     EstimateGroup(*part.alive, total, total.Unit()).share});
  }
  std::ranges::stable_sort(paths, std::ranges::greater(), [](const GroupPath& of) { return of.share.value; });
  paths.resize(std::min(paths.size(), kGroupPaths));
  return paths;
}

double BytesOf(const PathNode& node) {
  double bytes = 0;
  for (const LiveSample& one : node.held) bytes += one.weight;
  return bytes;
}

std::string StepText(const PathStep& step) {
  if (step.least == 1 && step.most == 1) return step.name;
  return step.least == step.most ? fmt::format("{} x {}", step.name, Grouped(step.most))
                                 : fmt::format("{} x {}-{}", step.name, Grouped(step.least), Grouped(step.most));
}

std::string PathText(const std::vector<PathStep>& steps, bool begins_at_root, size_t most) {
  struct Part {
    std::string text;
    bool is_of_jdk, is_cut = false;
  };
  std::vector<Part> parts;
  size_t bytes = 0;
  for (const PathStep& of : steps) {
    if (of.most == 0) continue;
    PathStep step = of;
    const size_t field = step.name.rfind('.');
    const size_t package = field == std::string::npos || field == 0 ? field : step.name.rfind('.', field - 1);
    if ((!parts.empty() || !begins_at_root) && package != std::string::npos) step.name.erase(0, package + 1);
    // "ArrayList.elementData -> Object[].[]" is "ArrayList.elementData[]".
    const bool is_element = of.least == 1 && of.most == 1 && of.name.ends_with(kElement);
    const bool follows_field =
        parts.size() > 1 || (!parts.empty() && (!begins_at_root || parts.back().text.ends_with(kStatic)));
    if (is_element && follows_field && !parts.back().text.ends_with(kElement)) {
      std::string& array = parts.back().text;
      array.insert(array.size() - (array.ends_with(kStatic) ? kStatic.size() : 0), "[]");
      bytes += 2;
      continue;
    }
    parts.push_back({StepText(step), IsOfJdk(of.name)});
    bytes += kArrow.size() + parts.back().text.size();
  }
  // The root and what is beside the object say most, then what is not of the JDK.
  for (const bool of_jdk : {true, false}) {
    std::vector<size_t> between;
    for (size_t i = 1; i + 1 < parts.size(); ++i) {
      if (parts[i].is_of_jdk == of_jdk) between.push_back(i);
    }
    while (bytes > most && !between.empty()) {
      const auto middle = between.begin() + static_cast<ptrdiff_t>(between.size() / 2);
      parts[*middle].is_cut = true;
      bytes -= kArrow.size() + parts[*middle].text.size();
      between.erase(middle);
    }
  }
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0 && parts[i].is_cut && parts[i - 1].is_cut) continue;
    if (i > 0) text += kArrow;
    text += parts[i].is_cut ? "..." : parts[i].text;
  }
  return text;
}

std::vector<LiveSample> PathVisitor::Without() const {
  return LiveOf([](const Group& group) { return group.chain == kNoChain; });
}

std::vector<LiveSample> PathVisitor::RetainedBy(size_t holder) const {
  return LiveOf(
      [holder](const Group& group) { return std::ranges::find(group.holders, holder) != group.holders.end(); });
}

PathNode PathVisitor::Tree() const {
  PathNode root;
  for (const LiveTable::Row& row : result().tables.front().rows) {
    const uint32_t chain = groups_[row.key].chain;
    if (chain == kNoChain || row.group.alive.empty()) continue;
    PathNode* node = &root;
    const auto add = [&row](PathNode* to) {
      to->held.insert(to->held.end(), row.group.alive.begin(), row.group.alive.end());
    };
    add(node);
    for (const PathStep& step : chains_.At(chain)) {
      auto child =
          std::ranges::find_if(node->children, [&step](const PathNode& one) { return one.step.name == step.name; });
      if (child == node->children.end()) child = node->children.insert(child, PathNode{step, {}, {}});
      node = &*child;
      node->step.Widen(step);
      add(node);
    }
  }
  Arrange(&root);
  return root;
}

}  // namespace heaprec::tools
