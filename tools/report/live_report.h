// What `live` shows, as text, JSON and CSV.
//
// Threads:  one.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/query/live_query.h"
#include "tools/query/scan.h"

namespace heaprec::tools {

// Which rows of each table, in which order.
struct LiveRanking {
  std::string sort = "bytes";
  size_t limit = 0;  // 0: all
};
const std::vector<std::string>& LiveSortKeys();

// What all forms need.
struct LiveReport {
  const Survey& survey;
  const LiveSurvey& live;
  const CallTree& tree;
  LiveRanking ranking;
};

enum class LiveForm : uint8_t { kText, kJson, kCsv };

std::string AliveForm(const LiveReport& report, LiveForm form);
std::string LifetimesForm(const LiveReport& report, LiveForm form);
// `newest`: or representative ones.
std::string GarbageForm(const LiveReport& report, bool newest, LiveForm form);

// {"schema": ..., "survey": ..., "at_ns": ..., ...}: what the documents of `live` and `leaks` begin with.
nlohmann::json LiveDocument(const LiveReport& report, std::string_view schema);
// What could not be followed, if anything, and the loss line.
std::string LiveBottomline(const LiveReport& report);
// "12 collections", "2 major collections"
std::string CollectionsText(const LiveSurvey& live);
// " that survived 3 collections"; empty of 0.
std::string SurvivedText(uint64_t collections);

}  // namespace heaprec::tools
