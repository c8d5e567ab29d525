#include "tools/export/row_exporter.h"

#include <string>
#include <utility>

#include "tools/input/loss_summary.h"

namespace heaprec::tools {
namespace {

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

std::unique_ptr<Exporter> MakeRowExporter(std::unique_ptr<RowFormat> format, const ExportSettings& settings,
                                          Output* output) {
  return std::make_unique<RowExporter>(std::move(format), settings, output);
}

}  // namespace heaprec::tools
