// report from outside: what it writes, what it refuses, and names that try to get out of the page.
#include <catch2/catch.hpp>
#include <string>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

constexpr uint32_t kSamples = 400;

std::string Hostile(uint32_t i) {
  switch (i % 5) {
    case 0:
      return "p/Evil.</script><script>alert(1)</script>";
    case 1:
      return "p/Quotes.\"'`><img src=x onerror=alert(1)>";
    case 2:
      return "p/Long." + std::string(65000, 'x');
    case 3:
      return "p/\u202e\u05e9\u05dc\u05d5\u05dd.\u200f<b>";
    default:
      return "p/Control.\x01\x1b[31m\n";
  }
}

format::FileHeader HeaderOfAllStreams() {
  format::FileHeader header = SomeHeader();
  header.max_tracked_objects = 4096;
  header.exceptions = header.native = {.interval_ns = kSecond, .interval_cap = 100, .rate_per_second = 100};
  header.max_tracked_blocks = 4096;
  header.census = format::CensusMode::kAll;
  return header;
}

format::ProcessState Collection(uint64_t number) {
  format::ProcessState state;
  state.id = number + 1;
  state.time_ns = number * 100 * kMs;
  state.kind = format::ProcessStateKind::kGcEnd;
  state.collections = number;
  return state;
}

// Every name of every kind is hostile, in each stream.
void WriteHostile(const std::string& path) {
  format::FileHeader header = HeaderOfAllStreams();
  header.settings.push_back({"paths", ""});
  RecordingFile file(path, header);
  file.Add(format::Window{1, 0, 7e-9});
  file.Add(format::Window{format::kWindowStreamBit + 1, 0, 0.1});
  file.Add(format::Window{format::kNativeWindowBit + 1, 0, 1e-5});
  for (uint32_t i = 0; i < kSamples; ++i) {
    Event event = At((2 * i + 1) * kMs);
    event.stack = {Hostile(i), Hostile(i + 1), Hostile(i / 5), "p/App.main:3"};
    if (i % 20 == 10) event.stack.insert(event.stack.begin(), "java/util/ArrayList.iterator:1");  // for advice
    event.class_name = Hostile(i + 2);
    event.weight = 1000 + 10 * i;
    event.id = i + 1;
    file.Add(event);
    if (i % 20 != 0) continue;
    event.kind = format::Kind::kException;
    event.size = 0;
    event.id = (uint64_t{1} << 60) + i;
    file.Add(event);
    event.kind = format::Kind::kNative;
    event.size = 1000;
    event.id = (uint64_t{1} << 61) + i;
    file.Add(event);
  }
  for (uint64_t number = 1; number < 8; ++number) file.Add(Collection(number));  // leaks are told by what survives
  format::ProcessState snapshot;
  snapshot.id = 9;
  snapshot.time_ns = kSecond;
  snapshot.rss = 100 << 20;
  snapshot.account.Set(format::AccountItem::kCgroupMax, format::Amount::Of(200 << 20));
  file.Add(snapshot);
  format::ProcessState error = snapshot;
  error.id = 10;
  error.kind = format::ProcessStateKind::kError;
  error.cause = "<img src=x onerror=alert(1)>";
  file.Add(error);
  format::ProcessState search = Collection(10);
  search.kind = format::ProcessStateKind::kPathWalk;
  search.committed = format::kWalkNumber;
  search.pauses = 5;
  file.Add(search);
  search.kind = format::ProcessStateKind::kPath;
  for (uint32_t i = 0; i < 5; ++i) {
    ++search.id;
    search.used = i + 1;
    file.Add(search, {Hostile(i), Hostile(i + 1)});
  }
  file.AddWalk(kSecond / 2, Hostile(1), 1, {{Hostile(0), 10, 240}, {Hostile(1), 5, 160}, {Hostile(3), 1, 16}});
  file.Add(format::Interval{0, kSamples, 1'500'000, kSamples, kSamples, 0});
  file.End("jvm exit", 2 * kSecond);
}

