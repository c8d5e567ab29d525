// Between the recorder's parts and between them and libc: the same calls, and a point before and behind each.
//
// The names are the linker's (--wrap): a method that is renamed does not link, one whose seam was inlined away is
// missed by the test that dies at every point.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/ring/ring_reader.h"
#include "format/writer/chunk_writer.h"
#include "recorder/buffer/lane_lease.h"
#include "recorder/buffer/ring.h"
#include "recorder/writer/drain.h"
#include "recorder/writer/lane_consumer.h"
#include "recorder/writer/store.h"
#include "tests/crash/points.h"

using heaprec::Result;
using heaprec::buffer::LaneLease;
using heaprec::buffer::Ring;
using heaprec::buffer::RingOptions;
using heaprec::crash::Around;
using heaprec::crash::IsArmed;
using heaprec::crash::Pass;
using heaprec::format::ByteBuffer;
using heaprec::format::ChunkWriter;
using heaprec::format::RecordType;
using heaprec::format::RingRowPage;
using heaprec::format::Row;
using heaprec::format::Stream;
using heaprec::writer::ClosedInterval;
using heaprec::writer::Drain;
using heaprec::writer::LaneConsumer;
using heaprec::writer::Store;
using heaprec::writer::StoreConfig;

namespace {

struct PointsOfRecord {
  std::string_view reserving, reserved, committing, committed;
};
// By RecordType.
constexpr std::array<PointsOfRecord, 11> kPointsOfRecord{{
    {},
    {"class.reserving", "class.reserved", "class.committing", "class.committed"},
    {"method.reserving", "method.reserved", "method.committing", "method.committed"},
    {"stack.reserving", "stack.reserved", "stack.committing", "stack.committed"},
    {"thread.reserving", "thread.reserved", "thread.committing", "thread.committed"},
    {"window.reserving", "window.reserved", "window.committing", "window.committed"},
    {"sample.reserving", "sample.reserved", "sample.committing", "sample.committed"},
    {},
    {},
    {},
    {"point.reserving", "point.reserved", "point.committing", "point.committed"},
}};

thread_local size_t reserved_type = 0;
thread_local const void* reserved_record = nullptr;
// The drain's own thread.
thread_local bool is_appending = false;
thread_local bool is_refused = false;  // half of a block was written: there is no room for the rest

using AllCounters = heaprec::format::PerStream<heaprec::format::StreamCounters>;

}  // namespace

// The call that was made, and the one that answers it.
#define SEAM(result, name, symbol, ...)                     \
  result name##Real(__VA_ARGS__) __asm__("__real_" symbol); \
  result name##Seam(__VA_ARGS__) __asm__("__wrap_" symbol); \
  result name##Seam(__VA_ARGS__)

SEAM(void, Lease, "_ZN7heaprec6buffer9LaneLeaseC1ERNS0_4RingEjj", LaneLease* self, Ring& ring, uint32_t hint,
     uint32_t room) {
  const Around around("lease.taking", "lease.taken");
  LeaseReal(self, ring, hint, room);
}
SEAM(void, ReturnLease, "_ZN7heaprec6buffer9LaneLeaseD1Ev", LaneLease* self) {
  const Around around("lease.letting_go", "lease.let_go");
  ReturnLeaseReal(self);
}
SEAM(std::byte*, Reserve, "_ZN7heaprec6buffer9LaneLease7ReserveENS_6format10RecordTypeEm", LaneLease* self,
     RecordType type, size_t bytes) {
  reserved_type = static_cast<size_t>(type);
  const Around around(kPointsOfRecord[reserved_type].reserving, kPointsOfRecord[reserved_type].reserved);
  std::byte* const record = ReserveReal(self, type, bytes);
  reserved_record = record;
  return record;
}
SEAM(void, Commit, "_ZN7heaprec6buffer9LaneLease6CommitEv", LaneLease* self) {
  Pass(kPointsOfRecord[reserved_type].committing);
  CommitReal(self);
  const auto type = static_cast<RecordType>(reserved_type);
  if (type == RecordType::kSample) ++heaprec::crash::samples_committed;
  if (type == RecordType::kNativePoint && heaprec::crash::native_point_committed != nullptr) {
    heaprec::crash::native_point_committed(reserved_record);
  }
  Pass(kPointsOfRecord[reserved_type].committed);
}

