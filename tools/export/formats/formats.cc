#include "tools/export/formats/formats.h"

#include <algorithm>

namespace heaprec::tools {
namespace {

// "collapsed, speedscope"
std::string FormatsThat(ExportFormat::Takes take) {
  std::string names;
  for (const ExportFormat& format : ExportFormats()) {
    if (format.Has(take)) names += (names.empty() ? "" : ", ") + format.name;
  }
  return names;
}

}  // namespace

const std::vector<ExportFormat>& ExportFormats() {
  using enum ExportFormat::Takes;
  static const auto* const formats = new std::vector<ExportFormat>{
      {"csv", ".csv", kHide | kLive | kRemarks | kNative, MakeCsv},
      {"jsonl", ".jsonl", kHide | kLive | kRemarks | kNative, MakeJsonl},
      {"collapsed", ".collapsed", kHide | kWeights | kLines | kLive | kRaw | kNative | kRows, MakeCollapsed},
      {"pprof", ".pb.gz", kBinary | kHide | kLive | kAt | kRaw | kRemarks | kNative | kRows, MakePprof},
      {"jfr", ".jfr", kBinary | kAt | kRaw | kRemarks, MakeJfr},
      {"otlp", ".otlp", kBinary | kHide | kLive | kAt | kRaw | kRemarks | kService | kNative | kRows, MakeOtlp},
      {"speedscope", ".speedscope.json", kHide | kLines | kLive | kRaw | kRemarks | kNative | kRows, MakeSpeedscope},
      {"sqlite", ".db", kBinary | kHide | kRemarks | kNative | kRowTable, MakeSqlite},
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
    Takes take;
    std::string more;
  } options[] = {{!asked.weights.empty(), "--weights", kWeights, ""},
                 {asked.lines, "--lines", kLines, ""},
                 {!asked.service.empty(), "--service", kService, ""},
                 {asked.raw, "--raw", kRaw, "; " + name + " always has both raw and calibrated weights"},
                 {asked.no_rows, "--no-rows", kRows, "; weights of " + name + " never come from rows"},
                 {asked.hides != nullptr, "--hide", kHide, ""},
                 {asked.live_filter, "--live", kLive, ""},
                 {wants_native, "--kind malloc or mmap", kNative, ""},
                 {asked.live_at && !asked.live_filter, "--at", kAt, ", and for --live"}};
  for (const auto& [is_given, option, take, more] : options) {
    if (is_given && !Has(take)) return std::string(option) + " is for --format " + FormatsThat(take) + more;
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
  command.AddFlag(
      "--raw", into->raw,
      "Write raw weights instead of weights calibrated to the exact counts (" + FormatsThat(ExportFormat::kRaw) + ")");
  command.AddFlag("--no-rows", into->no_rows,
                  "Calibrate weights to the counted total only, not to the rows of each site (" +
                      FormatsThat(ExportFormat::kRows) + ")");
  command.AddFlag("--lines", into->lines, "Distinguish the lines of a method (collapsed, speedscope)");
  command.AddFlag("--live", into->live_filter,
                  "Export live objects instead of all allocations (" + FormatsThat(ExportFormat::kLive) + ")");
}

}  // namespace heaprec::tools
