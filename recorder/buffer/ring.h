// The ring: lanes in memory that survives the process (a file on tmpfs), or in private memory.
//
// Units:    sizes in bytes.
// Context:  Create, Close: setup. The accessors: any.
// Failure:  if Create cannot create the shared file, it uses private memory, and why() has the reason. A kill -9 then
//           loses everything that is not in the file yet.
// Format:   format/ring/ring_layout.h, docs/format/ring.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/descriptors.h"
#include "base/result.h"
#include "format/ring/census_pages.h"
#include "format/ring/ring_layout.h"
#include "format/ring/row_pages.h"

namespace heaprec::buffer {

struct RingOptions {
  std::string path;  // empty: private memory
  format::RecordingId recording_id{};
  uint64_t start_epoch_ns = 0, start_monotonic_ns = 0;
  format::PerStream<format::StreamCap> caps;  // interval_ns 0: the stream is not recorded
  bool has_modules = false;                   // only needed for native points
  bool has_census = false;
  uint32_t lane_count = 32;
  uint32_t lane_bytes = 128 * 1024;  // power of two
};

class Ring {
 public:
  // Returns an Error if not even private memory could be mapped.
  static Result<std::unique_ptr<Ring>> Create(const RingOptions& options);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  format::RingHeader& header() { return *header_; }
  format::LaneHeader& lane(uint32_t index) { return *reinterpret_cast<format::LaneHeader*>(LaneStart(index)); }
  std::byte* lane_data(uint32_t index) { return LaneStart(index) + format::kLaneHeaderBytes; }
  format::RingModules* modules() { return modules_; }    // null: there are none
  format::RingCensusPages* census() { return census_; }  // null: there is none
  format::RingRowPages* rows() { return rows_; }         // null: allocations are not recorded
  uint32_t lane_count() const { return lane_count_; }
  uint32_t lane_bytes() const { return lane_bytes_; }
  // The whole mapping, for a reader.
  const std::byte* bytes() const { return base_; }
  size_t size() const { return size_; }

  const std::string& path() const { return path_; }  // empty: private memory
  const std::string& why() const { return why_; }    // why the memory is private although a file was requested

  // Writes the recording's path to the header, so that the ring can be moved to the same folder after the death of this
  // process.
  void SetRecordingPath(const std::string& path);

  // Call when the recording's file is complete: marks the ring closed and removes the ring's file. The memory
  // stays mapped until the ring is destroyed; its lanes are empty and no longer shared.
  void Close();
  // Call when the recording's file lacks data of the ring and nothing more will be written. Keeps the ring's file,
  // which readers of the recording need, and marks the ring closed.
  void KeepFile() {
    is_left_ = true;
    header_->state.store(static_cast<uint32_t>(format::RingState::kClosed), std::memory_order_release);
  }

 private:
  Ring() = default;
  void RemoveFile();
  std::byte* LaneStart(uint32_t index) {
    return base_ + format::kRingHeaderBytes + size_t{index} * (format::kLaneHeaderBytes + lane_bytes_);
  }
  std::byte* base_ = nullptr;
  size_t size_ = 0;
  format::RingHeader* header_ = nullptr;
  format::RingModules* modules_ = nullptr;
  format::RingCensusPages* census_ = nullptr;
  format::RingRowPages* rows_ = nullptr;
  uint32_t lane_count_ = 0, lane_bytes_ = 0;
  std::string path_, why_;
  GuardedFd lock_;  // of the shared file, locked
  bool is_left_ = false;
};

}  // namespace heaprec::buffer
