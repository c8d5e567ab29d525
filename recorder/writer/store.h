// Where the recording's blocks go: one file that is kept within its bounds, or one file after another.
//
// maxsize, maxage: what stays is copied to a file beside (`NAME.unfinished`), some of it at each tick while recording
// goes on, and that is renamed over the old one: at every moment the name leads to a whole recording. Rotation: the
// file gets an ending and the next free name is taken. A file that was deleted or moved away is rotated too.
//
// Units:    ns since the start of the recording.
// Context:  drain (Create: setup).
// Failure:  Append returns an Error, and failure() its errno; nothing of the block is then in the file. A copy that
//           fails is tried again later, and past maxsize and a chunk nothing is appended meanwhile.
// Durable:  what Sync has confirmed stays readable after a power cut: a copy is synced before it takes the name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "format/bytes/result.h"
#include "format/model/model.h"
#include "recorder/writer/recording_file.h"
#include "recorder/writer/retention.h"
#include "recorder/writer/syncer.h"

namespace heaprec::writer {

struct StoreConfig {
  std::string pattern;  // as RecordingFile::Create
  format::FileHeader header;
  Limits limits;
  SyncPolicy sync;
  Syncer::Where sync_where = Syncer::Where::kOwnThread;
};

class Store {
 public:
  // The first file, with its header.
  static format::Result<Store> Create(StoreConfig config);
  Store(Store&&) = default;
  Store& operator=(Store&&) = delete;
  ~Store();

  const std::string& path() const { return file_->path(); }

  // `start`: what the file would say of itself if it began here. What is appended from now on belongs to this chunk.
  void BeginChunk(const format::FileStart& start) { retention_.BeginChunk(start); }
  // The header that such a chunk has a copy of.
  format::FileHeader HeaderFor(const format::FileStart& start) const;
  bool ChunkIsFull(uint64_t now_ns) const { return retention_.ChunkIsFull(now_ns); }
  // Call before each block. True: the file is full, or no longer where it was, and the next one is there; append the
  // block and an ending, then call Resume. `start`: what holds behind that block.
  bool OpenNext(uint64_t now_ns, const format::FileStart& start);
  // What the header of that file says.
  format::FileHeader NextHeader() const;
  // Writes it, before this one is ended, with what readers have to know from the start: that file is empty, or has
  // both.
  bool BeginNext(std::span<const std::byte> block);
  // Turns to the file that OpenNext has made; `ended` false: it is removed, and this one is gone on with.
  void Resume(bool ended);
  format::Result<std::monostate> Append(std::span<const std::byte> block);
  // Appends the last block of a recording in the room that Append keeps reserved, whatever is bounded or full.
  format::Result<std::monostate> AppendReserved(std::span<const std::byte> block) { return file_->Append(block); }
  // Bytes that fit there; 0: the file system cannot reserve any.
  uint64_t reserved_room() const { return file_->reserved_room(); }
  // Of the last append; 0: none that the system gave.
  int failure() const { return file_->failure(); }
  // What is in the file now, for a reader of its own.
  format::Result<RecordingFile> Duplicate() const { return file_->Duplicate(); }

  // A slice of what is to be done: copying, syncing.
  void Tick(uint64_t now_ns);
  // Everything is durable, as far as the policy asks for that, and the file is closed. May take long.
  void Finish();

 private:
  struct Copy {
    std::unique_ptr<RecordingFile> to;
    uint64_t next = 0;  // what is copied next, in the old file
    size_t dropped = 0;
    uint64_t header_bytes = 0;
    std::optional<uint64_t> sync;  // the request that has to be answered
  };

  explicit Store(StoreConfig config);
  format::Result<std::monostate> OpenFirst();
  format::Result<RecordingFile> NewFile(const std::string& pattern, uint64_t epoch_ns,
                                        const format::FileStart& start) const;
  void Adopt(RecordingFile file, const format::FileStart& start);
  void BeginCopy(uint64_t now_ns);
  void GoOnCopying(uint64_t now_ns);
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
  std::optional<uint64_t> sync_;  // under way
  uint64_t sync_size_ = 0, synced_size_ = 0, last_sync_ns_ = 0;
  bool name_is_new_ = true;  // the folder has to be synced with the file
};

}  // namespace heaprec::writer
