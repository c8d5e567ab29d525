// A ring, a drain on a clock that the test moves, a writer of samples, and what the file then says.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "format/codec/file_header.h"
#include "format/ring/content_keys.h"
#include "format/ring/ring_reader.h"
#include "recorder/buffer/lane_lease.h"
#include "recorder/sources/census/census_writer.h"
#include "recorder/writer/drain.h"
#include "tests/format/read_back.h"
#include "tests/support/files.h"

namespace heaprec::writer {

inline constexpr uint64_t kSecond = 1'000'000'000;
inline constexpr uint64_t kStart = 1'000 * kSecond;

inline std::string LeafMethod(const format::Dictionaries& names, format::Index stack) {
  if (stack == format::kNone) return "";
  const format::Frame& frame = names.frames.at(names.stacks.at(stack).frame);
  if (frame.method == format::kNone) return "?";
  const format::Method& method = names.methods.at(frame.method);
  return method.class_name + "." + method.name + ":" + std::to_string(frame.line);
}

// The size a process may give to files, for the scope: what a full disk looks like without one.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    before_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, before_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  sighandler_t before_handler_;
};

// "p/C.m:3 < p/C.n:4 < ...", with "..." if it is truncated.
inline std::string PathText(const format::Dictionaries& names, format::Index stack) {
  std::string text;
  for (; stack != format::kNone; stack = names.stacks.at(stack).parent) {
    text += (text.empty() ? "" : " < ") + LeafMethod(names, stack);
    if (names.stacks[stack].truncated) text += " < ...";
  }
  return text;
}

// A recording's file as it is now.
struct OpenedFile : format::testing::Opened {
  explicit OpenedFile(const std::string& path) : Opened(testing::BytesOf(path)) {}
};

// Samples that were lost because they could not be written.
inline uint64_t WriteFailed(const format::StreamCounters& counters) {
  return counters.lost[static_cast<size_t>(format::LossReason::kWriteFailed)];
}

// Commits a record, `behind` after its fields.
template <typename Record>
void Put(buffer::LaneLease* lease, format::RecordType type, const Record& fields, std::string_view behind = {}) {
  std::byte* const record = lease->Reserve(type, sizeof(fields) + behind.size());
  REQUIRE(record != nullptr);
  buffer::CopyFixed(record, fields);
  std::copy_n(reinterpret_cast<const std::byte*>(behind.data()), behind.size(), record + sizeof(fields));
  lease->Commit();
}

inline void PutClass(buffer::LaneLease* lease, const std::string& name) {
  Put(lease, format::RecordType::kClass,
      format::ClassRecord{{}, format::ClassKey(name), static_cast<uint32_t>(name.size()), 0}, name);
}

// Of a descriptor without arguments.
inline void PutMethod(buffer::LaneLease* lease, const std::string& owner, const std::string& name) {
  Put(lease, format::RecordType::kMethod,
      format::MethodRecord{{},
                           format::MethodKey(owner, name, "()V"),
                           static_cast<uint32_t>(owner.size()),
                           static_cast<uint16_t>(name.size()),
                           3},
      owner + name + "()V");
}

inline format::StackKey PutStack(buffer::LaneLease* lease, const std::vector<format::RingFrame>& frames,
                                 bool is_truncated = false) {
  const format::StackKey key = format::KeyOfStack(frames, is_truncated);
  Put(lease, format::RecordType::kStack,
      format::StackRecord{{}, key, static_cast<uint32_t>(frames.size()), is_truncated ? 1U : 0},
      {reinterpret_cast<const char*>(frames.data()), frames.size() * sizeof(frames[0])});
  return key;
}

// A sample of 100 bytes, without thread, class and stack.
inline format::SampleRecord SampleOf(uint64_t id, uint64_t time_ns, double weight = 1000) {
  format::SampleRecord sample{};
  sample.monotonic_ns = kStart + time_ns;
  sample.id = id;
  sample.size = 100;
  sample.weight = sample.point_weight = weight;
  return sample;
}

// A stack of one frame, of a method of its own.
struct OneFrame {
  explicit OneFrame(std::string method) : name(std::move(method)) {}
  format::RingFrame frame() const { return {format::MethodKey("p/C", name, "()V"), 3, 14}; }
  format::StackKey key() const { return format::KeyOfStack(std::vector{frame()}, false); }
  void PutInto(buffer::LaneLease* lease) const {
    PutMethod(lease, "p/C", name);
    PutStack(lease, {frame()});
  }

  std::string name;
};
enum class Brings : bool { kNothing, kStack };  // before the sample or point itself

