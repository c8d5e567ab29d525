// "root;...;leaf N": a line for each stack, summed over all recordings, for flamegraph.pl and its like.
#pragma once

#include <memory>

#include "tools/export/exporter.h"

namespace heaprec::tools {

// `output` must outlive it.
std::unique_ptr<Exporter> MakeCollapsed(const ExportSettings& settings, Output* output);

}  // namespace heaprec::tools
