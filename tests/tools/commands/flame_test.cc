// flame from outside: the page's data, the picture, and what browsers make of them.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "tests/tools/small_recording.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;
using testing::At;
using testing::Contents;
using testing::Count;
using testing::Directory;
using testing::Event;
using testing::Heaprec;
using testing::kMs;
using testing::kSecond;
using testing::Outcome;
using testing::Overwrite;
using testing::RecordingFile;
using testing::Shell;
using testing::SomeHeader;

const std::string kHostile = "p/Evil.</script><img src=x onerror=alert(1)>";

// The application's own steps are compiled after a while.
format::FrameType TypeOf(const std::string& frame, uint32_t i) {
  if (frame == kHostile) return format::FrameType::kUnknown;
  if (frame.find("HashMap") != std::string::npos) return format::FrameType::kInlined;
  if (frame.find("main") != std::string::npos) return format::FrameType::kInterpreted;
  return frame.find("Step") != std::string::npos && i < 25 ? format::FrameType::kInterpreted
                                                           : format::FrameType::kCompiled;
}

// 100 samples: main calls work, which calls one of ten, of falling weight; and hostile names.
void WriteStacks(const std::string& path) {
  RecordingFile file(path, SomeHeader());
  file.Add(format::Window{1, 0, 7e-9});
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < 100; ++i) {
    Event event = At((10 * i + 1) * kMs);
    const uint32_t which = i < 50 ? 0 : i % 10;
    event.stack = {"java/util/HashMap.put", "com/acme/Step" + std::to_string(which) + ".run:12", "com/acme/App.work:7",
                   "com/acme/App.main:3"};
    if (which == 3) event.stack.insert(event.stack.begin() + 1, "java/util/HashMap.resize");
    if (which == 7) event.stack = {kHostile, "com/acme/App.work:7", "com/acme/App.main:3"};
    for (const std::string& frame : event.stack) event.types.push_back(TypeOf(frame, i));
    event.class_name = which == 7 ? "p/<b>Evil</b>" : which % 2 == 0 ? "[B" : "java/lang/String";
    event.weight = 10'000;
    bytes += 10'000;
    file.Add(event);
  }
  file.Add(format::Interval{0, 1000, bytes, 100, 100, 0});
  file.End("jvm exit", 2 * kSecond);
}

// What the page's scripts are given.
json DataOf(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const size_t from = page.find(begin) + begin.size();
  return json::parse(page.substr(from, page.find("</script>", from) - from));
}

std::string NameOf(const json& data, const json& tree, size_t box) {
  return data["names"]["text"][tree["name"][box].get<size_t>()];
}

