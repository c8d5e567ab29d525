// The formats of `heaprec export`, by name.
#pragma once

#include <string>
#include <vector>

#include "tools/export/exporter.h"
#include "tools/options/command.h"
#include "tools/query/filter/event_filter.h"

namespace heaprec::tools {

struct ExportFormat {
  // Flags for features that only some formats have or support.
  enum Takes : unsigned {
    kBinary = 1 << 0,   // not suitable for a terminal
    kHide = 1 << 1,     // can omit frames
    kWeights = 1 << 2,  // can export bytes, objects or samples
    kLines = 1 << 3,    // can distinguish frames by line
    kLive = 1 << 4,     // can export live objects instead of all
    kAt = 1 << 5,       // can export live objects at any time
    kRaw = 1 << 6,      // has one weight per sample, calibrated unless raw ones are requested
    kRemarks = 1 << 7,  // has remarks that say which weights these are
    kService = 1 << 8,
    kNative = 1 << 9,     // has events for malloc and mmap
    kRows = 1 << 10,      // has stacks with sums, which may come from rows
    kRowTable = 1 << 11,  // has a separate table of rows
  };

  std::string name;
  std::string ending;  // ending of its file names
  unsigned takes = 0;
  MakeExporter* make = nullptr;

  bool Has(Takes what) const { return (takes & what) != 0; }
  // The message for the first option that the format does not support; empty: all are supported.
  std::string Objection(const ExportSettings& asked, const Filter& filter) const;
};

const std::vector<ExportFormat>& ExportFormats();
// Returns the format with this name; without a name, the one with the ending of `output`, otherwise the first one.
const ExportFormat& ExportFormatFor(const std::string& name, const std::string& output);
std::vector<std::string> ExportFormatNames();
// --weights, --service, --raw, --no-rows, --lines and --live.
void AddExportOptions(Command& command, ExportSettings* into);

}  // namespace heaprec::tools
