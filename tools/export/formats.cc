#include "tools/export/formats.h"

#include <algorithm>

namespace heaprec::tools {
const std::vector<ExportFormat>& ExportFormats() {
  static const auto* const formats = new std::vector<ExportFormat>{
      {.name = "csv", .takes_live = true, .make = MakeCsv},
      {.name = "jsonl", .takes_live = true, .make = MakeJsonl},
      {.name = "collapsed",
       .takes_weights = true,
       .takes_lines = true,
       .takes_live = true,
       .takes_raw = true,
       .takes_remarks = false,
       .make = MakeCollapsed},
      {.name = "pprof", .binary = true, .takes_at = true, .takes_raw = true, .make = MakePprof},
      {.name = "jfr", .binary = true, .takes_hide = false, .takes_at = true, .takes_raw = true, .make = MakeJfr},
      {.name = "otlp", .binary = true, .takes_at = true, .takes_raw = true, .takes_service = true, .make = MakeOtlp},
      {.name = "speedscope", .takes_lines = true, .takes_live = true, .takes_raw = true, .make = MakeSpeedscope},
      {.name = "sqlite", .binary = true, .make = MakeSqlite},
  };
  return *formats;
}

const ExportFormat* FindExportFormat(const std::string& name) {
  const auto& formats = ExportFormats();
  const auto found = std::ranges::find(formats, name, &ExportFormat::name);
  return found == formats.end() ? nullptr : &*found;
}

}  // namespace heaprec::tools
