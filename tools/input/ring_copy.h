// A private copy of a recording's shared ring, taken beside a process that may still be writing it.
//
// The file is read with pread, never mapped and never changed: a ring that vanishes or shrinks is an error, not a
// SIGBUS. Order of reading: each lane's head before its bytes, all tails once more at the end. What lies between tail()
// and head() was therefore published when it was copied and not yet given up by the drain, so it is whole.
//
// Failure:  Open: no such file, or another recording's ring. Of: a ring that cannot be true.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/model/model.h"
#include "format/ring/ring_reader.h"
#include "tools/input/descriptor.h"

namespace heaprec::tools {

// What a look at the header alone tells.
struct RingStatus {
  format::RingState state = format::RingState::kStarting;
  uint64_t heartbeat_ns = 0;  // CLOCK_MONOTONIC
};

// The file of a recording's ring: what is learned of it is of this file, whatever its name leads to by then.
class OpenedRing {
 public:
  // `path`: below `root`, as OpenBelow has it.
  static Result<OpenedRing> Open(const std::string& path, const format::RecordingId& recording,
                                 const std::string& root = "");
  // A regular file of `owner`, and no symbolic link: it was found by its name alone.
  static Result<OpenedRing> OpenOf(uid_t owner, const std::string& path, const format::RecordingId& recording);

  const std::string& path() const { return path_; }
  const Descriptor& file() const { return file_; }
  // As of Open.
  const RingStatus& status() const { return status_; }

 private:
  OpenedRing(std::string path, Descriptor file, const RingStatus& status)
      : path_(std::move(path)), file_(std::move(file)), status_(status) {}
  static Result<OpenedRing> Check(Descriptor file, const std::string& path, const format::RecordingId& recording);

  std::string path_;
  Descriptor file_;
  RingStatus status_;
};

class RingCopy {
 public:
  static Result<RingCopy> Of(const OpenedRing& ring);

  const format::RingView& view() const { return *view_; }
  uint64_t head(uint32_t lane) const { return heads_[lane]; }
  uint64_t tail(uint32_t lane) const { return tails_[lane]; }
  format::StreamCounters counters(format::Stream stream) const;
  format::CensusCounters census() const { return format::CountersOf(view_->header().census); }
  // Since when the recording's file could not be written, CLOCK_MONOTONIC, and the errno; 0: it can.
  uint64_t unwritten_since_ns() const { return view_->header().unwritten_since_ns; }
  int write_errno() const { return unwritten_since_ns() != 0 ? static_cast<int>(view_->header().write_errno) : 0; }

 private:
  explicit RingCopy(size_t bytes) : words_((bytes + 7) / 8) {}
  std::vector<uint64_t> words_;  // 8-byte aligned, as the records are
  std::unique_ptr<format::RingView> view_;
  std::vector<uint64_t> heads_, tails_;
};

}  // namespace heaprec::tools
