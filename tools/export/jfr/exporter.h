// Recordings as a JFR file, for jfr, JDK Mission Control and jdk.jfr.consumer.
//
// docs/guide/export-import-sql.md#export tells what becomes of what.
#pragma once

#include <memory>

#include "tools/export/exporter.h"

namespace heaprec::tools {

std::unique_ptr<Exporter> MakeJfr(const ExportSettings& settings, Output* output);

}  // namespace heaprec::tools
