#include "recorder/writer/snapshot.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/output_path.h"
#include "format/codec/file_header.h"

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

}  // namespace heaprec::writer
