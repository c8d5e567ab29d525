// flame from outside: the picture, the page, and what browsers make of it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

const std::string kHostile = "p/Evil.</script><img src=x onerror=alert(1)>";

// The application's own steps are compiled after a while.
format::FrameType TypeOf(const std::string& frame, uint64_t i) {
  if (frame == kHostile) return format::FrameType::kUnknown;
  if (frame.find("HashMap") != std::string::npos) return format::FrameType::kInlined;
  if (frame.find("main") != std::string::npos) return format::FrameType::kInterpreted;
  return frame.find("Step") != std::string::npos && i < 25 ? format::FrameType::kInterpreted
                                                           : format::FrameType::kCompiled;
}

// 100 samples: main calls work, which calls one of ten, of falling weight; and hostile names.
void WriteStacks(const std::string& path) {
  const auto sample = [](uint64_t i) {
    Event event{.time_ns = (10 * i + 1) * kMs, .weight = 10'000};
    const uint64_t which = i < 50 ? 0 : i % 10;
    event.stack = {"java/util/HashMap.put", "com/acme/Step" + std::to_string(which) + ".run:12", "com/acme/App.work:7",
                   "com/acme/App.main:3"};
    if (which == 3) event.stack.insert(event.stack.begin() + 1, "java/util/HashMap.resize");
    if (which == 7) event.stack = {kHostile, "com/acme/App.work:7", "com/acme/App.main:3"};
    for (const std::string& frame : event.stack) event.types.push_back(TypeOf(frame, i));
    event.class_name = which == 7 ? "p/<b>Evil</b>" : which % 2 == 0 ? "[B" : "java/lang/String";
    return event;
  };
  WriteSamples(path, 100, sample, 2 * kSecond);
}

// The boxes of a picture: what their titles say, in markup.
std::vector<std::string> TitlesOf(const std::string& picture) {
  std::vector<std::string> titles;
  const std::string begin = "<path", open = "<title>", close = "</title>";
  for (size_t at = picture.find(begin); at != std::string::npos; at = picture.find(begin, at + 1)) {
    const size_t from = picture.find(open, at) + open.size();
    titles.push_back(picture.substr(from, picture.find(close, from) - from));
  }
  return titles;
}

bool HasTitle(const std::vector<std::string>& titles, const std::string& begin) {
  return std::ranges::any_of(titles, [&](const std::string& title) { return title.starts_with(begin); });
}

TEST_CASE_METHOD(Scratch, "A picture has the boxes with their figures and intervals") {
  WriteStacks(path);
  const std::string picture = Heaprec("flame --svg --title 'My app' -o - " + path).out;
  const auto titles = TitlesOf(picture);
  CHECK(HasTitle(titles, "all&#10;bytes: 976.6 KiB"));
  CHECK(HasTitle(titles, "com.acme.App.main&#10;bytes: 976.6 KiB"));
  CHECK(HasTitle(titles, "com.acme.Step0.run&#10;bytes: 537.1 KiB ("));
  CHECK(HasTitle(titles, "byte[]&#10;bytes: 537.1 KiB ("));
  CHECK(picture.find("&#10;share: 55.0 % (") != std::string::npos);
  CHECK(picture.find("&#10;samples: 55<") != std::string::npos);
  CHECK(picture.find(">My app<") != std::string::npos);
  CHECK(picture.find(">977 KiB in ") != std::string::npos);
  CHECK(Heaprec("print --json " + path).out.find("\"type\":\"inlined\"") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "Beyond the limit the boxes of a picture are folded into one that has their sum") {
  WriteStacks(path);
  for (const std::string order : {"", "--reverse "}) {
    const auto titles = TitlesOf(Heaprec("flame --svg --limit 5 " + order + "-o - " + path).out);
    CAPTURE(order, titles);
    const auto folded = std::ranges::count_if(titles, [](const std::string& title) { return title.starts_with("…"); });
    CHECK(folded >= 1);
    CHECK(titles.size() == 5 + static_cast<size_t>(folded));
  }
  const auto small = TitlesOf(Heaprec("flame --svg --min-share 40% --no-classes -o - " + path).out);
  CHECK(small.size() == 6);
  CHECK(HasTitle(small, "… 9 more&#10;bytes: 439.5 KiB"));
}

TEST_CASE_METHOD(Scratch, "A picture takes the filters, leaves out what is hidden, and reverses") {
  WriteStacks(path);
  const auto some = TitlesOf(Heaprec("flame --svg --focus resize --hide App --no-classes -o - " + path).out);
  REQUIRE(some.size() == 4);
  CHECK(HasTitle(some, "all&#10;bytes: 48.8 KiB"));
  CHECK(HasTitle(some, "com.acme.Step3.run&#10;"));
  CHECK(HasTitle(some, "java.util.HashMap.put&#10;"));
  CHECK(HasTitle(TitlesOf(Heaprec("flame --svg --lines -o - " + path).out), "com.acme.Step0.run:12&#10;"));
  CHECK(Heaprec("flame --svg --reverse -o - " + path).out != Heaprec("flame --svg -o - " + path).out);
  CHECK(Shell("cat " + path + " | $HEAPREC flame --svg --title x -o - -").out ==
        Heaprec("flame --svg --title x -o - " + path).out);
}

TEST_CASE_METHOD(Scratch, "flame names the file after the recording") {
  WriteStacks(path);
  const std::string in = "HEAPREC=$(realpath $HEAPREC) && cd " + directory / "" + " && ";
  const Outcome outcome = Shell(in + "$HEAPREC flame rec.bin && $HEAPREC flame --svg -q rec.bin");
  CHECK(outcome.code == 0);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find("heaprec: rec.html: ") == 0);
  CHECK(Count(outcome.err, "\n") == 1);
  CHECK(directory.Entries() == std::vector<std::string>{"rec.bin", "rec.html", "rec.svg"});
  CHECK(Contents(directory / "rec.html").size() > 1000);
  CHECK(Heaprec("flame -q -o " + directory / "named.svg" + " " + path).code == 0);
  CHECK(Contents(directory / "named.svg").starts_with("<svg"));
  const Outcome report = Heaprec("report -o " + directory / "page.svg" + " " + path);
  CHECK(report.code == 2);
  CHECK(report.err.find("page.svg: the report is an HTML page") != std::string::npos);
  CHECK(Heaprec("flame --limit 0 " + path).code == 2);
  CHECK(Heaprec("flame --min-share x " + path).code == 2);
  CHECK(Heaprec("flame -o " + directory / "x.html " + directory / "absent.bin").code == 3);
}

TEST_CASE_METHOD(Scratch, "No name of a recording gets out of its quotes") {
  WriteStacks(path);
  const std::string title = " --title '</title><script>alert(1)</script>' -o - ";
  const std::string page = Heaprec("flame" + title + path).out;
  CHECK(Count(page, "<img") == 0);
  CHECK(Count(page, "alert(1)</script>") == 0);
  CHECK(Count(page, "</title><script>") == 0);
  const std::string picture = Heaprec("flame --svg" + title + path).out;
  CHECK(Count(picture, "<img") == 0);
  CHECK(Count(picture, "<script") == 0);
  CHECK(Count(picture, "<b>") == 0);
  Overwrite(directory / "rec.svg", picture);
  const Outcome parsed =
      Shell("python3 -c \"import sys, xml.etree.ElementTree as e; print(len(list(e.parse(sys.argv[1]).iter())))\" " +
            directory / "rec.svg");
  CHECK(parsed.code == 0);
  CHECK(std::stoi(parsed.out) > 50);
}

TEST_CASE_METHOD(Scratch, "A picture leaves out boxes that nobody sees, and has all others") {
  RecordingFile file(path, SomeHeader());
  file.Add(format::Window{1, 0, 7e-9});
  const auto add = [&](uint64_t at, const std::string& method, double weight) {
    Event event = At(at * kMs);
    event.stack = {method, "com/acme/App.main:3"};
    event.weight = weight;
    file.Add(event);
  };
  add(1, "com/acme/Wide.run", 1e6);
  add(2, "com/acme/Seen.run", 1e3);    // 1.2 of 1,200 pixels
  add(3, "com/acme/Unseen.run", 100);  // a tenth of that
  file.Add(format::Interval{0, 1000, 1'001'100, 3, 3, 0});
  file.End("jvm exit", kSecond);
  const std::string picture = Heaprec("flame --svg --no-classes -o - " + path).out;
  CHECK(picture.find("com.acme.Wide.run\nbytes: 976.6 KiB (") == std::string::npos);  // in markup
  CHECK(picture.find("com.acme.Wide.run&#10;bytes: 976.6 KiB") != std::string::npos);
  CHECK(picture.find("com.acme.Seen.run&#10;bytes: 1000 B") != std::string::npos);
  CHECK(picture.find("Unseen") == std::string::npos);
  CHECK(Count(picture, "<path") == 4);
  CHECK(picture.find("&#10;samples: 1<") != std::string::npos);
}

TEST_CASE_METHOD(
    Scratch,
    "A browser shows the pages from files: options, tooltips, search, zoom and keys, and nothing else is asked for") {
  WriteStacks(path);
  RecordingFile(directory / "empty.bin", SomeHeader()).End("jvm exit", kSecond);
  const Outcome outcome = Shell("python3 tests/tools/commands/flame_browser.py tools/heaprec " +
                                directory / "rec.bin " + directory / "empty.bin 2>&1");
  INFO(outcome.out);
  CHECK(outcome.code == 0);
  CHECK(Heaprec("flame --svg -o - " + directory / "empty.bin").code == 0);
}

}  // namespace
}  // namespace heaprec::tools::testing