// A server that runs out of memory: deep stacks below its own frames, a snapshot each 200 ms, native blocks that stay.
void WriteIncident(const std::string& path, double scale) {
  RecordingFile file(path, HeaderOfAllStreams());
  file.Add(format::Window{1, 0, 7e-9});
  file.Add(format::Window{format::kWindowStreamBit + 1, 0, 0.1});
  file.Add(format::Window{format::kNativeWindowBit + 1, 0, 1e-5});
  for (uint32_t i = 0; i < kSamples; ++i) {
    Event event = At((5 * i + 1) * kMs);
    event.stack.assign(60, "java/util/Recursive.down:1");
    event.stack.insert(event.stack.end(), {"org/apache/jsp/index_jsp._jspService:9", "org/apache/tomcat/Worker.run:3"});
    event.stack.front() = "p/Site" + std::to_string(i % 40) + ".make:1";
    event.weight = scale * (1000 + 10 * i);
    event.id = i + 1;
    file.Add(event);
    if (i == 100 || i == 300) {
      event.kind = format::Kind::kException;
      event.class_name = "java/lang/OutOfMemoryError";
      event.size = 0;
      event.id = (uint64_t{1} << 60) + i;
      file.Add(event);
    }
    if (i % 10 != 0) continue;
    event.kind = format::Kind::kNative;
    event.class_name = "malloc";
    event.size = 1000;
    event.id = (uint64_t{1} << 61) + i;
    event.tracking_index = 1;
    file.Add(event);
  }
  for (uint64_t number = 1; number < 10; ++number) {
    format::ProcessState state = Collection(2 * number);
    state.id = number + 1;
    state.used = number << 20;
    file.Add(state);
    state.kind = format::ProcessStateKind::kSnapshot;
    state.id += 100;
    state.committed = 64 << 20;
    state.rss = (100 + number) << 20;
    state.threads = 10 + number;
    file.Add(state);
  }
  for (uint64_t second = 0; second < 2; ++second) {
    file.Add(
        format::Interval{second, kSamples / 2, static_cast<uint64_t>(scale * 600'000), kSamples / 2, kSamples / 2, 0});
  }
  file.End("jvm exit", 2 * kSecond);
}

// Six blocks of two seconds each, with rows of 20 sites and three classes. Of the rarest six sites nothing was kept.
void WriteRows(const std::string& path) {
  RecordingFile file(path, SomeHeader());
  file.Add(format::Window{1, 0, 1e-5});
  for (uint64_t second = 0; second < 12; second += 2) {
    uint64_t all = 0, all_kept = 0;
    for (uint64_t site = 0; site < 20; ++site) {
      Event event = At(second * kSecond + (20 + 90 * site) * kMs);
      event.size = 16 + 24 * site;
      event.weight = 1e5 + static_cast<double>(1000 * site);
      event.class_name = site % 3 == 0 ? "byte[]" : "p/Class" + std::to_string(site % 3);
      event.stack = {"java/util/Arrays.copyOf:1", "p/Site" + std::to_string(site) + ".make:9"};
      const uint64_t points = 400 / (site + 1) + second, kept = site < 14 ? 2 : 0;
      file.AddRow(event, points, kept);
      event.stack.push_back("p/Main.main:3");
      event.weight *= static_cast<double>(points) / 3;
      for (uint64_t i = 0; i < kept; ++i) {
        event.time_ns += 50 * kMs;
        file.Add(event);
      }
      all += points;
      all_kept += kept;
    }
    for (uint64_t half = second; half < second + 2; ++half) {
      file.Add(format::Interval{half, all, all * 50'000, all / 2, all_kept / 2, 0});
    }
    file.Flush({}, (second + 2) * kSecond);
  }
  file.End("jvm exit", 12 * kSecond);
}

TEST_CASE_METHOD(Scratch, "tables of a page are those of top, from rows, and its flame graph adds up to them") {
  const std::string path = directory / "rows.hrec";
  WriteRows(path);
  const Outcome compared = Shell("python3 tests/tools/report_page/exact_browser.py tools/heaprec " + path + " rows");
  INFO(compared.out << compared.err);
  CHECK(compared.code == 0);
}

TEST_CASE_METHOD(Scratch,
                 "a page draws the process, marks OutOfMemoryErrors, shows both sides, and fits into the window") {
  const std::string one = directory / "one.hrec", two = directory / "two.hrec";
  WriteIncident(one, 1);
  WriteIncident(two, 1.01);
  const Outcome driven = Shell("python3 tests/tools/report_page/tracks_browser.py tools/heaprec " + one + " " + two);
  INFO(driven.out << driven.err);
  CHECK(driven.code == 0);
}

TEST_CASE_METHOD(Scratch, "names of a page are never more than text") {
  const std::string recording = directory / "hostile.hrec";
  WriteHostile(recording);
  const Outcome driven = Shell("python3 tests/tools/report_page/hostile_browser.py tools/heaprec " + recording);
  INFO(driven.out << driven.err);
  CHECK(driven.code == 0);
}

TEST_CASE_METHOD(Scratch, "a page is one file, written once") {
  const std::string recording = directory / "rec.hrec", page = directory / "page.html";
  WriteHostile(recording);
  const Outcome written = Heaprec("report -o " + page + " " + recording);
  CHECK(written.code == 0);
  CHECK(written.err.find("400 samples") != std::string::npos);
  const std::string html = Contents(page);
  CHECK(html.find("http-equiv=\"Content-Security-Policy\"") != std::string::npos);
  CHECK(html.find("alert(1)") == std::string::npos);
  CHECK(html.find("src=\"http") == std::string::npos);
  CHECK(Heaprec("report -f -o " + page + " " + recording).code == 0);
  CHECK(Contents(page) == html);
}

TEST_CASE_METHOD(Scratch, "a page says that it was reduced") {
  const std::string recording = directory / "many.hrec", page = directory / "few.html";
  WriteHostile(recording);
  const Outcome written = Heaprec("report --max-samples 100 -f -o " + page + " " + recording);
  CHECK(written.code == 0);
  CHECK(written.err.find("reduced from 400") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "names that a JVM makes up do not keep two recordings apart") {
  for (const std::string made_up : {"1+0x0000000800c03000", "22+0x0000000800c04000"}) {
    RecordingFile file(directory / made_up.substr(0, 1), SomeHeader());
    file.Add(format::Window{1, 0, 7e-9});
    Event event = At(1 * kMs);
    event.stack = {"p/App.make:1", "p/App$$Lambda$" + made_up + ".run:2"};
    file.Add(event);
    file.End("jvm exit", kSecond);
  }
  const std::string one = directory / "1", page = directory / "page.html";
  const auto names = [&](const std::string& files) {
    CHECK(Heaprec("report -f -o " + page + " " + files).code == 0);
    return Shell("python3 tests/tools/commands/page_data.py " + page).out;
  };
  CHECK(names("--names exact " + one).find("App$$Lambda$1/0x0000000800c03000.run") != std::string::npos);
  const std::string of_both = names(one + " " + (directory / "2"));
  CHECK(of_both.find("App$$Lambda[make].run") != std::string::npos);
  CHECK(of_both.find("0x0000000800c0") == std::string::npos);
}

TEST_CASE_METHOD(Scratch, "report refuses what it cannot do") {
  const std::string recording = directory / "one.hrec";
  WriteHostile(recording);
  CHECK(Heaprec("report " + recording + " " + recording + " " + recording).code == 2);
  CHECK(Heaprec("report --max-samples 0 " + recording).code == 2);
  CHECK(Heaprec("report " + directory / "none.hrec").code != 0);
}

}  // namespace
}  // namespace heaprec::tools::testing
