// Allocation primitives (format/model/allocation_primitives.h) for reports: reads them from a file, and adds frames
// that only report a sample.
//
// A file has one pattern per line; "#" begins a comment, and a line "default" adds the built-in ones.
//
// Failure:  ReadPrimitives returns an error message for the user.
// List:     docs/reference/sites.md
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "format/model/allocation_primitives.h"

namespace heaprec::tools {

using format::AllocationPrimitives;

Result<AllocationPrimitives> ReadPrimitives(const std::string& path);

// The name of the site of memory that the JVM allocates to report a sampled object, and whether `method` is part of
// such an allocation.
inline constexpr std::string_view kOwnSite = "[heaprec]";
bool AllocatesForSampling(std::string_view method);

}  // namespace heaprec::tools
