#include "tools/import/jfr/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <span>

#include "base/result.h"
#include "format/codec/file_header.h"
#include "format/ring/content_keys.h"
#include "format/ring/ring_reader.h"
#include "format/writer/chunk_writer.h"
#include "tools/import/jfr/constants.h"
#include "tools/import/jfr/file.h"
#include "tools/input/stream_traits.h"
#include "tools/text/text.h"

namespace heaprec::tools::jfr {
namespace {

constexpr size_t kMaxDoubts = 20, kMaxDoubtBytes = 500;  // they become part of a file header

// Calls `visit(field, cursor)` for the fields of the event.
template <typename Visit>
void ForEachFieldOf(Event event, const Visit& visit) {
  ForEachField(*event.type, &event.fields, visit);
}

void ReadJvm(const Event& event, const Constants& constants, JfrScan* scan) {
  ForEachFieldOf(event, [&](const Field& field, Cursor at) {
    if (field.name == "jvmName") scan->jvm_name = constants.TextOf(field, at);
    if (field.name == "jvmVersion") scan->jvm_version = constants.TextOf(field, at);
    if (field.name == "pid") scan->pid = static_cast<uint64_t>(ReadInteger(*field.type, &at));
  });
}

void CountOldObject(const Event& event, const Constants& constants, JfrScan* scan) {
  const auto object = ReadOldObject(event, constants);
  if (!object) return;
  OldObjects& last = scan->old_objects;
  const bool is_later = last.chunk != scan->chunks || object->seen_ticks > last.seen_ticks;
  if (is_later) last = {0, 0, scan->chunks, object->seen_ticks};
  if (object->seen_ticks != last.seen_ticks) return;
  ++last.count;
  if (object->has_root) ++last.with_root;
}

void Look(const Event& event, const Constants& constants, JfrScan* scan) {
  const std::string_view name = event.type->name;
  if (const auto set = EventSetOf(name)) {
    ++scan->events[*set];
  } else if (IsOldObject(name)) {
    CountOldObject(event, constants, scan);
  } else if (name == "jdk.JVMInformation") {
    ReadJvm(event, constants, scan);
  } else if (name == "jdk.DataLoss") {
    ForEachFieldOf(event, [&](const Field& field, Cursor at) {
      if (field.name == "amount") scan->lost_bytes += static_cast<uint64_t>(ReadInteger(*field.type, &at));
    });
  } else if (name == "heaprec.Recording") {
    ForEachFieldOf(event, [&](const Field& field, const Cursor& at) {
      if (field.name == "source") scan->heaprec_source = constants.TextOf(field, at);
    });
  } else if (name == "heaprec.Doubt") {
    ForEachFieldOf(event, [&](const Field& field, const Cursor& at) {
      if (field.name == "reason" && scan->doubts.size() < kMaxDoubts) {
        scan->doubts.push_back(constants.TextOf(field, at).substr(0, kMaxDoubtBytes));
      }
    });
  }
}

constexpr char kNoRoots[] = "the JFR file does not say what holds old objects (JFR.dump path-to-gc-roots=true)";
constexpr uint64_t kIntervalNs = 1'000'000'000;
constexpr size_t kMaxAtOnce = 1 << 20;  // allocations to sort by time at once
constexpr size_t kRowsOfBlock = 4096;
constexpr uint64_t kFirstOldObject = uint64_t{1} << 40;  // id beyond those of the samples
constexpr uint64_t kChunkBytes = 8 << 20;                // docs/format/recording.md#bounds
constexpr uint64_t kNamesOfBlock = 16 << 20;

format::RecordingId IdOf(const std::string& text) {
  format::RecordingId id{};
  const uint64_t halves[] = {format::ClassKey(text), format::ClassKey("import " + text)};
  static_assert(sizeof(halves) == sizeof(id));
  std::memcpy(id.data(), halves, sizeof(halves));
  return id;
}

// heaprec's own weights, unless they were biased.
bool IsUnbiased(const JfrScan& scan) {
  const std::string& source = scan.heaprec_source;
  return !source.empty() && source != kImported;
}

std::string ReasonOf(const JfrScan& scan, EventSet set) {
  if (!scan.heaprec_source.empty()) {
    std::string reason =
        fmt::format("JFR that heaprec exported; source {}; {}", scan.heaprec_source,
                    IsUnbiased(scan) ? "windows and counted bytes are not in it" : "weights are biased");
    if (!scan.doubts.empty()) reason += fmt::format("; {}{}", kWasDoubted, fmt::join(scan.doubts, "; "));
    return reason;
  }
  const bool by_jvm = scan.producer == "JFR";
  std::string reason = scan.producer;
  if (set == EventSet::kSamples) {
    reason +=
        ", jdk.ObjectAllocationSample; weights are biased: code that refills a TLAB is charged with what its thread "
        "allocated since the sample before; object sizes are not in it, so no objects are estimated";
  } else if (by_jvm) {
    reason +=
        ", jdk.ObjectAllocationInNewTLAB and -OutsideTLAB; weights are biased: code that refills a TLAB is charged "
        "with all of it";
  } else {
    reason += "; weights are biased: a sample represents its interval, its size if that is more, or a TLAB";
  }
  if (scan.lost_bytes > 0) reason += fmt::format("; {} bytes of events were lost", Grouped(scan.lost_bytes));
  return reason;
}

class RecordingWriter {
 public:
  RecordingWriter(const format::FileHeader& header, Output* output) : header_(header), output_(*output) {
    output_.Append(EncodeFileHeader(header));
    StartChunk();
  }

