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
  // What only some formats have or support, as flags.
  enum Takes : unsigned {
    kBinary = 1 << 0,   // nothing for a terminal
    kHide = 1 << 1,     // frames may be left out
    kWeights = 1 << 2,  // bytes, objects or samples, as requested
    kLines = 1 << 3,    // frames by line
    kLive = 1 << 4,     // live objects instead of all
    kAt = 1 << 5,       // live objects at any time
    kRaw = 1 << 6,      // one weight per sample, calibrated unless raw ones are requested
    kRemarks = 1 << 7,  // room to say which weights these are
    kService = 1 << 8,
    kNative = 1 << 9,     // events for malloc and mmap
    kRows = 1 << 10,      // stacks with sums, which may be of rows
    kRowTable = 1 << 11,  // rows in a table of their own
  };

  std::string name;
  std::string ending;  // of the names of its files
  unsigned takes = 0;
  MakeExporter* make = nullptr;

  bool Has(Takes what) const { return (takes & what) != 0; }
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
