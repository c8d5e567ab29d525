// A row for each sample, as it comes: csv, jsonl.
#pragma once

#include <memory>

#include "tools/export/exporter.h"
#include "tools/export/row_format.h"

namespace heaprec::tools {

// `output` must outlive it.
std::unique_ptr<Exporter> MakeRowExporter(std::unique_ptr<RowFormat> format, const ExportSettings& settings,
                                          Output* output);

}  // namespace heaprec::tools
