// Reads the provisional block at the end of a file: the counters of a recorder that could not write.
//
// Failure:  returns nullopt if there is none at the offset, or it is incomplete.
// Format:   docs/format/recording.md#provisional-block
#pragma once

#include <cstdint>
#include <optional>

#include "format/model/model.h"
#include "format/reader/reader.h"

namespace heaprec::format {

// `offset`: where the unfinished tail of the recording begins. The block has no dictionaries.
std::optional<Block> ReadProvisionalBlock(ByteSource* source, const FileHeader& header, uint64_t offset);

}  // namespace heaprec::format