class Bench {
 public:
  // `thrown_cap`: of exceptions in half a second; 0: they are not recorded. `has_ring_file`: the ring outlives the
  // process.
  explicit Bench(uint32_t cap, DrainConfig config = {}, uint32_t thrown_cap = 0, const Limits& limits = {},
                 SyncPolicy sync = {}, Syncer::Where sync_where = Syncer::Where::kAtOnce, bool has_ring_file = false) {
    buffer::RingOptions options;
    options.lane_count = 4;
    options.has_census = true;
    if (has_ring_file) options.path = folder_ / "rec.ring";
    options.caps[format::Stream::kAllocations] = {kSecond, cap};
    options.start_monotonic_ns = kStart;
    options.caps[format::Stream::kExceptions] = {thrown_cap > 0 ? kSecond / 2 : 0, thrown_cap};
    ring_ = std::move(buffer::Ring::Create(options).value());
    shared_counters_ = std::make_unique<buffer::SharedCounters>(ring_->header().counters);
    format::FileHeader header;
    header.interval_ns = kSecond;
    header.interval_cap = cap;
    path_ = folder_ / "rec.hrec";
    auto store = Store::Create({path_, header, limits, sync, sync_where});
    REQUIRE(store.ok());
    DrainCallbacks callbacks;
    callbacks.now = [this] { return now_ += step_; };
    callbacks.on_tick = [this](uint64_t) { Allocate(); };
    callbacks.on_new_chunk = [this] { ++chunks_; };
    callbacks.on_stack = [this](const format::StackKey& key) { emitted_.push_back(key); };
    callbacks.on_stop = [this] {
      Allocate();
      stopped_ = true;
    };
    callbacks.on_writing_stopped = [this](const std::string& error) { outages_.push_back("stopped: " + error); };
    callbacks.on_writing_resumed = [this](uint64_t lost_samples, uint64_t outage_ns) {
      outages_.push_back("resumed: " + std::to_string(lost_samples) + " in " + std::to_string(outage_ns / kSecond));
    };
    callbacks.on_sync_failed = [this](const std::string& error) { sync_failures_.push_back(error); };
    drain_ = std::make_unique<Drain>(*ring_, std::move(*store), config, std::move(callbacks));
  }

  // A sample at `time_ns` since the start, with a class of its own definition.
  void Sample(uint64_t id, uint64_t time_ns, double weight = 1000, uint32_t lane = 0,
              format::Kind kind = format::Kind::kTlab) {
    buffer::LaneLease lease(*ring_, lane, 300);
    REQUIRE(lease.ok());
    const std::string name = "p/C" + std::to_string(id % 3);
    PutClass(&lease, name);
    format::SampleRecord sample = SampleOf(id, time_ns, weight);
    sample.class_key = format::ClassKey(name);
    sample.kind = static_cast<uint16_t>(kind);
    Put(&lease, format::RecordType::kSample, sample);
    CountCommitted(format::StreamOf(kind));
  }
  // A point that was committed by hand.
  void CountCommitted(format::Stream stream = format::Stream::kAllocations) {
    buffer::SharedCounters counters(ring_->header().CountersOf(stream));
    counters.Point();
    counters.Committed();
  }
  void DefineClass(const std::string& name, uint32_t lane = 0) {
    buffer::LaneLease lease(*ring_, lane, 300);
    REQUIRE(lease.ok());
    PutClass(&lease, name);
  }
  // A walk that found `objects` of a class, of 24 bytes each.
  void Walk(uint64_t time_ns, const std::string& class_name, uint64_t objects, double weight = 1) {
    auto& counters = ring_->header().census.counters;
    ++counters[static_cast<size_t>(format::CensusCount::kWalks)];
    counters[static_cast<size_t>(format::CensusCount::kWalkedBytes)] += 24 * objects;
    if (census_ == nullptr) {
      census_ = std::make_unique<sources::CensusWriter>(*ring_, threads_, [](const void* klass) {
        return std::string_view(*static_cast<const std::string*>(klass));
      });
    }
    const sources::ClassCounts::Entry found{reinterpret_cast<uintptr_t>(&class_name), objects, 24 * objects};
    census_->Write(kStart + time_ns, this, weight, {&found, 1});  // of a thread that is not known
  }
  void TickAt(uint64_t time_ns) {
    now_ = kStart + time_ns;
    drain_->Tick();
  }
  void EndAt(uint64_t time_ns) {
    now_ = kStart + time_ns;
    drain_->RequestStop("test");
    drain_->End();
  }