  // Sets the names for the next samples.
  void Enter(const File& file) {
    file_ = &file;
    names_ = std::make_unique<NamesOfChunk>(file.metadata(), file.constants(), chunk_.get());
    names_written_ = 0;
  }

  Status Add(const Allocation& allocation, uint64_t time_ns) {
    format::Sample sample;
    sample.id = ++counters_[format::Stream::kAllocations].written;
    sample.time_ns = time_ns;
    sample.kind = allocation.kind;
    sample.class_id = names_->Class(allocation.object_class);
    sample.thread = names_->Thread(allocation.thread, allocation.labels);
    sample.stack = names_->Stack(allocation.stack);
    sample.size = allocation.size;
    sample.tlab_size = allocation.tlab_size;
    sample.weight = allocation.weight;
    chunk_->Add(sample);
    if (header_.max_tracked_objects > 0) AddUntracked(sample);
    return Added(time_ns);
  }

  Status Add(format::ProcessState state) {
    state.id = ++states_;
    const uint64_t time_ns = state.time_ns;
    chunk_->Add(state);
    return Added(time_ns);
  }

  // Adds old objects as a live checkpoint, which must be in the first block of a chunk: so this begins a new chunk.
  // `born_ns`: times of birth since the start.
  Status Add(std::span<const OldObject> objects, std::span<const uint64_t> born_ns) {
    auto written = FinishChunk();
    for (size_t i = 0; i < objects.size(); ++i) {
      format::CheckpointSample checkpoint_sample;
      checkpoint_sample.sample.id = kFirstOldObject + i;
      checkpoint_sample.sample.time_ns = born_ns[i];
      checkpoint_sample.sample.class_id = names_->Class(objects[i].object_class);
      checkpoint_sample.sample.thread = names_->Thread(objects[i].thread, objects[i].labels);
      checkpoint_sample.sample.stack = names_->Stack(objects[i].stack);
      checkpoint_sample.sample.size = objects[i].size;
      checkpoint_sample.sample.weight = objects[i].weight;
      chunk_->Add(checkpoint_sample);
    }
    return written;
  }

  // What held old objects, by their number among those of Add, which are known to be live from now on. The file does
  // not say how much was searched.
  Status Add(const std::map<size_t, ObjectPath>& paths) {
    format::ProcessState row;
    row.time_ns = end_ns_;
    row.kind = format::ProcessStateKind::kPathWalk;
    row.committed = format::kWalkNumber + static_cast<uint64_t>(format::WalkEnd::kTime);
    row.pauses = paths.size();
    auto added = Add(row);
    row.kind = format::ProcessStateKind::kPath;
    row.committed = format::kWalkNumber;
    row.pauses = 0;
    for (auto path = paths.begin(); added && path != paths.end(); ++path) {
      row.used = kFirstOldObject + path->first;
      // Stack and thread before the row: the chunk may end behind the row before.
      row.stack = names_->Path(path->second);
      row.thread = path->second.thread.empty() ? format::kNone : chunk_->InternThread({.name = path->second.thread});
      added = Add(row);
    }
    return added;
  }

  void ExtendTo(uint64_t end_ns) { end_ns_ = std::max(end_ns_, end_ns); }

  Status End() {
    const format::EndMarker ending{end_ns_, "import"};
    return Write(chunk_->Finish(StreamCounters(), {}, end_ns_, &ending));
  }

 private:
  void StartChunk() { chunk_ = std::make_unique<format::ChunkWriter>(header_, next_chunk_++); }

