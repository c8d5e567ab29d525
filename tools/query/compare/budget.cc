#include "tools/query/compare/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "tools/input/stream_traits.h"

namespace heaprec::tools {
namespace {

constexpr std::array<std::pair<std::string_view, Budget::Subject>, 6> kSubjects{{{"class", Budget::Subject::kClass},
                                                                                 {"site", Budget::Subject::kSite},
                                                                                 {"method", Budget::Subject::kMethod},
                                                                                 {"package", Budget::Subject::kPackage},
                                                                                 {"thread", Budget::Subject::kThread},
                                                                                 {"rule", Budget::Subject::kRule}}};

// In lower case. All are powers of 1024, as everywhere in the command.
constexpr std::array<std::pair<std::string_view, double>, 14> kUnits{{{"", 1},
                                                                      {"b", 1},
                                                                      {"k", 0x1p10},
                                                                      {"kb", 0x1p10},
                                                                      {"kib", 0x1p10},
                                                                      {"m", 0x1p20},
                                                                      {"mb", 0x1p20},
                                                                      {"mib", 0x1p20},
                                                                      {"g", 0x1p30},
                                                                      {"gb", 0x1p30},
                                                                      {"gib", 0x1p30},
                                                                      {"t", 0x1p40},
                                                                      {"tb", 0x1p40},
                                                                      {"tib", 0x1p40}}};

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// "--budget 'total<2XB': character 8: ...; example: ..."
Error Wrong(const std::string& text, size_t position, std::string_view what) {
  return {fmt::format(
      "--budget '{}': character {}: {}; examples: 'site:com.acme.*<5MiB/op' 'total<2GiB' 'class:byte[]<10%'", text,
      position + 1, what)};
}

// Removes "/op" or "/s" from the end.
Budget::Per TakePer(std::string_view* amount) {
  for (const auto& [suffix, per] :
       {std::pair(std::string_view("/op"), Budget::Per::kOp), {std::string_view("/s"), Budget::Per::kSecond}}) {
    if (!amount->ends_with(suffix)) continue;
    amount->remove_suffix(suffix.size());
    return per;
  }
  return Budget::Per::kRecording;
}

std::optional<Error> SetUnit(const std::string& text, std::string_view unit, Budget* budget) {
  const size_t position = unit.empty() ? text.size() : static_cast<size_t>(unit.data() - text.data());
  budget->has_unit = !unit.empty();
  budget->is_of_events = unit == "events" || unit == "event";
  if (unit == "objects" || unit == "object" || budget->is_of_events) {
    budget->unit = Budget::Unit::kObjects;
    return {};
  }
  if (unit == "%") {
    if (budget->per != Budget::Per::kRecording)
      return Wrong(text, position, "a percentage is a share of all bytes; remove /op or /s");
    budget->unit = Budget::Unit::kShare;
    budget->limit /= 100;
    return {};
  }
  std::string lower(unit);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  const auto known = std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& one) { return one.first == lower; });
  if (known == kUnits.end()) {
    return Wrong(
        text, position,
        fmt::format("'{}' is not a unit; use B, KiB, MiB, GiB, TiB, objects, events or %, optionally with /op or /s",
                    unit));
  }
  budget->limit *= known->second;
  return {};
}

std::optional<Error> SetAmount(const std::string& text, std::string_view amount, Budget* budget) {
  const auto position = static_cast<size_t>(amount.data() - text.data());
  budget->per = TakePer(&amount);
  const auto [end, error] = std::from_chars(amount.data(), amount.data() + amount.size(), budget->limit);
  if (error != std::errc() || !(budget->limit >= 0) || !std::isfinite(budget->limit)) {
    return Wrong(text, position, "expected a number");
  }
  const auto rest = static_cast<size_t>(end - amount.data());
  return SetUnit(text, Trimmed(amount.substr(rest)), budget);
}

