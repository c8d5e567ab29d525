// Allocation primitives (format/model/allocation_primitives.h) as reports use them: those of a file, and frames that
// only report a sample.
//
// A file has one pattern a line; "#" begins a comment, and a line "default" stands for the built-in ones.
//
// Failure:  ReadPrimitives returns the sentence for the user.
// List:     docs/reference/sites.md
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "format/model/allocation_primitives.h"

namespace heaprec::tools {

using format::AllocationPrimitives;

Result<AllocationPrimitives> ReadPrimitives(const std::string& path);

// The site of memory that the JVM allocates to report a sampled object, and whether `method` shows such an allocation.
inline constexpr std::string_view kOwnSite = "[heaprec]";
bool AllocatesForSampling(std::string_view method);

}  // namespace heaprec::tools
