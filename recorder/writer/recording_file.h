// The recording's file: a new name always, whole blocks or nothing.
//
// Context:  drain (Open: setup). System calls may block; nothing waits for the drain.
// A program that closes our descriptor takes nothing from the recording: it is opened again.
// Failure:  Append returns an Error and takes back what was written in part, so that the file ends with a whole block;
//           it may be called again (a disk that was full has room again), and fails as long as that part cannot be
//           removed. failure() is then its errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "format/bytes/result.h"
#include "recorder/buffer/guarded_fd.h"

namespace heaprec::writer {

// %p: pid; %t: local time as yyyy_MM_dd_HH_mm_ss; %n: the first number from 0 that gives a free name; %%: a percent
// sign.
std::string ExpandPattern(const std::string& pattern, uint32_t pid, uint64_t epoch_ns, int number);

// The pattern that stands for `path` itself.
std::string LiteralPattern(const std::string& path);

class RecordingFile {
 public:
  // Creates the file `pattern` stands for. An existing file is kept: "rec.bin" becomes "rec-1.bin", "rec-2.bin", ...
  // Error: among others, the name belongs to something that is not a regular file.
  static format::Result<RecordingFile> Create(const std::string& pattern, uint32_t pid, uint64_t epoch_ns);
  RecordingFile(RecordingFile&& other) noexcept;
  RecordingFile& operator=(RecordingFile&&) = delete;
  ~RecordingFile() = default;

  format::Result<std::monostate> Append(std::span<const std::byte> bytes);
  // Reserves room on the disk for `bytes` and for kReserveBytes beyond them, so that a later Append of that much
  // succeeds although the disk is full by then. After a failure: four times as much beyond them. Error: there is no
  // such room. A file system that cannot reserve is no error.
  format::Result<std::monostate> Reserve(size_t bytes);
  // Bytes that an Append certainly has room for; 0: none is reserved.
  uint64_t reserved_room() const;
  static constexpr uint64_t kReserveBytes = 64 << 10;
  // Up to into.size() bytes from `offset`; fewer at the end only.
  format::Result<size_t> Read(uint64_t offset, std::span<std::byte> into) const;
  // Makes what was appended durable (a power cut). Errors are the caller's to count.
  format::Result<std::monostate> Sync();
  // The same content up to now, under a descriptor of its own; to be read only.
  format::Result<RecordingFile> Duplicate() const;
  // Whether path() still leads to this file: it may have been deleted or moved.
  bool IsInPlace() const;
  // Takes `other`'s content, its own being dropped; the name and the descriptor's number stay. Readers that have the
  // file open keep the old content; whoever opens the name finds the one or the other, whole.
  format::Result<std::monostate> ReplaceBy(RecordingFile&& other);
  // Closes it and takes it away.
  void Remove();
  // Gives the reserved room and the descriptor back; nothing can be appended any more.
  void Close();
  uint64_t size() const { return size_; }
  int failure() const { return failure_; }  // of the last Append or Reserve; 0: it succeeded
  int descriptor() const { return descriptor_.number(); }
  const std::string& path() const { return path_; }

 private:
  RecordingFile(std::string path, buffer::GuardedFd descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}
  bool TakeBack();
  format::Error Fail(int error);

  std::string path_;
  buffer::GuardedFd descriptor_;
  uint64_t size_ = 0;
  uint64_t reserved_to_ = 0;  // the disk has room up to this offset
  int failure_ = 0;
  bool is_torn_ = false;  // what was written in part is still there
};

}  // namespace heaprec::writer
