// The limits and options of the JVM that decide how much memory it may use, with who set them.
//
// Context:  setup.
// Failure:  an option that this JVM does not have is left out.
// Format:   docs/format/recording.md#settings
#pragma once

#include <vector>

#include "format/model/file_description.h"
#include "recorder/hotspot/vm_structs.h"

namespace heaprec::hotspot {

std::vector<format::Setting> ReadSettings(const VmStructs& structs);

}  // namespace heaprec::hotspot
