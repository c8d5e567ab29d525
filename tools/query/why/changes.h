// What a process did in its last seconds and had not done before.
//
// The last ten seconds (an eighth of the recording, if that is shorter) are compared with each of up to twelve spans of
// the same length before them. Only what is at least twice as much as in the highest of these is different; of sampled
// amounts the lower end of the 95 % interval has to be. With fewer than six spans before, nothing is said.
//
// Units:    shares of the time; bytes per second of allocations; otherwise per span, as AccountItem.
// Failure:  none: what cannot be read is not different.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/estimate/confidence_interval.h"
#include "tools/query/why/end_facts.h"
#include "tools/render/report.h"

namespace heaprec::tools {

struct Change {
  std::string id;    // "gc", "site", "class", or an item of the account
  std::string name;  // for people
  render::Unit unit = render::Unit::kNumber;
  Estimate at_end;         // low and high are the same for what is counted
  double most_before = 0;  // of all spans before
};

struct Changes {
  uint64_t span_ns = 0;  // 0: there are too few spans
  size_t spans_before = 0;
  std::vector<Change>
      rows;  // what the process and the JVM did first, then sites; within these the largest factor first
};

// Reads `file`, a file that contains one recording, once more for each kind of sample; empty: only the account.
Changes ChangesOf(const EndFacts& facts, const std::string& file);

}  // namespace heaprec::tools
