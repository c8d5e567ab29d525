// The course of the heap as the lines of summary, and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/gc_summary.h"

namespace heaprec::tools {

// Names and values; none if the recording has no states.
std::vector<std::pair<std::string, std::string>> CourseLines(const HeapCourse& course);
nlohmann::json AsJson(const HeapCourse& course);

}  // namespace heaprec::tools
