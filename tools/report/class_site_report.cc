#include "tools/report/class_site_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "tools/report/estimate_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

nlohmann::json RowAsJson(const Subset& of, const Estimator& estimator) {
  return {
      {"samples", of.samples()},
      {"bytes", AsJson(estimator.Bytes(of))},
      {"objects", AsJson(estimator.Objects(of))},
      {"share", AsJson(estimator.Share(of))},
      {"mean_size", AsJson(estimator.MeanSize(of))},
  };
}

std::vector<const Breakdown::Groups::value_type*> RankedOf(const Breakdown::Groups& groups, size_t limit) {
  std::vector<const Breakdown::Groups::value_type*> ranked;
  ranked.reserve(groups.size());
  for (const auto& group : groups) ranked.push_back(&group);
  std::sort(ranked.begin(), ranked.end(), [](const auto* a, const auto* b) {
    const double bytes_a = a->second.bytes(), bytes_b = b->second.bytes();
    return bytes_a != bytes_b ? bytes_a > bytes_b : a->first < b->first;
  });
  if (limit > 0 && ranked.size() > limit) ranked.resize(limit);
  return ranked;
}

nlohmann::json Rows(const char* key, const Breakdown::Groups& groups, const Estimator& estimator, size_t limit) {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto* group : RankedOf(groups, limit)) {
    nlohmann::json row = RowAsJson(group->second, estimator);
    row[key] = group->first;
    rows.push_back(std::move(row));
  }
  return rows;
}

void AppendRows(std::string_view title, const Breakdown::Groups& groups, const Estimator& estimator, size_t limit,
                std::string* into) {
  const auto ranked = RankedOf(groups, limit);
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

}  // namespace

nlohmann::json AsJson(const Breakdown& of, const Estimator& estimator, size_t limit) {
  nlohmann::json tables = {
      {"class_count", of.classes().size()},       {"classes", Rows("class", of.classes(), estimator, limit)},
      {"site_count", of.sites().size()},          {"sites", Rows("site", of.sites(), estimator, limit)},
      {"unseen", RowAsJson(Subset(), estimator)},
  };
  if (of.chosen() != nullptr) tables["chosen"] = RowAsJson(*of.chosen(), estimator);
  return tables;
}

std::string AsText(const Breakdown& of, const Estimator& estimator, size_t limit) {
  std::string text;
  if (const Subset* chosen = of.chosen()) {
    const Estimate share = estimator.Share(*chosen);
    text += fmt::format("{:<16}{} events, {:.1f} % ({:.1f} to {:.1f}), {} in {} objects\n",
                        "chosen:", Grouped(chosen->samples()), 100 * share.value, 100 * share.low, 100 * share.high,
                        BytesText(estimator.Bytes(*chosen)), CountText(estimator.Objects(*chosen)));
  }
  AppendRows("classes", of.classes(), estimator, limit, &text);
  AppendRows("sites", of.sites(), estimator, limit, &text);
  const double most = estimator.Bytes(Subset()).high;
  text += fmt::format("{:<16}up to {} of a class or site without samples (95 %)\n", "unseen:", Bytes(most));
  return text;
}

}  // namespace heaprec::tools
