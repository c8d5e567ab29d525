#include "tools/report/exception_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/report/estimate_format.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

void AppendGroups(const char* what, const char* plural, const std::vector<Thrown::Group>& groups, size_t most,
                  Lines* lines) {
  for (const Thrown::Group& group : std::vector(groups.begin(), groups.begin() + std::min(groups.size(), most))) {
    lines->emplace_back(what, fmt::format("{}: {}, {:.1f} %, {} samples", group.name, CountText(group.events),
                                          100 * group.share.value, Grouped(group.samples)));
  }
  if (groups.size() > most) {
    lines->emplace_back(what, fmt::format("and {} more {}", Grouped(groups.size() - most), plural));
  }
}

nlohmann::json AsJson(const std::vector<Thrown::Group>& groups) {
  nlohmann::json list = nlohmann::json::array();
  for (const Thrown::Group& group : groups) {
    list.push_back({{"name", group.name},
                    {"samples", group.samples},
                    {"events", AsJson(group.events)},
                    {"share", AsJson(group.share)}});
  }
  return list;
}

}  // namespace

Lines ThrownLines(const Thrown& thrown, size_t most) {
  Lines lines;
  lines.emplace_back("exceptions",
                     fmt::format("{} thrown, counted; {} samples", Grouped(thrown.counted), Grouped(thrown.samples)));
  lines.emplace_back("  estimated", fmt::format("{} from the samples alone", CountText(thrown.estimated)));
  AppendGroups("  class", "classes", thrown.classes, most, &lines);
  AppendGroups("  site", "sites", thrown.sites, most, &lines);
  return lines;
}

nlohmann::json AsJson(const Thrown& thrown) {
  return {{"thrown", thrown.counted},
          {"samples", thrown.samples},
          {"calibrated", thrown.calibrated},
          {"calibration", thrown.factor},
          {"estimated", AsJson(thrown.estimated)},
          {"classes", AsJson(thrown.classes)},
          {"sites", AsJson(thrown.sites)}};
}

}  // namespace heaprec::tools
