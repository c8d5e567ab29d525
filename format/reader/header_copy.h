// Finds a chunk's copy of the file header, for a file whose own header is damaged.
//
// Failure:  nullopt: no copy in the file's first megabytes. A file that is not a recording is not searched further.
// Format:   docs/format/recording.md#recovery
#pragma once

#include <optional>

#include "format/model/model.h"
#include "format/reader/reader.h"

namespace heaprec::format {

std::optional<FileHeader> FindHeaderCopy(ByteSource* source);

}  // namespace heaprec::format
