// What the command makes of a recording with native memory.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/tools/recording_fixture.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

format::FileHeader HeaderWithNative() {
  format::FileHeader header = SomeHeader();
  header.native = {.interval_ns = kSecond, .interval_cap = 100, .rate_per_second = 100};
  header.max_tracked_blocks = 16384;
  return header;
}

constexpr uint64_t kFirst = uint64_t{1} << 61;

Event Native(uint64_t number, uint64_t time_ns, const std::string& site, double weight, uint64_t size = 1000) {
  Event event;
  event.kind = format::Kind::kNative;
  event.time_ns = time_ns;
  event.class_name = "malloc";
  event.size = size;
  event.weight = weight;
  event.stack = {site, "libjava.so.JNI_Call", "p/Main.main:3"};
  event.types = {format::FrameType::kNative, format::FrameType::kNative, format::FrameType::kCompiled};
  event.id = kFirst + number;
  return event;
}

format::LifecycleEvent Freed(uint64_t number, uint64_t time_ns) {
  format::LifecycleEvent lifecycle;
  lifecycle.sample = kFirst + number;
  lifecycle.time_ns = time_ns;
  lifecycle.stream = format::Stream::kNative;
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

}  // namespace

TEST_CASE("native: what lives, what was allocated and what grows, by site") {
  const Directory directory;
  WriteLeak(directory / "rec.bin");
  const json document = Parsed("native --json " + (directory / "rec.bin"));
  CHECK(document["schema"] == "heaprec.native_sampled/1");
  CHECK(document["allocated"]["bytes"]["value"] == Approx(40e6));
  // Counted: 4,000 calls in each second.
  for (const char* const end : {"value", "low", "high"}) CHECK(document["allocated"]["objects"][end] == 40'000);
  CHECK(document["allocated"]["mean_size"]["value"] == Approx(1000));
  const std::string text = Heaprec("native " + (directory / "rec.bin")).out;
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
  const json sorted = Parsed("native --sort allocated --json " + (directory / "rec.bin"));
  CHECK(sorted["rows"][0]["name"] == "libchurn.so.parse");
}

TEST_CASE("native --min-age: only what is old") {
  const Directory directory;
  WriteLeak(directory / "rec.bin");
  const json document = Parsed("native --min-age 5s --json " + (directory / "rec.bin"));
  CHECK(document["live"]["bytes"]["value"] == Approx(5.1e6));
  const auto rows = RowsOf(document);
  REQUIRE(rows.size() == 1);
  const json kept = rows.at("libleak.so.2.cache_keep");
  for (const json& share : kept["survival_by_seconds"]["reached"]) CHECK(share == 1);
  // A quarter of all is the leak's, the rest lives for 10 ms.
  const json all = document["survival_by_seconds"];
  CHECK(all["reached"].back().get<double>() == Approx(0.25).margin(0.01));
  CHECK(all["seconds"].back().get<double>() > 8);
  const auto text = Heaprec("native --min-age 5s " + (directory / "rec.bin"));
  CHECK(text.out.find("live for 5.000 s or longer") != std::string::npos);
  CHECK(text.out.find("cache_keep") != std::string::npos);
  CHECK(text.out.find("parse") == std::string::npos);
  CHECK(text.out.find("100.0 %") != std::string::npos);  // reach 5 s
  CHECK(text.out.find("live for 10 ms to 10.0 s") != std::string::npos);
  CHECK(Heaprec("native --min-age 60s " + (directory / "rec.bin")).out.find("no live block is that old") !=
        std::string::npos);
  const auto junk = Heaprec("native --min-age 5s " + (directory / "none.bin"));
  CHECK(junk.code == 3);
}

TEST_CASE("live and leaks of native memory speak of blocks that are freed, not of collections") {
  const Directory directory;
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

TEST_CASE("what only collections tell is not asked of native memory") {
  const Directory directory;
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

TEST_CASE("native --by library and --callers") {
  const Directory directory;
  WriteLeak(directory / "rec.bin");
  auto rows = RowsOf(Parsed("native --by library --json " + (directory / "rec.bin")));
  REQUIRE(rows.size() == 2);
  CHECK(rows.contains("libleak.so.2"));
  CHECK(rows.contains("libchurn.so"));
  const json stacks = Parsed("native --callers 2 --json " + (directory / "rec.bin"));
  CHECK(stacks["rows"][0]["callers"] == json({"libjava.so.JNI_Call", "p.Main.main"}));
  CHECK(Heaprec("native --callers 2 " + (directory / "rec.bin")).out.find("  p.Main.main") != std::string::npos);
}

TEST_CASE("native memory is in no total of the heap, and the heap in none of its") {
  const Directory directory;
  WriteLeak(directory / "rec.bin");
  const std::string path = directory / "rec.bin";
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

TEST_CASE("why native memory was refused is said, printably, and redacted") {
  const Directory directory;
  const std::string path = directory / "rec.bin";
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

TEST_CASE("a recording without native memory says so, and so does one cut in two") {
  const Directory directory;
  {
    RecordingFile file(directory / "heap.bin", SomeHeader());
    file.Add(format::Window{1, 0, 1e-4});
    file.Add(Event{});
    file.End("stop", kSecond);
  }
  const auto none = Heaprec("native " + (directory / "heap.bin"));
  CHECK(none.code == 3);
  CHECK(none.err.find("native=on") != std::string::npos);
  CHECK(Heaprec("native --min-age 1s " + (directory / "nothing.bin")).code != 0);
  WriteLeak(directory / "rec.bin");
  REQUIRE(Heaprec("trim --from 5s -o " + (directory / "later.bin") + " " + (directory / "rec.bin")).code == 0);
  // The leaked blocks of the first half are among the later half's survivors.
  CHECK(Parsed("native --json " + (directory / "later.bin"))["live"]["bytes"]["value"] == Approx(10e6));
  CHECK(Heaprec("verify " + (directory / "later.bin")).code == 0);
}

}  // namespace heaprec::tools::testing
