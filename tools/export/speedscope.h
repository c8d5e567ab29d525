// JSON for speedscope: for each recording its bytes and its objects (or throws) as a profile of their own, summed by
// stack.
//
// Format:   https://www.speedscope.app/file-format-schema.json
#pragma once

#include <memory>

#include "tools/export/exporter.h"

namespace heaprec::tools {

// `output` must outlive it.
std::unique_ptr<Exporter> MakeSpeedscope(const ExportSettings& settings, Output* output);

}  // namespace heaprec::tools
