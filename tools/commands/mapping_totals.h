// What a recording says of mappings, for `native`: asked in a pass of its own, for they are a stream of their own.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/analysis/grouping.h"

namespace heaprec::tools {

struct MappedQuestion {
  std::string file;
  Grouping by;
  size_t limit = 20;   // rows; 0: all
  size_t callers = 0;  // below a stack
};

struct MappedAnswer {
  std::string text;
  nlohmann::json json;
};

// nullopt: no mappings were recorded.
std::optional<MappedAnswer> AskForMapped(const MappedQuestion& question);

}  // namespace heaprec::tools
