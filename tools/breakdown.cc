#include "tools/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/render/estimate_text.h"
#include "tools/render/text.h"

namespace heaprec::tools {
namespace {

// Qualified calls: AsJson is a member of Breakdown, too.
nlohmann::json RowAsJson(const Subset& of, const Estimator& estimator) {
  return {
      {"samples", of.samples()},
      {"bytes", tools::AsJson(estimator.Bytes(of))},
      {"objects", tools::AsJson(estimator.Objects(of))},
      {"share", tools::AsJson(estimator.Share(of))},
      {"mean_size", tools::AsJson(estimator.MeanSize(of))},
  };
}

const format::Frame* LeafOf(format::Index stack, const Names& names) {
  const format::StackNode* node = names.NodeOf(stack);
  return node != nullptr ? names.FrameOf(node->frame) : nullptr;
}

}  // namespace

void Breakdown::Enter(const format::Block& block) {
  const format::Dictionaries& now = *block.dictionaries;
  if (block.chunk != chunk_ || now.classes.size() < class_of_.size() || now.methods.size() < site_of_.size()) {
    class_of_.clear();
    site_of_.clear();
  }
  chunk_ = block.chunk;
  class_of_.resize(now.classes.size());
  site_of_.resize(now.methods.size());
}

// What is chosen by thread or time cuts through classes and sites.
Subset* Breakdown::GroupOf(std::string_view name, Grain grain, Groups* groups) {
  const auto holds = grain == Grain::kClass ? Subset::Holds::kOneClass : Subset::Holds::kAny;
  auto at = groups->find(name);
  if (at == groups->end()) at = groups->emplace(name, Subset(keeps_ ? Grain::kThread : grain, holds)).first;
  return &at->second;
}

void Breakdown::Add(const format::Block& block, std::span<const Drawn> drawn, Names* names) {
  Enter(block);
  const auto group_of = [](format::Index index, std::vector<Subset*>* known, auto find) {
    if (index >= known->size()) return find();
    Subset*& group = (*known)[index];
    if (group == nullptr) group = find();
    return group;
  };
  for (const Drawn& one : drawn) {
    const format::Sample& sample = block.samples[one.index];
    if (keeps_ && !keeps_(sample)) continue;
    chosen_.Add(one);
    const auto of_class = [&] { return GroupOf(names->Class(sample.class_id), Grain::kClass, &classes_); };
    group_of(sample.class_id, &class_of_, of_class)->Add(one);
    const format::Frame* leaf = LeafOf(sample.stack, *names);
    const auto of_site = [&] {
      return GroupOf(leaf != nullptr ? names->Method(*leaf) : kUnknown, Grain::kMethod, &sites_);
    };
    group_of(leaf != nullptr ? leaf->method : format::kNone, &site_of_, of_site)->Add(one);
  }
}

Breakdown::Ranked Breakdown::RankedOf(const Groups& groups, size_t limit) {
  Ranked ranked;
  ranked.reserve(groups.size());
  for (const auto& group : groups) ranked.push_back(&group);
  std::sort(ranked.begin(), ranked.end(), [](const auto* a, const auto* b) {
    const double bytes_a = a->second.bytes(), bytes_b = b->second.bytes();
    return bytes_a != bytes_b ? bytes_a > bytes_b : a->first < b->first;
  });
  if (limit > 0 && ranked.size() > limit) ranked.resize(limit);
  return ranked;
}

nlohmann::json Breakdown::Rows(const char* key, const Groups& groups, const Estimator& estimator, size_t limit) {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto* group : RankedOf(groups, limit)) {
    nlohmann::json row = RowAsJson(group->second, estimator);
    row[key] = group->first;
    rows.push_back(std::move(row));
  }
  return rows;
}

nlohmann::json Breakdown::AsJson(const Estimator& estimator, size_t limit) const {
  nlohmann::json tables = {
      {"class_count", classes_.size()},
      {"classes", Rows("class", classes_, estimator, limit)},
      {"site_count", sites_.size()},
      {"sites", Rows("site", sites_, estimator, limit)},
      {"unseen", RowAsJson(Subset(), estimator)},
  };
  if (keeps_) tables["chosen"] = RowAsJson(chosen_, estimator);
  return tables;
}

void Breakdown::AppendRows(std::string_view title, const Groups& groups, const Estimator& estimator, size_t limit,
                           std::string* into) {
  const Ranked ranked = RankedOf(groups, limit);
  const std::string shown = ranked.size() < groups.size() ? fmt::format(", the first {}", ranked.size()) : "";
  *into += fmt::format("{:<16}{}{}\n", fmt::format("{}:", title), Grouped(groups.size()), shown);
  for (const auto* group : ranked) {
    const Subset& of = group->second;
    const Estimate share = estimator.Share(of);
    Text name;
    AppendPrintable(name, group->first);
    *into += fmt::format("  {:5.1f} % ({:.1f} to {:.1f})  {}: {} in {} objects\n", 100 * share.value, 100 * share.low,
                         100 * share.high, fmt::to_string(name), BytesText(estimator.Bytes(of)),
                         CountText(estimator.Objects(of)));
  }
}

std::string Breakdown::AsText(const Estimator& estimator, size_t limit) const {
  std::string text;
  if (keeps_) {
    const Estimate share = estimator.Share(chosen_);
    text += fmt::format("{:<16}{} events, {:.1f} % ({:.1f} to {:.1f}), {} in {} objects\n",
                        "chosen:", Grouped(chosen_.samples()), 100 * share.value, 100 * share.low, 100 * share.high,
                        BytesText(estimator.Bytes(chosen_)), CountText(estimator.Objects(chosen_)));
  }
  AppendRows("classes", classes_, estimator, limit, &text);
  AppendRows("sites", sites_, estimator, limit, &text);
  const double most = estimator.Bytes(Subset()).high;
  text += fmt::format("{:<16}up to {} of a class or site without samples (95 %)\n", "unseen:", Bytes(most));
  return text;
}

}  // namespace heaprec::tools
