// What a census counted, as columns, and its counters; those of a block need no other block but its names.
//
// Units:    as model.h.
// Context:  encoding: drain (it allocates).
// Failure:  decoding returns false for bytes that cannot be true, and sets *refused when a critical column is unknown.
// Format:   docs/format/recording.md#census
#pragma once

#include <span>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/bytes/layout.h"
#include "format/codec/dictionaries.h"
#include "format/model/model.h"

namespace heaprec::format {

// Appends the section (kCensus or kCensusTotals), unless there are no rows.
void EncodeCensus(Section section, std::span<const CensusRow> rows, ByteBuffer* raw);
// `dictionaries`: of the chunk up to this section.
bool DecodeCensus(Bytes body, const Dictionaries& dictionaries, std::vector<CensusRow>* rows, bool* refused);

void EncodeCensusCounters(const CensusCounters& counters, ByteBuffer* raw);
bool DecodeCensusCounters(Bytes body, CensusCounters* counters);

// Of each lane, how much further what walks found is in the file than its other records are.
void EncodeCensusLanes(std::span<const uint64_t> ahead, ByteBuffer* raw);
bool DecodeCensusLanes(Bytes body, std::vector<uint64_t>* ahead);

}  // namespace heaprec::format
