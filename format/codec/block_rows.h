// The parts of a block that are not columns: counters, lane positions, end marker.
//
// Failure:  decoding returns false for invalid bytes.
// Format:   docs/format/recording.md#counters, #lanes, #end-marker
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/model/model.h"

namespace heaprec::format {

void EncodeCounters(const StreamCounters& counters, Stream stream, ByteBuffer* raw);
bool DecodeCounters(Bytes body, StreamCounters* counters);

void EncodeLanes(std::span<const uint64_t> positions, ByteBuffer* raw);
bool DecodeLanes(Bytes body, std::vector<uint64_t>* positions);

void EncodeRowInterval(const RowInterval& row_interval, ByteBuffer* raw);
bool DecodeRowInterval(Bytes body, std::optional<RowInterval>* row_interval);

void EncodeSkippedBytes(uint64_t bytes, ByteBuffer* raw);
bool DecodeSkippedBytes(Bytes body, uint64_t* bytes);
void EncodeEnding(const EndMarker& ending, ByteBuffer* raw);
bool DecodeEnding(Bytes body, std::optional<EndMarker>* ending);

}  // namespace heaprec::format
