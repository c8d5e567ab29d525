// `heaprec native` of a recording as a report: sampled blocks and mappings by call site.
//
// Context:  pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/query/live/native_query.h"
#include "tools/query/scan/scan.h"
#include "tools/render/report.h"

namespace heaprec::tools {

struct NativeAnswer {
  const RecordingScan& scan;
  const NativeVisitor& native;
  const CallTree& tree;
  bool by_live = true;      // live bytes rank, else allocated bytes
  size_t limit = 0;         // rows; 0: all
  size_t callers = 0;       // below a stack, in text
  uint64_t min_age_ns = 0;  // of what counts as live
};

// A stream of its own, and so a scan of its own.
struct MappingAnswer {
  const RecordingScan& scan;
  const MappingVisitor& mappings;
  const CallTree& tree;
  size_t limit = 0, callers = 0;
};

// What bytes of native memory are, wherever they are added up.
inline constexpr char kRequested[] = "# bytes are requested, not resident: memory that was never touched counts";

render::Report NativeReport(const NativeAnswer& answer);
// The mappings, as the member "mmap" of that report.
void AddMappings(const MappingAnswer& answer, render::Report* report);

}  // namespace heaprec::tools
