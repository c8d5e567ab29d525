// Sums by stack: collapsed stacks, and speedscope.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

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

// Returns the frame as a part of a line; replaces characters that would end the frame or the line.
std::string FrameText(const Catalogue& catalogue, Id frame) {
  std::string text = catalogue.FrameName(frame);
  if (catalogue.frames()[frame].line >= 0) text += fmt::format(":{}", catalogue.frames()[frame].line);
  for (char& c : text) {
    if (c == ';') c = ',';
    if (static_cast<uint8_t>(c) < 0x20) c = ' ';
  }
  return text;
}

Measure MeasureOf(const ExportSettings& settings) {
  if (settings.weights == "samples") return kSamples;
  if (!settings.allocations) return kThrows;
  return settings.weights == "objects" ? kObjects : kSpace;
}

// Writes "root;...;leaf N": one line per stack, summed over all recordings, for flamegraph.pl and similar tools.
class Collapsed final : public Exporter {
 public:
  Collapsed(const ExportSettings& settings, Output* output)
      : measure_(MeasureOf(settings)), totals_(settings), catalogue_(totals_.catalogue()), output_(*output) {}

  void Begin(const Recording&) override { totals_.StartRecording(); }
  void Add(const FilteredBlock& block) override { totals_.Add(block); }

  Status Finish() override {
    for (Id frame = 0; frame < catalogue_.frames().size(); ++frame) names_.push_back(FrameText(catalogue_, frame));
    SortChildren();
    // A parent's line precedes those of its children: in order of frames, the root first.
    std::vector<Step> path{Into(Catalogue::kNone)};
    while (!path.empty()) {
      if (path.back().next == path.back().end) {
        line_.resize(path.back().line_size);
        path.pop_back();
        continue;
      }
      const Id child = sorted_[path.back().next++];
      path.push_back(Into(child));
      if (!line_.empty()) line_ += ';';
      line_ += names_[catalogue_.stacks()[child].frame];
      Write(child);
    }
    return {};
  }

 private:
  struct Step {
    size_t line_size;  // without this frame
    size_t next, end;  // of its children in sorted_
  };
  Step Into(Id stack) const { return {line_.size(), begins_[stack + 1], begins_[stack + 2]}; }

  // All stacks by parent (those without one, kNone, come first), then by name.
  void SortChildren() {
    const std::vector<Id> place = PlacesByName();
    const std::vector<Catalogue::Stack>& stacks = catalogue_.stacks();
    begins_.assign(stacks.size() + 2, 0);
    for (const Catalogue::Stack& stack : stacks) ++begins_[stack.parent + 2];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    std::vector<size_t> next = begins_;
    sorted_.resize(stacks.size());
    for (Id stack = 0; stack < stacks.size(); ++stack) sorted_[next[stacks[stack].parent + 1]++] = stack;
    for (size_t parent = 0; parent + 1 < begins_.size(); ++parent) {
      std::ranges::sort(sorted_.begin() + static_cast<std::ptrdiff_t>(begins_[parent]),
                        sorted_.begin() + static_cast<std::ptrdiff_t>(begins_[parent + 1]), {},
                        [&](Id stack) { return place[stacks[stack].frame]; });
    }
  }

  // Returns the position of each frame when ordered by name.
  std::vector<Id> PlacesByName() const {
    std::vector<Id> by_name(names_.size()), places(names_.size());
    std::iota(by_name.begin(), by_name.end(), Id{0});
    std::ranges::stable_sort(by_name, {}, [this](Id frame) -> const std::string& { return names_[frame]; });
    for (Id place = 0; place < by_name.size(); ++place) places[by_name[place]] = place;
    return places;
  }

  void Write(Id stack) {
    const int64_t weight = whole_.Next(measure_.of(totals_.Of(stack)));
    if (weight == 0) return;
    fmt::format_to(fmt::appender(output_.text()), "{} {}\n", line_, weight);
    output_.Tick();
  }

  const Measure measure_;
  StackTotals totals_;
  const Catalogue& catalogue_;
  Output& output_;
  std::vector<std::string> names_;  // by frame
  std::vector<Id> sorted_;
  std::vector<size_t> begins_;  // children of stack s begin at sorted_[begins_[s + 1]]
  WholeNumbers whole_;
  std::string line_;
};

using Id = Catalogue::Id;

// JSON for speedscope: per recording one profile of bytes and one of objects (or throws).
// https://www.speedscope.app/file-format-schema.json
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

  Status Finish() override {
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
    return {};
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

  // Root first.
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

std::unique_ptr<Exporter> MakeCollapsed(const ExportSettings& settings, Output* output) {
  return std::make_unique<Collapsed>(settings, output);
}

std::unique_ptr<Exporter> MakeSpeedscope(const ExportSettings& settings, Output* output) {
  return std::make_unique<Speedscope>(settings, output);
}

}  // namespace heaprec::tools
