// Small recordings and rings for the tests of the command, built with the format's own writer, and the command itself.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "format/model/model.h"
#include "format/ring/ring_layout.h"
#include "format/ring/ring_reader.h"
#include "format/ring/ring_records.h"
#include "format/ring/row_pages.h"
#include "format/writer/chunk_writer.h"

namespace heaprec::tools::testing {

inline constexpr uint64_t kSecond = 1'000'000'000;
inline constexpr uint64_t kMs = 1'000'000;

// A directory of its own for each test, gone afterwards.
class Directory {
 public:
  Directory();
  ~Directory();
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::vector<std::string> Entries() const;

 private:
  std::string path_;
};

// What most tests have: a directory, and a path in it for a recording.
struct Scratch {
  const Directory directory;
  const std::string path = directory / "rec.bin";
};

// One event in plain words. `stack`: leaf first, "java/util/HashMap.resize:702".
struct Event {
  uint64_t time_ns = 0;
  std::string class_name = "java/lang/String";
  uint64_t size = 24;
  double weight = 2400;  // bytes; of an exception: events
  format::Kind kind = format::Kind::kTlab;
  std::string thread = "main";
  // "0x1234" in the ring: a return address of native code.
  std::vector<std::string> stack = {"p/Leaf.allocate:7", "p/Main.main:3"};
  std::vector<format::FrameType> types{};  // of the frames of the stack; those beyond are unknown
  uint64_t id = 0;                         // 0: the next free one
  uint64_t call_path = 0;                  // in the ring
  uint16_t tracking_index = 0;             // likewise: where it is tracked
};

// 2026-11-20T16:40:00Z, 150/s, cap 150 per second, pid 0 (no process), no ring.
format::FileHeader SomeHeader();

// Appends to a file as the agent's drain does.
class RecordingFile {
 public:
  RecordingFile(std::string path, const format::FileHeader& header);
  ~RecordingFile();

  void Add(const Event& event);
  // In a row: a point of its class, size and weight; its stack is the path.
  void AddPoint(const Event& event);
  void Add(const format::Interval& interval) { writer_->Add(interval); }
  void Add(const format::Window& window) { writer_->Add(window); }
  void Add(const format::ProcessState& state) { writer_->Add(state); }
  // `stack`: as that of an Event; also "..." for a gap, and "@4" for a bci without a method.
  void Add(format::ProcessState state, const std::vector<std::string>& stack);
  void Add(const format::LifecycleEvent& lifecycle);
  // The heap is searched for the first time, and `paths` found.
  void AddSearch(uint64_t time_ns, uint64_t paths);
  // What that search found: `path` as a stack, the root last, "p/Cache.MAP@1". `thread`: the root's; empty: none.
  void AddPath(uint64_t sample, const std::vector<std::string>& path, const std::string& thread = "");
  // Of an earlier chunk; its id is given.
  void AddCheckpointSample(const Event& event, double threshold = 0, uint64_t collections = 0, uint64_t gone = 0);
  // A row of `points` points like the event, whose stack is the path. Points that are no samples are counted as dropped
  // by the second stage: `kept` of them are added as events, too.
  void AddRow(const Event& event, uint64_t points, uint64_t kept = 0);
  // Objects outside of TLABs that were counted in the block.
  void AddOutside(const std::string& class_name, uint64_t objects, uint64_t bytes);
  // A walk of a TLAB of `thread` that found these.
  struct Found {
    std::string class_name;
    uint64_t objects, bytes;
  };
  void AddWalk(uint64_t time_ns, const std::string& thread, double weight, const std::vector<Found>& found);
  // Of the next block; walks and their bytes follow what was found.
  format::CensusCounters& census() { return census_; }
  // The file has the ring's pages up to this one.
  void SetCensusPage(uint64_t page) { census_page_ = page; }
  format::Index Thread(const Event& event);
  // Definitions without an event that uses them.
  void Define(const Event& event);
  // Books of the next block; committed, points and written follow the events.
  format::StreamCounters& counters(format::Stream stream = format::Stream::kAllocations) { return counters_[stream]; }
  void Flush(const std::vector<uint64_t>& lane_positions = {}, uint64_t end_ns = 0);
  // Likewise, but the block leaves its rows to a later one.
  void FlushWithOpenRows(uint64_t end_ns, const std::vector<uint64_t>& lane_positions = {});
  // As the drain does after that.
  void FillRowPage(format::RingRowPage* page) const;
  // `end_ns`: when the last block of the chunk before is flushed.
  void StartChunk(uint64_t end_ns = 0);
  // Gives this one up: it has no last block.
  void StartNextChunk();
  // What stands behind all blocks while the disk is full, with the rows of what was lost by then.
  void AddProvisional(const std::vector<format::Interval>& lost, uint64_t end_ns);
  void End(const std::string& reason, uint64_t time_ns);
  uint64_t size() const { return size_; }

