#include "tests/crash/recovery_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "tools/analysis/health/verification.h"
#include "tools/input/recording.h"

namespace heaprec::crash {
namespace {

using format::Dictionaries;
using format::Index;
using format::kNone;
using tools::Recording;

constexpr size_t kMaxFindings = 20;
// A cap that no interval reaches.
constexpr uint32_t kUnlimited = 10'000;

// Innermost first.
std::vector<std::string> FramesOf(const Dictionaries& names, Index leaf) {
  std::vector<std::string> frames;
  for (Index at = leaf; at != kNone; at = names.stacks[at].parent) {
    const format::Frame& frame = names.frames[names.stacks[at].frame];
    if (frame.method == kNone) {
      frames.emplace_back("?");
      continue;
    }
    const format::Method& method = names.methods[frame.method];
    frames.push_back(fmt::format("{}.{}:{}", method.class_name, method.name, frame.line));
  }
  return frames;
}

class Examination {
 public:
  Examination(const Plan& plan, const Witness& witness) : plan_(plan), witness_(witness) {}

  // The files of the recording, in order.
  void Read() {
    std::map<uint32_t, std::unique_ptr<Recording>> parts;
    for (const auto& entry : std::filesystem::directory_iterator(plan_.folder)) {
      // A process that dies as it makes a file leaves it empty.
      if (entry.path().extension() != ".hrec" || entry.file_size() == 0) continue;
      auto opened = Recording::Open(entry.path().string());
      if (!opened.ok()) {
        Find(opened.error().message);
        continue;
      }
      parts[(*opened)->header().start.part] = std::move(*opened);
    }
    result_.files = parts.size();
    for (auto& [number, recording] : parts) ReadPart(*recording, number == parts.rbegin()->first);
  }

  void Compare(const std::vector<Object>& acknowledged) {
    result_.acknowledged = acknowledged.size();
    double weight = 0;
    std::vector<std::string> lost;
    for (const Object& object : acknowledged) {
      weight += object.Weight();
      if (is_reduced_ || seen_.contains(object.Size()) || WasDropped(object)) continue;
      ++result_.lost;
      lost.push_back(fmt::format("thread {} number {} is lost", object.thread, object.number));
    }
    // What was refused (by maxsize, where the copy is behind) is counted.
    result_.counted = std::min<size_t>(refused_, result_.lost);
    result_.lost -= result_.counted;
    if (result_.lost > 0) std::ranges::for_each(lost, [this](std::string& what) { Find(std::move(what)); });
    // Rows of written blocks are given up with a chunk of which the rest cannot be written.
    if (!has_all_rows_ && refused_ == 0 && plan_.disk_bytes == 0) Find("rows are lost");
    if (refused_ == 0) std::ranges::for_each(wrong_names_, [this](std::string& what) { Find(std::move(what)); });
    if (!is_reduced_ || refused_ > 0 || (plan_.limits.drops() && begin_ns_ > 0)) return;
    // Those that were under way may be in it, or not.
    const double most = CommittedByNow();
    if (weight_ < weight * (1 - 1e-9) || weight_ > most * (1 + 1e-9)) {
      Find(fmt::format("{} bytes recorded, {} to {} committed", weight_, weight, most));
    }
  }

  RecoveryCheck Finish() { return std::move(result_); }

 private:
  void ReadPart(Recording& recording, bool is_last) {
    tools::Verification verification(recording.header());
    begin_ns_ = recording.header().start.begin_ns;
    last_ns_ = 0;
    while (const auto block = recording.Next()) {
      verification.Look(*block, recording);
      for (const format::Sample& sample : block->samples) Look(sample, *block->dictionaries);
      has_all_rows_ &= !block->row_interval;
      for (const format::Interval& interval : block->intervals) is_reduced_ |= interval.kept < interval.buffered;
    }
    verification.Close(recording);
    for (const tools::Inconsistency& finding : verification.findings()) {
      Find(fmt::format("verify: offset {}: {}", finding.offset, finding.what));
    }
    refused_ = recording.counters_since_start()[format::Stream::kAllocations]
                   .lost[static_cast<size_t>(format::LossReason::kWriteFailed)];
    const tools::SalvageReport& salvage = recording.salvage();
    for (const std::string& error : salvage.errors) Find("salvage: " + error);
    // Where the file before was not ended, the names of this one may be torn, and that one has all.
    if (salvage.unnamed > 0 && !may_repeat_) wrong_names_.push_back(fmt::format("{} without a name", salvage.unnamed));
    if (salvage.invalid > 0) Find(fmt::format("{} that cannot be", salvage.invalid));
    if (recording.damaged()) Find("damaged");
    result_.from_ring += salvage.events;
    if (!is_last && !recording.ending()) may_repeat_ = true;  // the ring is read for it and for the file that follows
    if (is_last) CheckCounters(recording.counters_since_start()[format::Stream::kAllocations]);
  }

