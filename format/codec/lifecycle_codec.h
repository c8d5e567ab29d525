// Fates and survivors of objects that are tracked, as columns; those of a block need no other block but its names.
//
// Units:    as model.h.
// Context:  EncodeLifecycleEvents, EncodeCheckpoint: drain (they allocate).
// Failure:  decoding returns false for bytes that cannot be true, and sets *refused when a critical column is unknown.
// Format:   docs/format/recording.md#lifecycle-events, #live-checkpoint
#pragma once

#include <span>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/codec/dictionaries.h"
#include "format/model/model.h"

namespace heaprec::format {

// Each appends the section of one stream, unless there are no rows of it.
void EncodeLifecycleEvents(std::span<const LifecycleEvent> lifecycle_events, Stream stream, ByteBuffer* raw);
bool DecodeLifecycleEvents(Bytes body, Stream stream, std::vector<LifecycleEvent>* lifecycle_events, bool* refused);

void EncodeCheckpoint(std::span<const CheckpointSample> live_checkpoint, Stream stream, ByteBuffer* raw);
// `dictionaries`: of the chunk up to this section.
bool DecodeCheckpoint(Bytes body, Stream stream, const Dictionaries& dictionaries,
                      std::vector<CheckpointSample>* live_checkpoint, bool* refused);

}  // namespace heaprec::format
