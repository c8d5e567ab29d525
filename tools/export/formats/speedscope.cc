// JSON for speedscope: for each recording its bytes and its objects (or throws) as a profile of their own, summed by
// stack.
//
// Format:   https://www.speedscope.app/file-format-schema.json
#include <string>
#include <utility>

#include "format/model/version.h"
#include "tools/export/catalogue.h"
#include "tools/export/exporter.h"
#include "tools/export/totals.h"
#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

using Id = Catalogue::Id;

class Speedscope final : public Exporter {
 public:
  Speedscope(const ExportSettings& settings, Output* output)
      : settings_(settings), totals_(settings), catalogue_(totals_.catalogue()), output_(*output) {
    Append(output_.text(), R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"heaprec )");
    Append(output_.text(), kVersion);
    Append(output_.text(), "\",\"activeProfileIndex\":0,\"profiles\":[");
  }

  void Begin(const Recording&) override {
    totals_.StartRecording();
    totals_.Clear();
  }
  void Add(const FilteredBlock& block) override { totals_.Add(block); }

  void End(const Recording& recording, AskedRange) override {
    const std::string which = settings_.several ? " of " + IdText(recording.header()) : "";
    if (settings_.allocations) {
      const std::string what = settings_.live_filter ? "live" : "allocated";
      WriteProfile("bytes " + what + which, "bytes", kSpace);
      WriteProfile(TraitsOf(settings_.streams.front()).lifecycle.things + (" " + what) + which, "none", kObjects);
    }
    if (settings_.exceptions) WriteProfile("exceptions thrown" + which, "none", kThrows);
  }

  std::optional<format::Error> Finish() override {
    fmt::format_to(fmt::appender(output_.text()), "],\"name\":\"heaprec, {} weights\",\"shared\":{{\"frames\":[",
                   WeightsName(settings_));
    for (Id frame = 0; frame < catalogue_.frames().size(); ++frame) {
      Append(output_.text(), frame == 0 ? "\n{\"name\":" : ",\n{\"name\":");
      AppendJsonString(output_.text(), catalogue_.FrameName(frame));
      const int32_t line = catalogue_.frames()[frame].line;
      if (line > 0) fmt::format_to(fmt::appender(output_.text()), ",\"line\":{}", line);
      output_.text().push_back('}');
      output_.Tick();
    }
    Append(output_.text(), "]}}\n");
    return std::nullopt;
  }

 private:
  void WriteProfile(const std::string& name, std::string_view unit, const Measure& measure) {
    Text& text = output_.text();
    Append(text, profiles_++ == 0 ? "\n{\"type\":\"sampled\",\"name\":" : ",\n{\"type\":\"sampled\",\"name\":");
    AppendJsonString(text, name);
    fmt::format_to(fmt::appender(text), ",\"unit\":\"{}\",\"startValue\":0,\"samples\":[", unit);
    bool first = true;
    double sum = 0;
    const auto stacks = static_cast<Id>(catalogue_.stacks().size());
    for (Id stack = 0; stack < stacks; ++stack) {
      const double weight = measure.of(totals_.Of(stack));
      if (weight <= 0) continue;
      sum += weight;
      if (!std::exchange(first, false)) text.push_back(',');
      WriteStack(stack);
      output_.Tick();
    }
    Append(text, "],\"weights\":[");
    first = true;
    for (Id stack = 0; stack < stacks; ++stack) {
      const double weight = measure.of(totals_.Of(stack));
      if (weight <= 0) continue;
      if (!std::exchange(first, false)) text.push_back(',');
      AppendJsonNumber(text, weight);
      output_.Tick();
    }
    Append(text, "],\"endValue\":");
    AppendJsonNumber(text, sum);
    text.push_back('}');
  }

  // The root first.
  void WriteStack(Id stack) {
    path_.clear();
    for (; stack != Catalogue::kNone; stack = catalogue_.stacks()[stack].parent) path_.push_back(stack);
    output_.text().push_back('[');
    for (size_t i = path_.size(); i-- > 0;) {
      Append(output_.text(), uint64_t{catalogue_.stacks()[path_[i]].frame});
      if (i > 0) output_.text().push_back(',');
    }
    output_.text().push_back(']');
  }

  const ExportSettings settings_;
  StackTotals totals_;
  const Catalogue& catalogue_;
  Output& output_;
  size_t profiles_ = 0;
  std::vector<Id> path_;
};

}  // namespace

std::unique_ptr<Exporter> MakeSpeedscope(const ExportSettings& settings, Output* output) {
  return std::make_unique<Speedscope>(settings, output);
}

}  // namespace heaprec::tools
