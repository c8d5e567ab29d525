// Labels of threads: shown with the thread, chosen by --label.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using namespace std::string_literals;

// Events of "main" without labels, of request 42 and of request 43, in the order of their sizes 1, 2, 3.
void WriteLabelled(const std::string& path) {
  RecordingFile file(path, SomeHeader());
  file.Add(format::Window{1, 0, 7e-9});
  const std::string threads[] = {"main"s, "main\0request=42\0user=a \"b\""s, "main\0request=43"s};
  for (uint64_t i = 0; i < 3; ++i) {
    Event event = At((i + 1) * kMs);
    event.thread = threads[i];
    event.size = i + 1;
    file.Add(event);
  }
  file.Add(format::Interval{0, 10, 2400, 3, 3, 0});
  file.End("jvm exit", kSecond);
}

std::string Sizes(const std::string& options, const std::string& path) {
  const Outcome outcome = Heaprec("print --json " + options + " " + path);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  std::string sizes;
  const auto document = nlohmann::json::parse(outcome.out);
  for (const auto& event : document["events"]) sizes += event["size"].dump();
  return sizes;
}

}  // namespace

TEST_CASE_METHOD(Scratch, "print shows a thread's labels beside its name, in text and in JSON") {
  WriteLabelled(path);
  const Outcome text = Heaprec("print " + path);
  CHECK(text.out.find("label request = 42, label user = a \"b\")\n") != std::string::npos);
  CHECK(Count(text.out, "eventThread = \"main\" (") == 3);
  const auto events = nlohmann::json::parse(Heaprec("print --json " + path).out)["events"];
  CHECK_FALSE(events[0]["thread"].contains("labels"));
  CHECK(events[1]["thread"]["name"] == "main");
  CHECK(events[1]["thread"]["labels"] == nlohmann::json({{"request", "42"}, {"user", "a \"b\""}}));
}

TEST_CASE_METHOD(Scratch, "--label takes a key with a value, or with any; several must all be there") {
  WriteLabelled(path);
  CHECK(Sizes("", path) == "123");
  CHECK(Sizes("--label request=42", path) == "2");
  CHECK(Sizes("--label request", path) == "23");
  CHECK(Sizes("--label request --label 'user=a \"b\"'", path) == "2");
  CHECK(Sizes("--label request=43 --label user", path).empty());
  CHECK(Sizes("--label request=4", path).empty());
  CHECK(Sizes("--label request --thread main", path) == "23");
  CHECK(Sizes("--label request --thread other", path).empty());
  CHECK(Heaprec("print --label =x " + path).code == 2);
}

TEST_CASE_METHOD(Scratch,
                 "Exports have the labels in a column of their own, beside the thread's name, and obey --label") {
  WriteLabelled(path);
  const Outcome outcome = Heaprec("export --label request=42 " + path);
  CHECK(Count(outcome.out, "\n") == 2);
  CHECK(outcome.out.find(",main,java.lang.String,2,") != std::string::npos);
  CHECK(outcome.out.find(",\"request=42;user=a \"\"b\"\"\",") != std::string::npos);
  const Outcome lines = Heaprec("export --format jsonl --label request=42 " + path);
  CHECK(nlohmann::json::parse(lines.out)["labels"] == nlohmann::json({{"request", "42"}, {"user", "a \"b\""}}));
}

TEST_CASE("summary makes tables of the selected events, and assesses the whole recording") {
  const Directory directory;
  const std::string path = directory / "rec.bin";
  WriteLabelled(path);
  const auto summary = [&path](const std::string& options) {
    const Outcome outcome = Heaprec("summary --json " + options + " " + path);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return nlohmann::json::parse(outcome.out);
  };
  const auto all = summary("");
  CHECK_FALSE(all.contains("matched"));
  CHECK(all["classes"][0]["points"] == 3);
  for (const auto& [options, samples] : {std::pair{"--label request=42", 1},
                                         {"--label request", 2},
                                         {"--thread main", 3},
                                         {"--to 2.5ms", 2},
                                         {"--class String --site Leaf.allocate --kind tlab", 3},
                                         {"--class Integer", 0},
                                         {"--kind outside", 0}}) {
    INFO(options);
    const auto matched = summary(options);
    CHECK(matched["matched"]["points"] == samples);
    CHECK(matched["class_count"] == (samples > 0 ? 1 : 0));
    if (samples > 0) CHECK(matched["classes"][0]["bytes"] == matched["matched"]["bytes"]);
    if (samples > 0) CHECK(matched["sites"][0]["share"] == matched["matched"]["share"]);
    CHECK(matched["samples"] == all["samples"]);
    CHECK(matched["estimates"] == all["estimates"]);
    CHECK(matched["trustworthy"] == all["trustworthy"]);
  }
  CHECK(summary("--label request")["matched"]["bytes"]["value"].get<double>() ==
        Approx(all["estimates"]["bytes"]["value"].get<double>() * 2 / 3));
  const std::string text = Heaprec("summary --label request " + path).out;
  CHECK(text.find("2 samples, 66.7 % (") != std::string::npos);
  CHECK(Heaprec("summary --label =x " + path).code == 2);
}

}  // namespace heaprec::tools::testing
