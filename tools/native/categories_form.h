// A MemoryCourse as text and as JSON.
//
// Threads:  one.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "tools/native/categories.h"
#include "tools/render/terminal.h"
#include "tools/render/text.h"

namespace heaprec::tools {

// The last look by category, then so many looks (0: all), the first and the last among them.
void AppendCategories(const std::vector<MemoryLook>& looks, size_t most_looks, const Terminal& terminal, Text* into);

nlohmann::json CategoriesAsJson(const std::vector<MemoryLook>& looks);

}  // namespace heaprec::tools
