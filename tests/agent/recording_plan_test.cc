#include "recorder/agent/recording_plan.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "format/ring/ring_records.h"
#include "recorder/agent/options/options.h"
#include "recorder/buffer/lane_lease.h"
#include "tests/format/read_back.h"
#include "tests/support/files.h"

namespace heaprec::agent {
namespace {

using format::Stream;

Options Of(const char* text) {
  auto options = ParseOptions(text);
  REQUIRE(options.ok());
  return *options;
}

// A stream that does not exist: its source. Three threads waited for a lock. The counters are those of the exceptions.
class Locks final : public sources::Part {
 public:
  explicit Locks(buffer::Ring& ring) : ring_(ring), counters_(ring.header().CountersOf(Stream::kExceptions)) {}
  void Describe(format::FileHeader* header) const override { header->source_reason += "; locks are sampled"; }
  Status Activate() override {
    waits_ = 3;
    return {};
  }
  void OnTick(uint64_t now_ns) override {
    for (; committed_ < waits_; ++committed_) {
      format::SampleRecord sample{};
      sample.monotonic_ns = now_ns;
      sample.id = format::FirstIdOf(Stream::kExceptions) + committed_;
      sample.weight = 1;
      sample.kind = static_cast<uint16_t>(format::Kind::kException);
      counters_.Point();
      counters_.Committed();
      REQUIRE(buffer::CommitRecord(ring_, 0, format::RecordType::kSample, sample));
    }
    counters_.SetPopulation(committed_, 0);
  }
  void Stop() override { waits_ = 0; }

