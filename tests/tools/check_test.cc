// check: how budgets are read, when one is broken, and the reports.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/small_recording.h"
#include "tools/budget.h"

namespace heaprec::tools {
namespace {

using nlohmann::json;
using testing::At;
using testing::Count;
using testing::Directory;
using testing::Event;
using testing::Heaprec;
using testing::kMs;
using testing::kSecond;
using testing::RecordingFile;
using testing::Shell;
using testing::SomeHeader;

// 200 samples of 10,000 B in 10 s: 2 MB in 200 kB/s; a quarter is byte[] of com.acme.Cache.fill, called by App.main.
void WriteQuarters(const std::string& path, double weight = 10'000) {
  RecordingFile file(path, SomeHeader());
  file.Add(format::Window{1, 0, 7e-9});
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < 200; ++i) {
    Event event = At((50 * i + 1) * kMs);
    event.stack = {"java/util/List.of", "com/acme/App.main:3"};
    event.weight = 10'000;
    if (i % 4 == 0) {
      event.class_name = "[B";
      event.stack = {"com/acme/Cache.fill:12", "com/acme/App.main:3"};
      event.thread = "w<orker> & \"co\"";
      event.weight = weight;
    }
    bytes += static_cast<uint64_t>(event.weight);
    file.Add(event);
  }
  file.Add(format::Interval{0, 1000, bytes, 200, 200, 0});
  file.End("jvm exit", 10 * kSecond);
}

TEST_CASE("A budget has a subject, a pattern, a limit and what it is per") {
  const auto parsed = [](const std::string& text) {
    auto budget = Budget::Parse(text);
    REQUIRE(budget.ok());
    return std::move(*budget);
  };
  const Budget site = parsed("site:com.acme.*<5MB/op");
  CHECK(site.subject == Budget::Subject::kSite);
  CHECK(site.subject_text == "site:com.acme.*");
  CHECK(site.pattern->Matches("com.acme.Cache.fill"));
  CHECK_FALSE(site.pattern->Matches("com.other.Cache.fill"));
  CHECK(site.limit == 5 * 1024 * 1024);
  CHECK(site.per == Budget::Per::kOp);
  CHECK(parsed(" total < 2 GiB ").limit == 2.0 * (1 << 30));
  CHECK(parsed("total<2").limit == 2);
  CHECK(parsed("total<1.5k/s").limit == 1536);
  CHECK(parsed("total<1.5k/s").per == Budget::Per::kSecond);
  CHECK(parsed("class:byte[]<10%").limit == Approx(0.1));
  CHECK(parsed("class:byte[]<10%").unit == Budget::Unit::kShare);
  CHECK(parsed("thread:worker<100 objects/op").unit == Budget::Unit::kObjects);
  CHECK(parsed("method:Outer.<init><1MB").subject_text == "method:Outer.<init>");
}

TEST_CASE("What is wrong with a budget is said with its place and examples") {
  for (const auto& [text, says] : {std::pair("total", "character 6: '<' is wanted"),
                                   {"totally<2MB", "character 1: total, or class:"},
                                   {"sites:a<2MB", "character 1: total, or class:"},
                                   {"site:<2MB", "character 6: a pattern is wanted"},
                                   {"site:/(/<2MB", "character 6: "},
                                   {"total<", "character 7: an amount is wanted"},
                                   {"total<x", "character 7: a number is wanted"},
                                   {"total<-3", "character 7: a number is wanted"},
                                   {"total<2XB", "character 8: 'XB' is no unit"},
                                   {"total<2MB/h", "character 8: 'MB/h' is no unit"},
                                   {"total<2%/s", "character 8: a share is of all bytes"}}) {
    INFO(text);
    const auto budget = Budget::Parse(text);
    REQUIRE_FALSE(budget.ok());
    INFO(budget.error().message);
    CHECK(budget.error().message.find(says) != std::string::npos);
    CHECK(budget.error().message.find("'total<2GB'") != std::string::npos);
  }
}

// Of one budget: "broken" and exit code 1, "kept" or "not_shown" and 0.
std::string OutcomeOf(const std::string& options, const std::string& path) {
  const auto outcome = Heaprec("check --format json " + options + " " + path);
  INFO(outcome.err);
  REQUIRE(outcome.code <= 1);
  const json document = json::parse(outcome.out);
  CHECK((document["broken"] > 0) == (outcome.code == 1));
  std::string text;
  for (const json& check : document["checks"]) text += (text.empty() ? "" : " ") + check["outcome"].get<std::string>();
  return text;
}

TEST_CASE("A budget is broken only if the whole interval lies above it") {
  const Directory directory;
  const std::string path = directory / "rec.bin";
  WriteQuarters(path);
  CHECK(OutcomeOf("--budget 'total<2MB'", path) == "kept");
  CHECK(OutcomeOf("--budget 'total<1MB'", path) == "broken");
  CHECK(OutcomeOf("--budget 'total<100kB/s'", path) == "broken");
  CHECK(OutcomeOf("--budget 'total<250kB/s'", path) == "kept");
  // A quarter, within 19.5 and 31.4 %.
  CHECK(OutcomeOf("--budget 'class:byte[]<15%'", path) == "broken");
  CHECK(OutcomeOf("--budget 'class:byte[]<24%'", path) == "not_shown");
  CHECK(OutcomeOf("--budget 'class:byte[]<26%'", path) == "not_shown");
  CHECK(OutcomeOf("--budget 'class:byte[]<35%'", path) == "kept");
  CHECK(OutcomeOf("--budget 'site:com.acme.*<200kB' --budget 'site:com.acme.*<900kB'", path) == "broken kept");
  CHECK(OutcomeOf("--budget 'method:App.main<1.8MB' --budget 'method:App.main<2MB'", path) == "broken kept");
  CHECK(OutcomeOf("--budget 'package:java.util<1MB' --budget 'package:com.acme<1MB'", path) == "broken kept");
  CHECK(OutcomeOf("--budget 'thread:main<1MB' --budget 'thread:orker<1MB'", path) == "broken kept");
  CHECK(OutcomeOf("--budget 'site:com.nobody.*<1MB'", path) == "kept");
  CHECK(OutcomeOf("--ops 10 --budget 'total<150kB/op' --budget 'total<250kB/op'", path) == "broken kept");
  CHECK(OutcomeOf("--ops 10 --budget 'class:String<100 objects/op'", path) == "broken");
  CHECK(OutcomeOf("--class String --budget 'total<1.6MB' --budget 'total<1MB'", path) == "kept broken");
}

TEST_CASE("A baseline is exceeded only if the ratio's interval says so") {
  const Directory directory;
  const std::string old = directory / "old.bin", now = directory / "now.bin";
  WriteQuarters(old);
  WriteQuarters(now, 30'000);
  const std::string baseline = "--baseline " + old + " --max-regression 3% ";
  CHECK(OutcomeOf(baseline, old) == "kept");
  CHECK(OutcomeOf(baseline, now) == "broken");
  CHECK(OutcomeOf("--baseline " + old + " --max-regression 60%", now) == "kept");
  CHECK(OutcomeOf(baseline + "--budget 'class:byte[]<9MB' --budget 'class:String<9MB'", now) ==
        "kept kept broken broken not_shown");
  CHECK(OutcomeOf(baseline + "--ops 200 --baseline-ops 100", now) == "kept");
}

TEST_CASE("JUnit's XML parses and counts, whatever is in names") {
  const Directory directory;
  const std::string path = directory / "rec.bin";
  WriteQuarters(path);
  const auto outcome = Shell(
      "$HEAPREC check --format junit --budget 'total<1MB' --budget 'total<9MB' --budget "
      "'class:byte[]<25%' --budget 'thread:w<orker> & \"co\"<9MB' " +
      path +
      " | python3 -c 'import sys, xml.etree.ElementTree as e; r = e.parse(sys.stdin).getroot(); "
      "s = r[0]; print(r.tag, s.tag, s.get(\"tests\"), s.get(\"failures\"), s.get(\"skipped\"), "
      "len(s.findall(\"testcase\")), len(s.findall(\"testcase/failure\")), "
      "len(s.findall(\"testcase/skipped\")), s[3].get(\"name\"))'");
  INFO(outcome.err);
  CHECK(outcome.out == "testsuites testsuite 4 1 1 4 1 1 thread:w<orker> & \"co\"<9MB\n");
}

TEST_CASE("Text and Markdown say what was measured and what is allowed") {
  const Directory directory;
  const std::string path = directory / "rec.bin";
  WriteQuarters(path);
  const std::string budgets = " --budget 'total<1MB' --budget 'site:a|b*<1MB' --budget 'class:byte[]<25%' ";
  const std::string text = Heaprec("check" + budgets + path).out;
  INFO(text);
  CHECK(text.find("rec.bin: 1 of 3 budgets broken, 1 not shown\n") != std::string::npos);
  CHECK(text.find("\nBROKEN     total<1MB: 1.9 MB (") != std::string::npos);
  CHECK(text.find(") measured, 1.0 MB allowed\n") != std::string::npos);
  CHECK(text.find("\nkept       site:a|b*<1MB: 0 bytes (") != std::string::npos);
  CHECK(text.find("\nnot shown  class:byte[]<25%: 25.0 % (") != std::string::npos);
  const std::string markdown = Heaprec("check --format markdown" + budgets + path).out;
  INFO(markdown);
  CHECK(markdown.find("| ❌ **broken** | <code>total&lt;1MB</code> | 1.9 MB (") != std::string::npos);
  CHECK(markdown.find("<code>site:a&#124;b&#42;&lt;1MB</code>") != std::string::npos);
  // Each row has the same cells.
  for (size_t at = markdown.find("\n| "); at != std::string::npos; at = markdown.find("\n| ", at + 1)) {
    const std::string row = markdown.substr(at + 1, markdown.find('\n', at + 1) - at - 1);
    CHECK(Count(row, "|") == 5);
  }
}

TEST_CASE("check says what is missing") {
  const Directory directory;
  const std::string path = directory / "rec.bin";
  WriteQuarters(path);
  for (const char* options : {"", "--baseline x.bin", "--max-regression 3%", "--budget 'total<1MB/op'",
                              "--baseline-ops 3 --budget 'total<1MB'", "--ops 0 --budget 'total<1MB'", "--budget x"}) {
    const auto outcome = Heaprec(std::string("check ") + options + " " + path);
    INFO(options << ": " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(Count(outcome.err, "\n") == 1);
  }
  CHECK(Heaprec("check --budget 'total<1MB' " + directory / "absent.bin").code == 3);
  CHECK(Heaprec("check --baseline " + directory / "absent.bin" + " --max-regression 3% " + path).code == 3);
}

}  // namespace
}  // namespace heaprec::tools
