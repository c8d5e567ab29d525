// What is alive in place of all events: an exporter in front of another, which gets one block for each recording.
#pragma once

#include <memory>

#include "tools/export/exporter.h"

namespace heaprec::tools {

std::unique_ptr<Exporter> MakeLiveFilter(const ExportSettings& settings, std::unique_ptr<Exporter> behind);

}  // namespace heaprec::tools
