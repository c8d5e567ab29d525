#include "tools/export/live_filter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tools/export/live_samples.h"
#include "tools/export/provenance.h"

namespace heaprec::tools {
namespace {

class LiveFilter final : public Exporter {
 public:
  LiveFilter(const ExportSettings& settings, std::unique_ptr<Exporter> behind)
      : at_(settings.live_at), behind_(std::move(behind)) {}

  void Begin(const Recording& recording) override {
    behind_->Begin(recording);
    alive_.Begin(recording.header());
    last_ns_ = 0;
  }

  void Add(const FilteredBlock& block) override {
    last_ns_ = std::max(last_ns_, block.block.end_ns);
    alive_.Add(block);
  }

  void End(const Recording& recording) override {
    const uint64_t end_ns = SpanOf(recording, last_ns_).end_ns;
    alive_.End(end_ns, MomentOf(at_, recording.header().start_epoch_ns, end_ns));
    const format::Block& block = alive_.block();
    std::vector<const format::Sample*> samples;
    for (const format::Sample& sample : block.samples) samples.push_back(&sample);
    Names names;
    names.Enter(block);
    Calibration raw;  // as `heaprec live`
    behind_->Add({block, samples, names, raw, {}, &alive_.details()});
    behind_->End(recording);
  }

  std::optional<format::Error> Finish() override { return behind_->Finish(); }

 private:
  const std::optional<TimePoint> at_;
  const std::unique_ptr<Exporter> behind_;
  LiveSamples alive_;
  uint64_t last_ns_ = 0;
};

}  // namespace

std::unique_ptr<Exporter> MakeLiveFilter(const ExportSettings& settings, std::unique_ptr<Exporter> behind) {
  return std::make_unique<LiveFilter>(settings, std::move(behind));
}

}  // namespace heaprec::tools
