// Fates and survivors of objects that are followed, as columns; those of a block need no other block but its names.
//
// Units:    as model.h.
// Context:  EncodeFates, EncodeSurvivors: drain (they allocate).
// Failure:  decoding returns false for bytes that cannot be true, and sets *refused when a critical column is unknown.
// Format:   docs/format/recording.md#lifecycle-events, #live-checkpoint
#pragma once

#include <span>
#include <vector>

#include "format/bytes.h"
#include "format/dictionaries.h"
#include "format/model.h"

namespace heaprec::format {

// Each appends the section of one stream, unless there are no rows of it.
void EncodeFates(std::span<const Fate> fates, Stream stream, ByteBuffer* raw);
bool DecodeFates(Bytes body, Stream stream, std::vector<Fate>* fates, bool* refused);

void EncodeSurvivors(std::span<const Survivor> survivors, Stream stream, ByteBuffer* raw);
// `dictionaries`: of the chunk up to this section.
bool DecodeSurvivors(Bytes body, Stream stream, const Dictionaries& dictionaries, std::vector<Survivor>* survivors,
                     bool* refused);

}  // namespace heaprec::format
