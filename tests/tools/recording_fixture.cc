#include "tests/tools/recording_fixture.h"

#include <sys/wait.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "format/ring/content_keys.h"
#include "format/ring/ring_records.h"
#include "format/writer/chunk_writer.h"

namespace heaprec::tools::testing {
namespace {

namespace fs = std::filesystem;

// "java/util/HashMap.resize:702" in its parts; "p/A.get()[B@12:7" has a descriptor and a bytecode index.
struct Site {
  format::Method method;
  int32_t line = -1, bci = 5;
};

Site SiteOf(const std::string& text) {
  const size_t colon = text.find(':');
  std::string name = text.substr(0, colon);
  Site site;
  if (colon != std::string::npos) site.line = std::stoi(text.substr(colon + 1));
  const size_t at = name.rfind('@');
  if (at != std::string::npos && name.find_first_not_of("0123456789", at + 1) == std::string::npos) {
    site.bci = std::stoi(name.substr(at + 1));
    name.resize(at);
  }
  site.method.descriptor = "(Ljava/lang/Object;I)V";
  // Hostile names have parentheses, too.
  const size_t end = name.rfind(')'), begin = name.rfind('(', end);
  if (end != std::string::npos && begin != std::string::npos && name.find_first_of("V[LZBCSIJFD", end) == end + 1) {
    site.method.descriptor = name.substr(begin);
    name.resize(begin);
  }
  const size_t dot = name.rfind('.');
  site.method.class_name = name.substr(0, dot);
  site.method.name = name.substr(dot + 1);
  return site;
}

constexpr uint32_t kOsTidOffset = 1000;

// The one window of the event's stream.
uint32_t WindowOf(const Event& event) {
  switch (format::StreamOf(event.kind)) {
    case format::Stream::kAllocations:
      return 1;
    case format::Stream::kExceptions:
      return format::kWindowStreamBit + 1;
    case format::Stream::kNative:
      return format::kNativeWindowBit + 1;
    case format::Stream::kMapping:
      return format::kMappingWindowBit + 1;
  }
  return 0;
}

// The same thread for the same name.
format::Thread ThreadOf(const Event& event) {
  const uint64_t tid = event.thread == "main" ? 1 : 10 + event.thread.size();
  return {tid, static_cast<uint32_t>(kOsTidOffset + tid), false, event.thread};
}

uint64_t KeyOfThread(const Event& event) {
  const format::Thread thread = ThreadOf(event);
  return format::ThreadKey(thread.java_tid, thread.os_tid, thread.is_virtual, thread.name);
}

format::FrameType TypeOf(const Event& event, size_t frame) {
  return frame < event.types.size() ? event.types[frame] : format::FrameType::kUnknown;
}

bool IsAddress(const std::string& text) { return text.starts_with("0x"); }

std::vector<format::RingFrame> FramesOf(const Event& event) {
  std::vector<format::RingFrame> frames;
  for (const std::string& text : event.stack) {
    if (IsAddress(text)) {
      frames.push_back(format::AddressFrame(std::stoull(text, nullptr, 16)));
      continue;
    }
    const Site site = SiteOf(text);
    frames.push_back({format::MethodKey(site.method.class_name, site.method.name, site.method.descriptor), site.bci,
                      site.line, TypeOf(event, frames.size())});
  }
  return frames;
}

std::string_view BytesOf(const std::vector<format::RingFrame>& frames) {
  return {reinterpret_cast<const char*>(frames.data()), frames.size() * sizeof(format::RingFrame)};
}

}  // namespace

Directory::Directory() {
  std::string pattern = (fs::temp_directory_path() / "heaprec-test-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

Directory::~Directory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<std::string> Directory::Entries() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

format::FileHeader SomeHeader() {
  format::FileHeader header;
  for (size_t i = 0; i < header.recording_id.size(); ++i) header.recording_id[i] = static_cast<uint8_t>(0xa0 + i);
  header.start_epoch_ns = 1795192800 * kSecond;
  header.start_monotonic_ns = 5000 * kSecond;
  header.interval_ns = kSecond;
  header.interval_cap = 150;
  header.rate_per_second = 150;
  header.jvm_name = "OpenJDK 64-Bit Server VM";
  header.jvm_version = "17.0.21+9";
  header.gc_name = "G1";
  header.agent_version = "0.1.0";
  header.agent_options = "file=rec.bin,rate=150";
  header.source = "hooks";
  header.source_reason = "symbols found";
  return header;
}

RecordingFile::RecordingFile(std::string path, const format::FileHeader& header)
    : path_(std::move(path)), header_(header), writer_(std::make_unique<format::ChunkWriter>(header, 0)) {
  Append(format::EncodeFileHeader(header));
}

RecordingFile::~RecordingFile() = default;

void RecordingFile::StartNextChunk() { writer_ = std::make_unique<format::ChunkWriter>(header_, ++chunk_); }

void RecordingFile::FlushWithOpenRows(uint64_t end_ns, const std::vector<uint64_t>& lane_positions) {
  const auto block = writer_->Flush(counters_, lane_positions, end_ns, format::ChunkWriter::RowsAre::kOpen);
  REQUIRE(block.ok());
  Append(*block);
}

void RecordingFile::FillRowPage(format::RingRowPage* page) const {
  format::FillRowPage(format::RowPageOf(chunk_, writer_->next_block() - 1), writer_->rows(), writer_->outside(), page);
}

void RecordingFile::Append(const format::ByteBuffer& bytes) {
  std::ofstream file(path_, std::ios::binary | std::ios::app);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  size_ += bytes.size();
}

format::Index RecordingFile::Stack(const Event& event) {
  std::vector<format::StackFrame> frames;
  for (const std::string& text : event.stack) {
    const Site site = SiteOf(text);
    if (text == "...") {
      frames.push_back({.line = format::kGapLine});
    } else if (text.starts_with('@')) {
      frames.push_back({.bci = site.bci});
    } else {
      frames.push_back({writer_->InternMethod(site.method), site.bci, site.line, TypeOf(event, frames.size())});
    }
  }
  return frames.empty() ? format::kNone : writer_->InternStack(frames, false);
}

format::Index RecordingFile::Thread(const Event& event) { return writer_->InternThread(ThreadOf(event)); }

void RecordingFile::Define(const Event& event) {
  writer_->InternClass(event.class_name);
  Stack(event);
  Thread(event);
}

format::Sample RecordingFile::SampleOf(const Event& event, uint64_t id) {
  format::Sample sample;
  sample.id = id;
  sample.time_ns = event.time_ns;
  sample.kind = event.kind;
  sample.thread = Thread(event);
  sample.class_id = writer_->InternClass(event.class_name);
  sample.stack = Stack(event);
  sample.size = event.size;
  sample.tlab_size = event.kind == format::Kind::kTlab ? 1 << 16 : 0;
  sample.window = WindowOf(event);
  sample.weight = event.weight;
  return sample;
}

void RecordingFile::Add(const Event& event) {
  const format::Sample sample = SampleOf(event, event.id != 0 ? event.id : next_id_++);
  writer_->Add(sample);
  format::StreamCounters& counters = counters_[sample.stream()];
  ++counters.points;
  ++counters.committed;
  ++counters.written;
  const auto counted = static_cast<uint64_t>(event.weight);
  (format::CountsEvents(sample.stream()) ? counters.candidates : counters.candidate_bytes) += counted;
}

void RecordingFile::AddPoint(const Event& event) {
  writer_->AddPoint(writer_->InternClass(event.class_name), Stack(event), event.size, event.weight);
}

void RecordingFile::AddOutside(const std::string& class_name, uint64_t objects, uint64_t bytes) {
  writer_->AddOutside(writer_->InternClass(class_name), objects, bytes);
}

void RecordingFile::Add(format::ProcessState state, const std::vector<std::string>& stack) {
  Event event;
  event.stack = stack;
  state.stack = Stack(event);
  writer_->Add(state);
}

void RecordingFile::Add(const format::LifecycleEvent& lifecycle) {
  counters_[lifecycle.stream].untracked += lifecycle.kind == format::LifecycleKind::kUntracked ? 1 : 0;
  writer_->Add(lifecycle);
}

void RecordingFile::AddSearch(uint64_t time_ns, uint64_t paths) {
  search_.time_ns = time_ns;
  search_.kind = format::ProcessStateKind::kPathWalk;
  search_.committed = format::kWalkNumber;
  search_.pauses = paths;
  writer_->Add(search_);
}

void RecordingFile::AddPath(uint64_t sample, const std::vector<std::string>& path, const std::string& thread) {
  format::ProcessState state;
  state.time_ns = search_.time_ns;
  state.kind = format::ProcessStateKind::kPath;
  state.committed = search_.committed;
  state.used = sample;
  Event event;
  event.stack = path;
  event.thread = thread;
  state.stack = Stack(event);
  if (!thread.empty()) state.thread = Thread(event);
  writer_->Add(state);
}

void RecordingFile::AddCheckpointSample(const Event& event, double threshold, uint64_t collections, uint64_t gone) {
  writer_->Add(format::CheckpointSample{SampleOf(event, event.id), threshold, collections, gone});
}

void RecordingFile::AddRow(const Event& event, uint64_t points, uint64_t kept) {
  format::Row row{.class_id = writer_->InternClass(event.class_name), .stack = Stack(event)};
  for (uint64_t i = 0; i < points; ++i) row.Add(event.size, event.weight);
  writer_->Add(row);
  format::StreamCounters& counters = counters_[format::Stream::kAllocations];
  counters.points += points - kept;
  counters.committed += points - kept;
  counters.second_stage += points - kept;
}

void RecordingFile::AddWalk(uint64_t time_ns, const std::string& thread, double weight,
                            const std::vector<Found>& found) {
  Event event;
  event.thread = thread;
  format::CensusRow row;
  row.time_ns = time_ns / format::kCensusSlotNs * format::kCensusSlotNs;
  row.thread = Thread(event);
  row.walks = 1;
  uint64_t objects = 0, bytes = 0;
  for (const Found& one : found) objects += one.objects, bytes += one.bytes;
  for (const Found& one : found) {
    format::CensusRow of = row;
    of.class_id = writer_->InternClass(one.class_name);
    of.objects.Add(one.objects, bytes, weight);
    of.bytes.Add(one.bytes, bytes, weight);
    writer_->AddCensus(of);
  }
  row.objects.Add(objects, bytes, weight);
  row.bytes.Add(bytes, bytes, weight);
  writer_->AddCensusTotal(row);
  ++census_.walks;
  census_.walked_bytes += bytes;
}

void RecordingFile::Flush(const std::vector<uint64_t>& lane_positions, uint64_t end_ns) {
  writer_->SetCensus(census_, census_page_);
  const auto block = writer_->Flush(counters_, lane_positions, end_ns);
  REQUIRE(block.ok());
  Append(*block);
}

void RecordingFile::StartChunk(uint64_t end_ns) {
  writer_->SetCensus(census_, census_page_);
  const auto block = writer_->Finish(counters_, {}, end_ns, nullptr);
  REQUIRE(block.ok());
  Append(*block);
  writer_ = std::make_unique<format::ChunkWriter>(header_, ++chunk_);
}

void RecordingFile::AddProvisional(const std::vector<format::Interval>& lost, uint64_t end_ns) {
  format::ChunkWriter counts(header_, chunk_ + 1);
  for (const format::Interval& interval : lost) counts.Add(interval);
  const auto chunk = counts.Finish(counters_, {}, end_ns, nullptr);
  REQUIRE(chunk.ok());
  Append(format::ProvisionalBlock(*chunk, header_.recording_id));
}

void RecordingFile::End(const std::string& reason, uint64_t time_ns) {
  const format::EndMarker ending{time_ns, reason};
  writer_->SetCensus(census_, census_page_);
  const auto block = writer_->Finish(counters_, {}, time_ns, &ending);
  REQUIRE(block.ok());
  Append(*block);
}

RingFile::RingFile(const format::FileHeader& header, uint32_t lanes, uint32_t lane_bytes)
    : start_monotonic_ns_(header.start_monotonic_ns),
      words_((format::kRingHeaderBytes + lanes * (format::kLaneHeaderBytes + size_t{lane_bytes}) +
              (header.census != format::CensusMode::kOff ? sizeof(format::RingCensusPages) : 0)) /
             8),
      heads_(lanes) {
  format::RingHeader& ring = this->header();
  ring.magic = format::kRingMagic;
  ring.version = format::kRingVersion;
  ring.header_bytes = format::kRingHeaderBytes;
  std::memcpy(ring.recording_id, header.recording_id.data(), header.recording_id.size());
  ring.pid = header.pid;
  ring.lane_count = lanes;
  ring.lane_header_bytes = format::kLaneHeaderBytes;
  ring.lane_bytes = lane_bytes;
  ring.start_epoch_ns = header.start_epoch_ns;
  ring.start_monotonic_ns = header.start_monotonic_ns;
  ring.interval_ns = header.interval_ns;
  ring.interval_cap = header.interval_cap;
  ring.exceptions.interval_ns = header.exceptions.interval_ns;
  ring.exceptions.interval_cap = header.exceptions.interval_cap;
  ring.state = static_cast<uint32_t>(format::RingState::kRunning);
  if (header.census == format::CensusMode::kOff) return;
  ring.census_at = format::kRingHeaderBytes + lanes * (format::kLaneHeaderBytes + size_t{lane_bytes});
}

std::byte* RingFile::lane(uint32_t lane) {
  return reinterpret_cast<std::byte*>(words_.data()) + format::kRingHeaderBytes +
         lane * (format::kLaneHeaderBytes + size_t{header().lane_bytes});
}

void RingFile::SetTail(uint32_t lane, uint64_t tail) {
  reinterpret_cast<format::LaneHeader*>(this->lane(lane))->tail = tail;
}

template <typename Record>
void RingFile::Append(uint32_t lane, format::RecordType type, Record record, std::string_view rest) {
  const size_t bytes =
      (sizeof record + rest.size() + format::kRecordAlign - 1) / format::kRecordAlign * format::kRecordAlign;
  REQUIRE(heads_[lane] + bytes <= header().lane_bytes);
  record.header = {static_cast<uint32_t>(bytes), type, 0};
  std::byte* at = this->lane(lane) + format::kLaneHeaderBytes + heads_[lane];
  std::memcpy(at, &record, sizeof record);
  std::memcpy(at + sizeof record, rest.data(), rest.size());
  heads_[lane] += bytes;
  reinterpret_cast<format::LaneHeader*>(this->lane(lane))->head = heads_[lane];
}

void RingFile::DefineClass(uint32_t lane, const std::string& name) {
  format::ClassRecord record{};
  record.key = format::ClassKey(name);
  record.name_bytes = static_cast<uint32_t>(name.size());
  Append(lane, format::RecordType::kClass, record, name);
}

void RingFile::DefineStack(uint32_t lane, const Event& event) {
  for (const std::string& text : event.stack) {
    if (IsAddress(text)) continue;
    const format::Method method = SiteOf(text).method;
    format::MethodRecord record{};
    record.key = format::MethodKey(method.class_name, method.name, method.descriptor);
    record.class_bytes = static_cast<uint32_t>(method.class_name.size());
    record.name_bytes = static_cast<uint16_t>(method.name.size());
    record.descriptor_bytes = static_cast<uint16_t>(method.descriptor.size());
    Append(lane, format::RecordType::kMethod, record, method.class_name + method.name + method.descriptor);
  }
  const auto frames = FramesOf(event);
  format::StackRecord record{};
  record.key = format::KeyOfStack(frames, false);
  record.frame_count = static_cast<uint32_t>(frames.size());
  Append(lane, format::RecordType::kStack, record, BytesOf(frames));
}

void RingFile::DefineThread(uint32_t lane, const Event& event) {
  const format::Thread thread = ThreadOf(event);
  format::ThreadRecord record{};
  record.key = KeyOfThread(event);
  record.java_tid = thread.java_tid;
  record.os_tid = thread.os_tid;
  record.name_bytes = static_cast<uint16_t>(thread.name.size());
  Append(lane, format::RecordType::kThread, record, thread.name);
}

void RingFile::Define(uint32_t lane, const Event& event) {
  DefineClass(lane, event.class_name);
  DefineStack(lane, event);
  DefineThread(lane, event);
}

void RingFile::Add(uint32_t lane, const Event& event) {
  format::SampleRecord record{};
  record.monotonic_ns = start_monotonic_ns_ + event.time_ns;
  record.id = event.id;
  record.thread_key = KeyOfThread(event);
  record.class_key = format::ClassKey(event.class_name);
  record.stack_key = format::KeyOfStack(FramesOf(event), false);
  record.call_path = event.call_path;
  record.size = event.size;
  record.tlab_size = event.kind == format::Kind::kTlab ? 1 << 16 : 0;
  record.weight = record.point_weight = event.weight;
  record.window = WindowOf(event);
  record.kind = static_cast<uint16_t>(event.kind);
  record.tracking_index = event.tracking_index;
  Append(lane, format::RecordType::kSample, record, {});
  format::RingCounters& counters = header().CountersOf(format::StreamOf(event.kind));
  ++counters.points;
  ++counters.committed;
}

void RingFile::AddPoint(uint32_t lane, const Event& event) {
  format::PointRecord record{};
  record.monotonic_ns = start_monotonic_ns_ + event.time_ns;
  record.class_key = format::ClassKey(event.class_name);
  record.stack_key = format::KeyOfStack(FramesOf(event), false);
  record.size = event.size;
  record.weight = event.weight;
  Append(lane, format::RecordType::kPoint, record, {});
  ++header().counters.points;
  ++header().counters.committed;
}

void RingFile::AddOutside(uint32_t lane, const Event& event, uint64_t objects, uint64_t bytes) {
  format::PointRecord record{};
  record.monotonic_ns = start_monotonic_ns_ + event.time_ns;
  record.class_key = format::ClassKey(event.class_name);
  record.size = bytes;
  record.weight = static_cast<double>(objects);
  Append(lane, format::RecordType::kOutside, record, {});
}

void RingFile::AddNativePoint(uint32_t lane, const Event& event, const std::vector<uint64_t>& pcs, bool is_taken) {
  format::NativePointRecord record{};
  record.monotonic_ns = start_monotonic_ns_ + event.time_ns;
  record.id = event.id;
  record.size = event.size;
  record.weight = event.weight;
  record.window = format::kNativeWindowBit + 1;
  record.os_tid = ThreadOf(event).os_tid;
  record.native_frames = static_cast<uint16_t>(pcs.size());
  event.thread.copy(record.thread_name, sizeof record.thread_name - 1);
  std::byte* const at = this->lane(lane) + format::kLaneHeaderBytes + heads_[lane];
  Append(lane, format::RecordType::kNativePoint, record,
         {reinterpret_cast<const char*>(pcs.data()), pcs.size() * sizeof(uint64_t)});
  reinterpret_cast<format::RecordHeader*>(at)->is_taken = is_taken ? 1 : 0;
}

void RingFile::Add(uint32_t lane, const format::ProcessState& state) {
  format::StateRecord record{};
  record.monotonic_ns = start_monotonic_ns_ + state.time_ns;
  record.id = state.id;
  record.used = state.used;
  record.committed = state.committed;
  record.pauses = state.pauses;
  record.paused_ns = state.paused_ns;
  record.rss = state.rss;
  record.threads = static_cast<uint32_t>(state.threads);
  record.kind = static_cast<uint16_t>(state.kind);
  REQUIRE(state.cause.size() <= sizeof(record.cause));
  std::memcpy(record.cause, state.cause.data(), state.cause.size());
  Append(lane, format::RecordType::kState, record, {});
}

void RingFile::AddDeath(uint32_t lane, uint64_t sample, uint64_t time_ns, uint64_t collections) {
  format::DeathRecord record{};
  record.monotonic_ns = start_monotonic_ns_ + time_ns;
  record.sample = sample;
  record.collections = collections;
  Append(lane, format::RecordType::kDeath, record, {});
}

void RingFile::AddWalk(uint64_t page, uint64_t time_ns, const std::string& class_name, uint64_t objects,
                       uint64_t bytes) {
  auto* const start = reinterpret_cast<std::byte*>(words_.data());
  auto* const pages = reinterpret_cast<format::RingCensusPages*>(start + header().census_at);
  format::RingCensusPage& into = pages->Page(page);
  into.number = page;
  into.rows_used = 2;
  const uint64_t class_key = format::ClassKey(class_name);
  for (size_t i = 0; i < 2; ++i) {
    format::RingCensusRow& row = into.rows[i];
    row.tag = 1 + i;
    row.second = time_ns / format::kCensusSlotNs;
    row.class_key = i == 0 ? class_key : format::kAllClasses;
    row.walks = 1;
    row.objects.counted = objects;
    row.bytes.counted = bytes;
  }
  format::ClassRecord record{{}, class_key, static_cast<uint32_t>(class_name.size()), 0};
  const size_t size = (sizeof record + class_name.size() + 7) / 8 * 8;
  record.header = {static_cast<uint32_t>(size), format::RecordType::kClass, 0};
  std::memcpy(into.names.data(), &record, sizeof record);
  std::memcpy(into.names.data() + sizeof record, class_name.data(), class_name.size());
  into.names_used = static_cast<uint32_t>(size);
}

format::RingRowPages& RingFile::AddRowPages() {
  const size_t at = words_.size() * 8;
  words_.resize(words_.size() + sizeof(format::RingRowPages) / 8);
  header().rows_at = at;
  return *reinterpret_cast<format::RingRowPages*>(words_.data() + at / 8);
}

void RingFile::WriteTo(const std::string& path) const {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(words_.data()), static_cast<std::streamsize>(words_.size() * 8));
}

Outcome Shell(const std::string& line) {
  const Directory scratch;
  const std::string err = scratch / "err", out = scratch / "out", script = scratch / "script";
  Overwrite(script, "export TZ=UTC HEAPREC=tools/heaprec\n" + line + "\n");
  const int status = std::system(("bash " + script + " >" + out + " 2>" + err).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Contents(out), Contents(err)};
}

Outcome Heaprec(const std::string& arguments) { return Shell("$HEAPREC " + arguments); }

nlohmann::json Parsed(const std::string& arguments) {
  const Outcome outcome = Heaprec(arguments);
  INFO(arguments << "\n" << outcome.err);
  REQUIRE(outcome.code == 0);
  return nlohmann::json::parse(outcome.out);
}

nlohmann::json RowIn(const nlohmann::json& rows, const std::string& name) {
  for (const nlohmann::json& row : rows) {
    if (row["name"] == name) return row;
  }
  FAIL("no " << name << " in " << rows.dump(1));
  return {};
}

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void Overwrite(const std::string& path, const std::string& contents) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << contents;
}

}  // namespace heaprec::tools::testing
