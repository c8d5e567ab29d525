#include "tools/export/live_samples.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tools/input/stream_traits.h"

namespace heaprec::tools {
namespace {

using format::Index;
using format::kNone;

constexpr uint32_t kOwnChunk = UINT32_MAX;
// The root frame of stacks of objects that may be garbage (Lifetimes::is_range). In every format, the subtree of
// certainly live objects and the whole tree are the ends of the range.
constexpr char kNotKnownOf[] = "[generational ZGC]", kNotKnown[] = "[live or garbage]";

class LiveFilter final : public Exporter {
 public:
  LiveFilter(const ExportSettings& settings, std::unique_ptr<Exporter> behind)
      : at_(settings.live_at), survived_(settings.live_survived), behind_(std::move(behind)) {}

  void Begin(const Recording& recording) override {
    behind_->Begin(recording);
    alive_.Begin(recording.header());
    last_ns_ = 0;
  }

  void Add(const FilteredBlock& block) override {
    last_ns_ = std::max(last_ns_, block.block.end_ns);
    alive_.Add(block);
  }

  void End(const Recording& recording, AskedRange asked) override {
    const uint64_t end_ns = SpanOf(recording, last_ns_).end_ns;
    alive_.End(end_ns, MomentOf(at_, recording.header().start_epoch_ns, end_ns), survived_);
    const format::Block& block = alive_.block();
    std::vector<const format::Sample*> samples;
    for (const format::Sample& sample : block.samples) samples.push_back(&sample);
    Names names;
    names.Enter(block);
    Calibration raw;  // as in `heaprec live`
    behind_->Add({block, samples, names, raw, {}, &alive_.details()});
    behind_->End(recording, asked);
  }

  Status Finish() override { return behind_->Finish(); }

 private:
  const std::optional<TimePoint> at_;
  const uint64_t survived_;
  const std::unique_ptr<Exporter> behind_;
  LiveSamples alive_;
  uint64_t last_ns_ = 0;
};

}  // namespace

void LiveSamples::Begin(const format::FileHeader& header) {
  tracked_.Begin(header);
  names_ = {};
  copied_.Clear();
  block_ = {};
  details_.clear();
  searches_.clear();
}

void LiveSamples::Add(const FilteredBlock& filtered) {
  const format::Block& block = filtered.block;
  if (block.chunk != source_chunk_) copied_.Clear();
  source_chunk_ = block.chunk;
  copied_.Enter(*block.dictionaries, &names_);
  tracked_.Add(filtered, [this](const format::Sample& sample) { return copied_.Named(sample); });
  AddPaths(block);
}

void LiveSamples::AddPaths(const format::Block& block) {
  for (const format::ProcessState& state : block.states) {
    if (state.kind == format::ProcessStateKind::kPathWalk) searches_.push_back({state, {}});
    if (state.kind != format::ProcessStateKind::kPath || searches_.empty()) continue;
    Search& last = searches_.back();
    if (state.committed / format::kWalkNumber == last.row.committed / format::kWalkNumber)
      last.paths.emplace(state.used, copied_.Named(state));
  }
}

const LiveSamples::Search* LiveSamples::SearchUntil(uint64_t at_ns) const {
  const auto found = std::ranges::find_if(searches_.rbegin(), searches_.rend(), [at_ns](const Search& search) {
    return search.row.time_ns <= at_ns && !search.paths.empty();
  });
  return found == searches_.rend() ? nullptr : &*found;
}

Index LiveSamples::WithLivenessUnknownRoot(Index stack) {
  bool truncated = false;
  std::vector<format::StackFrame> frames;
  if (stack != kNone) frames = names_.Stack(stack, &truncated);
  frames.push_back({.method = names_.InternMethod(kNotKnownOf, kNotKnown, "")});
  return names_.InternStack(frames, truncated);
}

void LiveSamples::End(uint64_t end_ns, uint64_t at_ns, uint64_t survived_least) {
  std::vector<Found> found;
  const Search* const search = SearchUntil(at_ns);
  tracked_.End(end_ns, [&](const Lifetimes& lives, const Lifetime& life, const format::Sample& sample) {
    const uint64_t then = std::min(at_ns, lives.end_ns());
    if (!lives.IsLiveAt(life, then, survived_least)) return;
    const bool knows_survivors = TraitsOf(sample.stream()).lifecycle.is_collected && lives.knows_survivors();
    const auto survived = knows_survivors ? std::optional(lives.SurvivedBy(life, then)) : std::nullopt;
    found.push_back({sample, {then, then - std::min(then, life.birth_ns), survived}});
    Found& last = found.back();
    last.sample.weight = lives.WeightAt(life, then);
    if (search != nullptr && search->paths.contains(sample.id)) {
      const format::ProcessState& path = search->paths.at(sample.id);
      last.detail.path = path.stack;
      last.detail.path_thread = path.thread;
    }
    if (lives.is_range() && last.detail.survived == 0) last.sample.stack = WithLivenessUnknownRoot(last.sample.stack);
  });
  std::ranges::stable_sort(found, {}, [](const Found& one) { return one.sample.time_ns; });
  for (const Found& one : found) {
    block_.samples.push_back(one.sample);
    details_.push_back(one.detail);
  }
  dictionaries_ = DictionariesOf(names_);
  block_.chunk = kOwnChunk;
  block_.end_ns = end_ns;
  block_.dictionaries = &dictionaries_;
}

std::unique_ptr<Exporter> MakeLiveFilter(const ExportSettings& settings, std::unique_ptr<Exporter> behind) {
  return std::make_unique<LiveFilter>(settings, std::move(behind));
}

}  // namespace heaprec::tools
