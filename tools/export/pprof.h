// profile.proto, compressed: opens in `go tool pprof` and whatever else reads it.
//
// Format:   https://github.com/google/pprof/blob/main/proto/profile.proto
#pragma once

#include <memory>

#include "tools/export/exporter.h"

namespace heaprec::tools {

// `output` must outlive it.
std::unique_ptr<Exporter> MakePprof(const ExportSettings& settings, Output* output);

}  // namespace heaprec::tools