  // The file does not say when samples died: only old objects are known to be live.
  void AddUntracked(const format::Sample& sample) {
    last_lifecycle_ns_ = std::max(last_lifecycle_ns_, sample.time_ns);
    chunk_->Add(format::LifecycleEvent{
        .sample = sample.id, .time_ns = last_lifecycle_ns_, .kind = format::LifecycleKind::kUntracked});
    ++counters_[format::Stream::kAllocations].untracked;
  }

  // Counts a row; writes a block when there are enough rows.
  Status Added(uint64_t time_ns) {
    ExtendTo(time_ns);
    if (++pending_ < kRowsOfBlock && names_->bytes() - names_written_ < kNamesOfBlock) return {};
    pending_ = 0;
    names_written_ = names_->bytes();
    if (chunk_->raw_bytes() < kChunkBytes) return Write(chunk_->Flush(StreamCounters(), {}, end_ns_));
    return FinishChunk();
  }

  Status FinishChunk() {
    pending_ = 0;
    auto written = Write(chunk_->Finish(StreamCounters(), {}, end_ns_, nullptr));
    StartChunk();
    Enter(*file_);
    return written;
  }

  // The import loses nothing: all samples are written.
  const format::PerStream<format::StreamCounters>& StreamCounters() {
    format::StreamCounters& counters = counters_[format::Stream::kAllocations];
    counters.points = counters.committed = counters.written;
    return counters_;
  }

  Status Write(const Result<format::ByteBuffer>& bytes) {
    if (!bytes.ok()) return bytes.error();
    output_.Append(*bytes);
    return {};
  }

  const format::FileHeader& header_;
  Output& output_;
  const File* file_ = nullptr;
  std::unique_ptr<format::ChunkWriter> chunk_;
  std::unique_ptr<NamesOfChunk> names_;
  uint32_t next_chunk_ = 0;
  size_t pending_ = 0;  // number of rows
  uint64_t names_written_ = 0, end_ns_ = 0, last_lifecycle_ns_ = 0;
  uint64_t states_ = 0;
  format::PerStream<format::StreamCounters> counters_;
};

// The allocations of a chunk are in the order in which threads delivered their buffers; this sorts them.
class ChunkImport {
 public:
  ChunkImport(const File& file, uint64_t start_epoch_ns, RecordingWriter* writer)
      : header_(file.header()), start_ns_(static_cast<int64_t>(start_epoch_ns)), writer_(*writer) {
    writer_.Enter(file);
  }

  Status Add(const Allocation& allocation) {
    allocations_.push_back(allocation);
    if (allocations_.size() >= kMaxAtOnce) return Write();
    return {};
  }

  std::vector<format::ProcessState> StatesOf(const Collections& collections, uint64_t first_id) const {
    return collections.States(header_, start_ns_, first_id);
  }

  Status Add(const std::vector<format::ProcessState>& states) {
    for (const format::ProcessState& state : states) {
      RETURN_IF_ERROR(writer_.Add(state));
    }
    return {};
  }

  Status Add(const std::vector<OldObject>& objects, const std::map<size_t, ObjectPath>& paths) {
    std::vector<uint64_t> born_ns;
    for (const OldObject& object : objects) born_ns.push_back(SinceStart(header_.TimeOf(object.born_ticks)));
    auto added = writer_.Add(objects, born_ns);
    if (!added || paths.empty()) return added;
    return writer_.Add(paths);
  }

  Status Write() {
    std::ranges::stable_sort(allocations_, {}, &Allocation::ticks);
    for (const Allocation& allocation : allocations_) {
      RETURN_IF_ERROR(writer_.Add(allocation, SinceStart(header_.TimeOf(allocation.ticks))));
    }
    allocations_.clear();
    writer_.ExtendTo(SinceStart(header_.TimeOf(header_.start_ticks)) +
                     static_cast<uint64_t>(std::clamp<int64_t>(header_.duration_ns, 0, INT64_MAX / 2)));
    return {};
  }

 private:
  uint64_t SinceStart(int64_t time_ns) const {
    return static_cast<uint64_t>(std::max<int64_t>(time_ns - start_ns_, 0));
  }

