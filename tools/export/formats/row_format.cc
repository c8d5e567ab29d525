#include "tools/export/formats/row_format.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tools/input/loss_summary.h"

namespace heaprec::tools {
namespace {

// Rendered stacks of one chunk are forgotten past this.
constexpr size_t kMaxCachedBytes = 64 << 20;
constexpr std::string_view kHiddenFrame = ";";  // which no text of a frame is

class RowExporter final : public Exporter {
 public:
  RowExporter(std::unique_ptr<RowFormat> format, const ExportSettings& settings, Output* output)
      : format_(std::move(format)), several_(settings.several), hides_(settings.hides), output_(*output) {
    format_->AppendHeader({several_, settings.live_filter, !settings.live_filter}, output_.text());
  }

  void Begin(const Recording& recording) override {
    start_epoch_ns_ = recording.header().start_epoch_ns;
    if (several_) id_ = IdText(recording.header());
    stacks_.emplace(format_.get(), hides_);
  }

  void Add(const FilteredBlock& block) override {
    Names& names = block.names;
    stacks_->Enter(block.block, &names);
    for (size_t i = 0; i < block.samples.size(); ++i) {
      const format::Sample* const sample = block.samples[i];
      const format::Thread* const thread = names.ThreadOf(sample->thread);
      Row row{start_epoch_ns_ + sample->time_ns,
              sample,
              names.Thread(sample->thread),
              names.Class(sample->class_id),
              stacks_->Of(sample->stack),
              thread != nullptr ? std::string_view(thread->name) : std::string_view(),
              id_};
      if (block.alive != nullptr) {
        row.alive = &(*block.alive)[i];
      } else {
        row.calibrated = block.calibration.WeightOf(*sample);
      }
      format_->AppendRow(row, output_.text());
      output_.Tick();
    }
  }

 private:
  const std::unique_ptr<RowFormat> format_;
  const bool several_;
  const FoldedStacks::Hides hides_;
  Output& output_;
  uint64_t start_epoch_ns_ = 0;
  std::string id_;
  std::optional<FoldedStacks> stacks_;
};

}  // namespace

void FoldedStacks::Enter(const format::Block& block, Names* names) {
  const bool same_chunk = names_ != nullptr && block.chunk == chunk_;
  if (!same_chunk || block.dictionaries->stacks.size() < stacks_.size()) {
    stacks_.clear();
    frames_.clear();
    cached_bytes_ = 0;
  }
  chunk_ = block.chunk;
  names_ = names;
  none_ = Field({});
  stacks_.resize(block.dictionaries->stacks.size());
  frames_.resize(block.dictionaries->frames.size());
}

std::string_view FoldedStacks::Of(format::Index stack) {
  if (stack >= stacks_.size()) return none_;
  if (cached_bytes_ > kMaxCachedBytes) {
    for (std::string& cached : stacks_) std::string().swap(cached);
    cached_bytes_ = 0;
  }
  std::string& cached = stacks_[stack];
  if (cached.empty()) {
    cached = Field(Render(stack));
    cached_bytes_ += cached.size();
  }
  return cached;
}

std::string FoldedStacks::Field(std::string_view folded) const {
  Text field;
  format_.AppendText(folded, field);
  return fmt::to_string(field);
}

const std::string& FoldedStacks::Frame(const format::Frame& frame) {
  std::string& text = frames_[static_cast<size_t>(&frame - names_->dictionaries().frames.data())];
  if (!text.empty()) return text;
  text = names_->Method(frame);
  if (hides_ && !frame.IsGap() && hides_(text)) return text = kHiddenFrame;
  std::replace(text.begin(), text.end(), ';', ',');
  if (frame.line >= 0) text += fmt::format(":{}", frame.line);
  return text;
}

std::string FoldedStacks::Render(format::Index stack) {
  leaf_first_.clear();
  const bool cut = ForEachFrame(*names_, stack, 0, [&](const format::Frame& frame) {
    const std::string& text = Frame(frame);
    if (text != kHiddenFrame) leaf_first_.push_back(text);
  });
  std::string folded;
  if (cut) folded = kTruncated;
  for (auto frame = leaf_first_.rbegin(); frame != leaf_first_.rend(); ++frame) {
    if (!folded.empty()) folded += ';';
    folded += *frame;
  }
  return folded;
}

std::unique_ptr<Exporter> MakeRowExporter(std::unique_ptr<RowFormat> format, const ExportSettings& settings,
                                          Output* output) {
  return std::make_unique<RowExporter>(std::move(format), settings, output);
}

}  // namespace heaprec::tools
