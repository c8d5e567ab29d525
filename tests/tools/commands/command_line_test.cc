#include "tools/cli/command_line.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/help.h"

namespace heaprec::tools {
namespace {

using Words = std::vector<std::string>;

// A command with an option of each kind.
struct Bench {
  std::string output = "-", by;
  Words labels, kinds, files, rest;
  std::optional<uint64_t> limit;
  double share = 0, wait_s = 1;
  uint64_t age_ns = 0;
  std::optional<uint64_t> pause_ns;
  bool json = false, csv = false, ran = false;

  ExitCode Run(Words words, bool takes_command = false) {
    Command command("show", "Shows things.");
    command.AddOption("REC", files, "Files").Required();
    command.AddOption("-o,--output", output, "Where to").Value("FILE");
    command.AddOption("--by", by, "What a row is").Value("KEY").OneOf({"class", "site", "label:"});
    command.AddOption("--label", labels, "Labels").Value("LABEL");
    command.AddOption("--kind", kinds, "Kinds").Value("KIND").SplitAtCommas().InGroup("Which events");
    command.AddOption("--limit", limit, "Maximum rows").Value("N");
    command.AddPercent("--min-share", share, "Only larger ones");
    command.AddOption("--wait", wait_s, "Seconds").Value("SECONDS").InRange(0.1, 10);
    command.AddDuration("--age", age_ns, "Only older ones", 100'000'000, 3'600'000'000'000);
    command.AddDuration("--pause", pause_ns, "Time between two");
    command.AddFlag("--json", json, "Print JSON");
    command.AddFlag("--csv", csv, "Print CSV").Excludes("--json");
    command.takes_command = takes_command;
    if (takes_command) command.operand = "COMMAND...";
    command.run = [this](const Invocation& call) {
      ran = true;
      rest = call.rest;
      return ExitCode::kOk;
    };
    words.insert(words.begin(), {"heaprec", "show"});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    CommandGroups groups;
    groups.push_back({"Look", {command}});
    return RunCommandLine(static_cast<int>(argv.size()), argv.data(), groups);
  }
};

bool Refuses(const Words& words) {
  Bench bench;
  return bench.Run(words) == ExitCode::kUsage && !bench.ran;
}

TEST_CASE("A duration is a sum of numbers with units, or a number of seconds") {
  const std::pair<const char*, uint64_t> forms[] = {
      {"60", 60'000'000'000},    {"60s", 60'000'000'000},   {"1.5", 1'500'000'000},     {"250ms", 250'000'000},
      {"1m30s", 90'000'000'000}, {"2min", 120'000'000'000}, {"0.5h", 1'800'000'000'000}};
  for (const auto& [word, ns] : forms) {
    INFO(word);
    Bench bench;
    REQUIRE(bench.Run({"a.hrec", "--age", word, "--pause", word}) == ExitCode::kOk);
    CHECK(bench.age_ns == ns);
    CHECK(bench.pause_ns == ns);
  }
  for (const char* const word : {"", "soon", "-1s", "1x", "s", "1e3", "99ms", "61m", "inf"}) {
    INFO(word);
    CHECK(Refuses({"a.hrec", "--age", word}));
  }
  Bench bench;
  REQUIRE(bench.Run({"a.hrec", "--pause", "0"}) == ExitCode::kOk);
  CHECK(bench.pause_ns == 0);
}

TEST_CASE("Each kind of option stores its value") {
  Bench bench;
  REQUIRE(bench.Run({"a.hrec", "-o", "x", "--by", "label:user", "--limit", "7", "--min-share", "2.5%", "--wait=0.5",
                     "--json", "b.hrec"}) == ExitCode::kOk);
  CHECK(bench.files == Words{"a.hrec", "b.hrec"});
  CHECK(bench.output == "x");
  CHECK(bench.by == "label:user");
  CHECK(bench.limit == 7);
  CHECK(bench.share == 0.025);
  CHECK(bench.wait_s == 0.5);
  CHECK(bench.json);
  CHECK_FALSE(bench.csv);
}

TEST_CASE("A repeatable option takes one word each time") {
  Bench bench;
  REQUIRE(bench.Run({"--label", "a=b", "--label", "c", "rec.hrec", "--kind", "tlab,outside", "--kind", "malloc"}) ==
          ExitCode::kOk);
  CHECK(bench.labels == Words{"a=b", "c"});
  CHECK(bench.kinds == Words{"tlab", "outside", "malloc"});
  CHECK(bench.files == Words{"rec.hrec"});
}

TEST_CASE("Invalid options are refused before anything runs") {
  CHECK(Refuses({}));
  CHECK(Refuses({"a", "--by", "clas"}));
  CHECK(Refuses({"a", "--by", "label:"}));
  CHECK(Refuses({"a", "--limit", "-1"}));
  CHECK(Refuses({"a", "--limit", "1.5"}));
  CHECK(Refuses({"a", "--limit", "1", "--limit", "2"}));
  CHECK(Refuses({"a", "--min-share", "101"}));
  CHECK(Refuses({"a", "--min-share", "nan"}));
  CHECK(Refuses({"a", "--wait", "11"}));
  CHECK(Refuses({"a", "--wait", "nan"}));
  CHECK(Refuses({"a", "--json", "--csv"}));
  CHECK(Refuses({"a", "--frobnicate"}));
}

TEST_CASE("The command line of a command to record is not changed") {
  Bench bench;
  REQUIRE(bench.Run({"a", "--json", "--", "java", "--by", "x"}, true) == ExitCode::kOk);
  CHECK(bench.json);
  CHECK(bench.rest == Words{"java", "--by", "x"});
}

TEST_CASE("If a command takes no other command, words after -- are arguments") {
  Bench bench;
  REQUIRE(bench.Run({"a", "--json", "--", "-x.hrec", "--csv"}) == ExitCode::kOk);
  CHECK(bench.files == Words{"a", "./-x.hrec", "./--csv"});
  CHECK_FALSE(bench.csv);
  CHECK(Refuses({"a", "-o", "--", "b"}));  // b is no value
  Bench in_order;
  REQUIRE(in_order.Run({"a", "-o", "-", "--", "b", "-"}) == ExitCode::kOk);
  CHECK(in_order.files == Words{"a", "b", "-"});
  Bench dash;
  REQUIRE(dash.Run({"-o", "-x", "--", "b"}) == ExitCode::kOk);  // a value that looks like an option
  CHECK(dash.output == "-x");
  CHECK(dash.files == Words{"b"});
}

TEST_CASE("A time before the end, which begins with a dash, is a value") {
  Bench bench;
  REQUIRE(bench.Run({"a", "-o", "-30s"}) == ExitCode::kOk);
  CHECK(bench.output == "-30s");
  CHECK(bench.files == Words{"a"});
}

TEST_CASE("Choices in the text of an option are not listed again") {
  Command command("show", "Shows things");
  std::string sort, by;
  command.AddOption("--sort", sort, "Sort by bytes or name").Value("KEY").OneOf({"bytes", "name"});
  command.AddOption("--by", by, "Group rows").Value("KEY").OneOf({"class", "label:"});
  const std::string help = Help(command);
  CHECK(help.find("Sort by bytes or name\n") != std::string::npos);
  CHECK(help.find("Group rows [class, label:]\n") != std::string::npos);
}

TEST_CASE("Help fits 80 columns and names each option once") {
  Command command("show",
                  "Shows things: a sentence so long that it has to be broken, for it has more than 80 letters.");
  std::string value;
  command.AddOption("--a-name-longer-than-its-column", value, "A text that is long enough to need two lines of help.")
      .Value("VALUE");
  command.footer = "A note.\n\nExamples:\n  heaprec show";
  const std::string help = Help(command);
  for (size_t at = 0, end; at < help.size(); at = end + 1) {
    end = help.find('\n', at);
    REQUIRE(end != std::string::npos);
    CHECK(end - at <= 80);
  }
  CHECK(help.find("--a-name-longer-than-its-column VALUE\n") != std::string::npos);
  CHECK(help.find("Examples:") < help.find("Usage:"));
  CHECK(help.find("A note.") > help.find("Options:"));
}

}  // namespace
}  // namespace heaprec::tools
