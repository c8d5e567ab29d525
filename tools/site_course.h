// The native memory of a recording's sites at chosen times: what was alive there.
//
// Failure:  none is shown of a recording that did not follow native memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/native/categories_form.h"

namespace heaprec::tools {

// `times`: ns since the start of the recording, ascending. The sum of all sites first, then `most` of them, those that
// hold most at the last time first. Empty: there is no native memory in it.
std::vector<SiteLine> SitesAt(const std::string& file, const std::vector<uint64_t>& times, size_t most);

}  // namespace heaprec::tools
