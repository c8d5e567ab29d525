#include "tools/query/compare/budget_query.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include "tools/input/recording_kind.h"

namespace heaprec::tools {
namespace {

// As top names it, without the line of --lines.
std::string_view SiteOf(format::Index stack, CallTree* tree) {
  const std::string_view site = tree->names().At(tree->LeafNameOf(stack));
  const size_t colon = site.rfind(':');
  const bool has_line = colon != std::string_view::npos && colon + 1 < site.size() &&
                        site.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  return has_line ? site.substr(0, colon) : site;
}

// Asks once for each entry.
template <typename Ask>
bool Once(Matches* matches, format::Index index, Ask ask) {
  if (index == format::kNone) return ask();
  if (index >= matches->size()) matches->resize(index + size_t{1}, Match::kNotLooked);
  Match& match = (*matches)[index];
  if (match == Match::kNotLooked) match = ask() ? Match::kYes : Match::kNo;
  return match == Match::kYes;
}

}  // namespace

BudgetVisitor::BudgetVisitor(const std::vector<Budget>* budgets) : budgets_(*budgets), known_(budgets->size()) {
  tables_.resize(budgets_.size());
  for (size_t i = 0; i < budgets_.size(); ++i) {
    if (budgets_[i].subject != Budget::Subject::kMethod) continue;
    known_[i].any_frame.emplace(std::bind_front(&Budget::Matches, &budgets_[i]));
  }
}

bool BudgetVisitor::takes_rows(uint64_t, uint64_t) const {
  return std::ranges::none_of(budgets_, [](const Budget& budget) {
    return budget.subject == Budget::Subject::kMethod || budget.subject == Budget::Subject::kThread;
  });
}

void BudgetVisitor::Begin(const format::FileHeader& header) {
  is_imported_ |= header.source == kImported;
  has_census_ = header.census == format::CensusMode::kAll;
  for (Known& known : known_) known.counted = {};
  chunk_ = format::kNone;
  for (GroupTable& table : tables_) table.Start();
}

void BudgetVisitor::Visit(const MatchedBlock& matched_block) {
  const size_t stacks = matched_block.block.dictionaries->stacks.size();
  const bool is_new = matched_block.block.chunk != chunk_ || stacks < stacks_;
  chunk_ = matched_block.block.chunk;
  stacks_ = stacks;
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
    case Budget::Subject::kMethod:
      break;
  }
  return known->any_frame->Passes(sample.stack);
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
}

}  // namespace heaprec::tools
