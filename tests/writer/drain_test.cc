#include "recorder/writer/drain.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "format/memory_source.h"
#include "format/reader.h"
#include "format/ring_reader.h"
#include "recorder/buffer/lane_lease.h"

namespace heaprec::writer {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kStart = 1'000 * kSecond;

std::string LeafMethod(const format::Dictionaries& names, format::Index stack) {
  if (stack == format::kNone) return "";
  const format::Frame& frame = names.frames.at(names.stacks.at(stack).frame);
  if (frame.method == format::kNone) return "?";
  const format::Method& method = names.methods.at(frame.method);
  return method.class_name + "." + method.name + ":" + std::to_string(frame.line);
}

// A ring, a drain on a clock that the test moves, and a writer of samples.
class Bench {
 public:
  explicit Bench(uint32_t cap, DrainConfig config = {}) {
    directory_ = std::filesystem::temp_directory_path() / ("heaprec-drain-" + std::to_string(getpid()));
    std::filesystem::create_directories(directory_);
    buffer::RingOptions options;
    options.lane_count = 4;
    options.interval_ns = kSecond;
    options.interval_cap = cap;
    options.start_monotonic_ns = kStart;
    ring_ = std::move(buffer::Ring::Create(options).value());
    ledger_ = std::make_unique<buffer::Ledger>(ring_->header().books);
    auto file = RecordingFile::Create((directory_ / "rec.hrec").string(), 1, 0);
    REQUIRE(file.ok());
    path_ = file->path();
    format::FileHeader header;
    header.interval_ns = kSecond;
    header.interval_cap = cap;
    REQUIRE(file->Append(format::EncodeFileHeader(header)).ok());
    config.interval_cap = cap;
    DrainCallbacks callbacks;
    callbacks.now = [this] { return now_ += step_; };
    callbacks.on_tick = [](uint64_t) {};
    callbacks.on_new_chunk = [this] { ++chunks_; };
    callbacks.on_stop = [this] { stopped_ = true; };
    drain_ = std::make_unique<Drain>(*ring_, *ledger_, std::move(*file), config, std::move(callbacks));
  }
  ~Bench() { std::filesystem::remove_all(directory_); }

  // A sample at `time_ns` since the start, with a class of its own definition.
  void Sample(uint64_t id, uint64_t time_ns, double weight = 1000, uint32_t lane = 0) {
    buffer::LaneLease lease(*ring_, lane, 300);
    REQUIRE(lease.ok());
    const std::string name = "p/C" + std::to_string(id % 3);
    std::byte* record = lease.Reserve(format::RecordType::kClass, sizeof(format::ClassRecord) + name.size());
    const format::ClassRecord fields{{}, format::ClassKey(name), static_cast<uint32_t>(name.size()), 0};
    std::memcpy(record + 8, reinterpret_cast<const std::byte*>(&fields) + 8, sizeof(fields) - 8);
    std::memcpy(record + sizeof(fields), name.data(), name.size());
    lease.Commit();
    record = lease.Reserve(format::RecordType::kSample, sizeof(format::SampleRecord));
    REQUIRE(record != nullptr);
    format::SampleRecord sample{};
    std::memcpy(&sample, record, sizeof(sample.header));
    sample.monotonic_ns = kStart + time_ns;
    sample.id = id;
    sample.class_key = format::ClassKey(name);
    sample.size = 100;
    sample.weight_bytes = weight;
    std::memcpy(record, &sample, sizeof(sample));
    lease.Commit();
    ledger_->Point();
    ledger_->Committed();
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
    format::Books books;
    std::string ending;
    size_t skipped = 0;
    std::set<uint32_t> chunks;
  };
  Read ReadBack() const {
    std::ifstream file(path_, std::ios::binary);
    const std::vector<char> chars((std::istreambuf_iterator<char>(file)), {});
    std::vector<std::byte> bytes(chars.size());
    std::memcpy(bytes.data(), chars.data(), chars.size());
    format::MemoryByteSource source(bytes, "rec");
    auto reader = format::Reader::Open(&source);
    REQUIRE(reader.ok());
    Read read;
    while (auto block = (*reader)->Next()) {
      for (const format::Sample& sample : block->samples) {
        read.samples.push_back(sample);
        read.leaf_methods.push_back(LeafMethod(*block->dictionaries, sample.stack));
        read.classes.push_back(sample.class_id == format::kNone ? "" : block->dictionaries->classes[sample.class_id]);
      }
      read.intervals.insert(read.intervals.end(), block->intervals.begin(), block->intervals.end());
      read.books = block->books;
      read.chunks.insert(block->chunk);
      if (block->ending) read.ending = block->ending->reason;
    }
    read.skipped = (*reader)->skipped().size();
    return read;
  }

