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

std::string_view SiteOf(format::Index stack, Names* names) {
  std::string_view site = kUnknown;
  ForEachFrame(*names, stack, 1, [&](const format::Frame& leaf) { site = names->Method(leaf); });
  return site;
}

}  // namespace

void Breakdown::Add(const format::Block& block, std::span<const Drawn> drawn, Names* names) {
  // What is chosen by thread or time cuts through classes and sites.
  const auto add = [this](std::string_view name, Grain grain, const Drawn& one, Groups* groups) {
    auto at = groups->find(name);
    if (at == groups->end()) at = groups->emplace(name, Subset(keeps_ ? Grain::kThread : grain)).first;
    at->second.Add(one);
  };
  for (const Drawn& one : drawn) {
    const format::Sample& sample = block.samples[one.index];
    if (keeps_ && !keeps_(sample)) continue;
    chosen_.Add(one);
    add(names->Class(sample.class_id), Grain::kClass, one, &classes_);
    add(SiteOf(sample.stack, names), Grain::kMethod, one, &sites_);
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
