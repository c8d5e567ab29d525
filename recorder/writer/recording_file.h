// The recording's file: always has a new name, and only complete blocks.
//
// Context:  drain (Open: setup). System calls may block; nothing waits for the drain.
// If the program closes the descriptor, the file is opened again, and nothing is lost.
// Failure:  Append returns an Error and removes the incomplete block, so that the file ends with a complete one. It may
//           be called again, because a full disk may have space later. It fails as long as the incomplete block cannot
//           be removed. failure() has the errno.
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
  // Creates the file for `pattern`. Never overwrites: if "rec.bin" exists, uses "rec-1.bin", "rec-2.bin", ... Returns
  // an Error, for instance, if the name belongs to something that is not a regular file, or to a symbolic link that
  // does not lead to one. A recording that `continues` takes the next free name in that case, too.
  static Result<RecordingFile> Create(const std::string& pattern, uint32_t pid, uint64_t epoch_ns,
                                      bool continues = false);
  RecordingFile(RecordingFile&& other) noexcept;
  RecordingFile& operator=(RecordingFile&&) = delete;
  ~RecordingFile() = default;

  Status Append(std::span<const std::byte> bytes);
  // Reserves disk space for `bytes` and kReserveBytes more, so that an Append of that size succeeds even if the disk is
  // full later. After a failure: four times as much more. Returns an Error if there is not enough space; not if the
  // file system cannot reserve.
  Status Reserve(size_t bytes);
  // Writes `bytes` after the content, into reserved space; the next Append overwrites them. Does nothing if they do not
  // fit, or are fewer than the existing provisional bytes.
  void WriteProvisional(std::span<const std::byte> bytes);
  uint64_t provisional_bytes() const { return provisional_to_ > size_ ? provisional_to_ - size_ : 0; }
  // Number of bytes for which an Append certainly has space; 0: none is reserved.
  uint64_t reserved_room() const;
  static constexpr uint64_t kReserveBytes = 64 << 10;
  // Reads up to into.size() bytes from `offset`; fewer only at the end. Returns an Error, for instance, if the program
  // has closed the descriptor.
  Result<size_t> Read(uint64_t offset, std::span<std::byte> into) const;
  // Returns the current content, with a new descriptor, for reading only.
  Result<RecordingFile> Duplicate() const;
  // Returns a duplicate of the file's descriptor, for another thread. Opens the file again if the program has closed
  // it. Failure: -1, with errno.
  GuardedFd DuplicateDescriptor();
  // Whether path() still refers to this file, which may have been deleted or moved.
  bool IsInPlace() const;
  // Replaces its own content by that of `other`; name and descriptor number stay the same. Readers that have the file
  // open keep the old content; those that open the name later get either one, complete.
  Status ReplaceBy(RecordingFile&& other);
  // Closes the file and deletes it.
  void Remove();
  // Releases the reserved space and the descriptor; nothing can be appended afterwards.
  void Close();
  uint64_t size() const { return size_; }
  int failure() const { return failure_; }  // errno of the last Append or Reserve; 0: it succeeded
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
  uint64_t reserved_to_ = 0;     // disk space is reserved up to this offset
  uint64_t provisional_to_ = 0;  // end of the provisional bytes; 0: none
  int failure_ = 0;
  bool is_torn_ = false;  // the file still contains an incomplete block
};

}  // namespace heaprec::writer
