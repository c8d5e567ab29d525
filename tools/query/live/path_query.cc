#include "tools/query/live/path_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "format/model/thread_name.h"
#include "tools/input/dictionary_names.h"
#include "tools/input/recording.h"
#include "tools/input/walk.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using format::ProcessState;
using format::ProcessStateKind;
using format::RootKind;

constexpr size_t kMaxFrames = 256;
constexpr uint32_t kNoChain = UINT32_MAX;
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

// Collects the searches of a recording; keeps the last one.
class SearchReader {
 public:
  explicit SearchReader(uint64_t until_ns) : until_ns_(until_ns) {}

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
    chains_.clear();
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
    std::vector<std::string> names;
    for (const PathStep& step : chain) names.push_back(step.name);
    const auto [found, is_new] = chains_.try_emplace(std::move(names), static_cast<uint32_t>(chains_.size()));
    if (is_new) last_->chains.push_back(chain);
    for (size_t i = 0; i < chain.size(); ++i) last_->chains[found->second][i].Widen(chain[i]);
    last_->chain_of.emplace(state.used, found->second);
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
    const format::Thread* const thread = names_.ThreadOf(state.thread);
    chain.back() = {
        RootText(root, root_frame, thread != nullptr ? ToUtf8(format::NameOfThread(thread->name)) : std::string())};
    std::ranges::reverse(chain);
    return chain;
  }

  const uint64_t until_ns_;
  Names names_;
  std::optional<PathSearch> last_;
  uint64_t number_ = 0;
  std::map<std::vector<std::string>, uint32_t> chains_;
};

double BytesOf(const PathNode& node) {
  double bytes = 0;
  for (const LiveSample& one : node.held) bytes += one.weight;
  return bytes;
}

void Sort(PathNode* node) {
  std::ranges::stable_sort(node->children, std::ranges::greater(), BytesOf);
  for (PathNode& child : node->children) Sort(&child);
}

}  // namespace

Result<PathSearch> FindPathSearch(const std::vector<std::string>& files, const std::optional<TimePoint>& at) {
  if (files.size() != 1) return Error{"paths needs a single recording"};
  auto opened = Recording::OpenAll(files.front());
  if (!opened.ok()) return opened.error();
  if (opened->size() != 1) return Error{files.front() + ": contains several recordings; paths needs a single one"};
  const format::FileHeader header = opened->front()->header();
  const auto asked = std::ranges::find(header.settings, "paths", &format::Setting::name);
  if (asked == header.settings.end())
    return Error{files.front() + ": has no paths; record with the agent option paths=on"};
  if (!asked->value.empty()) return Error{fmt::format("{}: has no paths: {}", files.front(), asked->value)};
  uint64_t end_ns = 0;
  if (at) {
    Walk(opened->front().get(), [&](const format::Block& block) { end_ns = std::max(end_ns, block.end_ns); });
    opened = Recording::OpenAll(files.front());
    if (!opened.ok()) return opened.error();
  }
  SearchReader reader(at ? MomentOf(at, header.start_epoch_ns, end_ns) : UINT64_MAX);
  Walk(opened->front().get(), [&](const format::Block& block) { reader.Add(block); });
  if (reader.last()) {
    PathSearch search = *reader.last();
    const auto by_jvmti = std::ranges::find(header.settings, "paths.jvmti", &format::Setting::name);
    if (by_jvmti != header.settings.end()) search.by_jvmti = by_jvmti->value;
    return search;
  }
  return Error{files.front() + (at ? ": the heap was not searched until then" : ": the heap was not searched")};
}

PathVisitor::PathVisitor(const PathSearch& search, CallTree* tree)
    : LiveVisitor(
          [&search] {
            LiveQuery question;
            question.by = {Grouping(By::kClass)};
            question.at = TimePoint{TimePoint::Origin::kStart, static_cast<int64_t>(search.time_ns), {}};
            question.grown = 1;
            return question;
          }(),
          tree),
      search_(search) {}

