#include "recorder/sources/native_writer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "format/ring_reader.h"
#include "recorder/sources/path.h"

namespace heaprec::sources {

using buffer::LaneLease;
using format::RecordType;

namespace {

// The drain's own lane hint.
constexpr uint32_t kLane = 0;

// HotSpot's way from who asks for address space, or memory in it, to mmap.
bool MapsForOthers(std::string_view function) {
  constexpr std::array<std::string_view, 7> kPrefixes{"os::",
                                                      "anon_mmap",
                                                      "ReservedSpace::",
                                                      "reserve_memory",
                                                      "reserve_mmapped_memory",
                                                      "map_or_reserve_memory",
                                                      "commit_memory_impl"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return function.starts_with(prefix); });
}

// Functions that allocate for who calls them: strdup, operator new, and those through which HotSpot does.
bool AllocatesForOthers(const native::CodePlace& place, format::Kind kind) {
  constexpr std::array<std::string_view, 3> kModules{"libc.so.", "libstdc++.so.", "libgcc_s.so."};
  constexpr std::array<std::string_view, 9> kOfHotSpot{"os::malloc",           "os::realloc",         "os::strdup",
                                                       "os::strdup_check_oom", "AllocateHeap",        "ReallocateHeap",
                                                       "ChunkPool::allocate",  "Chunk::operator new", "Arena::grow"};
  if (place.module == "libjvm.so" && kind == format::Kind::kMapped) return MapsForOthers(place.function);
  // A program may have C++'s library within itself.
  if (place.function.starts_with("operator new")) return true;
  if (place.module == "libjvm.so") return std::ranges::find(kOfHotSpot, place.function) != kOfHotSpot.end();
  return std::ranges::any_of(kModules, [&](std::string_view name) { return place.module.starts_with(name); });
}

template <typename Record>
void CopyFixed(std::byte* record, const Record& fields) {
  // The header was written by Reserve.
  std::memcpy(record + sizeof(format::RecordHeader),
              reinterpret_cast<const std::byte*>(&fields) + sizeof(format::RecordHeader),
              sizeof(Record) - sizeof(format::RecordHeader));
}

}  // namespace

void NativeWriter::NewEpoch() {
  methods_.clear();
  classes_.clear();
  threads_.clear();
  stacks_.clear();
}

void NativeWriter::WriteWindow(const PublishedWindow& window) {
  const format::WindowRecord record{{}, window.start_ns, window.lambda, window.id, 0};
  // Without it the window's samples still carry their weights.
  (void)Define(RecordType::kWindow, &record, sizeof record, {});
}

void NativeWriter::Write(const NativePoint& point) {
  if (point.new_window) WriteWindow(*point.new_window);
  const bool written = Write(point, {format::Kind::kNative, native::FunctionName(point.function)}, ledger_);
  if (!written && point.place != 0) native::Blocks().Drop(point.place, point.id);
}

bool NativeWriter::Write(const NativePoint& point, const As& as, buffer::Ledger& ledger) {
  const bool written = WriteSample(point, as, FramesOf(point, as.kind), ledger);
  if (!written) ledger.Lost(format::Loss::kRingFull, point.weight);
  return written;
}

std::vector<format::RingFrame> NativeWriter::FramesOf(const NativePoint& point, format::Kind kind) {
  std::vector<format::RingFrame> frames;
  size_t first = 0;
  const auto is_native = [&](size_t i) {
    return i < point.native_frames && !places_.At(point.native[i]).module.empty();
  };
  while (is_native(first) && AllocatesForOthers(places_.At(point.native[first]), kind)) ++first;
  // Where nobody called them but Java, it was they (JDK 25's Unsafe goes to os::malloc by a jump).
  if (first > 0 && !is_native(first)) --first;
  for (size_t i = first; i < point.native_frames; ++i) {
    const native::CodePlace& place = places_.At(point.native[i]);
    // The JVM's own code: what follows are its Java frames, or nothing that could be told.
    if (place.module.empty()) break;
    frames.push_back({MethodOf(place), static_cast<int32_t>(place.offset), -1, format::FrameType::kNative});
  }
  frames.insert(frames.end(), point.java.begin(), point.java.begin() + static_cast<ptrdiff_t>(point.java_frames));
  if (point.java_is_cut) frames.push_back(format::kGapFrame);
  return frames;
}

bool NativeWriter::Define(RecordType type, const void* fixed, size_t fixed_bytes, std::string_view text) {
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

uint64_t NativeWriter::MethodOf(const native::CodePlace& place) {
  const uint64_t key = format::MethodKey(place.module, place.function, place.build_id);
  if (methods_.contains(key)) return key;
  const format::MethodRecord record{{},
                                    key,
                                    static_cast<uint32_t>(place.module.size()),
                                    static_cast<uint16_t>(place.function.size()),
                                    static_cast<uint16_t>(place.build_id.size())};
  if (!Define(RecordType::kMethod, &record, sizeof record, place.module + place.function + place.build_id)) return 0;
  methods_.insert(key);
  return key;
}

uint64_t NativeWriter::ClassOf(std::string_view name) {
  const uint64_t key = format::ClassKey(name);
  const format::ClassRecord record{{}, key, static_cast<uint32_t>(name.size()), 0};
  if (!classes_.contains(key) && Define(RecordType::kClass, &record, sizeof record, name)) classes_.insert(key);
  return key;
}

uint64_t NativeWriter::ThreadOf(const NativePoint& point) {
  const std::string_view name(point.thread_name, strnlen(point.thread_name, sizeof point.thread_name));
  const uint64_t key = format::ThreadKey(0, point.os_tid, false, name);
  const format::ThreadRecord record{{}, key, 0, point.os_tid, 0, static_cast<uint16_t>(name.size())};
  if (!threads_.contains(key) && Define(RecordType::kThread, &record, sizeof record, name)) threads_.insert(key);
  return key;
}

bool NativeWriter::WriteSample(const NativePoint& point, const As& as, const std::vector<format::RingFrame>& frames,
                               buffer::Ledger& ledger) {
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
  sample.monotonic_ns = point.time_ns;
  sample.id = point.id;
  sample.thread_key = thread_key;
  sample.class_key = class_key;
  sample.stack_key = stack;
  sample.path = PathOf(frames);
  sample.size = point.size;
  sample.weight = point.weight;
  sample.window = point.window;
  sample.kind = static_cast<uint16_t>(as.kind);
  sample.place = point.place;
  CopyFixed(record, sample);
  ledger.Committed();  // before it can be seen
  lease.Commit();
  return true;
}

void NativeWriter::WriteDeath(uint64_t sample, uint64_t freed_ns, uint64_t left) {
  const Death death{sample, freed_ns, left};
  if (!deaths_.empty() || !Bury(death)) deaths_.push_back(death);
}

// In their order: a mapping shrinks, and then is gone.
void NativeWriter::WriteRest() {
  const auto rest = std::ranges::find_if_not(deaths_, [this](const Death& death) { return Bury(death); });
  deaths_.erase(deaths_.begin(), rest);
}

bool NativeWriter::Bury(const Death& death) {
  const format::DeathRecord record{{}, death.freed_ns, death.sample, death.left};
  return Define(RecordType::kDeath, &record, sizeof record, {});
}

}  // namespace heaprec::sources
