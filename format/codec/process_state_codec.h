// States of the process as columns. A block's rows refer to no other block, except for names.
//
// Units:    as model.h.
// Context:  EncodeStates: drain (it allocates).
// Failure:  DecodeStates returns false for invalid bytes, and sets *refused if a critical column is unknown.
// Format:   docs/format/recording.md#states
#pragma once

#include <span>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/codec/dictionaries.h"
#include "format/model/model.h"

namespace heaprec::format {

// Appends the section, unless there are no states.
void EncodeStates(std::span<const ProcessState> states, ByteBuffer* raw);
// `dictionaries`: those of the chunk up to this section.
bool DecodeStates(Bytes body, const Dictionaries& dictionaries, std::vector<ProcessState>* states, bool* refused);

}  // namespace heaprec::format
