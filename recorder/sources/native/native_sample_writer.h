// Converts points of native memory into samples in a lane, preceded by the names of libraries, functions and threads.
//
// Context:  drain (it allocates).
// Threads:  one.
// Failure:  counted in the shared counters (LossReason::kLanesBusy, kRingFull, kOversized). If there is no space for
//           the death of a block, the next call writes it.
// Format:   docs/format/recording.md#native-frames
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "recorder/buffer/lane_lease.h"
#include "recorder/sources/native/native_points.h"
#include "recorder/sources/window_publisher.h"
#include "recorder/unwind/symbolizer.h"

namespace heaprec::sources {

class NativeSampleWriter {
 public:
  // All arguments must outlive the writer.
  NativeSampleWriter(buffer::Ring& ring, buffer::SharedCounters& shared_counters)
      : ring_(ring), shared_counters_(shared_counters) {}

  // Counts the point that a thread has written to a lane.
  void Write(const format::NativePointRecord& record, std::span<const uint64_t> pcs,
             std::span<const format::RingFrame> java);
  // Writes a sample of another stream. Counts the point in `shared_counters`, and the loss if it returns false because
  // there was no space.
  struct As {
    format::Kind kind;
    std::string_view class_name;
  };
  bool Write(const NativePoint& point, const As& as, buffer::SharedCounters& shared_counters);
  void WriteWindow(const PublishedWindow& window);
  // `left`: remaining bytes.
  void WriteDeath(uint64_t sample, uint64_t freed_ns, uint64_t left = 0);
  // Writes deaths for which there was no space before.
  void WriteRest();

  void RefreshLibraries() {
    symbols_.Refresh();
    if (ring_.modules() != nullptr) symbols_.PublishTo(ring_.modules());
  }
  // Definitions emitted before this call are written again on their next use, because a new chunk begins.
  void NewEpoch();
  // Samples need not include the stack's definition until the next epoch.
  void MarkStackEmitted(const format::StackKey& key) { stacks_.insert(key.low); }

 private:
  std::vector<format::RingFrame> FramesOf(const NativePoint& point, format::Kind kind);
  uint64_t MethodOf(const format::CodeLocation& location);
  // Writes the definition unless its key is among the `known` ones. Returns false if there was no space.
  template <typename Record, typename... Texts>
  bool Define(format::RecordType type, const Record& record, std::unordered_set<uint64_t>* known,
              const Texts&... texts);
  uint64_t ClassOf(std::string_view name);
  uint64_t ThreadOf(const NativePoint& point);
  bool WriteSample(const NativePoint& point, const As& as, const std::vector<format::RingFrame>& frames,
                   buffer::SharedCounters& shared_counters);
  bool Commit(const format::DeathRecord& death);

  buffer::Ring& ring_;
  buffer::SharedCounters& shared_counters_;
  native::Symbolizer symbols_;
  std::unordered_set<uint64_t> methods_, classes_, threads_, stacks_;  // keys that are defined in the chunk
  std::vector<format::DeathRecord> deaths_;                            // not written yet for lack of space
};

}  // namespace heaprec::sources