SEAM(Result<std::unique_ptr<Ring>>, CreateRing, "_ZN7heaprec6buffer4Ring6CreateERKNS0_11RingOptionsE",
     const RingOptions& options) {
  const Around around("ring.creating", "ring.created");
  return CreateRingReal(options);
}
SEAM(void, CloseRing, "_ZN7heaprec6buffer4Ring5CloseEv", Ring* self) {
  Pass("ring.closing");
  CloseRingReal(self);
}

SEAM(void, Scan, "_ZN7heaprec6writer12LaneConsumer4ScanEv", LaneConsumer* self) {
  const Around around("scan.begin", "scan.end");
  ScanReal(self);
}
SEAM(Result<uint64_t>, WalkLane, "_ZN7heaprec6format8WalkLaneERKNS0_8RingViewEjmmRNS0_13RecordVisitorE",
     const heaprec::format::RingView& ring, uint32_t lane, uint64_t position, uint64_t head,
     heaprec::format::RecordVisitor& visitor) {
  const Around around("scan.lane", "scan.lane_done");
  return WalkLaneReal(ring, lane, position, head, visitor);
}
SEAM(ClosedInterval, CloseNext, "_ZN7heaprec6writer12LaneConsumer9CloseNextENS_6format6StreamE", LaneConsumer* self,
     Stream stream) {
  const Around around("interval.closing", "interval.closed");
  return CloseNextReal(self, stream);
}
SEAM(void, Release, "_ZN7heaprec6writer12LaneConsumer7ReleaseERKSt6vectorImSaImEE", LaneConsumer* self,
     const std::vector<uint64_t>& positions) {
  const Around around("block.releasing", "block.released");
  ReleaseReal(self, positions);
}
SEAM(void, NewChunk, "_ZN7heaprec6writer12LaneConsumer8NewChunkEPNS_6format11ChunkWriterEj", LaneConsumer* self,
     ChunkWriter* chunk, uint32_t sequence) {
  const Around around("chunk.beginning", "chunk.begun");
  NewChunkReal(self, chunk, sequence);
}
SEAM(Result<ByteBuffer>, Flush,
     "_ZN7heaprec6format11ChunkWriter5FlushERKNS0_9PerStreamINS0_14StreamCountersEEESt4spanIKmLm18446744073709551615EE"
     "mNS1_7RowsAreE",
     ChunkWriter* self, const AllCounters& counters, std::span<const uint64_t> positions, uint64_t now_ns,
     ChunkWriter::RowsAre rows) {
  const Around around("block.encoding", "block.encoded");
  return FlushReal(self, counters, positions, now_ns, rows);
}
SEAM(void, FillRowPage,
     "_ZN7heaprec6format11FillRowPageEmSt4spanIKNS0_3RowELm18446744073709551615EES4_PNS0_11RingRowPageE",
     uint64_t block, std::span<const Row> rows, std::span<const Row> outside, RingRowPage* page) {
  const Around around("rows.filling", "rows.filled");
  if (IsArmed("rows.half_filled")) {
    page->block.store(0);
    page->rows = static_cast<uint32_t>(rows.size());
    std::ranges::copy(rows.first((rows.size() + 1) / 2), page->entries.begin());
    Pass("rows.half_filled");
  }
  FillRowPageReal(block, rows, outside, page);
}
SEAM(Result<ByteBuffer>, Finish,
     "_ZN7heaprec6format11ChunkWriter6FinishERKNS0_9PerStreamINS0_14StreamCountersEEESt4spanIKmLm18446744073709551615EE"
     "mPKNS0_9EndMarkerE",
     ChunkWriter* self, const AllCounters& counters, std::span<const uint64_t> positions, uint64_t now_ns,
     const heaprec::format::EndMarker* ending) {
  const Around around("chunk.finishing", "chunk.finished");
  return FinishReal(self, counters, positions, now_ns, ending);
}