 private:
  buffer::Ring& ring_;
  buffer::SharedCounters counters_;
  uint64_t waits_ = 0, committed_ = 0;
};

}  // namespace

TEST_CASE("A new stream is a row of the plan and a part of the recording") {
  const testing::Folder folder(testing::kSharedMemory);
  const std::string path = folder / "rec.hrec";
  const Options options = Of(("ring=off,file=" + path).c_str());
  RecordingPlan plan(options);
  plan.AddAllocations();
  plan.Add(Stream::kExceptions, 30);
  const auto ring = plan.MakeRing();
  REQUIRE(ring.ok());
  sources::Parts parts;
  parts.Add(std::make_unique<Locks>(**ring));
  writer::DrainCallbacks callbacks;
  callbacks.on_tick = [&](uint64_t now_ns) { parts.OnTick(now_ns); };
  callbacks.on_stop = [&] { parts.Stop(); };
  const format::FileHeader header = plan.Header(**ring, parts);
  CHECK(header.source_reason == "; locks are sampled");
  const auto drain = plan.MakeDrain(ring->get(), header, &parts, std::move(callbacks));
  REQUIRE(drain.ok());
  REQUIRE(parts.Activate().ok());
  (*drain)->Tick();
  (*drain)->RequestStop("test");
  (*drain)->End();
  CHECK(parts.TryJoin());

  const format::testing::Opened file(testing::BytesOf(path));
  CHECK(file.reader->header().CapOf(Stream::kExceptions).rate_per_second == 30);
  std::vector<uint64_t> ids;
  format::StreamCounters counters;
  while (const auto block = file.reader->Next()) {
    for (const format::Sample& sample : block->samples)
      ids.push_back(sample.id - format::FirstIdOf(Stream::kExceptions));
    counters = block->counters[Stream::kExceptions];
  }
  CHECK(ids == std::vector<uint64_t>{0, 1, 2});
  CHECK(counters.candidates == 3);
  CHECK(counters.committed == 3);
}

TEST_CASE("Streams that are not planned are in neither ring nor header") {
  const Options options = Of("ring=off,exceptions=on,native=on,rate=200");
  RecordingPlan plan(options);
  plan.AddAllocations();
  const auto ring = plan.MakeRing();
  REQUIRE(ring.ok());
  const format::FileHeader header = plan.Header(**ring, {});
  CHECK(header.rate_per_second == 200);
  CHECK(header.interval_cap == (*ring)->header().interval_cap);
  CHECK(header.interval_cap > 0);
  for (const Stream stream : {Stream::kExceptions, Stream::kNative, Stream::kMapping}) {
    CAPTURE(static_cast<int>(stream));
    CHECK(header.CapOf(stream).interval_ns == 0);
    CHECK(header.CapOf(stream).rate_per_second == 0);
    CHECK((*ring)->header().IntervalNsOf(stream) == 0);
  }
  CHECK(header.max_tracked_blocks == 0);
  CHECK(header.max_tracked_mappings == 0);
  CHECK(header.native_unavailable_reason == "");
  CHECK(header.native_not_seen == "");
  CHECK(header.ring_path == "");
}

TEST_CASE("Each planned stream has the same limits in the ring and in the header") {
  const Options options = Of("ring=off,native=on,native.rate=300,native.mmap_rate=20,maxsamples=5000,duration=3s");
  RecordingPlan plan(options);
  plan.Add(Stream::kAllocations, 150);
  plan.Add(Stream::kExceptions, 100);
  plan.AddNative();
  const auto ring = plan.MakeRing();
  REQUIRE(ring.ok());
  const format::FileHeader header = plan.Header(**ring, {});
  for (const Stream stream : format::kAllStreams) {
    CAPTURE(static_cast<int>(stream));
    CHECK(header.CapOf(stream).interval_ns > 0);
    CHECK(header.CapOf(stream).interval_ns == (*ring)->header().IntervalNsOf(stream));
    CHECK(header.CapOf(stream).interval_cap == (*ring)->header().IntervalCapOf(stream));
  }
  CHECK(header.native_not_seen.find("asprintf") != std::string::npos);
  CHECK(header.native.rate_per_second == 300);
  CHECK(header.mapped.interval_cap == 20);
  CHECK(header.max_tracked_blocks > 0);
  CHECK(header.max_tracked_mappings > 0);
  CHECK(header.max_samples == 5000);
  CHECK(header.duration_ns == 3'000'000'000);
  CHECK(header.recording_id == plan.id);
  CHECK(header.agent_options == options.given);
}

TEST_CASE("There are as many lanes as the intervals of all streams need") {
  const Options options = Of("ring=off");
  RecordingPlan plan(options);
  plan.Add(Stream::kNative, 100);
  const uint32_t few = (*plan.MakeRing())->lane_count();
  CHECK(few == 32);
  plan.Add(Stream::kNative, 600);
  CHECK((*plan.MakeRing())->lane_count() == few);
  plan.Add(Stream::kExceptions, 600);
  const auto large = plan.MakeRing();
  CHECK((*large)->lane_count() > few);
  CHECK((*large)->size() <= 8 << 20);
}

TEST_CASE("The ring has space for the light points of two blocks") {
  for (const auto& [text, points, lanes] :
       {std::tuple("ring=off", 4000.0, 32u), std::tuple("ring=off,points=0", 0.0, 32u),
        std::tuple("ring=off,points=30000", 30'000.0, 61u), std::tuple("ring=off,points=100000", 100'000.0, 61u),
        std::tuple("ring=off,rate=10/min", 0.0, 32u), std::tuple("ring=off,throttle=window", 0.0, 32u)}) {
    CAPTURE(text);
    const Options options = Of(text);
    RecordingPlan plan(options);
    plan.AddAllocations();
    CHECK(plan.streams[Stream::kAllocations].throttle->points == Approx(points));
    const auto ring = plan.MakeRing();
    REQUIRE(ring.ok());
    CHECK((*ring)->lane_count() == lanes);
    CHECK(uint64_t{(*ring)->lane_count()} * (*ring)->lane_bytes() >=
          static_cast<uint64_t>(4 * points) * sizeof(format::PointRecord));
    CHECK((*ring)->size() <= 32 << 20);
  }
  // P is of a second, whatever the length of an interval.
  const Options options = Of("ring=off,rate=16000");
  RecordingPlan plan(options);
  plan.AddAllocations();
  CHECK(plan.streams[Stream::kAllocations].throttle->points * 1e9 /
            static_cast<double>(plan.streams[Stream::kAllocations].cap.interval_ns) ==
        Approx(4000));
}

TEST_CASE("Streams draw with the recording's id, and no two recordings have the same id") {
  const Options options = Of("ring=off");
  const RecordingPlan plan(options), other(options);
  CHECK(plan.id != other.id);
  CHECK(plan.Seed() != other.Seed());
}

TEST_CASE("A ring stores its absolute path, for readers in other folders") {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path("/dev/shm");
  const std::string name = "heaprec-plan-test-" + std::to_string(getpid()) + ".ring";
  const Options options = Of(("ring=" + name).c_str());
  const RecordingPlan plan(options);
  const auto ring = plan.MakeRing();
  REQUIRE(ring.ok());
  CHECK((*ring)->path() == "/dev/shm/" + name);
  CHECK(plan.Header(**ring, {}).ring_path == "/dev/shm/" + name);
  (*ring)->Close();
  std::filesystem::current_path(before);
}

TEST_CASE("Without a working folder the recording starts without a ring that has a relative path") {
  const std::string folder = testing::MakeFolder(testing::kSharedMemory);
  std::filesystem::current_path(folder);
  std::filesystem::remove(folder);
  const Options options = Of("ring=here.ring");
  const RecordingPlan plan(options);
  const auto ring = plan.MakeRing();
  REQUIRE(ring.ok());
  CHECK((*ring)->path().empty());
  CHECK((*ring)->why().find("No such file or directory") != std::string::npos);
}

}  // namespace heaprec::agent
