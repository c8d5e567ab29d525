#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/reader/chunk_span.h"
#include "format/ring/content_keys.h"
#include "recorder/writer/signal_masked_thread.h"
#include "tests/writer/drain_bench.h"

namespace heaprec::writer {
namespace {

// Of class p/C1, as by a thread that saw the announcement of the chunk before.
void SampleWithoutDefinition(Bench* bench, uint64_t id, uint64_t time_ns) {
  buffer::LaneLease lease(bench->ring(), 0, 100);
  format::SampleRecord sample = SampleOf(id, time_ns);
  sample.class_key = format::ClassKey("p/C1");
  Put(&lease, format::RecordType::kSample, sample);
}

}  // namespace

TEST_CASE("Samples are buffered until their interval closes, and then written at once") {
  Bench bench(150);
  for (uint64_t i = 1; i <= 10; ++i) bench.Sample(i, i * kSecond / 20);
  bench.TickAt(kSecond * 9 / 10);
  CHECK(bench.ReadBack().samples.empty());
  CHECK(bench.ring().lane(0).tail.load() == 0);
  bench.TickAt(kSecond);
  const auto read = bench.ReadBack();
  CHECK(read.samples.size() == 10);
  CHECK(read.counters.written == 10);
  CHECK(bench.ring().lane(0).tail.load() == bench.ring().lane(0).head.load());
}

TEST_CASE("No interval exceeds its cap, and the weights of dropped samples are passed on") {
  Bench bench(20);
  for (uint64_t i = 1; i <= 200; ++i) bench.Sample(i, i * kSecond / 201, 1000, static_cast<uint32_t>(i));
  bench.TickAt(kSecond);
  const auto read = bench.ReadBack();
  REQUIRE(read.samples.size() == 20);
  double total = 0;
  for (const format::Sample& sample : read.samples) total += sample.weight;
  CHECK(total == Approx(200 * 1000.0));
  REQUIRE(read.intervals.size() == 1);
  CHECK(read.intervals[0].buffered == 200);
  CHECK(read.intervals[0].kept == 20);
  CHECK(read.counters.second_stage == 180);
  CHECK(read.counters.committed == read.counters.written + read.counters.second_stage);
  // Each class keeps its share, up to rounding.
  std::map<std::string, int> kept;
  for (const std::string& name : read.classes) ++kept[name];
  REQUIRE(kept.size() == 3);
  for (const auto& [name, count] : kept) CHECK((count == 6 || count == 7));  // of 6.6 or 6.7
}

// Its thread may belong to a program whose stack frame an exception would then write to.
TEST_CASE("A drain without memory, not even to stop sampling, ends with a message") {
  Bench bench(150);
  bench.ExhaustMemory();
  auto snapshot = bench.drain().RequestSnapshot();
  CHECK_NOTHROW(bench.drain().Run());
  CHECK(bench.drain().Wait(0));
  CHECK_FALSE(snapshot.get().ok());
}

TEST_CASE("A sample that arrives after its interval was written counts in the next one, at its start") {
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

TEST_CASE("Counts of a late drain belong to the intervals whose samples were buffered") {
  Bench bench(150);
  bench.Sample(1, kSecond / 2, 1000);
  bench.Sample(2, kSecond * 3 / 2, 3000);
  bench.Sample(3, kSecond * 9 / 4, 4000);
  bench.shared_counters().SetPopulation(80, 16'000);
  bench.TickAt(kSecond * 5 / 2);
  auto read = bench.ReadBack();
  REQUIRE(read.intervals.size() == 2);
  CHECK(read.intervals[0].bytes == 2000);
  CHECK(read.intervals[0].candidates == 10);
  CHECK(read.intervals[1].bytes == 6000);
  // Too little time has passed for a share of few samples to be better than the sum.
  bench.Sample(4, kSecond * 3 + 1, 4000);
  bench.TickAt(kSecond * 3 + kSecond / 100);
  read = bench.ReadBack();
  REQUIRE(read.intervals.size() == 3);
  CHECK(read.intervals[2].bytes == 8000);
}

// Deaths of samples whose interval is open keep their lane, but no more than half of it.
TEST_CASE("A lane is freed up to the beginning of a record, however many deaths are in it") {
  Bench bench(100);
  buffer::Ring& ring = bench.ring();
  const auto none = [] {
    return TrackedSet::Callbacks{[](uint16_t, uint64_t) {}, [](uint16_t, uint64_t) { return 0; }, [] { return 0; }};
  };
  format::PerStream<TrackedSet> live{{TrackedSet(100, 10, 1, none()), TrackedSet(0, 1, 1, none()),
                                      TrackedSet(0, 1, 1, none()), TrackedSet(0, 1, 1, none())}};
  LaneConsumer consumer(ring, {}, 0, 0, {}, {{true, false, false, false}});
  std::set<uint64_t> records{0};
  constexpr uint64_t kPadBytes = 72;  // half a lane is no multiple of a pad and a death
  for (uint64_t id = 1; ring.lane(0).head.load() < ring.lane_bytes() * 3 / 4; ++id) {
    buffer::LaneLease lease(ring, 0, kPadBytes);
    REQUIRE(lease.Reserve(format::RecordType::kPad, kPadBytes) != nullptr);
    lease.Commit();
    records.insert(ring.lane(0).head.load());
    Put(&lease, format::RecordType::kDeath, format::DeathRecord{{}, kStart, id, 0});
    records.insert(ring.lane(0).head.load());
  }
  consumer.Scan();
  for (const LaneConsumer::Death& death : consumer.TakeDeaths()) {
    live.of[0].Died({death.record.sample, kSecond / 2}, death.lane, death.begin);
  }
  const uint64_t position = consumer.Positions(live)[0], head = ring.lane(0).head.load();
  CHECK(records.contains(position));
  CHECK(position < head);
  CHECK(head - position <= ring.lane_bytes() / 2);
}

TEST_CASE("Definitions outlive the chunk in which they were announced") {
  Bench bench(150);
  bench.Sample(1, kSecond / 2);
  bench.TickAt(kSecond);
  bench.TickAt(70 * kSecond);  // past the length of a chunk: it ends with this tick's block
  const int chunks = bench.chunks();
  SampleWithoutDefinition(&bench, 2, 70 * kSecond + kSecond / 2);
  bench.EndAt(72 * kSecond);
  const auto read = bench.ReadBack();
  CHECK(chunks == 2);
  REQUIRE(read.samples.size() == 2);
  CHECK(read.chunks.size() == 2);
  CHECK(read.classes == std::vector<std::string>{"p/C1", "p/C1"});
}

TEST_CASE("A buffered sample keeps its announced name across chunks") {
  Bench bench(150, {}, 5);
  bench.ring().header().interval_ns = 3600 * kSecond;
  bench.Sample(1, kSecond / 10, 1, 0, format::Kind::kException);
  bench.TickAt(kSecond);
  bench.TickAt(70 * kSecond);
  const int chunks = bench.chunks();
  SampleWithoutDefinition(&bench, 2, 70 * kSecond + kSecond / 2);
  bench.TickAt(71 * kSecond);
  bench.TickAt(140 * kSecond);
  bench.TickAt(210 * kSecond);
  CHECK(bench.chunks() == chunks + 2);
  bench.EndAt(220 * kSecond);
  CHECK(bench.ReadBack().classes == std::vector<std::string>{"p/C1", "p/C1"});
}

TEST_CASE("A stack is complete even if its method is in a lane that was scanned before") {
  Bench bench(150);
  // What two threads do: the method is emitted in lane 0, the stack that needs it stands in lane 3. A scan in the
  // order of the lanes that passes lane 0 too early is played by lanes in the other order: the stack comes first.
  {
    buffer::LaneLease lease(bench.ring(), 0, 200);
    format::SampleRecord sample = SampleOf(1, kSecond / 2);
    sample.stack_key = PutStack(&lease, {OneFrame("m").frame()});
    Put(&lease, format::RecordType::kSample, sample);
  }
  {
    buffer::LaneLease lease(bench.ring(), 3, 200);
    PutMethod(&lease, "p/C", "m");
  }
  bench.EndAt(kSecond);
  const auto read = bench.ReadBack();
  REQUIRE(read.samples.size() == 1);
  CHECK(read.leaf_methods == std::vector<std::string>{"p/C.m:14"});
}

TEST_CASE("The end writes what is buffered, closes the ring and gives the reason") {
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

TEST_CASE("A recording that has ended leaves no file open") {
  const auto open_files = [](const std::string& path) {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::count_if(begin(all), end(all), [&path](const auto& entry) {
      std::error_code gone;
      return std::filesystem::read_symlink(entry.path(), gone) == path;
    });
  };
  Bench bench(150);
  CHECK(open_files(bench.path()) == 1);
  bench.EndAt(kSecond);
  CHECK(open_files(bench.path()) == 0);
}

TEST_CASE("samples= is never exceeded, and the recording continues") {
  DrainConfig config;
  config.max_samples = 7;
  Bench bench(5, config);
  for (uint64_t i = 1; i < 400; ++i) bench.Sample(i, i * kSecond / 10);
  for (uint64_t second = 1; second <= 40; ++second) bench.TickAt(second * kSecond);
  CHECK_FALSE(bench.stopped());
  bench.EndAt(40 * kSecond + 1);
  const auto read = bench.ReadBack();
  CHECK(read.samples.size() <= 7);
  CHECK(read.samples.size() >= 5);  // of 7 x 40 / (40 + 7 / 5) = 6.8 that are due
  REQUIRE(read.intervals.size() == 41);
  CHECK(read.ending == "test");
  double last = 0;
  for (const format::Interval& interval : read.intervals) {
    if (interval.buffered == 0) continue;
    CHECK(interval.kept <= 5);
    CHECK(interval.tau > last);  // ever fewer stand for as much
    last = interval.tau;
  }
}

TEST_CASE("Intervals share a block for the set time, or less when there is much to write") {
  const auto blocks_of_eight_seconds = [](uint64_t block_ns, uint64_t per_second) {
    DrainConfig config;
    config.block_ns = block_ns;
    Bench bench(10'000, config);
    for (uint64_t i = 0; i < 8 * per_second; ++i) {
      bench.Sample(i + 1, i * kSecond / per_second);
      if ((i + 1) % 20 == 0) bench.TickAt((i + 1) * kSecond / per_second);
    }
    bench.EndAt(8 * kSecond + 1);
    const auto read = bench.ReadBack();
    CHECK(read.samples.size() == 8 * per_second);
    CHECK(read.intervals.size() == 9);
    return read.blocks;
  };
  CHECK(blocks_of_eight_seconds(0, 100) == 9);  // the end has one
  CHECK(blocks_of_eight_seconds(2 * kSecond, 100) == 5);
  CHECK(blocks_of_eight_seconds(4 * kSecond, 100) == 3);
  CHECK(blocks_of_eight_seconds(4 * kSecond, 2000) >= 5);  // a quarter of the ring
}

TEST_CASE("A disk that is full for a while loses nothing: the ring keeps the samples of the waiting block") {
  Bench bench(150);
  bench.Sample(1, kSecond / 2);
  bench.TickAt(kSecond);
  const auto size = std::filesystem::file_size(bench.path());
  const uint64_t tail = bench.ring().lane(0).tail.load();
  {
    const FileSizeLimit full(size + 10);
    bench.Sample(2, kSecond * 3 / 2, 5000);
    bench.TickAt(2 * kSecond);
    bench.Sample(3, kSecond * 5 / 2);
    bench.TickAt(3 * kSecond);
  }
  CHECK(std::filesystem::file_size(bench.path()) == size);
  CHECK(bench.ring().lane(0).tail.load() == tail);
  CHECK(bench.shared_counters().Snapshot().written == 1);
  CHECK(bench.outages() == std::vector<std::string>{"stopped: " + bench.path() + ": File too large"});
  CHECK(bench.drain().unwritten().error == bench.path() + ": File too large");
  CHECK(bench.ring().header().unwritten_since_ns.load() == kStart + 2 * kSecond);
  CHECK(bench.ring().header().write_errno.load() == EFBIG);
  bench.TickAt(4 * kSecond);
  REQUIRE(bench.outages().size() == 2);
  CHECK(bench.outages().back() == "resumed: 0 in 2");
  CHECK_FALSE(bench.drain().unwritten().any());
  CHECK(bench.ring().header().unwritten_since_ns.load() == 0);
  CHECK(bench.ring().lane(0).tail.load() == bench.ring().lane(0).head.load());
  bench.EndAt(4 * kSecond + 1);
  const auto read = bench.ReadBack();
  REQUIRE(read.samples.size() == 3);
  CHECK(read.classes == std::vector<std::string>{"p/C1", "p/C2", "p/C0"});
  CHECK(read.counters.written == 3);
  CHECK(WriteFailed(read.counters) == 0);
  CHECK(read.skipped == 0);
}

TEST_CASE("A waiting block that ends its chunk is followed by the next chunk") {
  Bench bench(150);
  bench.Sample(1, kSecond / 2);
  bench.TickAt(kSecond);
  {
    const FileSizeLimit full(std::filesystem::file_size(bench.path()) + 10);
    bench.Sample(2, 69 * kSecond);
    bench.TickAt(70 * kSecond);
    bench.Sample(3, 70 * kSecond + 1);
    bench.TickAt(71 * kSecond);
  }
  bench.EndAt(72 * kSecond);
  const auto read = bench.ReadBack();
  CHECK(read.chunks.size() == 2);
  CHECK(read.classes == std::vector<std::string>{"p/C1", "p/C2", "p/C0"});
  CHECK(read.counters.written == 3);
  CHECK(read.skipped == 0);
}

TEST_CASE("A disk that stays full loses what the ring has no space for, with its weight, and recording resumes") {
  Bench bench(150);
  bench.Sample(1, kSecond / 2);
  bench.TickAt(kSecond);
  const auto size = std::filesystem::file_size(bench.path());
  const auto lost = [&bench] { return WriteFailed(bench.shared_counters().Snapshot()); };
  uint64_t id = 1, second = 1;
  {
    const FileSizeLimit full(size + 10);
    for (; lost() == 0 && second < 1000; ++second) {
      for (int i = 0; i < 20; ++i) bench.Sample(++id, second * kSecond + 1, 5000);
      bench.shared_counters().SetPopulation(id, 5000 * id);
      bench.TickAt((second + 1) * kSecond);
      const auto& lane = bench.ring().lane(0);
      CHECK(lane.head.load() - lane.tail.load() < bench.ring().lane_bytes() * 3 / 4);
    }
  }
  CHECK(lost() == id - 1);
  CHECK(std::filesystem::file_size(bench.path()) == size);
  bench.Sample(id + 1, second * kSecond + 1);
  bench.EndAt((second + 1) * kSecond);
  const auto read = bench.ReadBack();
  REQUIRE(read.samples.size() == 2);
  CHECK(read.samples[1].id == id + 1);
  CHECK(read.classes[1] == "p/C" + std::to_string((id + 1) % 3));
  CHECK(WriteFailed(read.counters) == id - 1);
  CHECK(read.counters.lost_weight[static_cast<int>(format::LossReason::kWriteFailed)] ==
        Approx(5000.0 * static_cast<double>(id - 1)));
  CHECK(read.counters.committed == read.counters.written + id - 1);
  CHECK(read.skipped == 0);
  // What was counted of the lost intervals is not lost.
  REQUIRE(read.intervals.size() > second);
  format::Interval all;
  for (const format::Interval& interval : read.intervals) {
    CHECK(interval.index == static_cast<uint64_t>(&interval - read.intervals.data()));
    all.candidates += interval.candidates;
    all.bytes += interval.bytes;
    all.buffered += interval.buffered;
    all.kept += interval.kept;
  }
  CHECK(all.candidates == id);
  CHECK(all.bytes == 5000 * id);
  CHECK(all.buffered == id + 1);
  CHECK(all.kept == 2);
  REQUIRE(bench.outages().size() == 2);
  CHECK(bench.outages().back().starts_with("resumed: " + std::to_string(id - 1) + " in "));
  CHECK(bench.drain().unwritten().lost_samples == id - 1);
}

// Reads the provisional block at the end of the file, if any.
std::optional<format::Block> ProvisionalOf(const Bench& bench) {
  OpenedFile file(bench.path());
  while (file.reader->Next()) {
  }
  const auto& skipped = file.reader->skipped();
  if (skipped.empty()) return std::nullopt;
  CHECK(skipped.size() == 1);
  CHECK(skipped.back().at_end);
  return format::ReadProvisionalBlock(&file.source, file.reader->header(), skipped.back().begin);
}

TEST_CASE("Counts of lost intervals are added up if there are too many, and wait as long as necessary") {
  Bench bench(150);
  bench.TickAt(kSecond);
  const uint64_t last = 5000;
  {
    const FileSizeLimit full(std::filesystem::file_size(bench.path()) + 10);
    for (uint64_t second = 1; second <= last; ++second) {
      bench.shared_counters().SetPopulation(second, 100 * second);
      if (second % 100 == 0) bench.Sample(second, second * kSecond);
      bench.TickAt((second + 1) * kSecond);
    }
  }
  bench.EndAt((last + 2) * kSecond);
  const auto read = bench.ReadBack();
  uint64_t bytes = 0, buffered = 0, next = 0;
  for (const format::Interval& interval : read.intervals) {
    CHECK(interval.index >= next);
    next = interval.index + 1;
    bytes += interval.bytes;
    buffered += interval.buffered;
  }
  CHECK(read.intervals.size() < 3000);
  CHECK(bytes == 100 * last);
  CHECK(buffered == last / 100);
  CHECK(WriteFailed(read.counters) + read.counters.written == last / 100);
}

TEST_CASE("While the disk is full the file's end has the counts, in case a kill loses the ring") {
  Bench bench(2000);
  Load load{bench};
  const uint64_t &id = load.id, &second = load.second;
  {
    const FileSizeLimit full(64 << 10);
    while (!bench.drain().unwritten().any() && second < 1000) {
      CHECK_FALSE(ProvisionalOf(bench));
      load.Second();
    }
    const auto first = ProvisionalOf(bench);
    REQUIRE(first);
    CHECK(first->counters[format::Stream::kAllocations].committed == id);
    CHECK(first->counters[format::Stream::kAllocations].candidate_bytes == 5000 * id);
    CHECK(first->counters[format::Stream::kAllocations].written == bench.ReadBack().samples.size());
    CHECK(first->end_ns >= second * kSecond);
    for (int i = 0; i < 12; ++i) load.Second();
    const auto later = ProvisionalOf(bench);
    REQUIRE(later);
    CHECK(later->counters[format::Stream::kAllocations].committed >
          first->counters[format::Stream::kAllocations].committed);
  }
  load.Second();
  CHECK_FALSE(ProvisionalOf(bench));
  bench.EndAt(second * kSecond + 1);
  const auto read = bench.ReadBack();
  CHECK(read.skipped == 0);
  CHECK(read.counters.committed == id);
  CHECK(read.samples.size() + WriteFailed(read.counters) == id);
}

TEST_CASE("If the disk is full to the end without a ring, the reserved space says what was lost") {
  const FileSizeLimit full(64 << 10);
  Bench bench(2000);
  Load load{bench};
  load.UntilNothingCanBeWritten();
  uint64_t id = load.id, second = load.second;
  bench.Sample(++id, second * kSecond);
  bench.shared_counters().SetPopulation(id, 5000 * id);
  bench.EndAt((second + 1) * kSecond);
  const auto read = bench.ReadBack();
  CHECK(read.ending == "test");
  CHECK(read.skipped == 0);
  CHECK(read.samples.size() < id);
  CHECK(read.counters.written == read.samples.size());
  CHECK(WriteFailed(read.counters) == id - read.samples.size());
  uint64_t bytes = 0;
  for (const format::Interval& interval : read.intervals) bytes += interval.bytes;
  CHECK(bytes == 5000 * id);
  CHECK(bench.drain().unwritten().lost_samples == id - read.samples.size());
  CHECK(bench.drain().unwritten().error == bench.path() + ": File too large");
}

TEST_CASE("If the disk is full to the end, the reserved space has the names of the ring's samples") {
  Bench bench(2000, {}, 0, {}, {}, Syncer::Where::kAtOnce, /*has_ring_file=*/true);
  const FileSizeLimit full(64 << 10);
  Load load{bench};
  load.UntilNothingCanBeWritten();
  uint64_t id = load.id, second = load.second;
  // Its name was emitted for a chunk that is lost.
  const int chunks = bench.chunks();
  for (uint64_t more = 0; bench.chunks() == chunks && more < 100; ++more, ++second) {
    for (uint64_t i = 0; i < 600; ++i) bench.Sample(++id, second * kSecond + i, 5000, static_cast<uint32_t>(i % 4));
    bench.TickAt((second + 1) * kSecond);
  }
  SampleWithoutDefinition(&bench, ++id, second * kSecond);
  bench.EndAt((second + 1) * kSecond);
  const auto read = bench.ReadBack();
  CHECK(read.ending.empty());
  CHECK(read.skipped == 0);
  CHECK(std::count(read.last_names.begin(), read.last_names.end(), "p/C1") == 1);
  CHECK(std::filesystem::file_size(bench.path()) <= 64 << 10);
}

TEST_CASE("A writer that never releases its lane delays an interval, but not forever") {
  Bench bench(150);
  bench.Sample(1, kSecond / 2, 1000, 1);
  const buffer::LaneLease stuck(bench.ring(), 0, 100);
  REQUIRE(stuck.ok());
  bench.LetTimePass();
  bench.TickAt(kSecond);
  CHECK(bench.ReadBack().samples.size() == 1);
}

namespace {

// Python and shells change theirs while the agent's threads run. A name that getenv looks at may be gone by then.
TEST_CASE("An error message of a thread reads no environment, whatever the program's locale") {
  REQUIRE(std::setlocale(LC_ALL, "C.UTF-8") != nullptr);
  void* const unreadable = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(unreadable != MAP_FAILED);
  char** const environment = environ;
  environ = static_cast<char**>(unreadable);
  std::string said;
  const auto say = [](void* into) { *static_cast<std::string*>(into) = std::strerror(ENOENT); };
  const auto thread = StartSignalMaskedThread("says", say, nullptr, &said);
  if (thread.ok()) pthread_join(*thread, nullptr);
  environ = environment;
  REQUIRE(thread.ok());
  CHECK(said == "No such file or directory");
}

std::string OpenSignals() {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  std::string open;
  for (int number = 1; number < SIGRTMIN - 2; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    if (sigismember(&blocked, number) == 0) open += std::to_string(number) + " ";
  }
  return open;
}

// Sets `text` to its open signals and, after them, those of a thread that it starts itself.
void SayOpenSignals(void* text) {
  auto* const said = static_cast<std::string*>(text);
  *said = OpenSignals();
  std::string next;
  const auto say = [](void* into) { *static_cast<std::string*>(into) = OpenSignals(); };
  const auto thread = StartSignalMaskedThread("next", say, nullptr, &next);
  if (thread.ok()) pthread_join(*thread, nullptr);
  *said += "| " + next;
}

TEST_CASE("A thread blocks all signals except faults, without a JVM except SIGSEGV and SIGBUS, and so do its threads") {
  const std::string of_jvm = fmt::format("{} {} {} {} {} ", SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV);
  const std::string of_program = fmt::format("{} {} ", SIGBUS, SIGSEGV);
  for (const auto& [process, open] : {std::pair(Process::kAsCaller, of_jvm), {Process::kWithoutJvm, of_program}}) {
    std::string said;
    const auto thread = StartSignalMaskedThread("says", SayOpenSignals, nullptr, &said, process);
    REQUIRE(thread.ok());
    pthread_join(*thread, nullptr);
    CHECK(said == open + "| " + open);
  }
  CHECK(OpenSignals().find(std::to_string(SIGTERM) + " ") != std::string::npos);  // the caller's are as before
}

}  // namespace

}  // namespace heaprec::writer