std::optional<Error> SetSubject(const std::string& text, std::string_view subject, Budget* budget) {
  budget->subject_text = subject;
  if (subject == "total") return {};
  const size_t colon = subject.find(':');
  const auto kind = std::find_if(kSubjects.begin(), kSubjects.end(),
                                 [&](const auto& one) { return one.first == subject.substr(0, colon); });
  if (colon == std::string_view::npos || kind == kSubjects.end()) {
    return Wrong(text, 0, "expected total, or class:, site:, method:, package:, thread: or rule: with a pattern");
  }
  std::string_view pattern = subject.substr(colon + 1);
  budget->may_be_absent = pattern.ends_with('?');
  if (budget->may_be_absent) pattern.remove_suffix(1);
  budget->pattern_text = pattern;
  if (pattern.empty()) return Wrong(text, colon + 1, "expected a pattern");
  budget->subject = kind->second;
  auto parsed =
      kind->second == Budget::Subject::kThread ? NamePattern::ForFreeText(pattern) : NamePattern::ForNames(pattern);
  if (!parsed.ok()) return Wrong(text, colon + 1, parsed.error().message);
  budget->pattern = std::move(*parsed);
  if (budget->subject != Budget::Subject::kRule) return {};
  std::vector<std::string_view> names;
  for (const AdviceRule& rule : AdviceRules()) names.push_back(rule.name);
  if (std::ranges::any_of(names, [&](std::string_view name) { return budget->Matches(name); })) return {};
  return Wrong(text, colon + 1, fmt::format("no such rule; rules: {}", fmt::join(names, ", ")));
}

// The name in top, without the line of --lines.
std::string_view SiteOf(format::Index stack, CallTree* tree) {
  const std::string_view site = tree->names().At(tree->LeafNameOf(stack));
  const size_t colon = site.rfind(':');
  const bool has_line = colon != std::string_view::npos && colon + 1 < site.size() &&
                        site.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  return has_line ? site.substr(0, colon) : site;
}

// Also for what has no entry.
template <typename Ask>
bool Once(Matches* matches, format::Index index, Ask ask) {
  if (index == format::kNone) return ask();
  if (index >= matches->size()) matches->resize(index + size_t{1}, Match::kNotLooked);
  return IsMatch(matches, index, ask);
}

}  // namespace

Named Budget::Kind() const {
  if (subject == Subject::kClass) return Named::kClass;
  if (subject == Subject::kThread) return Named::kThread;
  return subject == Subject::kPackage ? Named::kPackage : Named::kMethod;
}

Result<Budget> Budget::Parse(const std::string& text) {
  Budget budget;
  budget.text = text;
  // Uses the last '<', because names of lambdas and constructors contain some.
  const size_t less = text.rfind('<');
  if (less == std::string::npos) return Wrong(text, text.size(), "expected '<'");
  const std::string_view whole(text);
  if (const auto wrong = SetSubject(text, Trimmed(whole.substr(0, less)), &budget)) return *wrong;
  const std::string_view amount = Trimmed(whole.substr(less + 1));
  if (amount.empty()) return Wrong(text, text.size(), "expected an amount");
  if (const auto wrong = SetAmount(text, amount, &budget)) return *wrong;
  return budget;
}

BudgetVisitor::BudgetVisitor(const std::vector<Budget>* budgets) : budgets_(*budgets), known_(budgets->size()) {
  tables_.resize(budgets_.size());
  for (size_t i = 0; i < budgets_.size(); ++i) {
    if (budgets_[i].subject == Budget::Subject::kRule) advice_.emplace();
    if (budgets_[i].subject != Budget::Subject::kMethod) continue;
    known_[i].any_frame.emplace(std::bind_front(&Budget::Matches, &budgets_[i]));
  }
}

bool BudgetVisitor::takes_rows(uint64_t, uint64_t) const {
  return std::ranges::none_of(budgets_, [](const Budget& budget) {
    return budget.subject == Budget::Subject::kMethod || budget.subject == Budget::Subject::kThread ||
           budget.subject == Budget::Subject::kRule;
  });
}

