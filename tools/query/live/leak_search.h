// The leak test: which groups' live bytes grow significantly, of one kind (`leaks`) or of all kinds that a recording
// tracks (`summary`).
//
// Threads:  one.
// Failure:  none: what cannot be tested has no leaks.
// Maths:    docs/estimates.md#growth
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format/model/model.h"
#include "tools/query/live/live_query.h"

namespace heaprec::tools {

inline constexpr double kUsualFdr = 0.05;

struct TestedRow {
  const LiveTable::Row* row;
  Leak leak;
  std::optional<Estimate> since_s;  // since when it grows, in seconds since the start; of one recording's leaks only
};

// The rows of the first table that have growth. Leaks come first, the fastest growing at the top. `rate`: the false
// discovery rate. Empty if growth is unknown.
std::vector<TestedRow> TestRows(const LiveVisitor& live, double rate);
// Whether the time is too short for any row to be a leak, or growth is unknown.
bool IsTooShort(const LiveVisitor& live);

struct FoundLeak {
  format::Stream stream;
  std::string site;
  Estimate per_second;
  std::optional<Estimate> since_s;
};

// The leaks by site of every kind that a recording tracks; the fastest growing first. Reads a file that holds one
// recording, with this header, once for each kind.
std::vector<FoundLeak> SearchLeaks(const std::string& file, const format::FileHeader& header);

}  // namespace heaprec::tools
