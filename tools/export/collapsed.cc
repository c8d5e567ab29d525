#include "tools/export/collapsed.h"

#include <algorithm>
#include <string>

#include "tools/export/catalogue.h"
#include "tools/export/stack_totals.h"
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
  Step Into(Id stack) const {
    const auto children = std::ranges::equal_range(sorted_, stack + 1, {}, [this](Id id) { return OrderOfParent(id); });
    return {line_.size(), static_cast<size_t>(children.begin() - sorted_.begin()),
            static_cast<size_t>(children.end() - sorted_.begin())};
  }

  // Those without one (kNone) come first.
  Id OrderOfParent(Id stack) const { return catalogue_.stacks()[stack].parent + 1; }

  // All stacks by parent, then by name.
  void SortChildren() {
    sorted_.resize(catalogue_.stacks().size());
    for (Id stack = 0; stack < sorted_.size(); ++stack) sorted_[stack] = stack;
    std::ranges::sort(sorted_, [this](Id a, Id b) {
      if (OrderOfParent(a) != OrderOfParent(b)) return OrderOfParent(a) < OrderOfParent(b);
      return names_[catalogue_.stacks()[a].frame] < names_[catalogue_.stacks()[b].frame];
    });
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
  WholeNumbers whole_;
  std::string line_;
};

}  // namespace

std::unique_ptr<Exporter> MakeCollapsed(const ExportSettings& settings, Output* output) {
  return std::make_unique<Collapsed>(settings, output);
}

}  // namespace heaprec::tools