  void Look(const format::Sample& sample, const Dictionaries& names) {
    ++result_.rows;
    Object object;
    if (!Object::FromSize(sample.size, &object) || witness_.Of(object) == LifecycleEvent::kNone) {
      return Find(fmt::format("size {} was never allocated", sample.size));
    }
    const auto who = [&] { return fmt::format("thread {} number {}", object.thread, object.number); };
    const bool is_new = seen_.insert(sample.size).second;
    if (!is_new && !may_repeat_) Find(who() + " is there twice");
    if (is_new && !ids_.insert(sample.id).second) Find(who() + " has the id of another");
    if (!is_new) return;
    if (sample.time_ns < last_ns_) Find(who() + " is out of order");
    last_ns_ = sample.time_ns;
    const auto [latest, is_first] = latest_.try_emplace(object.thread, object.number, sample.time_ns);
    if (is_first) first_[object.thread] = object.number;
    // Samples that were late have the time of the interval in which they came.
    if (!is_first && object.number < latest->second.first && sample.time_ns > latest->second.second) {
      Find(fmt::format("{} comes behind number {}", who(), latest->second.first));
    }
    latest->second = {object.number, sample.time_ns};
    weight_ += sample.weight;
    if (plan_.cap >= kUnlimited && std::abs(sample.weight / object.Weight() - 1) > 1e-9) {
      Find(fmt::format("{} weighs {}, not {}", who(), sample.weight, object.Weight()));
    }
    LookAtNames(sample, names, object, who());
  }

  void LookAtNames(const format::Sample& sample, const Dictionaries& names, const Object& object,
                   const std::string& who) {
    if (sample.class_id == kNone || names.classes[sample.class_id] != ClassName(object.Class())) {
      wrong_names_.push_back(who + " is of another class");
    }
    if (sample.thread == kNone || names.threads[sample.thread].name != object.ThreadName()) {
      wrong_names_.push_back(who + " is of another thread");
    }
    if (sample.stack == kNone || FramesOf(names, sample.stack) != crash::FramesOf(object)) {
      wrong_names_.push_back(who + " has another stack");
    }
  }

  void CheckCounters(const format::StreamCounters& counters) {
    const auto within = [&](const char* what, uint64_t left, uint64_t right, uint64_t slack) {
      if (left < right || left - right > slack) Find(fmt::format("counters: {}: {} and {}", what, left, right));
    };
    const auto lost = [&](format::LossReason loss) { return counters.lost[static_cast<size_t>(loss)]; };
    const uint64_t lifecycle_events = counters.committed + counters.thinned + counters.LostPoints();
    within("points, their fates", counters.points, lifecycle_events, plan_.threads);
    within("committed, written and merged", counters.committed,
           counters.written + counters.second_stage + lost(format::LossReason::kWriteFailed), plan_.threads);
  }

  // maxsize lets the oldest go.
  bool WasDropped(const Object& object) const {
    if (!plan_.limits.drops() || begin_ns_ == 0) return false;
    const auto first = first_.find(object.thread);
    return first == first_.end() || object.number < first->second;
  }

  // And what is under way.
  double CommittedByNow() const {
    double weight = 0;
    for (uint32_t thread = 0; thread < plan_.threads; ++thread) {
      for (uint32_t number = 0; number < kMaxObjects; ++number) {
        const Object object{thread, number};
        const LifecycleEvent lifecycle = witness_.Of(object);
        if (lifecycle == LifecycleEvent::kNone) break;
        if (lifecycle != LifecycleEvent::kRefused) weight += object.Weight();
      }
    }
    return weight;
  }

  void Find(std::string what) {
    if (result_.findings.size() < kMaxFindings) result_.findings.push_back(std::move(what));
  }

  const Plan& plan_;
  const Witness& witness_;
  RecoveryCheck result_;
  std::set<uint64_t> seen_, ids_;
  std::map<uint32_t, std::pair<uint32_t, uint64_t>> latest_;  // number and time, by thread
  std::map<uint32_t, uint32_t> first_;
  uint64_t begin_ns_ = 0, last_ns_ = 0;
  double weight_ = 0;
  uint64_t refused_ = 0;
  std::vector<std::string> wrong_names_;  // a block that is refused takes its definitions along
  bool is_reduced_ = false, may_repeat_ = false, has_all_rows_ = true;
};

}  // namespace

std::vector<Object> Acknowledged(const Witness& witness, uint32_t threads) {
  std::vector<Object> objects;
  for (uint32_t thread = 0; thread < threads; ++thread) {
    for (uint32_t number = 0; number < kMaxObjects; ++number) {
      const Object object{thread, number};
      const LifecycleEvent lifecycle = witness.Of(object);
      if (lifecycle == LifecycleEvent::kNone) break;
      if (lifecycle == LifecycleEvent::kCommitted) objects.push_back(object);
    }
  }
  return objects;
}

RecoveryCheck Examine(const Plan& plan, const Witness& witness, const std::vector<Object>& acknowledged) {
  Examination examination(plan, witness);
  examination.Read();
  examination.Compare(acknowledged);
  return examination.Finish();
}

}  // namespace heaprec::crash