void BudgetVisitor::Begin(const format::FileHeader& header) {
  is_imported_ |= header.source == kImported;
  has_census_ = header.census == format::CensusMode::kAll;
  for (Known& known : known_) known.counted = {};
  chunk_ = format::kNone;
  for (GroupTable& table : tables_) table.Start();
  if (advice_) advice_->Begin(header);
}

void BudgetVisitor::Visit(const MatchedBlock& matched_block) {
  const size_t stacks = matched_block.block.dictionaries->stacks.size();
  const bool is_new = matched_block.block.chunk != chunk_ || stacks < stacks_;
  chunk_ = matched_block.block.chunk;
  stacks_ = stacks;
  if (advice_) advice_->Visit(matched_block);
  for (size_t i = 0; i < budgets_.size(); ++i) {
    Known& known = known_[i];
    if (is_new) known.classes.clear(), known.stacks.clear(), known.threads.clear();
    if (known.any_frame) known.any_frame->Enter(matched_block.block, &matched_block.names, is_new);
    for (const WeightedSample* drawn : matched_block.drawn) {
      const format::Sample& sample = matched_block.block.samples[drawn->index];
      if (Takes(budgets_[i], &known, sample, matched_block)) tables_[i].Add(0, *drawn);
    }
    if (has_census_ && budgets_[i].subject == Budget::Subject::kClass) {
      known.counted.Add(matched_block.block, [&](format::Index id) {
        return Once(&known.classes, id, [&] { return budgets_[i].Matches(matched_block.names.Class(id)); });
      });
    }
    has_stack_chunks_ |= known.counted.has_stack_chunks();
  }
  has_stack_chunks_ |= matched_block.block.counters[format::Stream::kAllocations].stack_chunks() > 0;
}

bool BudgetVisitor::Takes(const Budget& budget, Known* known, const format::Sample& sample, const MatchedBlock& in) {
  const auto matches = [&](std::string_view name) { return budget.Matches(name); };
  switch (budget.subject) {
    case Budget::Subject::kTotal:
      return true;
    case Budget::Subject::kClass:
      return Once(&known->classes, sample.class_id, [&] { return matches(in.names.Class(sample.class_id)); });
    case Budget::Subject::kSite:
      return Once(&known->stacks, sample.stack, [&] { return matches(SiteOf(sample.stack, &in.tree)); });
    case Budget::Subject::kPackage:
      return Once(&known->stacks, sample.stack, [&] { return matches(PackageOf(SiteOf(sample.stack, &in.tree))); });
    case Budget::Subject::kThread:
      return Once(&known->threads, sample.thread, [&] { return matches(in.names.Thread(sample.thread)); });
    case Budget::Subject::kRule:
      return false;
    case Budget::Subject::kMethod:
      break;
  }
  return known->any_frame->Passes(sample.stack);
}

GroupEstimates BudgetVisitor::Of(size_t budget) const {
  if (budgets_[budget].subject != Budget::Subject::kRule) return tables_[budget].Of(0);
  return advice_->Total(std::bind_front(&Budget::Matches, &budgets_[budget]));
}

bool BudgetVisitor::MissesStackChunks(size_t budget) const {
  return has_stack_chunks_ && budgets_[budget].subject == Budget::Subject::kClass && Of(budget).samples == 0 &&
         budgets_[budget].Matches("jdk.internal.vm.StackChunk");
}

void BudgetVisitor::End(const Estimator& estimator, double seconds) {
  seconds_ += seconds;
  is_counted_ = is_counted_ && has_census_ && estimator.among_all() && estimator.counted_by_class();
  for (size_t i = 0; i < budgets_.size(); ++i) {
    const CountedClasses& counted = known_[i].counted;
    if (has_census_ && budgets_[i].subject == Budget::Subject::kClass && !counted.has_stack_chunks())
      tables_[i].Count(0, counted.bytes(), counted.objects());
  }
  for (GroupTable& table : tables_) table.Close(estimator);
  if (advice_) advice_->End(estimator, seconds);
}

}  // namespace heaprec::tools
