#include "tools/export/formats.h"

#include <algorithm>

#include "tools/export/jfr/exporter.h"
#include "tools/export/row_exporter.h"

namespace heaprec::tools {
namespace {

template <std::unique_ptr<RowFormat> (*MakeFormat)()>
std::unique_ptr<Exporter> MakeRows(const ExportSettings& settings, Output* output) {
  return MakeRowExporter(MakeFormat(), settings, output);
}

}  // namespace

const std::vector<ExportFormat>& ExportFormats() {
  static const auto* const formats = new std::vector<ExportFormat>{
      {"csv", false, MakeRows<MakeCsv>},
      {"jsonl", false, MakeRows<MakeJsonl>},
      {"jfr", true, MakeJfr},
  };
  return *formats;
}

const ExportFormat* FindExportFormat(const std::string& name) {
  const auto& formats = ExportFormats();
  const auto found = std::ranges::find(formats, name, &ExportFormat::name);
  return found == formats.end() ? nullptr : &*found;
}

}  // namespace heaprec::tools
