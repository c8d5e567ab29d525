// Writes the recording's blocks to one file within limits, or to one file after another.
//
// maxsize, maxage: the chunks that stay are copied to `NAME.unfinished`, a piece at each tick while recording
// continues. The copy is then renamed over the old file. So the name always refers to a complete recording. Rotation:
// the file gets an end marker, and the next free name is used. A file that was deleted or moved away is rotated, too.
//
// Units:    ns since the start of the recording.
// Context:  drain (Create: setup).
// Failure:  Append returns an Error, and failure() its errno; no part of the block is in the file then. A failed copy
//           is tried again later; until then nothing is appended beyond maxsize plus a chunk.
// Durable:  synced data stays readable after a power cut: a copy is synced before it gets the name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "format/model/model.h"
#include "recorder/writer/recording_file.h"
#include "recorder/writer/retention.h"
#include "recorder/writer/syncer.h"

namespace heaprec::writer {

struct StoreConfig {
  std::string pattern;  // as for RecordingFile::Create
  format::FileHeader header;
  Limits limits;
  SyncPolicy sync;
  Syncer::Where sync_where = Syncer::Where::kOwnThread;
};

class Store {
 public:
  // Creates the first file, with its header.
  static Result<Store> Create(StoreConfig config);
  Store(Store&&) = default;
  Store& operator=(Store&&) = delete;
  ~Store();

  const std::string& path() const { return file_->path(); }

  // `start`: the FileStart of a file that begins here. Later blocks belong to this chunk.
  void BeginChunk(const format::FileStart& start) { retention_.BeginChunk(start); }
  // Returns the header whose copy such a chunk contains.
  format::FileHeader HeaderFor(const format::FileStart& start) const;
  bool ChunkIsFull(uint64_t now_ns) const { return retention_.ChunkIsFull(now_ns); }
  // Call before each block. Returns true if the file is full or was moved, and the next one exists: append the block
  // and an end marker, then call Resume. `start`: FileStart after that block.
  bool OpenNext(uint64_t now_ns, const format::FileStart& start);
  // Returns the header of the next file.
  format::FileHeader NextHeader() const;
  // Writes the next file's header and first block before the current file is ended. The next file then has both, or is
  // empty.
  bool BeginNext(std::span<const std::byte> block);
  // Switches to the file that OpenNext has created. `ended` false: removes it and continues with the current one.
  void Resume(bool ended);
  Status Append(std::span<const std::byte> block);
  // Appends the last block of a recording to the reserved space, even beyond limits or on a full disk.
  Status AppendReserved(std::span<const std::byte> block) { return file_->Append(block); }
  // Calls RecordingFile::WriteProvisional; the next append overwrites the block.
  void WriteProvisional(std::span<const std::byte> block) { file_->WriteProvisional(block); }
  uint64_t provisional_bytes() const { return file_->provisional_bytes(); }
  // Size of the reserved space; 0: the file system cannot reserve any.
  uint64_t reserved_room() const { return file_->reserved_room(); }
  // errno of the last append; 0: none.
  int failure() const { return file_->failure(); }
  // errno of the last fdatasync that failed; 0: none has.
  int sync_failure() const { return syncer_->failure(); }
  // Returns the current file with a separate descriptor for a reader.
  Result<RecordingFile> Duplicate() const { return file_->Duplicate(); }

  // Does a part of the pending work: copying, syncing.
  void Tick(uint64_t now_ns);
  // Removes the file, which has only a header.
  void Remove() { file_->Remove(); }
  // Makes everything durable, if the policy requires it, and closes the file. May take long.
  void Finish();

 private:
  struct Copy {
    std::unique_ptr<RecordingFile> to;
    uint64_t next = 0;  // offset in the old file of the next bytes to copy
    size_t dropped = 0;
    uint64_t header_bytes = 0;
    std::optional<uint64_t> sync;  // the pending request
  };

  explicit Store(StoreConfig config);
  Status OpenFirst();
  Result<RecordingFile> NewFile(const std::string& pattern, uint64_t epoch_ns, const format::FileStart& start) const;
  void Adopt(RecordingFile file, const format::FileStart& start);
  void BeginCopy(uint64_t now_ns);
  void ContinueCopy(uint64_t now_ns);
  bool CopySlice();
  void FinishCopy(uint64_t now_ns);
  void Abandon(uint64_t now_ns);
  void SyncIfDue(uint64_t now_ns);
  std::string Folder() const;

  StoreConfig config_;
  Retention retention_;
  std::unique_ptr<RecordingFile> file_, next_;
  format::FileStart next_start_;
  uint64_t next_header_bytes_ = 0;
  format::FileHeader header_;
  std::optional<Copy> copy_;
  uint64_t copy_not_before_ns_ = 0;
  std::unique_ptr<Syncer> syncer_;
  std::optional<uint64_t> sync_;  // the current request
  uint64_t sync_size_ = 0, synced_size_ = 0, last_sync_ns_ = 0;
  bool name_is_new_ = true;  // the folder must be synced after the file
};

}  // namespace heaprec::writer
