#include "tools/export/formats/formats.h"

#include <algorithm>

namespace heaprec::tools {
namespace {

// "collapsed, speedscope"
std::string FormatsThat(bool ExportFormat::*take) {
  std::string names;
  for (const ExportFormat& format : ExportFormats()) {
    if (format.*take) names += (names.empty() ? "" : ", ") + format.name;
  }
  return names;
}

}  // namespace

const std::vector<ExportFormat>& ExportFormats() {
  static const auto* const formats = new std::vector<ExportFormat>{
      {.name = "csv", .ending = ".csv", .takes_live = true, .make = MakeCsv},
      {.name = "jsonl", .ending = ".jsonl", .takes_live = true, .make = MakeJsonl},
      {.name = "collapsed",
       .ending = ".collapsed",
       .takes_weights = true,
       .takes_lines = true,
       .takes_live = true,
       .takes_raw = true,
       .takes_remarks = false,
       .takes_rows = true,
       .make = MakeCollapsed},
      {.name = "pprof",
       .ending = ".pb.gz",
       .binary = true,
       .takes_live = true,
       .takes_at = true,
       .takes_raw = true,
       .takes_rows = true,
       .make = MakePprof},
      {.name = "jfr",
       .ending = ".jfr",
       .binary = true,
       .takes_hide = false,
       .takes_at = true,
       .takes_raw = true,
       .takes_native = false,
       .make = MakeJfr},
      {.name = "otlp",
       .ending = ".otlp",
       .binary = true,
       .takes_live = true,
       .takes_at = true,
       .takes_raw = true,
       .takes_service = true,
       .takes_rows = true,
       .make = MakeOtlp},
      {.name = "speedscope",
       .ending = ".speedscope.json",
       .takes_lines = true,
       .takes_live = true,
       .takes_raw = true,
       .takes_rows = true,
       .make = MakeSpeedscope},
      {.name = "sqlite", .ending = ".db", .binary = true, .has_rows = true, .make = MakeSqlite},
  };
  return *formats;
}

const ExportFormat& ExportFormatFor(const std::string& name, const std::string& output) {
  const auto& formats = ExportFormats();
  const auto found = std::ranges::find_if(formats, [&](const ExportFormat& format) {
    return name.empty() ? output.ends_with(format.ending) : format.name == name;
  });
  return found == formats.end() ? formats.front() : *found;
}

std::vector<std::string> ExportFormatNames() {
  std::vector<std::string> names;
  for (const ExportFormat& format : ExportFormats()) names.push_back(format.name);
  return names;
}

std::string ExportFormat::Objection(const ExportSettings& asked, const Filter& filter) const {
  const bool wants_native = filter.TakesAny(format::Stream::kNative) || filter.TakesAny(format::Stream::kMapping);
  const struct {
    bool is_given;
    const char* option;
    bool ExportFormat::*take;
    std::string more;
  } options[] = {
      {!asked.weights.empty(), "--weights", &ExportFormat::takes_weights, ""},
      {asked.lines, "--lines", &ExportFormat::takes_lines, ""},
      {!asked.service.empty(), "--service", &ExportFormat::takes_service, ""},
      {asked.raw, "--raw", &ExportFormat::takes_raw, "; " + name + " always has both raw and calibrated weights"},
      {asked.no_rows, "--no-rows", &ExportFormat::takes_rows, "; weights of " + name + " are never those of rows"},
      {asked.hides != nullptr, "--hide", &ExportFormat::takes_hide, ""},
      {asked.live_filter, "--live", &ExportFormat::takes_live, ""},
      {wants_native, "--kind malloc or mmap", &ExportFormat::takes_native, ""},
      {asked.live_at && !asked.live_filter, "--at", &ExportFormat::takes_at, ", and for --live"}};
  for (const auto& [is_given, option, take, more] : options) {
    if (is_given && !(this->*take)) return std::string(option) + " is for --format " + FormatsThat(take) + more;
  }
  return "";
}

void AddExportOptions(Command& command, ExportSettings* into) {
  command.AddOption("--weights", into->weights, "Weights of collapsed stacks: bytes (default), objects or samples")
      .Value("WEIGHTS")
      .OneOf({"bytes", "objects", "samples"});
  command
      .AddOption("--service", into->service,
                 "Value of service.name (otlp; default: as recorded, or unknown_service:java)")
      .Value("NAME");
  command.AddFlag("--raw", into->raw,
                  "Write raw weights instead of weights calibrated to the exact counts (" +
                      FormatsThat(&ExportFormat::takes_raw) + ")");
  command.AddFlag("--no-rows", into->no_rows,
                  "Calibrate weights to the counted total only, not to what rows say of each site (" +
                      FormatsThat(&ExportFormat::takes_rows) + ")");
  command.AddFlag("--lines", into->lines, "Distinguish the lines of a method (collapsed, speedscope)");
  command.AddFlag("--live", into->live_filter,
                  "Export what is live instead of all allocations (" + FormatsThat(&ExportFormat::takes_live) + ")");
}

}  // namespace heaprec::tools
