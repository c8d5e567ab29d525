// What the command makes of a recording with mappings.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/tools/recording_fixture.h"

namespace heaprec::tools::testing {
namespace {

using format::LifecycleEvent;
using format::LifecycleKind;
using nlohmann::json;

constexpr uint64_t kFirst = uint64_t{1} << 60;
constexpr uint64_t kMb = 1 << 20;

format::FileHeader HeaderWithMappings() {
  format::FileHeader header = SomeHeader();
  header.native = {.interval_ns = kSecond, .interval_cap = 100, .rate_per_second = 100};
  header.max_tracked_blocks = 16384;
  header.mapped = {.interval_ns = kSecond, .interval_cap = 1000, .rate_per_second = 1000};
  header.max_tracked_mappings = 32768;
  return header;
}

Event Mapped(uint64_t number, uint64_t time_ns, const std::string& class_name, const std::string& site, uint64_t mb) {
  Event event;
  event.kind = format::Kind::kMapping;
  event.time_ns = time_ns;
  event.class_name = class_name;
  event.size = mb * kMb;
  event.weight = static_cast<double>(mb * kMb);
  event.stack = {site, "libjvm.so.create_vm"};
  event.types = {format::FrameType::kNative, format::FrameType::kNative};
  event.id = kFirst + number;
  event.tracking_index = 1;
  return event;
}

LifecycleEvent Changed(uint64_t number, uint64_t time_ns, uint64_t left_mb) {
  LifecycleEvent lifecycle;
  lifecycle.sample = kFirst + number;
  lifecycle.time_ns = time_ns;
  lifecycle.kind = left_mb > 0 ? LifecycleKind::kShrunk : LifecycleKind::kDied;
  lifecycle.stream = format::Stream::kMapping;
  lifecycle.left = left_mb * kMb;
  return lifecycle;
}

format::Interval Second(uint64_t index, uint64_t count, uint64_t mb) {
  return {.index = index,
          .candidates = count,
          .bytes = mb * kMb,
          .buffered = count,
          .kept = count,
          .stream = format::Stream::kMapping};
}

// A heap of 64 MiB, trimmed from 72, of which 30 MiB are committed at last; a file; and one that comes and goes.
void WriteMaps(const std::string& path) {
  RecordingFile file(path, HeaderWithMappings());
  file.Add(format::Window{1, 0, 1e-4});
  file.Add(format::Window{format::kMappingWindowBit + 1, 0, 1});
  Event of_heap;
  file.Add(of_heap);
  file.Add(Mapped(1, 100 * kMs, "reserve", "libjvm.so.heap_reserve", 72));
  file.Add(Mapped(2, 200 * kMs, "commit", "libjvm.so.heap_expand", 10));
  file.Add(Mapped(3, 300 * kMs, "mmap file", "libzip.so.open", 5));
  file.Add(Changed(1, 110 * kMs, 64));
  file.Add(Second(0, 3, 87));
  file.Flush();
  file.Add(Mapped(4, 1100 * kMs, "commit", "libjvm.so.heap_expand", 30));
  file.Add(Mapped(5, 1200 * kMs, "mmap", "libother.so.churn", 7));
  file.Add(Changed(2, 1300 * kMs, 4));
  file.Add(Changed(5, 1400 * kMs, 0));
  file.Add(Second(1, 2, 37));
  file.Flush();
  file.Add(Changed(4, 2500 * kMs, 26));
  file.counters(format::Stream::kMapping).candidates = 5;
  file.End("stop", 3 * kSecond);
}

std::map<std::string, json> RowsOf(const json& document) {
  std::map<std::string, json> rows;
  for (const json& row : document["rows"]) rows[row["name"]] = row;
  return rows;
}

double Mb(const json& estimate) { return estimate["value"].get<double>() / kMb; }

}  // namespace

TEST_CASE("native: what is reserved and what is committed, by site, beside malloc's blocks") {
  const Directory directory;
  WriteMaps(directory / "rec.bin");
  const json document = Parsed("native --json " + (directory / "rec.bin"));
  CHECK(document["allocated"]["bytes"]["value"] == 0);
  const json mapped = document["mmap"];
  CHECK(Mb(mapped["reserved"]) == Approx(64 + 5));
  CHECK(Mb(mapped["committed"]) == Approx(4 + 26 + 5));
  CHECK(mapped["committed"]["low"] == mapped["committed"]["high"]);
  CHECK(mapped["mappings"]["value"] == Approx(4));
  CHECK(Mb(mapped["mapped"]["bytes"]) == Approx(72 + 10 + 5 + 30 + 7));
  auto rows = RowsOf(mapped);
  REQUIRE(rows.size() == 4);
  CHECK(mapped["rows"][0]["name"] == "libjvm.so.heap_expand");
  CHECK(Mb(rows["libjvm.so.heap_expand"]["committed"]) == Approx(30));
  CHECK(Mb(rows["libjvm.so.heap_expand"]["reserved"]) == 0);
  CHECK(Mb(rows["libjvm.so.heap_reserve"]["reserved"]) == Approx(64));
  CHECK(Mb(rows["libother.so.churn"]["committed"]) == 0);
  CHECK(Mb(rows["libother.so.churn"]["mapped"]["bytes"]) == Approx(7));
  const auto text = Heaprec("native --by library " + (directory / "rec.bin"));
  CHECK(text.out.find("mappings: 69.0 MiB reserved, 35.0 MiB committed, in 4 mappings") != std::string::npos);
  CHECK(text.out.find("libjvm.so") != std::string::npos);
  CHECK(Heaprec("native --min-age 1s " + (directory / "rec.bin")).out.find("reserved") == std::string::npos);
  const json stacks = Parsed("native --json --callers 1 " + (directory / "rec.bin"));
  CHECK(stacks["mmap"]["rows"][0]["callers"] == json({"libjvm.so.create_vm"}));
}

TEST_CASE("mappings are a kind of their own, in no total of others") {
  const Directory directory;
  const std::string path = directory / "rec.bin";
  WriteMaps(path);
  CHECK(Parsed("top --json " + path)["matched"]["points"] == 1);
  const json top = Parsed("top --kind mmap --by class --json " + path);
  CHECK(top["total"]["value"] == Approx(124 * kMb));
  auto alive = RowsOf(Parsed("live --kind mmap --by class --json " + path)["tables"][0]);
  CHECK(Mb(alive["reserve"]["bytes"]) == Approx(64));
  CHECK(Mb(alive["commit"]["bytes"]) == Approx(30));
  CHECK(Mb(alive["mmap file"]["bytes"]) == Approx(5));
  CHECK(Mb(Parsed("live --kind mmap --at 1150ms --json " + path)["live"]["bytes"]) == Approx(64 + 10 + 5 + 30));
  CHECK(Heaprec("top --kind mmap,malloc " + path).code == 2);
  CHECK(Heaprec("print --kind shrunk " + path).out.find("left") != std::string::npos);
  CHECK(Heaprec("print --kind mmap " + path).out.find("libzip.so.open") != std::string::npos);
  CHECK(Heaprec("summary " + path).out.find("in 5 calls, counted") != std::string::npos);
  CHECK(Heaprec("verify " + path).code == 0);
  CHECK(Heaprec("doctor " + path).code == 0);
  const auto sql = Heaprec("sql --csv --kind mmap " + path + " \"select kind, sum(calibrated_bytes) from samples\"");
  CHECK(sql.out.find("mmap,130023424") != std::string::npos);
}

TEST_CASE("what was cut out of a recording still knows what is left of each mapping") {
  const Directory directory;
  WriteMaps(directory / "rec.bin");
  for (const char* from : {"150ms", "1350ms", "2s"}) {
    INFO(from);
    REQUIRE(Heaprec(std::string("trim -f --from ") + from + " -o " + (directory / "later.bin") + " " +
                    (directory / "rec.bin"))
                .code == 0);
    const json mapped = Parsed("native --json " + (directory / "later.bin"))["mmap"];
    CHECK(Mb(mapped["reserved"]) == Approx(64 + 5));
    CHECK(Mb(mapped["committed"]) == Approx(4 + 26 + 5));
    CHECK(Heaprec("verify " + (directory / "later.bin")).code == 0);
  }
}

TEST_CASE("what a killed process left in its ring of mappings counts once") {
  const Directory directory;
  format::FileHeader header = HeaderWithMappings();
  header.ring_path = directory / "rec.ring";
  RecordingFile file(directory / "rec.bin", header);
  file.Add(format::Window{format::kMappingWindowBit + 1, 0, 1});
  file.Add(Mapped(1, 100 * kMs, "reserve", "libjvm.so.heap_reserve", 72));
  file.Add(Changed(1, 110 * kMs, 64));
  file.Add(Second(0, 1, 72));
  file.Flush({0, 0});
  RingFile ring(header);
  ring.header().mapped.interval_ns = kSecond;
  const Event commit = Mapped(2, 1100 * kMs, "commit", "libjvm.so.heap_expand", 10);
  ring.Define(0, commit);
  ring.Add(0, commit);
  ring.AddDeath(1, kFirst + 1, 110 * kMs, 64 * kMb);  // in the file already
  ring.AddDeath(1, kFirst + 1, 1200 * kMs, 60 * kMb);
  ring.AddDeath(1, kFirst + 2, 1300 * kMs, 8 * kMb);
  format::RingCounters& counters = ring.header().mapped.counters;
  counters.points = counters.committed = counters.candidates = 2;
  counters.written = 1;
  counters.candidate_bytes = 82 * kMb;
  ring.WriteTo(header.ring_path);
  const json mapped = Parsed("native --json " + (directory / "rec.bin"))["mmap"];
  CHECK(Mb(mapped["reserved"]) == Approx(60));
  CHECK(Mb(mapped["committed"]) == Approx(8));
  CHECK(Heaprec("verify " + (directory / "rec.bin")).code == 0);
}

}  // namespace heaprec::tools::testing
