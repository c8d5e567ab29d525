// What the command makes of a recording with native memory: blocks and mappings.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/tools/recording_fixture.h"

namespace heaprec::tools::testing {
namespace {

using format::LifecycleEvent;
using format::LifecycleKind;
using nlohmann::json;

format::FileHeader HeaderWithNative() {
  format::FileHeader header = SomeHeader();
  header.native = {.interval_ns = kSecond, .interval_cap = 100, .rate_per_second = 100};
  header.max_tracked_blocks = 16384;
  return header;
}

constexpr uint64_t kFirstBlock = uint64_t{1} << 61;

Event Native(uint64_t number, uint64_t time_ns, const std::string& site, double weight, uint64_t size = 1000) {
  Event event{.time_ns = time_ns, .class_name = "malloc", .kind = format::Kind::kNative};
  event.size = size;
  event.weight = weight;
  event.stack = {site, "libjava.so.JNI_Call", "p/Main.main:3"};
  event.types = {format::FrameType::kNative, format::FrameType::kNative, format::FrameType::kCompiled};
  event.id = kFirstBlock + number;
  return event;
}

LifecycleEvent Freed(uint64_t number, uint64_t time_ns) {
  LifecycleEvent lifecycle{.sample = kFirstBlock + number, .time_ns = time_ns, .stream = format::Stream::kNative};
  return lifecycle;
}

// Ten seconds: a leak of 1 MB a second in samples of 100 kB; what is freed at once; and two objects of the heap.
void WriteLeak(const std::string& path) {
  RecordingFile file(path, HeaderWithNative());
  file.Add(format::Window{1, 0, 1e-4});
  file.Add(format::Window{format::kNativeWindowBit + 1, 0, 1e-5});
  uint64_t number = 0;
  for (uint64_t second = 0; second < 10; ++second) {
    Event event;
    event.time_ns = second * kSecond;
    if (second < 2) file.Add(event);
    for (uint64_t i = 0; i < 10; ++i) {
      const uint64_t time_ns = second * kSecond + i * (kSecond / 10);
      file.Add(Native(++number, time_ns, "libleak.so.2.cache_keep", 100'000));
      file.Add(Native(++number, time_ns, "libchurn.so.parse", 300'000));
      file.Add(Freed(number, time_ns + kSecond / 100));
    }
    file.Add(format::Interval{.index = second,
                              .candidates = 4000,
                              .bytes = 4'000'000,
                              .buffered = 20,
                              .kept = 20,
                              .stream = format::Stream::kNative});
  }
  file.counters(format::Stream::kNative).candidates = 40'000;
  file.End("stop", 10 * kSecond);
}

std::map<std::string, json> RowsOf(const json& document) {
  std::map<std::string, json> rows;
  for (const json& row : document["rows"]) rows[row["name"]] = row;
  return rows;
}

constexpr uint64_t kFirstMapping = uint64_t{1} << 60;
constexpr uint64_t kMb = 1 << 20;

format::FileHeader HeaderWithMappings() {
  format::FileHeader header = HeaderWithNative();
  header.mapped = {.interval_ns = kSecond, .interval_cap = 1000, .rate_per_second = 1000};
  header.max_tracked_mappings = 32768;
  return header;
}

Event Mapped(uint64_t number, uint64_t time_ns, const std::string& class_name, const std::string& site, uint64_t mb) {
  Event event{.time_ns = time_ns, .class_name = class_name, .kind = format::Kind::kMapping};
  event.size = mb * kMb;
  event.weight = static_cast<double>(mb * kMb);
  event.stack = {site, "libjvm.so.create_vm"};
  event.types = {format::FrameType::kNative, format::FrameType::kNative};
  event.id = kFirstMapping + number;
  event.tracking_index = 1;
  return event;
}

LifecycleEvent Changed(uint64_t number, uint64_t time_ns, uint64_t left_mb) {
  LifecycleEvent lifecycle{.sample = kFirstMapping + number,
                           .time_ns = time_ns,
                           .kind = left_mb > 0 ? LifecycleKind::kShrunk : LifecycleKind::kDied,
                           .stream = format::Stream::kMapping};
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

double Mb(const json& estimate) { return estimate["value"].get<double>() / kMb; }

}  // namespace

TEST_CASE_METHOD(Scratch, "native: what lives, what was allocated and what grows, by site") {
  WriteLeak(path);
  const json document = Parsed("native --json " + path);
  CHECK(document["schema"] == "heaprec.native_sampled/1");
  CHECK(document["allocated"]["bytes"]["value"] == Approx(40e6));
  // Counted: 4,000 calls in each second.
  for (const char* const end : {"value", "low", "high"}) CHECK(document["allocated"]["objects"][end] == 40'000);
  CHECK(document["allocated"]["mean_size"]["value"] == Approx(1000));
  const std::string text = Heaprec("native " + path).out;
  INFO(text);
  CHECK(text.find("of 38.1 MiB allocated in 40.0 k blocks in 10.0") != std::string::npos);
  CHECK(text.find("requested, not resident") != std::string::npos);
  CHECK(document["live"]["bytes"]["value"] == Approx(10e6));
  CHECK(document["live"]["growth"]["value"].get<double>() == Approx(1e6).epsilon(0.05));
  auto rows = RowsOf(document);
  REQUIRE(rows.size() == 2);
  const json leak = rows["libleak.so.2.cache_keep"], churn = rows["libchurn.so.parse"];
  CHECK(leak["live"]["bytes"]["value"] == Approx(10e6));
  CHECK(leak["live"]["bytes"]["low"].get<double>() < 10e6);
  CHECK(leak["live"]["bytes"]["high"].get<double>() > 10e6);
  CHECK(leak["live"]["objects"]["value"] == Approx(10'000));
  CHECK(leak["live"]["mean_age_seconds"]["value"].get<double>() == Approx(5.05).epsilon(0.01));
  CHECK(churn["live"]["bytes"]["value"] == 0);
  CHECK(churn["allocated"]["bytes"]["value"] == Approx(30e6));
  CHECK(document["rows"][0]["name"] == "libleak.so.2.cache_keep");
  const json sorted = Parsed("native --sort allocated --json " + path);
  CHECK(sorted["rows"][0]["name"] == "libchurn.so.parse");
}

TEST_CASE_METHOD(Scratch, "native --min-age: only what is old") {
  WriteLeak(path);
  const json document = Parsed("native --min-age 5s --json " + path);
  CHECK(document["live"]["bytes"]["value"] == Approx(5.1e6));
  const auto rows = RowsOf(document);
  REQUIRE(rows.size() == 1);
  const json kept = rows.at("libleak.so.2.cache_keep");
  for (const json& share : kept["survival_by_seconds"]["reached"]) CHECK(share == 1);
  // A quarter of all is the leak's, the rest lives for 10 ms.
  const json all = document["survival_by_seconds"];
  CHECK(all["reached"].back().get<double>() == Approx(0.25).margin(0.01));
  CHECK(all["seconds"].back().get<double>() > 8);
  const auto text = Heaprec("native --min-age 5s " + path);
  CHECK(text.out.find("live for 5.000 s or longer") != std::string::npos);
  CHECK(text.out.find("cache_keep") != std::string::npos);
  CHECK(text.out.find("parse") == std::string::npos);
  CHECK(text.out.find("100.0 %") != std::string::npos);  // reach 5 s
  CHECK(text.out.find("live for 10 ms to 10.0 s") != std::string::npos);
  CHECK(Heaprec("native --min-age 60s " + path).out.find("no live block is that old") != std::string::npos);
  const auto junk = Heaprec("native --min-age 5s " + (directory / "none.bin"));
  CHECK(junk.code == 3);
}

TEST_CASE_METHOD(Scratch, "live and leaks of native memory speak of blocks that are freed, not of collections") {
  WriteLeak(directory / "rec.bin");
  const std::string path = " --kind malloc " + (directory / "rec.bin");
  const std::string live = Heaprec("live" + path).out, leaks = Heaprec("leaks" + path).out;
  CHECK(live.find("10.0k blocks") == std::string::npos);
  CHECK(live.find(" blocks, mean age 5.05 s\nlive bytes grow by +") != std::string::npos);
  for (const char* column : {"blocks 95 %", "mean age 95 %", "growth 95 %", "\nLEAK  +", " 5.05 s "}) {
    CAPTURE(leaks, column);
    CHECK(leaks.find(column) != std::string::npos);
  }
  const std::string lifetimes = Heaprec("live --lifetimes" + path).out;
  CHECK(lifetimes.find("200 sampled blocks, tracked until they were freed; reach: ") == 0);
  CHECK(lifetimes.find("freed  ") != std::string::npos);
  CHECK(lifetimes.find("reach 1 s") != std::string::npos);
  const std::string freed = Heaprec("live --garbage recent" + path).out;
  CHECK(freed.find("100 of 100 sampled blocks that were freed, newest first\n") == 0);
  CHECK(freed.find("freed at") != std::string::npos);
  for (const std::string& text : {live, leaks, lifetimes, freed}) {
    CAPTURE(text);
    for (const char* of_heap : {"collect", "object", "died", "dies young", "survive"}) {
      CHECK(text.find(of_heap) == std::string::npos);
    }
  }
  const json document = Parsed("live --lifetimes --json" + path);
  CHECK(document["all"]["dies_young"].is_null());
  CHECK(document["all"]["survival_by_collections"]["reached"].empty());
  CHECK_FALSE(document["all"]["survival_by_seconds"]["reached"].empty());
}

TEST_CASE_METHOD(Scratch, "what only collections tell is not asked of native memory") {
  WriteLeak(directory / "rec.bin");
  const std::string path = " --kind malloc " + (directory / "rec.bin");
  for (const std::string command : {"live --survived 2", "live --lifetimes --survived 2", "leaks --survived 2"}) {
    const auto outcome = Heaprec(command + path);
    CHECK(outcome.code == 2);
    CHECK(outcome.err ==
          "heaprec: --survived: blocks are not subject to garbage collection; they live until they are freed\n");
  }
  CHECK(Heaprec("live --sort survived" + path).code == 2);
  {
    RecordingFile file(directory / "heap.bin", SomeHeader());
    file.Add(Event{});
    file.End("stop", kSecond);
  }
  for (const std::string command : {"live", "leaks"}) {
    const auto outcome = Heaprec(command + " --kind malloc " + (directory / "heap.bin"));
    CHECK(outcome.code == 3);
    CHECK(outcome.err.find("native memory was not sampled; record with native=on") != std::string::npos);
  }
}

TEST_CASE_METHOD(Scratch, "native --by library and --callers") {
  WriteLeak(path);
  auto rows = RowsOf(Parsed("native --by library --json " + path));
  REQUIRE(rows.size() == 2);
  CHECK(rows.contains("libleak.so.2"));
  CHECK(rows.contains("libchurn.so"));
  const json stacks = Parsed("native --callers 2 --json " + path);
  CHECK(stacks["rows"][0]["callers"] == json({"libjava.so.JNI_Call", "p.Main.main"}));
  CHECK(Heaprec("native --callers 2 " + path).out.find("  p.Main.main") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "native memory is in no total of the heap, and the heap in none of its") {
  WriteLeak(path);
  const json heap = Parsed("top --json " + path);
  CHECK(heap["matched"]["points"] == 2);
  const json native = Parsed("top --by library --kind malloc --json " + path);
  CHECK(native["total"]["value"] == Approx(40e6));
  CHECK(native["matched"]["points"] == 200);
  CHECK(native["tables"][0]["rows"][0]["name"] == "libchurn.so");
  CHECK(Parsed("live --kind malloc --by site --json " + path)["live"]["bytes"]["value"] == Approx(10e6));
  const json leaks = Parsed("leaks --kind malloc --json " + path);
  CHECK(leaks["leaks"] == 1);
  CHECK(leaks["rows"][0]["name"] == "libleak.so.2.cache_keep");
  CHECK(Heaprec("top --kind malloc,tlab " + path).code == 2);
  CHECK(Heaprec("verify " + path).code == 0);
  const auto summary = Heaprec("summary " + path);
  CHECK(summary.out.find("40,000 calls, counted") != std::string::npos);
  CHECK(Heaprec("print --kind malloc --limit 1 " + path).out.find("libleak.so.2.cache_keep") != std::string::npos);
  const auto collapsed = Heaprec("export --format collapsed --kind malloc -o - " + path);
  CHECK(collapsed.out.find("p.Main.main;libjava.so.JNI_Call;libchurn.so.parse") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "why native memory was refused is said, printably, and redacted") {
  const auto write = [&](format::FileHeader header) {
    header.native_unavailable_reason = "calls of \x1b[31mlibsecret.so are not seen";
    std::remove(path.c_str());
    RecordingFile file(path, header);
    file.Add(format::Window{format::kNativeWindowBit + 1, 0, 1e-5});
    file.Add(Event{});
    if (header.max_tracked_blocks > 0) file.Add(Native(1, kSecond / 2, "libleak.so.2.cache_keep", 100'000));
    file.End("stop", kSecond);
  };
  write(SomeHeader());
  const auto refused = Heaprec("native " + path);
  CHECK(refused.code == 3);
  CHECK(refused.err.find("native memory was not sampled: calls of ") != std::string::npos);
  CHECK(refused.err.find('\x1b') == std::string::npos);
  CHECK(Heaprec("summary " + path).out.find("native memory was not sampled: calls of ") != std::string::npos);
  CHECK(Heaprec("doctor " + path).out.find("  native           native memory was not sampled: calls of ") !=
        std::string::npos);
  write(HeaderWithNative());
  const auto in_part = Heaprec("native " + path);
  CHECK(in_part.code == 0);
  CHECK(in_part.out.find("\nnative memory was sampled in part: calls of ") != std::string::npos);
  CHECK(in_part.out.find('\x1b') == std::string::npos);
  CHECK(
      Parsed("native --json " + path)["unavailable_reason"].get<std::string>().ends_with("libsecret.so are not seen"));
  REQUIRE(Heaprec("redact -q -o " + (directory / "public.bin") + " " + path).code == 0);
  CHECK(Heaprec("summary --json " + (directory / "public.bin")).out.find("libsecret") == std::string::npos);
  CHECK(Heaprec("native " + (directory / "public.bin")).out.find("sampled in part: redacted") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "a later half has the blocks of the first half that are still allocated") {
  WriteLeak(path);
  REQUIRE(Heaprec("trim --from 5s -o " + (directory / "later.bin") + " " + path).code == 0);
  // The leaked blocks of the first half are among the later half's survivors.
  CHECK(Parsed("native --json " + (directory / "later.bin"))["live"]["bytes"]["value"] == Approx(10e6));
  CHECK(Heaprec("verify " + (directory / "later.bin")).code == 0);
}

TEST_CASE_METHOD(Scratch, "native: what is reserved and what is committed, by site, beside malloc's blocks") {
  WriteMaps(path);
  const json document = Parsed("native --json " + path);
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
  const auto text = Heaprec("native --by library " + path);
  CHECK(text.out.find("mappings: 69.0 MiB reserved, 35.0 MiB committed, in 4 mappings") != std::string::npos);
  CHECK(text.out.find("libjvm.so") != std::string::npos);
  CHECK(Heaprec("native --min-age 1s " + path).out.find("reserved") == std::string::npos);
  const json stacks = Parsed("native --json --callers 1 " + path);
  CHECK(stacks["mmap"]["rows"][0]["callers"] == json({"libjvm.so.create_vm"}));
}

TEST_CASE_METHOD(Scratch, "mappings are a kind of their own, in no total of others") {
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

TEST_CASE_METHOD(Scratch, "what was cut out of a recording still knows what is left of each mapping") {
  WriteMaps(path);
  for (const char* from : {"150ms", "1350ms", "2s"}) {
    INFO(from);
    REQUIRE(Heaprec(std::string("trim -f --from ") + from + " -o " + (directory / "later.bin") + " " + (path)).code ==
            0);
    const json mapped = Parsed("native --json " + (directory / "later.bin"))["mmap"];
    CHECK(Mb(mapped["reserved"]) == Approx(64 + 5));
    CHECK(Mb(mapped["committed"]) == Approx(4 + 26 + 5));
    CHECK(Heaprec("verify " + (directory / "later.bin")).code == 0);
  }
}

TEST_CASE_METHOD(Scratch, "what a killed process left in its ring of mappings counts once") {
  format::FileHeader header = HeaderWithMappings();
  header.ring_path = directory / "rec.ring";
  RecordingFile file(path, header);
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
  ring.AddDeath(1, kFirstMapping + 1, 110 * kMs, 64 * kMb);  // in the file already
  ring.AddDeath(1, kFirstMapping + 1, 1200 * kMs, 60 * kMb);
  ring.AddDeath(1, kFirstMapping + 2, 1300 * kMs, 8 * kMb);
  format::RingCounters& counters = ring.header().mapped.counters;
  counters.points = counters.committed = counters.candidates = 2;
  counters.written = 1;
  counters.candidate_bytes = 82 * kMb;
  ring.WriteTo(header.ring_path);
  const json mapped = Parsed("native --json " + path)["mmap"];
  CHECK(Mb(mapped["reserved"]) == Approx(60));
  CHECK(Mb(mapped["committed"]) == Approx(8));
  CHECK(Heaprec("verify " + path).code == 0);
}

}  // namespace heaprec::tools::testing
