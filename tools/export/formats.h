// The formats of `heaprec export`, by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/export/exporter.h"

namespace heaprec::tools {

struct ExportFormat {
  std::string name;
  bool binary = false;                                                 // nothing for a terminal
  bool takes_hide = true, takes_weights = false, takes_lines = false;  // of the settings, those that only some have
  std::unique_ptr<Exporter> (*make)(const ExportSettings& settings, Output* output);
};

// The first is the default.
const std::vector<ExportFormat>& ExportFormats();
// nullptr: there is none of this name.
const ExportFormat* FindExportFormat(const std::string& name);

}  // namespace heaprec::tools
