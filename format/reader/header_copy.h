// Finds the copy of a file's header that its chunks have, for a file whose own is damaged.
//
// Failure:  nullopt: none in the file's first megabytes. What is no recording is looked at no further.
// Format:   docs/format/recording.md#recovery
#pragma once

#include <optional>

#include "format/model/model.h"
#include "format/reader/reader.h"

namespace heaprec::format {

std::optional<FileHeader> FindHeaderCopy(ByteSource* source);

}  // namespace heaprec::format