SEAM(Result<Store>, CreateStore, "_ZN7heaprec6writer5Store6CreateENS0_11StoreConfigE", StoreConfig config) {
  const Around around("file.creating", "file.created");
  return CreateStoreReal(std::move(config));
}
SEAM(heaprec::Status, Append, "_ZN7heaprec6writer5Store6AppendESt4spanIKSt4byteLm18446744073709551615EE", Store* self,
     std::span<const std::byte> block) {
  const Around around("block.appending", "block.appended");
  is_appending = true;
  auto written = AppendReal(self, block);
  is_appending = false;
  return written;
}
SEAM(bool, OpenNext, "_ZN7heaprec6writer5Store8OpenNextEmRKNS_6format9FileStartE", Store* self, uint64_t now_ns,
     const heaprec::format::FileStart& start) {
  const bool opens = OpenNextReal(self, now_ns, start);
  if (opens) Pass("rotation.opened");
  return opens;
}
SEAM(void, Resume, "_ZN7heaprec6writer5Store6ResumeEb", Store* self, bool ended) {
  const Around around("rotation.turning", "rotation.turned");
  ResumeReal(self, ended);
}
SEAM(void, FinishStore, "_ZN7heaprec6writer5Store6FinishEv", Store* self) {
  const Around around("end.finishing", "end.finished");
  FinishStoreReal(self);
}
SEAM(void, RequestStop, "_ZN7heaprec6writer5Drain11RequestStopERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
     Drain* self, const std::string& reason) {
  RequestStopReal(self, reason);
  Pass("stop.requested");
}
SEAM(heaprec::Status, StartDrain, "_ZN7heaprec6writer5Drain5StartEv", Drain* self) {
  const Around around("drain.starting", "drain.started");
  return StartDrainReal(self);
}

SEAM(ssize_t, Pwrite, "pwrite", int descriptor, const void* bytes, size_t count, off_t offset) {
  if (is_appending && IsArmed("block.half_written") && count > 1) {
    (void)PwriteReal(descriptor, bytes, count / 2, offset);
    Pass("block.half_written");
  }
  const bool refuses = IsArmed("block.taking_back") || IsArmed("block.taken_back");
  if (is_appending && refuses && is_refused) {
    errno = ENOSPC;
    return -1;
  }
  if (is_appending && refuses && count > 1) {
    is_refused = true;
    return PwriteReal(descriptor, bytes, count / 2, offset);
  }
  return PwriteReal(descriptor, bytes, count, offset);
}
SEAM(int, Ftruncate, "ftruncate", int descriptor, off_t size) {
  const Around around("block.taking_back", "block.taken_back");
  is_refused = false;
  return FtruncateReal(descriptor, size);
}
SEAM(int, Fdatasync, "fdatasync", int descriptor) {
  const Around around("sync.begin", "sync.end");
  return FdatasyncReal(descriptor);
}
SEAM(int, Rename, "rename", const char* from, const char* to) {
  const Around around("copy.renaming", "copy.renamed");
  return RenameReal(from, to);
}
SEAM(int, Fallocate, "posix_fallocate", int descriptor, off_t offset, off_t bytes) {
  const Around around("ring.allocating", "ring.allocated");
  return FallocateReal(descriptor, offset, bytes);
}
SEAM(int, Unlink, "unlinkat", int folder, const char* path, int flags) {
  const Around around("name.removing", "name.removed");
  return UnlinkReal(folder, path, flags);
}
