#include "recorder/writer/snapshot.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/output_path.h"
#include "format/codec/file_header.h"
#include "recorder/writer/drain.h"

namespace heaprec::writer {
namespace {

constexpr size_t kPieceBytes = 256 << 10;

Status Fill(const Snapshot& snapshot, RecordingFile* copy) {
  std::vector<std::byte> piece(kPieceBytes);
  while (copy->size() < snapshot.file.size()) {
    const uint64_t wanted = std::min<uint64_t>(piece.size(), snapshot.file.size() - copy->size());
    const auto got = snapshot.file.Read(copy->size(), std::span(piece).first(wanted));
    if (!got.ok()) return got.error();
    if (*got != wanted) return Error{snapshot.file.path() + ": is shorter than it was"};
    auto written = copy->Append(std::span(piece).first(wanted));
    if (!written.ok()) return written;
  }
  return copy->Append(snapshot.ending);
}

}  // namespace

// Uses a temporary name until the copy is complete: an incomplete copy would look like the recording itself.
Result<std::string> CopyOf(const Snapshot& snapshot, const std::string& pattern, uint32_t pid, uint64_t epoch_ns) {
  auto file = RecordingFile::Create(pattern, pid, epoch_ns);
  if (!file.ok()) return file.error();
  auto copy =
      RecordingFile::Create(OutputPath::Literal(file->path() + format::kUnfinishedSuffix), 0, 0, /*continues=*/true);
  if (!copy.ok()) {
    file->Remove();
    return copy.error();
  }
  auto done = Fill(snapshot, &*copy);
  if (done.ok()) done = file->ReplaceBy(std::move(*copy));
  if (done.ok()) return file->path();
  copy->Remove();
  file->Remove();
  return done.error();
}

// Snapshots of the recording, on request.

namespace {

// A request waits for the end of an interval. If intervals are longer (rates below 1/s), the open one is left out.
constexpr uint64_t kLongestAwaitedNs = 1'000'000'000;

}  // namespace

std::future<Result<Snapshot>> Drain::RequestSnapshot() {
  const std::lock_guard lock(mutex_);
  snapshot_requests_.push_back({callbacks_.now(), {}});
  auto answer = snapshot_requests_.back().answer.get_future();
  if (finished_) RefuseSnapshots();
  return answer;
}

// Whether the intervals that were open at the request have been closed.
bool Drain::IsDue(const SnapshotRequest& request) const {
  return std::all_of(streams_.begin(), streams_.end(), [&](format::Stream stream) {
    const uint64_t interval_ns = ring_.header().IntervalNsOf(stream);
    return interval_ns > kLongestAwaitedNs || consumer_.next_close_ns(stream) - interval_ns >= request.asked_ns;
  });
}

void Drain::AnswerSnapshots(uint64_t now_ns) {
  std::vector<SnapshotRequest> due;
  {
    const std::lock_guard lock(mutex_);
    const auto first = std::stable_partition(snapshot_requests_.begin(), snapshot_requests_.end(),
                                             [&](const SnapshotRequest& request) { return !IsDue(request); });
    std::move(first, snapshot_requests_.end(), std::back_inserter(due));
    snapshot_requests_.erase(first, snapshot_requests_.end());
  }
  for (SnapshotRequest& request : due) request.answer.set_value(TakeSnapshot(now_ns));
}

Result<Snapshot> Drain::TakeSnapshot(uint64_t now_ns) {
  if (!Flush(now_ns, nullptr, RowsAre::kDue)) {
    return Error{outage_ ? outage_->error : store_.path() + ": cannot be written"};
  }
  // This chunk ends here, without a last block.
  (void)store_.Append(chunk_->ProtectRest());
  auto file = store_.Duplicate();
  if (!file.ok()) return file.error();
  const format::EndMarker ending{SinceStart(now_ns), format::kEndDump};
  auto last = chunk_->Finish(CountersWithPending(), consumer_.Positions(live_), SinceStart(now_ns), &ending);
  BeginChunk(now_ns, behind_written_);  // only the copy has that block
  if (!last.ok()) return last.error();
  return Snapshot{std::move(*file), std::move(*last)};
}

void Drain::RefuseSnapshots() {
  for (SnapshotRequest& request : std::exchange(snapshot_requests_, {})) {
    request.answer.set_value(Error{"the recording has ended"});
  }
}

}  // namespace heaprec::writer