  const ChunkHeader header_;
  const int64_t start_ns_;
  RecordingWriter& writer_;
  std::vector<Allocation> allocations_;
};

// `last`: the old objects to import are in this chunk; otherwise nullptr. `first_gc`: id of the first collection so
// far; nullopt: none yet.
Status ImportChunk(EventSet set, const OldObjects* last, File* file, ChunkImport* chunk,
                   std::optional<uint64_t>* first_gc, Imported* imported) {
  Collections collections;
  std::vector<OldObject> objects;
  std::map<size_t, ObjectPath> paths;
  while (const auto event = file->NextEvent()) {
    collections.Add(*event, file->constants());
    if (last != nullptr && IsOldObject(event->type->name)) {
      const auto object = ReadOldObject(*event, file->constants());
      if (object && object->seen_ticks == last->seen_ticks) {
        if (object->has_root) paths.emplace(objects.size(), ReadPath(*event, file->constants()));
        objects.push_back(*object);
      }
    }
    if (EventSetOf(event->type->name) != set) continue;
    const auto allocation = ReadAllocation(*event);
    ++(allocation ? imported->samples : imported->refused);
    if (!allocation) continue;
    RETURN_IF_ERROR(chunk->Add(*allocation));
  }
  RETURN_IF_ERROR(chunk->Write());
  if (!*first_gc) *first_gc = collections.FirstId();
  const std::vector<format::ProcessState> states = chunk->StatesOf(collections, first_gc->value_or(0));
  imported->collections +=
      static_cast<uint64_t>(std::ranges::count(states, format::ProcessStateKind::kGcEnd, &format::ProcessState::kind));
  imported->old_objects += objects.size();
  imported->paths += paths.size();
  auto added = chunk->Add(states);
  return added && !objects.empty() ? chunk->Add(objects, paths) : added;
}

// Returns "17.0.15+6" for "OpenJDK 64-Bit Server VM (17.0.15+6) for linux-amd64 JRE (17.0.15+6), built on ...", which
// HotSpot writes into jdk.JVMInformation. Returns other texts unchanged.
std::string ShortVersion(const std::string& text) {
  const size_t open = text.find('('), close = text.find(')', open);
  return close == std::string::npos ? text : text.substr(open + 1, close - open - 1);
}

}  // namespace

JfrScan ScanOf(format::ByteSource* source) {
  JfrScan scan;
  File file(source);
  while (file.NextChunk()) {
    if (scan.chunks++ == 0) scan.start_ns = file.header().start_ns;
    // The JDK's metadata contains no events with this name.
    if (file.metadata().Named("profiler.Log") != nullptr) scan.producer = "async-profiler";
    while (const auto event = file.NextEvent()) Look(*event, file.constants(), &scan);
  }
  scan.damage = file.damage();
  return scan;
}

uint64_t JfrScan::Count(EventSet set) const {
  const auto found = events.find(set);
  return found == events.end() ? 0 : found->second;
}

EventSet JfrScan::Choose(std::string_view asked) const {
  if (asked != "tlab" && Count(EventSet::kOwnSamples) > 0) return EventSet::kOwnSamples;
  const bool takes_tlabs = asked == "tlab" || (asked == "auto" && Count(EventSet::kSamples) == 0);
  return takes_tlabs ? EventSet::kTlabs : EventSet::kSamples;
}

format::FileHeader HeaderOf(const JfrScan& scan, EventSet set) {
  format::FileHeader header;
  header.start_epoch_ns = static_cast<uint64_t>(scan.start_ns);
  header.interval_ns = kIntervalNs;
  header.pid = static_cast<uint32_t>(scan.pid);
  header.jvm_name = scan.jvm_name;
  header.jvm_version = ShortVersion(scan.jvm_version);
  header.source = IsUnbiased(scan) ? kImportedOwn : kImported;
  header.source_reason = ReasonOf(scan, set);
  if (!scan.heaprec_source.empty() && !scan.doubts.empty()) header.Note(format::SourceFact::kOriginalDoubted);
  header.max_tracked_objects = scan.old_objects.count;
  header.settings.push_back({"paths", scan.old_objects.with_root > 0 ? "" : kNoRoots});
  const uint64_t events = scan.events.contains(set) ? scan.events.at(set) : 0;
  header.recording_id =
      IdOf(fmt::format("{} {} {} {} {}", scan.start_ns, scan.chunks, events, scan.pid, static_cast<int>(set)));
  return header;
}

Result<Imported> Import(format::ByteSource* source, const format::FileHeader& header, const JfrScan& scan, EventSet set,
                        Output* output) {
  RecordingWriter writer(header, output);
  Imported imported;
  std::optional<uint64_t> first_gc;
  File file(source);
  while (!output->failed() && file.NextChunk()) {
    ChunkImport chunk(file, header.start_epoch_ns, &writer);
    const bool has_last_objects = file.chunks() == scan.old_objects.chunk;
    RETURN_IF_ERROR(
        ImportChunk(set, has_last_objects ? &scan.old_objects : nullptr, &file, &chunk, &first_gc, &imported));
  }
  RETURN_IF_ERROR(writer.End());
  imported.damage = file.damage();
  return imported;
}

}  // namespace heaprec::tools::jfr