uint32_t PathVisitor::KeyOf(size_t, const format::Sample& sample, const MatchedBlock&) {
  const auto chain = search_.chain_of.find(sample.id);
  const auto holders = search_.holders_of.find(sample.id);
  const Group group{chain == search_.chain_of.end() ? kNoChain : chain->second,
                    holders == search_.holders_of.end() ? 0 : holders->second};
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

GroupPathVisitor::GroupPathVisitor(LiveQuery question, const PathSearch& search, CallTree* tree)
    : LiveVisitor(
          [&question] {
            question.by.emplace_back(By::kClass);  // for the pairs
            return std::move(question);
          }(),
          tree),
      search_(search) {}

uint32_t GroupPathVisitor::KeyOf(size_t table, const format::Sample& sample, const MatchedBlock& matched_block) {
  if (table == 0) return group_ = LiveVisitor::KeyOf(table, sample, matched_block);
  const auto found = search_.chain_of.find(sample.id);
  const uint32_t chain = found == search_.chain_of.end() ? kNoChain : found->second;
  return numbers_.try_emplace({group_, chain}, static_cast<uint32_t>(numbers_.size())).first->second;
}

std::vector<GroupPathVisitor::Holder> GroupPathVisitor::HoldersOf(uint32_t group, size_t most) const {
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
  std::vector<Holder> holders;
  for (const Part& part : parts) {
    holders.push_back({PathText(search_.chains[part.chain], true, kShortPathBytes),
                       EstimateGroup(*part.alive, total, total.Unit()).share});
  }
  std::ranges::stable_sort(holders, std::ranges::greater(), [](const Holder& of) { return of.share.value; });
  holders.resize(std::min(holders.size(), most));
  return holders;
}

std::string StepText(const PathStep& step) {
  if (step.most == 1) return step.name;
  return step.least == step.most ? fmt::format("{} x {}", step.name, Grouped(step.most))
                                 : fmt::format("{} x {}-{}", step.name, Grouped(step.least), Grouped(step.most));
}

std::string PathText(const std::vector<PathStep>& steps, bool begins_at_root, size_t most) {
  std::vector<std::string> texts;
  size_t bytes = 0;
  for (const PathStep& of : steps) {
    PathStep step = of;
    const size_t field = step.name.rfind('.');
    const size_t package = field == std::string::npos || field == 0 ? field : step.name.rfind('.', field - 1);
    if ((!texts.empty() || !begins_at_root) && package != std::string::npos) step.name.erase(0, package + 1);
    // "ArrayList.elementData -> Object[].[]" is "ArrayList.elementData[]".
    const bool is_element = of.most == 1 && of.name.ends_with(kElement);
    const bool follows_field =
        texts.size() > 1 || (!texts.empty() && (!begins_at_root || texts.back().ends_with(kStatic)));
    if (is_element && follows_field && !texts.back().ends_with(kElement)) {
      std::string& array = texts.back();
      array.insert(array.size() - (array.ends_with(kStatic) ? kStatic.size() : 0), "[]");
      bytes += 2;
      continue;
    }
    texts.push_back(StepText(step));
    bytes += kArrow.size() + texts.back().size();
  }
  // What is beside the root and beside the object says most.
  bool is_cut = false;
  for (; bytes > most && texts.size() > 2; is_cut = true) {
    const auto middle = texts.begin() + static_cast<ptrdiff_t>(texts.size() / 2);
    bytes -= kArrow.size() + middle->size();
    texts.erase(middle);
  }
  if (is_cut) texts.insert(texts.begin() + static_cast<ptrdiff_t>((texts.size() + 1) / 2), "...");
  return fmt::format("{}", fmt::join(texts, kArrow));
}

std::vector<LiveSample> PathVisitor::Without() const {
  return LiveOf([](const Group& group) { return group.chain == kNoChain; });
}

std::vector<LiveSample> PathVisitor::RetainedBy(const PathSearch::Holder& holder) const {
  return LiveOf([&holder](const Group& group) { return (group.holders & holder.bit) != 0; });
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
    for (const PathStep& step : search_.chains[chain]) {
      auto child =
          std::ranges::find_if(node->children, [&step](const PathNode& one) { return one.step.name == step.name; });
      if (child == node->children.end()) child = node->children.insert(child, PathNode{step, {}, {}});
      node = &*child;
      node->step.Widen(step);
      add(node);
    }
  }
  Sort(&root);
  return root;
}

}  // namespace heaprec::tools
