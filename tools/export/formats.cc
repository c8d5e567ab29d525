#include "tools/export/formats.h"

#include <algorithm>

#include "tools/export/collapsed.h"
#include "tools/export/jfr/exporter.h"
#include "tools/export/otlp.h"
#include "tools/export/pprof.h"
#include "tools/export/row_exporter.h"
#include "tools/export/speedscope.h"
#include "tools/export/sqlite_exporter.h"

namespace heaprec::tools {
namespace {

template <std::unique_ptr<RowFormat> (*MakeFormat)()>
std::unique_ptr<Exporter> MakeRows(const ExportSettings& settings, Output* output) {
  return MakeRowExporter(MakeFormat(), settings, output);
}

}  // namespace

const std::vector<ExportFormat>& ExportFormats() {
  static const auto* const formats = new std::vector<ExportFormat>{
      {.name = "csv", .takes_live = true, .make = MakeRows<MakeCsv>},
      {.name = "jsonl", .takes_live = true, .make = MakeRows<MakeJsonl>},
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