TEST_CASE("flame writes one page with all boxes in both orders, each with its figures and intervals") {
  const Directory directory;
  WriteStacks(directory / "rec.bin");
  const Outcome outcome = Heaprec("flame --title 'My app' -o - " + directory / "rec.bin");
  REQUIRE(outcome.code == 0);
  const json data = DataOf(outcome.out);
  CHECK(data["title"] == "My app");
  CHECK(data["first"] == "callees");
  const json& callees = data["trees"]["callees"];
  CHECK(NameOf(data, callees, 0) == "all");
  CHECK(NameOf(data, callees, 1) == "com.acme.App.main");
  CHECK(NameOf(data, callees, 2) == "com.acme.App.work");
  CHECK(NameOf(data, callees, 3) == "com.acme.Step0.run");
  CHECK(NameOf(data, callees, 4) == "java.util.HashMap.put");
  CHECK(NameOf(data, callees, 5) == "byte[]");
  CHECK(callees["depth"].get<std::vector<int>>()[5] == 5);
  CHECK(callees["bytes"]["v"][0] == 1'000'000);
  CHECK(callees["bytes"]["v"][3] == 550'000);
  CHECK(callees["samples"]["v"][3] == 55);
  CHECK(callees["share"]["v"][3] == Approx(0.55));
  CHECK(callees["share"]["l"][3] > 0.03);
  CHECK(callees["objects"]["h"][3] > 0);
  CHECK(callees["more"].empty());
  const json& callers = data["trees"]["callers"];
  CHECK(NameOf(data, callers, 1) == "byte[]");
  CHECK(NameOf(data, callers, 2) == "java.util.HashMap.put");
  CHECK(data["headline"].get<std::string>().find("976.6 KiB in ") == 0);
}

TEST_CASE("The page knows how much of what is below a frame it allocated interpreted, compiled and inlined") {
  const Directory directory;
  WriteStacks(directory / "rec.bin");
  const json data = DataOf(Heaprec("flame -o - " + directory / "rec.bin").out);
  using Shares = std::vector<int>;
  const auto shares = [&](const std::string& order, const std::string& name) {
    const json& tree = data["trees"][order];
    for (size_t box = 1; box < tree["depth"].size(); ++box) {
      if (NameOf(data, tree, box) == name)
        return Shares{tree["code"][0][box], tree["code"][1][box], tree["code"][2][box]};
    }
    return Shares{};
  };
  for (const char* order : {"callees", "callers"}) {
    INFO(order);
    CHECK(shares(order, "com.acme.App.main") == Shares{100, 0, 0});
    CHECK(shares(order, "com.acme.Step0.run") == Shares{45, 55, 0});
    CHECK(shares(order, "java.util.HashMap.put") == Shares{0, 0, 100});
    CHECK(shares(order, "byte[]") == Shares{0, 0, 0});
  }
  CHECK(Heaprec("print --json " + directory / "rec.bin").out.find("\"type\":\"inlined\"") != std::string::npos);
}

TEST_CASE("Beyond the limit boxes are folded into one that has their sum") {
  const Directory directory;
  WriteStacks(directory / "rec.bin");
  const json data = DataOf(Heaprec("flame --limit 5 -o - " + directory / "rec.bin").out);
  for (const char* order : {"callees", "callers"}) {
    const json& tree = data["trees"][order];
    INFO(order << ": " << tree.dump());
    const auto depth = tree["depth"].get<std::vector<size_t>>();
    const auto bytes = tree["bytes"]["v"].get<std::vector<double>>();
    CHECK(tree["more"].size() <= 5);
    CHECK(tree["more"].size() >= 1);
    CHECK(depth.size() == 5 + tree["more"].size());
    // What stands on a box is all of it, but for what it allocated itself: nothing here.
    for (size_t i = 0; i < depth.size(); ++i) {
      double above = 0;
      for (size_t j = i + 1; j < depth.size() && depth[j] > depth[i]; ++j)
        above += depth[j] == depth[i] + 1 ? bytes[j] : 0;
      if (above > 0) CHECK(above == Approx(bytes[i]));
    }
  }
}

TEST_CASE("flame takes the filters, leaves out what is hidden, and reverses") {
  const Directory directory;
  const std::string path = directory / "rec.bin";
  WriteStacks(path);
  const json some = DataOf(Heaprec("flame --focus resize --hide App --no-classes -o - " + path).out);
  const json& tree = some["trees"]["callees"];
  REQUIRE(tree["depth"].size() == 4);
  CHECK(NameOf(some, tree, 1) == "com.acme.Step3.run");
  CHECK(NameOf(some, tree, 3) == "java.util.HashMap.put");
  CHECK(tree["bytes"]["v"][0] == 50'000);
  const json reversed = DataOf(Heaprec("flame --reverse --lines -o - " + path).out);
  CHECK(reversed["first"] == "callers");
  CHECK(reversed.dump().find("com.acme.Step0.run:12") != std::string::npos);
  const json small = DataOf(Heaprec("flame --min-share 40% --no-classes -o - " + path).out);
  CHECK(small["trees"]["callees"]["depth"].size() == 6);
  CHECK(small["trees"]["callees"]["more"] == json({{"5", 9}}));
  CHECK(DataOf(Shell("cat " + path + " | $HEAPREC flame -o - -").out)["trees"] ==
        DataOf(Heaprec("flame -o - " + path).out)["trees"]);
}

TEST_CASE("flame names the file after the recording and replaces none unless told") {
  const Directory directory;
  WriteStacks(directory / "rec.bin");
  const std::string in = "HEAPREC=$(realpath $HEAPREC) && cd " + directory / "" + " && ";
  const Outcome outcome = Shell(in + "$HEAPREC flame rec.bin && $HEAPREC flame --svg -q rec.bin");
  CHECK(outcome.code == 0);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find("heaprec: rec.html: ") == 0);
  CHECK(Count(outcome.err, "\n") == 1);
  CHECK(directory.Entries() == std::vector<std::string>{"rec.bin", "rec.html", "rec.svg"});
  Overwrite(directory / "rec.html", "mine");
  CHECK(Shell(in + "$HEAPREC flame rec.bin").code == 6);
  CHECK(Contents(directory / "rec.html") == "mine");
  CHECK(Shell(in + "$HEAPREC flame -f rec.bin").code == 0);
  CHECK(Contents(directory / "rec.html").size() > 1000);
  CHECK(Heaprec("flame --limit 0 " + directory / "rec.bin").code == 2);
  CHECK(Heaprec("flame --min-share x " + directory / "rec.bin").code == 2);
  CHECK(Heaprec("flame -o " + directory / "x.html " + directory / "absent.bin").code == 3);
}

TEST_CASE("No name of a recording gets out of its quotes") {
  const Directory directory;
  WriteStacks(directory / "rec.bin");
  const std::string title = " --title '</title><script>alert(1)</script>' -o - ";
  const std::string page = Heaprec("flame" + title + directory / "rec.bin").out;
  CHECK(Count(page, "<img") == 0);
  CHECK(Count(page, "<script") == 2);
  CHECK(Count(page, "</title>") == 1);
  CHECK(DataOf(page).dump().find("p.Evil.</script><img src=x onerror=alert(1)>") != std::string::npos);
  const std::string picture = Heaprec("flame --svg" + title + directory / "rec.bin").out;
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

TEST_CASE("A picture leaves out boxes that nobody sees, and has all others") {
  const Directory directory;
  RecordingFile file(directory / "rec.bin", SomeHeader());
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
  const std::string picture = Heaprec("flame --svg --no-classes -o - " + directory / "rec.bin").out;
  CHECK(picture.find("com.acme.Wide.run\nbytes: 976.6 KiB (") == std::string::npos);  // in markup
  CHECK(picture.find("com.acme.Wide.run&#10;bytes: 976.6 KiB") != std::string::npos);
  CHECK(picture.find("com.acme.Seen.run&#10;bytes: 1000 B") != std::string::npos);
  CHECK(picture.find("Unseen") == std::string::npos);
  CHECK(Count(picture, "<path") == 4);
  CHECK(picture.find("&#10;samples: 1<") != std::string::npos);
}

TEST_CASE("A recording without samples has a page, too") {
  const Directory directory;
  RecordingFile(directory / "rec.bin", SomeHeader()).End("jvm exit", kSecond);
  const Outcome outcome = Heaprec("flame -o - " + directory / "rec.bin");
  CHECK(outcome.code == 0);
  CHECK(DataOf(outcome.out)["trees"]["callees"]["depth"].size() == 1);
  CHECK(Heaprec("flame --svg -o - " + directory / "rec.bin").code == 0);
}

TEST_CASE("A browser shows the page from a file: search, zoom, tooltips and keys work, and nothing else is asked for") {
  const Directory directory;
  WriteStacks(directory / "rec.bin");
  REQUIRE(Heaprec("flame -o " + directory / "rec.html " + directory / "rec.bin").code == 0);
  const Outcome outcome = Shell("python3 tests/tools/commands/flame_browser.py " + directory / "rec.html 2>&1");
  INFO(outcome.out);
  CHECK(outcome.code == 0);
}

}  // namespace
}  // namespace heaprec::tools
