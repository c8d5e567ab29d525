// histogram and timeline from outside: what they add up, and the pictures.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

// Ten seconds; in the fifth second nine times as many small strings, and a collection in the seventh.
void WriteTenSeconds(const std::string& path) {
  RecordingFile file(path, SomeHeader());
  for (uint64_t second = 0; second < 10; ++second) {
    const uint64_t count = second == 4 ? 90 : 10;
    for (uint64_t i = 0; i < count; ++i) {
      Event event = At(second * kSecond + (i + 1) * 10 * kMs);
      if (i % 5 == 0) {
        event.class_name = "[I<>&";
        event.size = 1600;
        event.weight = 1600;
      }
      file.Add(event);
    }
    file.Add(format::Interval{second, count, count * 2240, count, count, 0});
    file.Flush();
  }
  format::ProcessState end;
  end.id = 1;
  end.time_ns = 6 * kSecond + 500 * kMs;
  end.kind = format::ProcessStateKind::kGcEnd;
  end.used = 5 << 20;
  end.pauses = 1;
  end.paused_ns = 3 * kMs;
  file.Add(end);
  file.End("jvm exit", 10 * kSecond);
}

TEST_CASE_METHOD(Scratch, "The chart of timeline has an axis of local times, each below its value") {
  WriteTenSeconds(path);
  const std::string chart = Shell("COLUMNS=120 $HEAPREC timeline " + path).out;
  INFO(chart);
  const size_t axis = chart.find("|16:40:00");
  REQUIRE(axis != std::string::npos);
  CHECK(chart.find("|16:40:03   |16:40:06", axis) != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "histogram has a class for each power of two, empty ones between too") {
  WriteTenSeconds(path);
  const json document = Parsed("histogram --json " + path);
  CHECK(document["schema"] == "heaprec.histogram/1");
  const json& classes = document["classes"];
  REQUIRE(classes.size() == 7);  // 16 to 32, ..., 1024 to 2048
  CHECK(classes[0]["from"] == 16);
  CHECK(classes[0]["below"] == 32);
  CHECK(classes[0]["bytes"]["value"] == Approx(144 * 2400));
  CHECK(classes[0]["objects"]["value"] == Approx(144 * 100));
  CHECK(classes[0]["objects"]["high"] > 144 * 100);
  CHECK(classes[1]["bytes"]["value"] == 0);
  for (size_t empty = 1; empty < 6; ++empty) {
    CHECK(classes[empty]["bytes"]["high"] > 0);
    CHECK(classes[empty]["objects"]["value"] == 0);
    CHECK(classes[empty]["objects"]["high"].get<double>() ==
          Approx(classes[empty]["bytes"]["high"].get<double>() / classes[empty]["from"].get<double>()));
  }
  CHECK(classes[6]["bytes"]["value"] == Approx(36 * 1600));
  double bytes = 0;
  for (const json& one : classes) bytes += one["bytes"]["value"].get<double>();
  CHECK(bytes == Approx(document["total"]["value"].get<double>()));
  const std::string text = Heaprec("histogram " + path).out;
  INFO(text);
  CHECK(text.find("1 KiB to 2 KiB") != std::string::npos);
  CHECK(Heaprec("histogram --kind exception " + path).code == 2);
}

TEST_CASE_METHOD(Scratch, "timeline has the rate of each step, and what sampler and heap did") {
  WriteTenSeconds(path);
  const json document = Parsed("timeline --by class --json " + path);
  CHECK(document["schema"] == "heaprec.timeline/1");
  CHECK(document["step_ns"] == kSecond);
  const json& steps = document["steps"];
  REQUIRE(steps.size() == 10);
  CHECK(steps[0]["bytes_per_second"]["value"] == Approx(22'400));
  CHECK(steps[4]["bytes_per_second"]["value"] == Approx(9 * 22'400));
  CHECK(steps[4]["bytes_per_second"]["low"] < 9 * 22'400);
  CHECK(steps[4]["rate_used"] == Approx(90.0 / 150));
  CHECK(steps[4]["counted_bytes"] == 90 * 2240);
  CHECK(steps[6]["pauses"] == 1);
  CHECK(steps[6]["heap_used"] == 5 << 20);
  CHECK(steps[7]["heap_used"].is_null());
  CHECK(steps[5]["pauses"] == 0);
  REQUIRE(document["groups"].size() == 2);
  CHECK(document["groups"][0]["name"] == "java.lang.String");
  double bytes = 0;
  for (const json& rate : document["groups"][0]["bytes_per_second"]) bytes += rate["value"].get<double>();
  CHECK(bytes == Approx(144 * 2400));
}

TEST_CASE_METHOD(Scratch, "timeline has the counts of the samples that it shows, or none") {
  format::FileHeader header = SomeHeader();
  header.native = {.interval_ns = kSecond / 2, .interval_cap = 40, .rate_per_second = 80};
  RecordingFile file(path, header);
  for (uint64_t i = 0; i < 20; ++i) {
    Event event = At((i * 100 + 5) * kMs);
    file.Add(event);
    event.kind = format::Kind::kNative;
    event.id = 1000 + i;
    file.Add(event);
  }
  for (uint64_t second = 0; second < 2; ++second) file.Add(format::Interval{second, 10, 24'000, 10, 10, 0});
  for (uint64_t half = 0; half < 4; ++half) {
    file.Add(format::Interval{half, 5, 12'000, 5, 5, 0, format::Stream::kNative});
  }
  file.End("jvm exit", 2 * kSecond);
  const json heap = Parsed("timeline --json " + path)["steps"][1];
  CHECK(heap["counted_bytes"] == 24'000);
  CHECK(heap["rate_used"] == Approx(10.0 / 150));
  const json native = Parsed("timeline --kind malloc --json " + path)["steps"][1];
  CHECK(native["rate_used"] == Approx(10.0 / 80));
  CHECK(native["counted_bytes"] == 12'000);
  for (const std::string filter : {"--class java.lang.String", "--from 500ms"}) {
    const json filtered = Parsed("timeline " + filter + " --json " + path);
    CHECK(filtered["steps"][1]["counted_bytes"].is_null());
    CHECK(filtered["steps"][1]["rate_used"] == Approx(10.0 / 150));
  }
}

TEST_CASE_METHOD(Scratch, "a step of timeline is no shorter than an interval of its stream") {
  format::FileHeader header = SomeHeader();
  header.native = {.interval_ns = 5 * kSecond, .interval_cap = 400, .rate_per_second = 80};
  RecordingFile file(path, header);
  for (uint64_t i = 0; i < 200; ++i) {
    Event event = At((i * 100 + 5) * kMs);
    file.Add(event);
    event.kind = format::Kind::kNative;
    event.id = 1000 + i;
    file.Add(event);
  }
  file.End("jvm exit", 20 * kSecond);
  CHECK(Parsed("timeline --json " + path)["step_ns"] == kSecond);
  CHECK(Parsed("timeline --kind malloc --json " + path)["step_ns"] == 5 * kSecond);
}

TEST_CASE_METHOD(Scratch, "timeline keeps to the span and the steps asked for, and reads standard input twice") {
  WriteTenSeconds(path);
  CHECK(Parsed("timeline --from 2s --to 6s --json " + path)["steps"].size() == 4);
  const json two = Parsed("timeline --steps 2 --json " + path);
  REQUIRE(two["steps"].size() == 2);
  CHECK(two["step_ns"] == 5 * kSecond);
  CHECK(two["steps"][0]["bytes_per_second"]["value"] == Approx((4 + 9) * 22'400 / 5));
  const Outcome piped = Shell("cat " + path + " | $HEAPREC timeline --by class --json -");
  REQUIRE(piped.code == 0);
  CHECK(json::parse(piped.out)["steps"].size() == 10);
  CHECK(Heaprec("timeline --class nothing.such " + path).out.find("no samples") != std::string::npos);
}

// 240,000 B/s, one sample each 10 ms, from `after_ns` on.
void WriteSteady(const std::string& path, uint64_t after_ns, uint64_t length_ns) {
  format::FileHeader header = SomeHeader();
  header.start_epoch_ns += after_ns;
  header.recording_id[0] = static_cast<uint8_t>(after_ns / kSecond);
  RecordingFile file(path, header);
  for (uint64_t time_ns = 5 * kMs; time_ns < length_ns; time_ns += 10 * kMs) file.Add(At(time_ns));
  file.End("jvm exit", length_ns);
}

constexpr double kSteady = 240'000, kUnknown = -1;
using Rates = std::vector<double>;

// Of each step.
Rates RatesOf(const std::string& arguments) {
  Rates rates;
  const json document = Parsed("timeline --json " + arguments);
  for (const json& step : document["steps"]) {
    const json& rate = step["bytes_per_second"];
    rates.push_back(rate.is_null() ? kUnknown : rate["value"].get<double>());
  }
  return rates;
}

TEST_CASE_METHOD(Scratch, "a step that is covered in part has the rate of that part") {
  WriteSteady(path, 0, 3 * kSecond + 500 * kMs);
  CHECK_THAT(RatesOf(path), Catch::Matchers::Approx(Rates(4, kSteady)).epsilon(0.02));
  CHECK_THAT(RatesOf("--from 1400ms --to 3200ms " + path), Catch::Matchers::Approx(Rates(2, kSteady)).epsilon(0.02));
  CHECK_THAT(RatesOf("--from 1950ms --to 2050ms " + path), Catch::Matchers::Approx(Rates(1, kSteady)).epsilon(0.02));
  const json document = Parsed("timeline --by class --json --from 1600ms --to 1900ms " + path);
  REQUIRE(document["steps"].size() == 1);
  for (const char* const of : {"value", "low", "high"}) {
    const double headline = document["matched"]["bytes_per_second"][of];
    CHECK(document["steps"][0]["bytes_per_second"][of] == Approx(headline));
  }
  CHECK(document["groups"][0]["bytes_per_second"][0]["value"] == Approx(kSteady).epsilon(0.02));
}

TEST_CASE_METHOD(Scratch,
                 "less than a quarter of a step at an end belongs to its neighbour, with what happened in it") {
  RecordingFile file(path, SomeHeader());
  for (uint64_t i = 0; i < 309; ++i) file.Add(At((i * 10 + 5) * kMs));
  format::ProcessState end;
  end.id = 1;
  end.time_ns = 3 * kSecond + 50 * kMs;
  end.kind = format::ProcessStateKind::kGcEnd;
  end.used = 5 << 20;
  end.pauses = 1;
  file.Add(end);
  file.End("jvm exit", 3 * kSecond + 90 * kMs);
  CHECK_THAT(RatesOf(path), Catch::Matchers::Approx(Rates(3, kSteady)).epsilon(0.02));
  CHECK_THAT(RatesOf("--from 900ms " + path), Catch::Matchers::Approx(Rates(2, kSteady)).epsilon(0.02));
  const json document = Parsed("timeline --from 900ms --json " + path);
  CHECK(document["begin_ns"] == SomeHeader().start_epoch_ns + kSecond);
  CHECK(document["steps"][1]["pauses"] == 1);
}

TEST_CASE_METHOD(Scratch, "rates of recordings add up where both have data, and are unknown where none has") {
  const std::string first = directory / "first.bin", same = directory / "same.bin", later = directory / "later.bin";
  WriteSteady(first, 0, 2 * kSecond + 500 * kMs);
  WriteSteady(same, 0, 2 * kSecond);
  CHECK_THAT(RatesOf(first + " " + same),
             Catch::Matchers::Approx(Rates{2 * kSteady, 2 * kSteady, kSteady}).epsilon(0.02));
  WriteSteady(later, 5 * kSecond, 2 * kSecond);
  CHECK_THAT(
      RatesOf(first + " " + later),
      Catch::Matchers::Approx(Rates{kSteady, kSteady, kSteady, kUnknown, kUnknown, kSteady, kSteady}).epsilon(0.02));
  const std::string brief = directory / "brief.bin", svg = directory / "t.svg";
  WriteSteady(brief, 0, 100 * kMs);
  CHECK_THAT(
      RatesOf(brief + " " + later),
      Catch::Matchers::Approx(Rates{kSteady, kUnknown, kUnknown, kUnknown, kUnknown, kSteady, kSteady}).epsilon(0.02));
  const Outcome text = Shell("LC_ALL=C.UTF-8 $HEAPREC timeline --svg " + svg + " " + brief + " " + later);
  CHECK(text.code == 0);
  CHECK(Contents(svg).find("nan") == std::string::npos);
  CHECK(Heaprec("timeline " + brief + " " + later).out.find("nan") == std::string::npos);
}

TEST_CASE_METHOD(Scratch, "timeline draws SVG and a page, names escaped") {
  WriteTenSeconds(path);
  const std::string svg = directory / "t.svg", html = directory / "t.html";
  REQUIRE(Heaprec("timeline --by class --svg " + svg + " --html " + html + " " + path).code == 0);
  const std::string picture = Contents(svg);
  CHECK(picture.starts_with("<svg xmlns="));
  CHECK(picture.ends_with("</svg>\n"));
  CHECK(picture.find("&lt;&gt;&amp;") != std::string::npos);
  CHECK(picture.find("[I<") == std::string::npos);
  CHECK(Contents(html).find("Content-Security-Policy") != std::string::npos);
  CHECK(Shell("python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' " + svg).code == 0);
}

TEST_CASE_METHOD(Scratch, "A browser shows what each step has, light and dark") {
  WriteTenSeconds(path);
  const std::string page = directory / "t.html";
  REQUIRE(Heaprec("timeline --by class --html " + page + " " + path).code == 0);
  const Outcome outcome = Shell("python3 tests/tools/commands/timeline_browser.py " + page + " 2>&1");
  INFO(outcome.out);
  CHECK(outcome.code == 0);
}

TEST_CASE_METHOD(Scratch, "What XML has no character for does not get into a picture") {
  const std::string svg = directory / "t.svg";
  RecordingFile file(path, SomeHeader());
  Event event = At(10 * kMs);
  event.class_name = "p/\xef\xbf\xbf\xef\xbf\xbe\x01";
  file.Add(event);
  file.End("jvm exit", kSecond);
  REQUIRE(Heaprec("timeline --by class --svg " + svg + " " + path).code == 0);
  CHECK(Shell("python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' " + svg).code == 0);
}

TEST_CASE_METHOD(Scratch,
                 "The last seconds before a death are estimated from salvaged samples, with one total everywhere") {
  format::FileHeader header = HeaderOf(7);
  header.ring_path = directory / "ring";
  const std::string path = directory / "rec.hrec", page = directory / "page.html";
  WriteKilled(path, header, header.ring_path, {1200 * kMs, 1300 * kMs, 2500 * kMs}, kSecond);
  const json timeline = Parsed("timeline --json " + path), summary = Parsed("summary --json " + path);
  INFO(timeline["steps"].dump(1));
  double all = 0;
  for (const json& step : timeline["steps"]) {
    CHECK(step["counted_bytes"].get<double>() > 0);
    all += step["counted_bytes"].get<double>();
  }
  CHECK(timeline["steps"].back()["is_estimated"] == true);
  CHECK(timeline["steps"].front()["is_estimated"] == false);
  CHECK(all == Approx(summary["estimates"]["bytes"]["value"].get<double>()));
  CHECK(Heaprec("timeline " + path).out.find("estimated from samples: the process died") != std::string::npos);
  REQUIRE(Heaprec("report -o " + page + " " + path).code == 0);
  const json data = json::parse(Shell("python3 tests/tools/commands/page_data.py " + page).out);
  const json& basis = data["of_samples"];
  const double total =
      basis["factor"].get<double>() * basis["all"]["bytes"].get<double>() + basis["lost"].get<double>();
  CHECK(total == Approx(summary["estimates"]["bytes"]["value"].get<double>()));
}

}  // namespace
}  // namespace heaprec::tools::testing
