#include <algorithm>
#include <string>

#include "format/model/thread_name.h"
#include "tools/export/exporter.h"
#include "tools/export/formats/row_format.h"
#include "tools/input/stream_traits.h"
#include "tools/text/text.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

// "request=42;user=a"; a ';' inside of one is written as ','.
std::string Labels(std::string_view thread_text) {
  std::string labels;
  format::ForEachLabel(thread_text, [&labels](std::string_view key, std::string_view value) {
    std::string label = ToUtf8(key) + "=" + ToUtf8(value);
    std::replace(label.begin(), label.end(), ';', ',');
    labels += (labels.empty() ? "" : ";") + label;
  });
  return labels;
}

class Csv final : public RowFormat {
 public:
  void AppendHeader(RowColumns columns, Text& into) const override {
    Append(into, "time_ns,kind,thread,class,size,weight_bytes,weight_objects,probability,stack,labels");
    if (columns.alive) Append(into, ",age_seconds,survived");
    if (columns.recording) Append(into, ",recording");
    Append(into, columns.calibrated ? ",calibrated_bytes,calibrated_objects\n" : "\n");
  }

  void AppendRow(const Row& row, Text& into) const override {
    const format::Sample& sample = *row.sample;
    Append(into, row.time_ns);
    into.push_back(',');
    Append(into, KindName(sample.kind));
    into.push_back(',');
    AppendText(row.thread, into);
    into.push_back(',');
    AppendText(row.class_name, into);
    into.push_back(',');
    const bool has_size = sample.size > 0 || format::CountsEvents(sample.stream());
    if (has_size) {
      fmt::format_to(fmt::appender(into), "{},{},{},{},", sample.size, sample.weight_bytes(), sample.weight_objects(),
                     sample.probability());
    } else {
      fmt::format_to(fmt::appender(into), ",{},,,", sample.weight_bytes());  // the size is unknown, and what needs it
    }
    Append(into, row.stack);
    into.push_back(',');
    AppendText(Labels(row.thread_text), into);
    if (row.alive != nullptr) {
      fmt::format_to(fmt::appender(into), ",{},", static_cast<double>(row.alive->age_ns) * 1e-9);
      if (row.alive->survived) Append(into, *row.alive->survived);
    }
    if (!row.recording.empty()) into.push_back(',');
    Append(into, row.recording);
    if (row.calibrated) {
      fmt::format_to(fmt::appender(into), ",{},", row.calibrated->bytes);
      if (has_size) fmt::format_to(fmt::appender(into), "{}", row.calibrated->objects);
    }
    into.push_back('\n');
  }

  void AppendText(std::string_view field, Text& into) const override { AppendCsvField(field, into); }
};

}  // namespace

std::unique_ptr<RowFormat> CsvRows() { return std::make_unique<Csv>(); }

std::unique_ptr<Exporter> MakeCsv(const ExportSettings& settings, Output* output) {
  return MakeRowExporter(CsvRows(), settings, output);
}

}  // namespace heaprec::tools
