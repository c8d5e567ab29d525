// What a census counted, as columns, and its counters. A block's rows refer to no other block, except for names.
//
// Units:    as model.h.
// Context:  encoding: drain (it allocates).
// Failure:  decoding returns false for invalid bytes, and sets *refused if a critical column is unknown.
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
// `dictionaries`: those of the chunk up to this section.
bool DecodeCensus(Bytes body, const Dictionaries& dictionaries, std::vector<CensusRow>* rows, bool* refused);

void EncodeCensusCounters(const CensusCounters& counters, ByteBuffer* raw);
bool DecodeCensusCounters(Bytes body, CensusCounters* counters);

// Appends the number of the last census page of the ring whose rows are in the file.
void EncodeCensusPage(uint64_t number, ByteBuffer* raw);
bool DecodeCensusPage(Bytes body, uint64_t* number);

}  // namespace heaprec::format