  // Every look at the clock finds it a millisecond later.
  void LetTimePass() { step_ = 1'000'000; }

  buffer::Ring& ring() { return *ring_; }
  buffer::Ledger& ledger() { return *ledger_; }
  Drain& drain() { return *drain_; }
  const std::string& path() const { return path_; }
  int chunks() const { return chunks_; }
  bool stopped() const { return stopped_; }

 private:
  std::filesystem::path directory_;
  std::string path_;
  std::unique_ptr<buffer::Ring> ring_;
  std::unique_ptr<buffer::Ledger> ledger_;
  std::unique_ptr<Drain> drain_;
  uint64_t now_ = kStart, step_ = 0;
  int chunks_ = 0;
  bool stopped_ = false;
};

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

}  // namespace

TEST_CASE("Samples are held until their interval closes, and are in the file right after") {
  Bench bench(150);
  for (uint64_t i = 1; i <= 10; ++i) bench.Sample(i, i * kSecond / 20);
  bench.TickAt(kSecond * 9 / 10);
  CHECK(bench.ReadBack().samples.empty());
  CHECK(bench.ring().lane(0).tail.load() == 0);
  bench.TickAt(kSecond);
  const auto read = bench.ReadBack();
  CHECK(read.samples.size() == 10);
  CHECK(read.books.written == 10);
  CHECK(bench.ring().lane(0).tail.load() == bench.ring().lane(0).head.load());
}

TEST_CASE("No interval holds more than its cap, and the weights of what goes are passed on") {
  Bench bench(20);
  for (uint64_t i = 1; i <= 200; ++i) bench.Sample(i, i * kSecond / 201, 1000, static_cast<uint32_t>(i));
  bench.TickAt(kSecond);
  const auto read = bench.ReadBack();
  REQUIRE(read.samples.size() == 20);
  double total = 0;
  for (const format::Sample& sample : read.samples) total += sample.weight_bytes;
  CHECK(total == Approx(200 * 1000.0));
  REQUIRE(read.intervals.size() == 1);
  CHECK(read.intervals[0].held == 200);
  CHECK(read.intervals[0].kept == 20);
  CHECK(read.books.second_stage == 180);
  CHECK(read.books.committed == read.books.written + read.books.second_stage);
}

TEST_CASE("A sample that comes after its interval was written counts in the next, at that one's start") {
  Bench bench(5);
  bench.Sample(1, kSecond / 2);
  bench.TickAt(kSecond);
  bench.Sample(2, kSecond * 9 / 10);
  bench.TickAt(2 * kSecond);
  const auto read = bench.ReadBack();
  REQUIRE(read.samples.size() == 2);
  CHECK(read.samples[1].id == 2);
  CHECK(read.samples[1].time_ns == kSecond);
}

TEST_CASE("A late drain closes every interval that has passed, each with its own cap") {
  Bench bench(3);
  for (uint64_t i = 0; i < 50; ++i) bench.Sample(i + 1, i * kSecond / 10);
  bench.TickAt(6 * kSecond);
  const auto read = bench.ReadBack();
  CHECK(read.samples.size() == 5 * 3);
  CHECK(read.intervals.size() == 6);
}

TEST_CASE("Definitions outlive the chunk in which they were announced") {
  Bench bench(150);
  bench.Sample(1, kSecond / 2);
  bench.TickAt(kSecond);
  bench.TickAt(70 * kSecond);  // past the length of a chunk: it ends with this tick's block
  const int chunks = bench.chunks();
  // Published without its definition, as by a thread that saw the announcement of the chunk before.
  {
    buffer::LaneLease lease(bench.ring(), 0, 100);
    std::byte* record = lease.Reserve(format::RecordType::kSample, sizeof(format::SampleRecord));
    format::SampleRecord sample{};
    std::memcpy(&sample, record, sizeof(sample.header));
    sample.monotonic_ns = kStart + 70 * kSecond + kSecond / 2;
    sample.id = 2;
    sample.class_key = format::ClassKey("p/C1");
    sample.size = 100;
    sample.weight_bytes = 1000;
    std::memcpy(record, &sample, sizeof(sample));
    lease.Commit();
  }
  bench.EndAt(72 * kSecond);
  const auto read = bench.ReadBack();
  CHECK(chunks == 2);
  REQUIRE(read.samples.size() == 2);
  CHECK(read.chunks.size() == 2);
  CHECK(read.classes == std::vector<std::string>{"p/C1", "p/C1"});
}

