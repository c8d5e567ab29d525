// Lifecycle events and live checkpoints as columns. A block's rows refer to no other block, except for names.
//
// Units:    as model.h.
// Context:  EncodeLifecycleEvents, EncodeCheckpoint: drain (they allocate).
// Failure:  decoding returns false for invalid bytes, and sets *refused if a critical column is unknown.
// Format:   docs/format/recording.md#lifecycle-events, #live-checkpoint
#pragma once

#include <span>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/codec/dictionaries.h"
#include "format/model/model.h"

namespace heaprec::format {

// Appends the section of one stream, unless it has no rows.
void EncodeLifecycleEvents(std::span<const LifecycleEvent> lifecycle_events, Stream stream, ByteBuffer* raw);
bool DecodeLifecycleEvents(Bytes body, Stream stream, std::vector<LifecycleEvent>* lifecycle_events, bool* refused);

void EncodeCheckpoint(std::span<const CheckpointSample> live_checkpoint, Stream stream, ByteBuffer* raw);
// `dictionaries`: those of the chunk up to this section.
bool DecodeCheckpoint(Bytes body, Stream stream, const Dictionaries& dictionaries,
                      std::vector<CheckpointSample>* live_checkpoint, bool* refused);

}  // namespace heaprec::format
