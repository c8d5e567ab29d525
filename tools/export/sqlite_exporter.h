// A SQLite database: made in a temporary file under $TMPDIR, which has no name by the time it is written.
#pragma once

#include <memory>

#include "tools/export/exporter.h"

namespace heaprec::tools {

// `output` must outlive it.
std::unique_ptr<Exporter> MakeSqlite(const ExportSettings& settings, Output* output);

}  // namespace heaprec::tools