  struct Read {
    std::vector<format::Sample> samples;
    std::vector<std::string> classes;       // of each sample
    std::vector<std::string> leaf_methods;  // of each sample, "class.name:line"
    std::vector<format::Interval> intervals;
    std::map<std::pair<std::string, std::string>, format::Row> rows;  // by class and path, without indices
    std::vector<uint64_t> points;                                     // of the rows of each block that has some
    format::StreamCounters counters, thrown;
    std::map<std::pair<uint64_t, std::string>, format::CensusRow> census;  // by second and class
    format::CensusCounters census_counters;
    std::vector<uint64_t> positions;  // of the last block
    std::string ending;
    size_t blocks = 0;
    size_t skipped = 0, stacks = 0;  // stacks: nodes of the last chunk
    std::set<uint32_t> chunks;
    std::vector<std::string> last_names;  // classes that the last chunk names
    format::FileHeader header;
  };
  Read ReadBack() const { return ReadBack(path_); }
  static Read ReadBack(const std::string& path) {
    const OpenedFile file(path);
    Read read;
    read.header = file.reader->header();
    while (auto block = file.reader->Next()) {
      for (const format::Sample& sample : block->samples) {
        read.samples.push_back(sample);
        read.leaf_methods.push_back(LeafMethod(*block->dictionaries, sample.stack));
        read.classes.push_back(sample.class_id == format::kNone ? "" : block->dictionaries->classes[sample.class_id]);
      }
      for (const format::CensusRow& row : block->census) {
        const std::string name = row.class_id == format::kNone ? "" : block->dictionaries->classes[row.class_id];
        format::CensusRow& sum = read.census[{row.time_ns / kSecond, name}];
        sum.walks += row.walks;
        sum.objects += row.objects;
        sum.bytes += row.bytes;
      }
      uint64_t points = 0;
      for (const format::Row& row : block->rows) {
        const std::string name = row.class_id == format::kNone ? "" : block->dictionaries->classes[row.class_id];
        read.rows[{name, PathText(*block->dictionaries, row.stack)}] += row;
        points += row.points;
      }
      if (points > 0) read.points.push_back(points);
      read.census_counters = block->census_counters;
      read.positions = block->lane_positions;
      read.intervals.insert(read.intervals.end(), block->intervals.begin(), block->intervals.end());
      read.counters = block->counters[format::Stream::kAllocations];
      read.thrown = block->counters[format::Stream::kExceptions];
      ++read.blocks;
      read.chunks.insert(block->chunk);
      read.stacks = block->dictionaries->stacks.size();
      read.last_names = {block->dictionaries->classes.begin(), block->dictionaries->classes.end()};
      if (block->ending) read.ending = block->ending->reason;
    }
    read.skipped = file.reader->skipped().size();
    return read;
  }

  // From now on the callbacks find no memory.
  void ExhaustMemory() { has_memory_ = false; }
  // Every look at the clock finds it a millisecond later.
  void LetTimePass() { step_ = 1'000'000; }

  buffer::Ring& ring() { return *ring_; }
  uint64_t head() { return ring_->lane(0).head.load(); }
  uint64_t tail() { return ring_->lane(0).tail.load(); }
  buffer::SharedCounters& shared_counters() { return *shared_counters_; }
  Drain& drain() { return *drain_; }
  const std::string& path() const { return path_; }
  const testing::Folder& folder() const { return folder_; }
  int chunks() const { return chunks_; }
  bool stopped() const { return stopped_; }
  // What was said of writing, in order.
  const std::vector<std::string>& outages() const { return outages_; }
  const std::vector<std::string>& sync_failures() const { return sync_failures_; }
  // Stacks that samples need not bring, each time it was said.
  const std::vector<format::StackKey>& emitted() const { return emitted_; }

 private:
  void Allocate() const {
    if (!has_memory_) throw std::bad_alloc();
  }

  const testing::Folder folder_;
  std::string path_;
  std::unique_ptr<buffer::Ring> ring_;
  std::unique_ptr<buffer::SharedCounters> shared_counters_;
  sources::CensusThreads threads_;
  std::unique_ptr<sources::CensusWriter> census_;
  std::unique_ptr<Drain> drain_;
  uint64_t now_ = kStart, step_ = 0;
  int chunks_ = 0;
  std::vector<format::StackKey> emitted_;
  std::vector<std::string> outages_, sync_failures_;
  bool stopped_ = false, has_memory_ = true;
};

// Records second after second, each with 150 samples whose weights hardly compress.
struct Load {
  Bench& bench;
  uint64_t id = 0, second = 0;

  void Second() {
    for (uint64_t i = 0; i < 150; ++i) {
      ++id;
      bench.Sample(id, second * kSecond + i, static_cast<double>(5000 + id * id % 977));
    }
    bench.shared_counters().SetPopulation(id, 5000 * id);
    bench.TickAt(++second * kSecond);
  }
  void UntilNothingCanBeWritten() {
    while (bench.outages().empty() && second < 1000) Second();
    REQUIRE(second < 1000);
  }
};

}  // namespace heaprec::writer
