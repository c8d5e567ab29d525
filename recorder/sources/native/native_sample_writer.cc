#include "recorder/sources/native/native_sample_writer.h"

#include <algorithm>
#include <cstring>

#include "format/native/native_frames.h"
#include "format/ring/content_keys.h"

namespace heaprec::sources {

using buffer::CopyFixed;
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

bool NativeSampleWriter::Define(RecordType type, const void* fixed, size_t fixed_bytes, std::string_view text) {
  const size_t bytes = fixed_bytes + text.size();
  LaneLease lease(ring_, kLane, static_cast<uint32_t>(bytes + format::kRecordAlign));
  std::byte* const record = lease.ok() ? lease.Reserve(type, bytes) : nullptr;
  if (record == nullptr) return false;
  std::memcpy(record + sizeof(format::RecordHeader),
              static_cast<const std::byte*>(fixed) + sizeof(format::RecordHeader),
              fixed_bytes - sizeof(format::RecordHeader));
  std::memcpy(record + fixed_bytes, text.data(), text.size());
  lease.Commit();
  return true;
}

uint64_t NativeSampleWriter::MethodOf(const format::CodeLocation& location) {
  const uint64_t key = format::MethodKey(location.module, location.function, location.build_id);
  if (methods_.contains(key)) return key;
  const format::MethodRecord record{{},
                                    key,
                                    static_cast<uint32_t>(location.module.size()),
                                    static_cast<uint16_t>(location.function.size()),
                                    static_cast<uint16_t>(location.build_id.size())};
  if (!Define(RecordType::kMethod, &record, sizeof record, location.module + location.function + location.build_id))
    return 0;
  methods_.insert(key);
  return key;
}

uint64_t NativeSampleWriter::ClassOf(std::string_view name) {
  const uint64_t key = format::ClassKey(name);
  const format::ClassRecord record{{}, key, static_cast<uint32_t>(name.size()), 0};
  if (!classes_.contains(key) && Define(RecordType::kClass, &record, sizeof record, name)) classes_.insert(key);
  return key;
}

uint64_t NativeSampleWriter::ThreadOf(const NativePoint& point) {
  const std::string_view name(point.thread_name, strnlen(point.thread_name, sizeof point.thread_name));
  const uint64_t key = format::ThreadKey(0, point.os_tid, false, name);
  const format::ThreadRecord record{{}, key, 0, point.os_tid, 0, static_cast<uint16_t>(name.size())};
  if (!threads_.contains(key) && Define(RecordType::kThread, &record, sizeof record, name)) threads_.insert(key);
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
  if (brings) {
    std::byte* const record = lease.Reserve(RecordType::kStack, stack_bytes);
    if (record == nullptr) return false;
    CopyFixed(record, format::StackRecord{{}, stack, static_cast<uint32_t>(frames.size()), 0});
    std::memcpy(record + sizeof(format::StackRecord), frames.data(), frames.size() * sizeof(format::RingFrame));
    lease.Commit();
  }
  std::byte* const record = lease.Reserve(RecordType::kSample, sizeof(format::SampleRecord));
  if (record == nullptr) return false;
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
  CopyFixed(record, sample);
  // Counts before the sample is visible, and counts the outcome before the point itself. If the process is killed in
  // between, each counted point has an outcome, because a reader of the ring makes a sample of the rest.
  shared_counters.Committed();
  shared_counters.Point();
  lease.Commit();
  return true;
}

void NativeSampleWriter::WriteDeath(uint64_t sample, uint64_t freed_ns, uint64_t left) {
  const Death death{sample, freed_ns, left};
  if (!deaths_.empty() || !MarkDead(death)) deaths_.push_back(death);
}

// Keeps their order: a mapping shrinks before it ends.
void NativeSampleWriter::WriteRest() {
  const auto rest = std::ranges::find_if_not(deaths_, [this](const Death& death) { return MarkDead(death); });
  deaths_.erase(deaths_.begin(), rest);
}

bool NativeSampleWriter::MarkDead(const Death& death) {
  const format::DeathRecord record{{}, death.freed_ns, death.sample, death.left};
  return buffer::CommitRecord(ring_, kLane, RecordType::kDeath, record);
}

}  // namespace heaprec::sources
