// The formats of `heaprec export`, by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/export/exporter.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"

namespace heaprec::tools {

struct ExportFormat {
  std::string name;
  std::string ending;     // of the names of its files
  bool binary = false;    // nothing for a terminal
  bool has_rows = false;  // a table of their own
  // Settings that only some formats support. takes_rows: has stacks with sums, which may be of rows. takes_live: shows
  // live objects instead of all; takes_at: live objects at any time. takes_raw: has one weight per sample, calibrated
  // unless raw ones are requested; says which, unless it has no room for remarks. takes_native: has events for malloc
  // and mmap.
  bool takes_hide = true, takes_weights = false, takes_lines = false, takes_live = false, takes_at = false,
       takes_raw = false, takes_remarks = true, takes_service = false, takes_native = true, takes_rows = false;
  MakeExporter* make = nullptr;

  // The message for the first option that the format does not support; empty: all are supported.
  std::string Objection(const ExportSettings& asked, const Filter& filter) const;
};

const std::vector<ExportFormat>& ExportFormats();
// The one of this name; without a name, the one whose ending `output` has; else the first.
const ExportFormat& ExportFormatFor(const std::string& name, const std::string& output);
std::vector<std::string> ExportFormatNames();
// --weights, --service, --raw, --no-rows, --lines and --live.
void AddExportOptions(Command& command, ExportSettings* into);

}  // namespace heaprec::tools