TEST_CASE("A stack is whole even if its method stands in a lane that was scanned before") {
  Bench bench(150);
  // What two threads do: the method is announced in lane 0, the stack that needs it stands in lane 3. A scan in the
  // order of the lanes that passes lane 0 too early is played by lanes in the other order: the stack comes first.
  const format::RingFrame frame{format::MethodKey("p/C", "m", "()V"), 3, 14};
  const format::StackKey key = format::KeyOfStack({&frame, 1}, false);
  {
    buffer::LaneLease lease(bench.ring(), 0, 200);
    std::byte* record = lease.Reserve(format::RecordType::kStack, sizeof(format::StackRecord) + sizeof(frame));
    const format::StackRecord fields{{}, key, 1, 0};
    std::memcpy(record + 8, reinterpret_cast<const std::byte*>(&fields) + 8, sizeof(fields) - 8);
    std::memcpy(record + sizeof(fields), &frame, sizeof(frame));
    lease.Commit();
    record = lease.Reserve(format::RecordType::kSample, sizeof(format::SampleRecord));
    format::SampleRecord sample{};
    std::memcpy(&sample, record, sizeof(sample.header));
    sample.monotonic_ns = kStart + kSecond / 2;
    sample.id = 1;
    sample.stack_key = key;
    sample.size = 100;
    sample.weight_bytes = 1000;
    std::memcpy(record, &sample, sizeof(sample));
    lease.Commit();
  }
  {
    buffer::LaneLease lease(bench.ring(), 3, 200);
    const std::string text = "p/Cm()V";
    std::byte* record = lease.Reserve(format::RecordType::kMethod, sizeof(format::MethodRecord) + text.size());
    const format::MethodRecord fields{{}, frame.method, 3, 1, 3};
    std::memcpy(record + 8, reinterpret_cast<const std::byte*>(&fields) + 8, sizeof(fields) - 8);
    std::memcpy(record + sizeof(fields), text.data(), text.size());
    lease.Commit();
  }
  bench.EndAt(kSecond);
  const auto read = bench.ReadBack();
  REQUIRE(read.samples.size() == 1);
  CHECK(read.leaf_methods == std::vector<std::string>{"p/C.m:14"});
}

TEST_CASE("The end writes what is held, closes the ring and says why") {
  Bench bench(150);
  bench.Sample(1, kSecond / 10);
  bench.EndAt(kSecond / 5);
  CHECK(bench.stopped());
  const auto read = bench.ReadBack();
  CHECK(read.samples.size() == 1);
  CHECK(read.ending == "test");
  CHECK(bench.ring().header().state.load() == static_cast<uint32_t>(format::RingState::kClosed));
  CHECK(bench.drain().Wait(0));
}

TEST_CASE("samples= is never exceeded, and reaching it asks for the end") {
  DrainConfig config;
  config.max_samples = 7;
  Bench bench(5, config);
  for (uint64_t i = 1; i <= 40; ++i) bench.Sample(i, i * kSecond / 10);
  for (uint64_t second = 1; second <= 4; ++second) bench.TickAt(second * kSecond);
  bench.drain().End();
  const auto read = bench.ReadBack();
  CHECK(read.samples.size() == 7);
  CHECK(read.ending == "samples");
}

TEST_CASE("A disk without room costs the samples of that time, counted with their weight, and recording resumes") {
  Bench bench(150);
  bench.Sample(1, kSecond / 2);
  bench.TickAt(kSecond);
  const auto size = std::filesystem::file_size(bench.path());
  {
    const FileSizeLimit full(size + 10);
    bench.Sample(2, kSecond * 3 / 2, 5000);
    bench.TickAt(2 * kSecond);
  }
  CHECK(std::filesystem::file_size(bench.path()) == size);
  bench.Sample(3, kSecond * 5 / 2);
  bench.TickAt(3 * kSecond);
  bench.EndAt(3 * kSecond + 1);
  const auto read = bench.ReadBack();
  REQUIRE(read.samples.size() == 2);
  CHECK(read.samples[1].id == 3);
  CHECK(read.books.lost[static_cast<int>(format::Loss::kWriteFailed)] == 1);
  CHECK(read.books.lost_bytes[static_cast<int>(format::Loss::kWriteFailed)] == Approx(5000));
  CHECK(read.skipped == 0);
}

TEST_CASE("A writer that never lets go of its lane delays an interval, but not for ever") {
  Bench bench(150);
  bench.Sample(1, kSecond / 2, 1000, 1);
  const buffer::LaneLease stuck(bench.ring(), 0, 100);
  REQUIRE(stuck.ok());
  bench.LetTimePass();
  bench.TickAt(kSecond);
  CHECK(bench.ReadBack().samples.size() == 1);
}

}  // namespace heaprec::writer
