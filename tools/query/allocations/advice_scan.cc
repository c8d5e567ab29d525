#include "tools/query/allocations/advice_scan.h"

#include <algorithm>

#include "format/ring/content_keys.h"
namespace heaprec::tools {
namespace {

using format::Index;

uint64_t KeyOf(NamePool::Id frame, int32_t number) { return uint64_t{frame} << 32 | static_cast<uint32_t>(number); }

// Samples of different lines are drawn independently.
void AddEstimates(GroupEstimates* sum, const GroupEstimates& one) {
  if (sum->samples == 0) {
    *sum = one;
    return;
  }
  sum->samples += one.samples;
  sum->bytes = Sum(sum->bytes, one.bytes);
  sum->objects = Sum(sum->objects, one.objects);
  sum->share = Sum(sum->share, one.share);
  sum->mean_size = kUnknownEstimate;
}

}  // namespace

std::vector<RuleFinding> SearchAdvice(const std::string& file) {
  FileScan scan(file);
  AdviceScan advice;
  return scan.Run(&advice) ? advice.Findings(kAdviceShare) : std::vector<RuleFinding>();
}

void AdviceScan::Begin(const format::FileHeader& header) {
  has_tracked_ = header.max_tracked_objects > 0;
  tracked_.clear();
  table_.Start();
  elements_.Start();
  chunk_ = format::kNone;
}

void AdviceScan::Visit(const MatchedBlock& matched_block) {
  Enter(matched_block.block, &matched_block.names);
  for (const WeightedSample* drawn : matched_block.drawn) {
    const Found found = Find(matched_block, *drawn);
    AddElements(*drawn, found.facts);
    if (found.has_frame) Add(*drawn, found);
  }
  NoteEnds(matched_block.block);
}

void AdviceScan::End(const Estimator& estimator, double) {
  table_.Close(estimator);
  elements_.Close(estimator);
}

// Notes which methods each line calls. A stack's parent precedes it.
void AdviceScan::Enter(const format::Block& block, Names* names) {
  const std::vector<format::StackNode>& stacks = block.dictionaries->stacks;
  if (block.chunk != chunk_ || stacks.size() < stacks_) {
    method_of_.clear();
    stacks_ = 0;
  }
  chunk_ = block.chunk;
  for (; stacks_ < stacks.size(); ++stacks_) {
    const format::StackNode& node = stacks[stacks_];
    const format::Frame* callee = names->FrameOf(node.frame);
    const format::StackNode* parent = node.parent < stacks_ ? names->NodeOf(node.parent) : nullptr;
    const format::Frame* caller = parent != nullptr ? names->FrameOf(parent->frame) : nullptr;
    if (callee == nullptr || caller == nullptr || (MethodOf(*caller, names).roles & kPassedOver) != 0) continue;
    const uint32_t roles = MethodOf(*callee, names).roles;
    if ((roles & ~kPassedOver) != 0) LineOf(*caller, names)->calls |= roles;
  }
}

// Most methods of a chunk are also in earlier chunks.
AdviceScan::Method AdviceScan::MethodOf(const format::Frame& frame, Names* names) {
  const format::Method* of = names->MethodOf(frame.method);
  if (of == nullptr) return {};
  if (frame.method >= method_of_.size()) method_of_.resize(frame.method + size_t{1}, format::kNone);
  uint32_t& index = method_of_[frame.method];
  if (index != format::kNone) return methods_[index];
  uint32_t& known = known_methods_[format::MethodKey(of->class_name, of->name, of->descriptor)];
  if (known == KeyTable::kNew) {
    known = static_cast<uint32_t>(methods_.size());
    const std::string_view shown = names->Method(frame.method);
    methods_.push_back({names_.Of(shown), RolesOf(shown, *of)});
  }
  return methods_[index = known];
}

AdviceScan::Line* AdviceScan::LineOf(const format::Frame& frame, Names* names) {
  const NamePool::Id name = MethodOf(frame, names).name;
  Line& line = lines_[KeyOf(name, frame.line)];
  line.frame = name, line.number = frame.line;
  return &line;
}

AdviceScan::Found AdviceScan::Find(const MatchedBlock& in, const WeightedSample& drawn) {
  Names& names = in.names;
  const format::Sample& sample = in.block.samples[drawn.index];
  Found found;
  AllocationFacts& facts = found.facts;
  facts.class_name = names.Class(sample.class_id);
  found.sample = sample.id;
  facts.size = drawn.row == nullptr ? static_cast<double>(sample.size)
                                    : static_cast<double>(drawn.row->seen) / static_cast<double>(drawn.row->points);
  facts.is_outside = drawn.row == nullptr && sample.kind == format::Kind::kOutside;
  const std::string* grown = nullptr;  // the class of a method that replaced an array by a larger one
  for (Index at = sample.stack; const format::StackNode* node = names.NodeOf(at); at = node->parent) {
    const format::Frame* frame = names.FrameOf(node->frame);
    if (frame == nullptr) break;
    const uint32_t roles = MethodOf(*frame, &names).roles;
    const format::Method* method = names.MethodOf(frame->method);
    const bool is_grown = grown != nullptr && method != nullptr && method->class_name == *grown;
    if ((roles & kPassedOver) == 0 && !is_grown) {
      facts.method = names.Method(frame->method);
      LineOf(*frame, &names);
      found.line = KeyOf(MethodOf(*frame, &names).name, frame->line);
      found.has_frame = true;
      return found;
    }
    const bool reserves = (roles & kMayReserve) != 0 && frame->bci >= 0 && frame->bci < kEndOfReserving;
    facts.outermost = roles | (reserves ? uint32_t{kReserves} : 0U);
    // What grows in a class is created by a caller of the class.
    if ((roles & kGrows) != 0) grown = &method->class_name;
    if (is_grown) facts.outermost |= kGrowable;
    facts.roles |= facts.outermost;
    facts.common &= facts.outermost;
    ++facts.frames;
    if (node->parent == format::kNone || node->parent >= at) break;
  }
  return found;
}

void AdviceScan::Add(const WeightedSample& drawn, const Found& found) {
  uint32_t earlier = 0;
  const std::span<const AdviceRule> rules = AdviceRules();
  for (size_t i = 0; i < rules.size(); ++i) {
    if (!rules[i].matches(found.facts)) continue;
    AddTo(i, earlier, drawn, found);
    if (rules[i].holds == nullptr) break;
    earlier |= 1U << i;
  }
}

void AdviceScan::AddElements(const WeightedSample& drawn, const AllocationFacts& facts) {
  const std::span<const CollectionClass> collections = CollectionClasses();
  for (size_t i = 0; i < collections.size(); ++i) {
    const CollectionClass& one = collections[i];
    if (one.elements == facts.class_name && (one.roles == 0 || (facts.roles & one.roles) != 0))
      elements_.Add(static_cast<GroupTable::Key>(i), drawn);
  }
}

void AdviceScan::AddTo(size_t rule, uint32_t earlier, const WeightedSample& drawn, const Found& found) {
  std::vector<uint32_t>& of_line = lines_[found.line].candidates;
  of_line.resize(AdviceRules().size(), format::kNone);
  if (of_line[rule] == format::kNone) {
    of_line[rule] = static_cast<uint32_t>(candidates_.size());
    candidates_.push_back({.rule = rule, .line = found.line});
  }
  table_.Add(of_line[rule], drawn);
  Candidate& candidate = candidates_[of_line[rule]];
  const double size = found.facts.size;
  candidate.earlier |= earlier;
  if (found.facts.is_outside && has_tracked_) {
    ++candidate.tracked;
    tracked_.emplace(found.sample, of_line[rule]);
  }
  candidate.bytes_of[names_.Of(found.facts.class_name)] += drawn.weight;
  candidate.bytes += drawn.weight;
  candidate.byte_sizes += drawn.weight * size;
  candidate.smallest = candidate.sizes.empty() ? size : std::min(candidate.smallest, size);
  candidate.largest = std::max(candidate.largest, size);
  if (candidate.sizes.size() < kMostSizes && std::ranges::find(candidate.sizes, size) == candidate.sizes.end())
    candidate.sizes.push_back(size);
}

// Deaths follow births. What became of an object whose tracking ended otherwise is unknown.
void AdviceScan::NoteEnds(const format::Block& block) {
  for (const format::LifecycleEvent& end : block.lifecycle_events) {
    if (end.stream != format::Stream::kAllocations || end.kind == format::LifecycleKind::kShrunk) continue;
    const bool has_died = end.kind == format::LifecycleKind::kDied;
    has_died_ |= has_died;
    const auto [begin, last] = tracked_.equal_range(end.sample);
    for (auto at = begin; at != last; ++at) ++(has_died ? candidates_[at->second].died : candidates_[at->second].lost);
  }
}

const std::string& AdviceScan::ClassOf(const Candidate& of) const {
  return names_.At(std::ranges::max_element(of.bytes_of, {}, [](const auto& one) { return one.second; })->first);
}

bool AdviceScan::Holds(uint32_t candidate) const {
  const Candidate& of = candidates_[candidate];
  const AdviceRule& rule = AdviceRules()[of.rule];
  if (rule.holds == nullptr) return true;
  const Line& line = lines_.at(of.line);
  const std::string& name = ClassOf(of);
  LineFacts facts{.calls = line.calls,
                  .sizes = of.sizes.size(),
                  .smallest = of.smallest,
                  .largest = of.largest,
                  .mean_of_bytes = of.bytes > 0 ? of.byte_sizes / of.bytes : 0,
                  // Before the first collection everything is live.
                  .stays = has_died_ && 2 * of.died + of.lost < of.tracked,
                  .objects_low = table_.Of(candidate).objects.low};
  const std::span<const CollectionClass> collections = CollectionClasses();
  const auto collection = std::ranges::find(collections, name, &CollectionClass::name);
  if (collection != collections.end())
    facts.filled_high = elements_.Of(static_cast<GroupTable::Key>(collection - collections.begin())).objects.high;
  return rule.holds(facts);
}

// A sample that belongs to a finding of an earlier rule is not in another one.
std::vector<uint32_t> AdviceScan::Held() const {
  std::vector<uint32_t> held;
  for (uint32_t i = 0; i < candidates_.size(); ++i) {
    const std::vector<uint32_t>& of_line = lines_.at(candidates_[i].line).candidates;
    bool is_taken = false;
    for (size_t rule = 0; rule < candidates_[i].rule; ++rule)
      is_taken |= (candidates_[i].earlier >> rule & 1) != 0 && Holds(of_line[rule]);
    if (!is_taken && Holds(i)) held.push_back(i);
  }
  return held;
}

std::vector<RuleFinding> AdviceScan::Findings(double least_share) const {
  std::vector<uint32_t> held = Held();
  std::ranges::stable_sort(held, std::ranges::greater(), [this](uint32_t i) { return table_.Of(i).bytes.value; });
  std::vector<RuleFinding> findings;
  std::unordered_map<uint64_t, size_t> known;  // by frame and rule
  for (const uint32_t i : held) {
    const Line& line = lines_.at(candidates_[i].line);
    const size_t rule = candidates_[i].rule;
    const auto [at, is_new] = known.try_emplace(uint64_t{line.frame} << 32 | rule, findings.size());
    if (is_new)
      findings.push_back({&AdviceRules()[rule], names_.At(line.frame), line.number, ClassOf(candidates_[i]), {}});
    AddEstimates(&findings[at->second].estimates, table_.Of(i));
  }
  std::erase_if(findings, [&](const RuleFinding& one) { return !(one.estimates.share.low > least_share); });
  std::ranges::stable_sort(findings, std::ranges::greater(),
                           [](const RuleFinding& one) { return one.estimates.bytes.value; });
  return findings;
}

GroupEstimates AdviceScan::Total(const std::function<bool(std::string_view)>& taken) const {
  GroupEstimates total = table_.Unseen();
  for (const uint32_t i : Held()) {
    if (taken(AdviceRules()[candidates_[i].rule].name)) AddEstimates(&total, table_.Of(i));
  }
  return total;
}

}  // namespace heaprec::tools
