// "root;...;leaf N": a line for each stack, summed over all recordings, for flamegraph.pl and its like.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "tools/export/catalogue.h"
#include "tools/export/exporter.h"
#include "tools/export/totals.h"

namespace heaprec::tools {
namespace {

using Id = Catalogue::Id;

// As a frame of a line: what would end it or the line becomes something else.
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

class Collapsed final : public Exporter {
 public:
  Collapsed(const ExportSettings& settings, Output* output)
      : measure_(MeasureOf(settings)), totals_(settings), catalogue_(totals_.catalogue()), output_(*output) {}

  void Begin(const Recording&) override { totals_.StartRecording(); }
  void Add(const FilteredBlock& block) override { totals_.Add(block); }

  std::optional<format::Error> Finish() override {
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
    return std::nullopt;
  }

 private:
  struct Step {
    size_t line_size;  // without it
    size_t next, end;  // of its children, in sorted_
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

  // Returns the position of each frame in the order of names.
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
  std::vector<size_t> begins_;  // of the children of stack s, in sorted_: at s + 1
  WholeNumbers whole_;
  std::string line_;
};

}  // namespace

std::unique_ptr<Exporter> MakeCollapsed(const ExportSettings& settings, Output* output) {
  return std::make_unique<Collapsed>(settings, output);
}

}  // namespace heaprec::tools
