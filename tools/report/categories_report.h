// A MemoryCourse as text and as JSON.
//
// Threads:  one.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/analysis/memory_categories.h"
#include "tools/report/estimate_format.h"
#include "tools/text/terminal.h"
#include "tools/text/text.h"

namespace heaprec::tools {

// What of the samples stands beside the looks: the bytes of a site that are alive, at each of them.
struct SiteLine {
  std::string name;
  std::vector<Estimate> live;
};

// So many (0: all) of them, the first and the last among them.
std::vector<MemoryLook> ChosenLooks(const std::vector<MemoryLook>& looks, size_t most);

// The last look by category.
void AppendLastLook(const std::vector<MemoryLook>& looks, const Terminal& terminal, Text* into);
// Looks side by side: the process, the JVM's largest categories, our sites. `sites`: at the looks, or none.
void AppendLooks(const std::vector<MemoryLook>& looks, const std::vector<SiteLine>& sites, const Terminal& terminal,
                 Text* into);

nlohmann::json CategoriesAsJson(const std::vector<MemoryLook>& looks);
nlohmann::json SitesAsJson(const std::vector<MemoryLook>& looks, const std::vector<SiteLine>& sites);

}  // namespace heaprec::tools
