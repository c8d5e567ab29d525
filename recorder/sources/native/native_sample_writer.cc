#include "recorder/sources/native/native_sample_writer.h"

#include <algorithm>
#include <cstring>

#include "format/native/native_frames.h"
#include "format/ring/content_keys.h"

namespace heaprec::sources {

using buffer::LaneLease;
using format::RecordType;

namespace {

// The drain's own lane hint.
constexpr uint32_t kLane = 0;

}  // namespace

void NativeSampleWriter::NewEpoch() {
  methods_.clear();
  classes_.clear();
  threads_.clear();
  stacks_.clear();
}

void NativeSampleWriter::WriteWindow(const PublishedWindow& window) {
  // If it is lost, the window's samples still have their weights.
  (void)buffer::CommitRecord(ring_, kLane, RecordType::kWindow, RecordOf(window));
}

void NativeSampleWriter::Write(const format::NativePointRecord& record, std::span<const uint64_t> pcs,
                               std::span<const format::RingFrame> java) {
  NativePoint point;
  static_cast<format::NativePointRecord&>(point) = record;
  point.native_frames = static_cast<uint16_t>(std::min(pcs.size(), point.native.size()));
  point.java_frames = static_cast<uint16_t>(std::min(java.size(), point.java.size()));
  std::ranges::copy(pcs.first(point.native_frames), point.native.begin());
  std::ranges::copy(java.first(point.java_frames), point.java.begin());
  const bool written =
      Write(point, {format::Kind::kNative, native::FunctionName(static_cast<native::Function>(point.function))},
            shared_counters_);
  if (!written && point.tracking_index != 0) native::Blocks().Drop(point.tracking_index, point.id);
}

bool NativeSampleWriter::Write(const NativePoint& point, const As& as, buffer::SharedCounters& shared_counters) {
  const bool written = WriteSample(point, as, FramesOf(point, as.kind), shared_counters);
  if (written) return true;
  shared_counters.Lost(format::LossReason::kRingFull, point.weight);
  shared_counters.Point();
  return false;
}

std::vector<format::RingFrame> NativeSampleWriter::FramesOf(const NativePoint& point, format::Kind kind) {
  if (!symbols_.IsCurrent()) RefreshLibraries();
  return format::FramesToShow(
      point.native_frames, [&](size_t i) -> const format::CodeLocation& { return symbols_.At(point.native[i]); },
      [&](const format::CodeLocation& location) { return MethodOf(location); }, kind,
      std::span(point.java).first(point.java_frames), point.is_cut != 0);
}

template <typename Record, typename... Texts>
bool NativeSampleWriter::Define(RecordType type, const Record& record, std::unordered_set<uint64_t>* known,
                                const Texts&... texts) {
  if (known->contains(record.key)) return true;
  if (!buffer::CommitRecord(ring_, kLane, type, record, texts...)) return false;
  known->insert(record.key);
  return true;
}

uint64_t NativeSampleWriter::MethodOf(const format::CodeLocation& location) {
  const format::MethodRecord record{{},
                                    format::MethodKey(location.module, location.function, location.build_id),
                                    static_cast<uint32_t>(location.module.size()),
                                    static_cast<uint16_t>(location.function.size()),
                                    static_cast<uint16_t>(location.build_id.size())};
  const bool is_defined =
      Define(RecordType::kMethod, record, &methods_, location.module, location.function, location.build_id);
  return is_defined ? record.key : 0;
}

uint64_t NativeSampleWriter::ClassOf(std::string_view name) {
  const format::ClassRecord record{{}, format::ClassKey(name), static_cast<uint32_t>(name.size()), 0};
  (void)Define(RecordType::kClass, record, &classes_, name);
  return record.key;
}

uint64_t NativeSampleWriter::ThreadOf(const NativePoint& point) {
  const std::string_view name(point.thread_name, strnlen(point.thread_name, sizeof point.thread_name));
  const uint64_t key = format::ThreadKey(0, point.os_tid, false, name);
  const format::ThreadRecord record{{}, key, 0, point.os_tid, 0, static_cast<uint16_t>(name.size())};
  (void)Define(RecordType::kThread, record, &threads_, name);
  return key;
}

bool NativeSampleWriter::WriteSample(const NativePoint& point, const As& as,
                                     const std::vector<format::RingFrame>& frames,
                                     buffer::SharedCounters& shared_counters) {
  const uint64_t class_key = ClassOf(as.class_name), thread_key = ThreadOf(point);
  const format::StackKey stack =
      frames.empty() ? format::StackKey{0, 0} : format::KeyOfStack(frames, /*truncated=*/false);
  const bool brings = !frames.empty() && !stacks_.contains(stack.low);
  const size_t stack_bytes = brings ? sizeof(format::StackRecord) + frames.size() * sizeof(format::RingFrame) : 0;
  const size_t room = stack_bytes + sizeof(format::SampleRecord) + 2 * format::kRecordAlign;
  LaneLease lease(ring_, kLane, static_cast<uint32_t>(room));
  if (!lease.ok()) return false;
  if (brings && !lease.WriteStack(stack, frames)) return false;
  format::SampleRecord sample{};
  sample.monotonic_ns = point.monotonic_ns;
  sample.id = point.id;
  sample.thread_key = thread_key;
  sample.class_key = class_key;
  sample.stack_key = stack;
  sample.call_path = format::CallPathKey(frames);
  sample.size = point.size;
  sample.weight = point.weight;
  sample.window = point.window;
  sample.kind = static_cast<uint16_t>(as.kind);
  sample.tracking_index = point.tracking_index;
  if (!lease.Put(RecordType::kSample, sample)) return false;
  // Counts before the sample is visible, and counts the outcome before the point itself. If the process is killed in
  // between, each counted point has an outcome, because a reader of the ring makes a sample of the rest.
  shared_counters.Committed();
  shared_counters.Point();
  lease.Commit();
  return true;
}

void NativeSampleWriter::WriteDeath(uint64_t sample, uint64_t freed_ns, uint64_t left) {
  const format::DeathRecord death{{}, freed_ns, sample, left};
  if (!deaths_.empty() || !Commit(death)) deaths_.push_back(death);
}

// Keeps their order: a mapping shrinks before it ends.
void NativeSampleWriter::WriteRest() {
  const auto rest = std::ranges::find_if_not(deaths_, [this](const auto& death) { return Commit(death); });
  deaths_.erase(deaths_.begin(), rest);
}

bool NativeSampleWriter::Commit(const format::DeathRecord& death) {
  return buffer::CommitRecord(ring_, kLane, RecordType::kDeath, death);
}

}  // namespace heaprec::sources
