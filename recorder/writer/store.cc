#include "recorder/writer/store.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/output_path.h"
#include "format/codec/file_header.h"

namespace heaprec::writer {
namespace {

// At 50 ticks per second this is 50 MB/s, and each slice takes less than a millisecond.
constexpr uint64_t kSliceBytes = 1 << 20;
constexpr size_t kPieceBytes = 64 << 10;
constexpr uint64_t kPauseAfterFailureNs = 10'000'000'000;

}  // namespace

Result<Store> Store::Create(StoreConfig config) {
  Store store(std::move(config));
  auto opened = store.OpenFirst();
  if (!opened.ok()) return opened.error();
  return store;
}

Store::Store(StoreConfig config)
    : config_(std::move(config)), retention_(config_.limits), syncer_(std::make_unique<Syncer>(config_.sync_where)) {}

Store::~Store() {
  if (copy_) copy_->to->Remove();
  if (next_) next_->Remove();
}

Status Store::OpenFirst() {
  auto file = NewFile(config_.pattern, config_.header.start_epoch_ns, {});
  if (!file.ok()) return file.error();
  Adopt(std::move(*file), {});
  return {};
}

Result<RecordingFile> Store::NewFile(const std::string& pattern, uint64_t epoch_ns,
                                     const format::FileStart& start) const {
  auto file = RecordingFile::Create(pattern, config_.header.pid, epoch_ns);
  if (!file.ok()) return file;
  format::FileHeader header = config_.header;
  header.start = start;
  auto written = file->Append(format::EncodeFileHeader(header));
  if (written.ok()) return file;
  file->Remove();  // it is empty, and was created here
  return written.error();
}

void Store::Adopt(RecordingFile file, const format::FileStart& start) {
  file_ = std::make_unique<RecordingFile>(std::move(file));
  header_ = config_.header;
  header_.start = start;
  retention_.BeginFile(file_->size(), start.begin_ns);
  name_is_new_ = true;
  synced_size_ = 0;
  sync_.reset();
}

// A file that drops chunks may later begin with this one, so the chunk's copy of the header equals the header of that
// file.
format::FileHeader Store::HeaderFor(const format::FileStart& start) const {
  format::FileHeader header = header_;
  if (config_.limits.drops()) {
    header.start = start;
    header.start.part = header_.start.part;
  }
  return header;
}

bool Store::OpenNext(uint64_t now_ns, const format::FileStart& start) {
  const bool in_place = file_->IsInPlace();
  if (in_place && !retention_.FileIsFull(now_ns)) return false;
  // The copy belongs to the file that ends here, so it is no longer needed.
  if (copy_) Abandon(now_ns);
  next_start_ = start;
  next_start_.part = header_.start.part + 1;
  auto next = in_place
                  ? RecordingFile::Create(config_.pattern, config_.header.pid, config_.header.start_epoch_ns + now_ns,
                                          /*continues=*/true)
                  : RecordingFile::Create(OutputPath::Literal(file_->path()), 0, 0, /*continues=*/true);
  if (!next.ok()) return false;  // the old file is still usable; the next block tries again
  next_ = std::make_unique<RecordingFile>(std::move(*next));
  return true;
}

format::FileHeader Store::NextHeader() const {
  format::FileHeader header = config_.header;
  header.start = next_start_;
  return header;
}

bool Store::BeginNext(std::span<const std::byte> block) {
  auto bytes = format::EncodeFileHeader(NextHeader());
  next_header_bytes_ = bytes.size();
  bytes.insert(bytes.end(), block.begin(), block.end());
  return next_->Append(bytes).ok();
}

void Store::Resume(bool ended) {
  if (!ended) {
    next_->Remove();
    next_.reset();
    return;
  }
  if (!config_.sync.never) (void)syncer_->Request(*file_, name_is_new_ ? Folder() : "");
  file_->Close();  // releases the reserved space after its end
  Adopt(std::move(*std::exchange(next_, nullptr)), next_start_);
  retention_.BeginFile(next_header_bytes_, next_start_.begin_ns);
  retention_.BeginChunk(next_start_);
  retention_.Appended(file_->size() - next_header_bytes_);
}

Status Store::Append(std::span<const std::byte> block) {
  if (retention_.IsBeyond(block.size()) && !copy_) {
    return Error{path() + ": has reached maxsize, and its oldest chunks cannot be dropped"};
  }
  auto written = file_->Reserve(block.size());
  if (written.ok()) written = file_->Append(block);
  if (written.ok()) retention_.Appended(block.size());
  return written;
}

void Store::Tick(uint64_t now_ns) {
  if (!copy_ && now_ns >= copy_not_before_ns_ && retention_.ChunksToDrop(now_ns) > 0) BeginCopy(now_ns);
  if (copy_) {
    ContinueCopy(now_ns);
  } else {
    SyncIfDue(now_ns);
  }
}

void Store::BeginCopy(uint64_t now_ns) {
  Copy copy;
  copy.dropped = retention_.ChunksToDrop(now_ns);
  const Retention::Chunk& first = retention_.FirstKept(copy.dropped);
  // A killed JVM may have left a file with this name.
  auto to =
      RecordingFile::Create(OutputPath::Literal(file_->path() + format::kUnfinishedSuffix), 0, 0, /*continues=*/true);
  if (!to.ok()) return Abandon(now_ns);
  copy.to = std::make_unique<RecordingFile>(std::move(*to));
  copy.next = first.offset;
  format::FileHeader header = config_.header;
  header.start = first.start;
  header.start.part = header_.start.part;
  const auto bytes = format::EncodeFileHeader(header);
  copy.header_bytes = bytes.size();
  copy_ = std::move(copy);
  if (!copy_->to->Append(bytes).ok()) Abandon(now_ns);
}

void Store::ContinueCopy(uint64_t now_ns) {
  if (!CopySlice()) return Abandon(now_ns);
  if (copy_->next < file_->size()) return;
  if (config_.sync.never) return FinishCopy(now_ns);
  // The old file is not synced meanwhile, so the copy contains everything that is durable there.
  if (!copy_->sync) copy_->sync = syncer_->Request(*copy_->to, "");
  const auto outcome = syncer_->Outcome(*copy_->sync);
  if (!outcome) return;
  if (!*outcome) return Abandon(now_ns);
  FinishCopy(now_ns);
}

bool Store::CopySlice() {
  std::vector<std::byte> piece(kPieceBytes);
  for (uint64_t left = kSliceBytes; left > 0 && copy_->next < file_->size();) {
    const uint64_t wanted = std::min<uint64_t>({piece.size(), left, file_->size() - copy_->next});
    const auto got = file_->Read(copy_->next, std::span(piece).first(wanted));
    if (!got.ok() || *got != wanted) return false;
    if (!copy_->to->Append(std::span(piece).first(wanted)).ok()) return false;
    copy_->next += wanted;
    left -= wanted;
  }
  return true;
}

void Store::FinishCopy(uint64_t now_ns) {
  // The file was moved, so its name must not be used. The next block finds that out.
  if (!file_->IsInPlace() || !file_->ReplaceBy(std::move(*copy_->to)).ok()) return Abandon(now_ns);
  const uint32_t part = header_.start.part;
  header_.start = retention_.FirstKept(copy_->dropped).start;
  header_.start.part = part;
  retention_.Dropped(copy_->dropped, copy_->header_bytes);
  synced_size_ = 0;  // newer data and the name must be synced
  sync_.reset();
  name_is_new_ = true;
  copy_.reset();
}

void Store::Abandon(uint64_t now_ns) {
  if (copy_) copy_->to->Remove();
  copy_.reset();
  copy_not_before_ns_ = now_ns + kPauseAfterFailureNs;
}

void Store::SyncIfDue(uint64_t now_ns) {
  if (config_.sync.never) return;
  if (sync_) {
    const auto outcome = syncer_->Outcome(*sync_);
    if (!outcome) return;
    // After a failure the last durable state stays valid; the next sync tries again.
    if (*outcome) synced_size_ = sync_size_;
    if (*outcome) name_is_new_ = false;
    sync_.reset();
  }
  if (synced_size_ == file_->size() || now_ns - last_sync_ns_ < config_.sync.every_ns) return;
  last_sync_ns_ = now_ns;
  sync_size_ = file_->size();
  sync_ = syncer_->Request(*file_, name_is_new_ ? Folder() : "");
}

std::string Store::Folder() const {
  const size_t slash = path().rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path().substr(0, slash);
}

void Store::Finish() {
  if (copy_) Abandon(0);
  if (!config_.sync.never) (void)syncer_->Request(*file_, name_is_new_ ? Folder() : "");
  syncer_->Finish();
  file_->Close();
}

}  // namespace heaprec::writer
