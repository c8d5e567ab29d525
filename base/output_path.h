// Checks whether a recording may be written at a path: recorder and tools refuse the same paths in the same words.
//
// Context:  reads the file status; opens nothing.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace heaprec {

// Returns why no recording can be written at `path`; nullopt if it is a regular file, or does not exist.
std::optional<Error> WhyNoRecordingAt(const std::string& path);

}  // namespace heaprec