 private:
  void Append(const format::ByteBuffer& bytes);
  format::Sample SampleOf(const Event& event, uint64_t id);
  format::Index Stack(const Event& event);

  const std::string path_;
  const format::FileHeader header_;
  std::unique_ptr<format::ChunkWriter> writer_;
  uint32_t chunk_ = 0;
  uint64_t next_id_ = 1, size_ = 0;
  format::PerStream<format::StreamCounters> counters_;
  format::CensusCounters census_;
  uint64_t census_page_ = 0;
  format::ProcessState search_;
};

// A ring as a killed agent leaves it.
class RingFile {
 public:
  RingFile(const format::FileHeader& header, uint32_t lanes = 2, uint32_t lane_bytes = 1 << 16);

  void DefineClass(uint32_t lane, const std::string& name);
  void DefineStack(uint32_t lane, const Event& event);  // and its methods
  void DefineThread(uint32_t lane, const Event& event);
  void Define(uint32_t lane, const Event& event);
  void Add(uint32_t lane, const Event& event);
  void Add(uint32_t lane, const format::ProcessState& state);
  void AddDeath(uint32_t lane, uint64_t sample, uint64_t time_ns, uint64_t collections = 0);
  // Of a recording with a census, once for each of the two pages: a walk that the page with this number has.
  void AddWalk(uint64_t page, uint64_t time_ns, const std::string& class_name, uint64_t objects, uint64_t bytes);
  // A light point of its class, size and weight; its stack is the path.
  void AddPoint(uint32_t lane, const Event& event);
  // Objects outside of TLABs that were counted until `event`'s time, of its class; `bytes` together.
  void AddOutside(uint32_t lane, const Event& event, uint64_t objects, uint64_t bytes);
  // Pages of rows; none of them is valid yet.
  format::RingRowPages& AddRowPages();
  // A point of malloc, of `event`'s time, id, size, weight and thread, whose sample the drain has yet to commit.
  void AddNativePoint(uint32_t lane, const Event& event, const std::vector<uint64_t>& pcs, bool is_taken = false);
  uint64_t head(uint32_t lane) const { return heads_[lane]; }
  void SetTail(uint32_t lane, uint64_t tail);
  format::RingHeader& header() { return *reinterpret_cast<format::RingHeader*>(words_.data()); }
  std::byte* lane(uint32_t lane);
  void WriteTo(const std::string& path) const;

 private:
  // `record`: its fixed part, with everything but the header; `rest` follows it.
  template <typename Record>
  void Append(uint32_t lane, format::RecordType type, Record record, std::string_view rest);

  const uint64_t start_monotonic_ns_;
  std::vector<uint64_t> words_;
  std::vector<uint64_t> heads_;
};

struct Outcome {
  int code = -1;
  std::string out, err;
};

// Runs the command in a shell, time zone UTC: `arguments` may hold pipes and redirections; "$HEAPREC" is the command.
Outcome Shell(const std::string& line);
Outcome Heaprec(const std::string& arguments);
// What the command prints, which must succeed.
nlohmann::json Parsed(const std::string& arguments);
// The row with this name, which must be there.
nlohmann::json RowIn(const nlohmann::json& rows, const std::string& name);

std::string Contents(const std::string& path);
void Overwrite(const std::string& path, const std::string& contents);

}  // namespace heaprec::tools::testing
