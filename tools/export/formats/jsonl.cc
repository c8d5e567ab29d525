#include "format/model/thread_name.h"
#include "tools/export/exporter.h"
#include "tools/export/formats/row_format.h"
#include "tools/input/stream_traits.h"
#include "tools/text/utf8.h"

namespace heaprec::tools {
namespace {

class Jsonl final : public RowFormat {
 public:
  void AppendHeader(RowColumns, Text&) const override {}

  void AppendRow(const Row& row, Text& into) const override {
    const format::Sample& sample = *row.sample;
    Append(into, "{\"time_ns\":");
    Append(into, row.time_ns);
    Append(into, ",\"kind\":\"");
    Append(into, KindName(sample.kind));
    Append(into, "\",\"thread\":");
    AppendJsonString(into, row.thread);
    Append(into, ",\"class\":");
    AppendJsonString(into, row.class_name);
    const bool has_size = sample.size > 0 || format::CountsEvents(sample.stream());
    Append(into, ",\"size\":");
    has_size ? Append(into, sample.size) : Append(into, "null");
    Append(into, ",\"weight_bytes\":");
    AppendJsonNumber(into, sample.weight_bytes());
    Append(into, ",\"weight_objects\":");
    has_size ? AppendJsonNumber(into, sample.weight_objects()) : Append(into, "null");
    Append(into, ",\"probability\":");
    has_size ? AppendJsonNumber(into, sample.probability()) : Append(into, "null");
    Append(into, ",\"stack\":");
    Append(into, row.stack);
    Append(into, ",\"labels\":{");
    bool first = true;
    format::ForEachLabel(row.thread_text, [&](std::string_view key, std::string_view value) {
      if (!first) into.push_back(',');
      first = false;
      AppendJsonString(into, ToUtf8(key));
      into.push_back(':');
      AppendJsonString(into, ToUtf8(value));
    });
    into.push_back('}');
    if (row.alive != nullptr) {
      Append(into, ",\"age_seconds\":");
      AppendJsonNumber(into, static_cast<double>(row.alive->age_ns) * 1e-9);
      Append(into, ",\"survived\":");
      row.alive->survived ? Append(into, *row.alive->survived) : Append(into, "null");
    }
    if (!row.recording.empty()) {
      Append(into, ",\"recording\":");
      AppendJsonString(into, row.recording);
    }
    if (row.calibrated) {
      Append(into, ",\"calibrated_bytes\":");
      AppendJsonNumber(into, row.calibrated->bytes);
      Append(into, ",\"calibrated_objects\":");
      has_size ? AppendJsonNumber(into, row.calibrated->objects) : Append(into, "null");
    }
    Append(into, "}\n");
  }

  void AppendText(std::string_view utf8, Text& into) const override { AppendJsonString(into, utf8); }
};

}  // namespace

std::unique_ptr<Exporter> MakeJsonl(const ExportSettings& settings, Output* output) {
  return MakeRowExporter(std::make_unique<Jsonl>(), settings, output);
}

}  // namespace heaprec::tools
