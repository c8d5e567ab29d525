// The recording's file: always under a new name, and with whole blocks only.
//
// Context:  drain (Open: setup). System calls may block; nothing waits for the drain.
// If the program closes the descriptor, the file is opened again, and nothing is lost.
// Failure:  Append returns an Error and removes what was written in part, so that the file ends with a whole block. It
//           may be called again, because a full disk may have room later. It fails as long as that part cannot be
//           removed. failure() is then its errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/descriptors.h"
#include "base/result.h"

namespace heaprec::writer {

class RecordingFile {
 public:
  // Creates the file for `pattern`. An existing file is kept: "rec.bin" becomes "rec-1.bin", "rec-2.bin", ... Error:
  // among others, the name is that of something that is not a regular file, or of a symbolic link that leads to none. A
  // recording that `continues` takes the next free name in that case, too.
  static Result<RecordingFile> Create(const std::string& pattern, uint32_t pid, uint64_t epoch_ns,
                                      bool continues = false);
  RecordingFile(RecordingFile&& other) noexcept;
  RecordingFile& operator=(RecordingFile&&) = delete;
  ~RecordingFile() = default;

  Status Append(std::span<const std::byte> bytes);
  // Reserves room on the disk for `bytes` and for kReserveBytes beyond them, so that a later Append of that much
  // succeeds even if the disk is then full. After a failure: four times as much beyond them. Error: there is no such
  // room. It is not an error if the file system cannot reserve.
  Status Reserve(size_t bytes);
  // Writes `bytes` after the content, into reserved room; the next Append overwrites them. Does nothing if they do
  // not fit, or are fewer than the provisional bytes already there.
  void WriteProvisional(std::span<const std::byte> bytes);
  uint64_t provisional_bytes() const { return provisional_to_ > size_ ? provisional_to_ - size_ : 0; }
  // Bytes for which an Append certainly has room; 0: none is reserved.
  uint64_t reserved_room() const;
  static constexpr uint64_t kReserveBytes = 64 << 10;
  // Up to into.size() bytes from `offset`; fewer at the end only. Error: among others, the program has closed the
  // descriptor.
  Result<size_t> Read(uint64_t offset, std::span<std::byte> into) const;
  // Makes appended data durable (a power cut). The caller counts errors.
  Status Sync();
  // The same content up to now, with a descriptor of its own, for reading only.
  Result<RecordingFile> Duplicate() const;
  // Returns a duplicate of the file's descriptor, for another thread. Opens the file again if the program has closed
  // it. Failure: -1, with errno.
  GuardedFd DuplicateDescriptor();
  // Whether path() still refers to this file: it may have been deleted or moved.
  bool IsInPlace() const;
  // Takes `other`'s content and drops its own; the name and the descriptor's number stay. Readers that have the file
  // open keep the old content; those that open the name later get either one, whole.
  Status ReplaceBy(RecordingFile&& other);
  // Closes the file and deletes it.
  void Remove();
  // Releases the reserved room and the descriptor; nothing can be appended any more.
  void Close();
  uint64_t size() const { return size_; }
  int failure() const { return failure_; }  // of the last Append or Reserve; 0: it succeeded
  int descriptor() const { return descriptor_.number(); }
  const std::string& path() const { return path_; }

 private:
  RecordingFile(std::string path, GuardedFd descriptor) : path_(std::move(path)), descriptor_(std::move(descriptor)) {}
  bool Truncate(uint64_t to);
  bool TakeBack();
  Error Fail(int error);

  std::string path_;
  GuardedFd descriptor_;
  uint64_t size_ = 0;
  uint64_t reserved_to_ = 0;     // the disk has room up to this offset
  uint64_t provisional_to_ = 0;  // end of the provisional bytes; 0: there are none
  int failure_ = 0;
  bool is_torn_ = false;  // a partly written block is still in the file
};

}  // namespace heaprec::writer
