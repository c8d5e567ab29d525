// Rows as columns. All fields of a row with one point follow from its size and weight, so such a row needs three or
// four bytes. Sums of weights are rounded: bytes and objects by at most 0.07 %, variances and higher moments by a few
// percent.
//
// Units:    as model.h.
// Context:  encoding: drain (it allocates).
// Failure:  decoding returns false for invalid bytes, and sets *refused if a critical column is unknown.
// Format:   docs/format/recording.md#rows
#pragma once

#include <span>
#include <vector>

#include "format/bytes/bytes.h"
#include "format/bytes/layout.h"
#include "format/codec/dictionaries.h"
#include "format/model/model.h"

namespace heaprec::format {

// Appends the section, unless there are no rows. `rows`: by stack, then by class (RowTable::Take). section: kRows or
// kOutside.
void EncodeRows(Section section, std::span<const Row> rows, ByteBuffer* raw);
// `dictionaries`: those of the chunk up to this section.
bool DecodeRows(Bytes body, const Dictionaries& dictionaries, std::vector<Row>* rows, bool* refused);

}  // namespace heaprec::format
