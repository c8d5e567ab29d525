// check: how budgets are read, when one is exceeded, and the reports.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/small_recording.h"
#include "tools/query/compare/budget.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

// 200 samples of 10,000 B in 10 s: 2 MB in 200 kB/s; a quarter is byte[] of com.acme.Cache.fill, called by App.main.
void WriteQuarters(const std::string& path, double weight = 10'000, uint64_t end_ns = 10 * kSecond) {
  const auto sample = [weight](uint64_t i) {
    Event event{.time_ns = (50 * i + 1) * kMs, .weight = 10'000, .stack = {"java/util/List.of", "com/acme/App.main:3"}};
    if (i % 4 == 0) {
      event.class_name = "[B";
      event.stack = {"com/acme/Cache.fill:12", "com/acme/App.main:3"};
      event.thread = "w<orker> & \"co\"";
      event.weight = weight;
    }
    return event;
  };
  WriteSamples(path, 200, sample, end_ns);
}

// Writes 200 samples of strings, and a census of all strings and of three Rares, which were not sampled.
void WriteCounted(const std::string& path) {
  format::FileHeader header = SomeHeader();
  header.census = format::CensusMode::kAll;
  RecordingFile file(path, header);
  file.Add(format::Window{1, 0, 1e-4});
  for (uint64_t second = 0; second < 200; ++second) {
    Event event = At(second * kSecond + 600 * kMs);
    event.weight = 10'000;
    file.Add(event);
    file.Add(format::Interval{second, 5, 10'000, 1, 1, 0});
  }
  file.AddWalk(5 * kSecond, "main", 1,
               {{"java/lang/String", 1000, 1'999'700}, {"p/Rare", 3, 300}, {"jdk/internal/vm/StackChunk", 1, 200}});
  file.census().tlabs = 1;
  file.census().tlab_bytes = 2'000'200;
  file.End("jvm exit", 200 * kSecond);
}

TEST_CASE("A budget for a rule of advice counts what the rule finds") {
  const Scratch scratch;
  WriteSamples(scratch.path, 200, [](uint64_t i) {
    Event event{.time_ns = (50 * i + 1) * kMs, .weight = 10'000};
    if (i % 4 == 0) {
      event.class_name = "java/lang/Long";
      event.stack = {"java/lang/Long.valueOf:3", "com/acme/Cache.fill:12"};
    }
    return event;
  });
  const auto check = [&](const std::string& budget, const std::string& more = "") {
    return Heaprec("check " + scratch.path + " --json --budget '" + budget + "'" + more);
  };
  const Outcome over = check("rule:boxing<10%");
  CHECK(over.code == 1);
  CHECK(json::parse(over.out)["checks"][0]["value"]["value"] == Approx(0.25));
  CHECK(check("rule:boxing<40%").code == 0);
  CHECK(check("rule:*<10%").code == 1);
  CHECK(check("rule:growth<10%").code == 0);
  const Outcome unknown = check("rule:boxin<10%");
  CHECK(unknown.code == 2);
  CHECK(unknown.err.find("no such rule; rules: logging, exception, boxing, ") != std::string::npos);
  const Outcome thrown = check("rule:boxing<10", " --kind exception");
  CHECK(thrown.code == 2);
  CHECK(thrown.err.find("rules are for allocations in the heap") != std::string::npos);
}

TEST_CASE("A budget has a subject, a pattern, a limit and a unit") {
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
  CHECK(parsed("class:java.io.*<100 events/s").unit == Budget::Unit::kObjects);
  CHECK_FALSE(parsed("class:java.io.*<100/s").has_unit);
  CHECK(parsed("class:java.io.*<100B/s").has_unit);
  CHECK(parsed("method:Outer.<init><1MB").subject_text == "method:Outer.<init>");
}

TEST_CASE("The error for a budget shows the position and examples") {
  for (const auto& [text, says] : {std::pair("total", "character 6: expected '<'"),
                                   {"totally<2MB", "character 1: expected total, or class:"},
                                   {"sites:a<2MB", "character 1: expected total, or class:"},
                                   {"site:<2MB", "character 6: expected a pattern"},
                                   {"site:/(/<2MB", "character 6: "},
                                   {"total<", "character 7: expected an amount"},
                                   {"total<x", "character 7: expected a number"},
                                   {"total<-3", "character 7: expected a number"},
                                   {"total<2XB", "character 8: 'XB' is not a unit"},
                                   {"total<2MB/h", "character 8: 'MB/h' is not a unit"},
                                   {"total<2%/s", "character 8: a percentage is a share of all bytes"}}) {
    INFO(text);
    const auto budget = Budget::Parse(text);
    REQUIRE_FALSE(budget.ok());
    INFO(budget.error().message);
    CHECK(budget.error().message.find(says) != std::string::npos);
    CHECK(budget.error().message.find("'total<2GiB'") != std::string::npos);
  }
}

// Of one budget: "exceeded" or "unknown" and exit code 1, "within" or "inconclusive" and 0.
std::string OutcomeOf(const std::string& options, const std::string& path) {
  const auto outcome = Heaprec("check --format json " + options + " " + path);
  INFO(outcome.err);
  REQUIRE(outcome.code <= 1);
  const json document = json::parse(outcome.out);
  CHECK((document["exceeded"] > 0 || document["unknown"] > 0) == (outcome.code == 1));
  std::string text;
  for (const json& check : document["checks"]) text += (text.empty() ? "" : " ") + check["outcome"].get<std::string>();
  return text;
}

// The line of a table that ends in `name`, with single blanks.
std::string RowOf(const std::string& text, const std::string& name) {
  const size_t end = text.find("  " + name + "\n");
  if (end == std::string::npos) return "";
  std::string row;
  for (const char c : text.substr(text.rfind('\n', end) + 1, end + 2 + name.size() - text.rfind('\n', end) - 1)) {
    if (c != ' ' || !row.ends_with(' ')) row.push_back(c);
  }
  return row;
}

TEST_CASE("With census=all, budgets of classes are judged by exact counts, with or without samples") {
  const Directory directory;
  const std::string path = directory / "rec.bin";
  WriteCounted(path);
  const auto outcome_of = [&path](const std::string& arguments) {
    const json document = json::parse(Heaprec("check --format json " + arguments + " " + path).out);
    CHECK(document["trustworthy"] == true);
    return document["checks"][0];
  };
  const json rare = outcome_of("--budget 'class:p.Rare<2objects'");
  CHECK(rare["outcome"] == "exceeded");
  CHECK(rare["value"]["low"] == 3);
  CHECK(outcome_of("--budget 'class:p.Rare<3objects'")["outcome"] == "within");
  CHECK(outcome_of("--budget 'class:p.Other<0'")["outcome"] == "within");
  const json strings = outcome_of("--budget 'class:java.lang.*<1999700'");
  CHECK(strings["outcome"] == "within");
  CHECK(strings["value"]["low"] == strings["value"]["high"]);
  CHECK(outcome_of("--budget 'class:java.lang.*<50%'")["outcome"] == "exceeded");
  // No estimate includes stack chunks, so their exact count judges no budget, which is unknown without other samples.
  for (const std::string classes : {"jdk.internal.vm.StackChunk", "StackChunk", "jdk.*"}) {
    CHECK(outcome_of("--budget 'class:" + classes + "<1GiB'")["outcome"] == "unknown");
  }
  // With a filter or a cut, census and samples do not count the same objects.
  CHECK(outcome_of("--budget 'class:p.Rare<3objects' --thread main")["outcome"] == "inconclusive");
  CHECK(outcome_of("--budget 'class:p.Rare<3objects' --no-census")["outcome"] == "inconclusive");
  const std::string cut = directory / "cut.bin";
  REQUIRE(Heaprec("trim --from 500ms -o " + cut + " " + path).code == 0);
  CHECK(OutcomeOf("--budget 'class:p.Rare<3objects'", cut) == "inconclusive");  // the census lacks the cut second
}

TEST_CASE_METHOD(Scratch, "A budget is exceeded only if the whole interval is above it") {
  WriteQuarters(path);
  CHECK(OutcomeOf("--budget 'total<2MB'", path) == "within");
  CHECK(OutcomeOf("--budget 'total<1MB'", path) == "exceeded");
  CHECK(OutcomeOf("--budget 'total<100kB/s'", path) == "exceeded");
  CHECK(OutcomeOf("--budget 'total<250kB/s'", path) == "within");
  // A quarter, within 19.5 and 31.4 %.
  CHECK(OutcomeOf("--budget 'class:byte[]<15%'", path) == "exceeded");
  CHECK(OutcomeOf("--budget 'class:byte[]<24%'", path) == "inconclusive");
  CHECK(OutcomeOf("--budget 'class:byte[]<26%'", path) == "inconclusive");
  CHECK(OutcomeOf("--budget 'class:byte[]<35%'", path) == "within");
  CHECK(OutcomeOf("--budget 'site:com.acme.*<200kB' --budget 'site:com.acme.*<900kB'", path) == "exceeded within");
  CHECK(OutcomeOf("--budget 'method:App.main<1.8MB' --budget 'method:App.main<2MB'", path) == "exceeded within");
  CHECK(OutcomeOf("--budget 'package:java.util<1MB' --budget 'package:com.acme<1MB'", path) == "exceeded within");
  CHECK(OutcomeOf("--budget 'thread:main<1MB' --budget 'thread:orker<1MB'", path) == "exceeded within");
  CHECK(OutcomeOf("--budget 'site:com.nobody.*?<1MB'", path) == "within");
  CHECK(OutcomeOf("--ops 10 --budget 'total<150kB/op' --budget 'total<250kB/op'", path) == "exceeded within");
  CHECK(OutcomeOf("--ops 10 --budget 'class:String<100 objects/op'", path) == "exceeded");
  CHECK(OutcomeOf("--class String --budget 'total<1.6MB' --budget 'total<1MB'", path) == "within exceeded");
}

// A gate with a mistyped or a former name would pass for ever.
TEST_CASE_METHOD(Scratch, "A budget whose pattern fits no name is unknown, and says which names are near") {
  const std::string old = directory / "old.bin";
  WriteQuarters(path);
  WriteSamples(old, 1, [](uint64_t) {
    return Event{
        .time_ns = kMs,
        .class_name = "com/acme/Orders$PriceCalculator",
        .stack = {"java/util/Arrays.copyOf", "com/acme/Orders$PriceCalculator.price:3", "com/acme/App.main:3"}};
  });
  for (const auto& [budget, near] : {std::pair("site:Cache.fil", "no method matches; nearest: com.acme.Cache.fill"),
                                     {"method:Appp.main", "no method matches; nearest: com.acme.App.main"},
                                     {"class:char[]", "no class matches"},
                                     {"package:com.akme", "no package matches; nearest: com.acme"},
                                     {"thread:worker", "no thread matches"}}) {
    const std::string options = std::string("check --budget '") + budget + "<1%' ";
    const auto outcome = Heaprec(options + path);
    INFO(outcome.out);
    CHECK(outcome.code == 1);
    CHECK(RowOf(outcome.out, std::string(budget) + "<1%").starts_with("unknown "));
    CHECK(outcome.out.find("# " + std::string(budget) + "<1%: " + near) != std::string::npos);
    CHECK(Heaprec(options + "--format junit " + path)
              .out.find(std::string("<error type=\"unknown\" message=\"unknown (") + near) != std::string::npos);
    CHECK(OutcomeOf(std::string("--budget '") + budget + "?<1%'", path) != "unknown");
  }
  // A dollar sign separates, arrays may be written as the JVM does, and names have no parameters.
  for (const char* pattern :
       {"site:PriceCalculator.price", "site:PriceCalculator.price(int, byte[])", "class:PriceCalculator"}) {
    INFO(pattern);
    CHECK(OutcomeOf(std::string("--budget '") + pattern + "<1B'", old) == "exceeded");
    // What is no longer in the recording is in the baseline.
    CHECK_THAT(
        OutcomeOf(std::string("--by none --max-regression 5% --baseline ") + old + " --budget '" + pattern + "<1MB'",
                  path),
        Catch::StartsWith("within"));
  }
  CHECK(OutcomeOf("--budget 'class:[B<15%'", path) == "exceeded");
  // A name that is known, but allocates nothing itself.
  CHECK(OutcomeOf("--budget 'site:App.main<15%'", path) == "within");
}

TEST_CASE_METHOD(Scratch, "No budget is kept in a time of which nothing was recorded") {
  WriteQuarters(path);
  const auto outcome = Heaprec("check --json --from 1h --budget 'total<2MB' " + path);
  CHECK(outcome.code == 1);
  CHECK(outcome.err.find("no data in this range: " + path + " has data from 0.000 s to ") != std::string::npos);
  const auto check = nlohmann::json::parse(outcome.out)["checks"][0];
  CHECK(check["outcome"] == "unknown");
  CHECK(check["value"].is_null());
  // Nor is anything more, or less, than what was not recorded.
  const std::string longer = directory / "longer.bin";
  WriteQuarters(longer, 10'000, 7200 * kSecond);
  for (const auto& [before, now] : {std::pair(path, longer), std::pair(longer, path)}) {
    const auto compared =
        Heaprec("check --json --from 1h --per total --max-regression 3% --baseline " + before + " " + now);
    CHECK(compared.code == 1);
    const auto document = nlohmann::json::parse(compared.out);
    CHECK(document["checks"].size() == 1);
    CHECK(document["checks"][0]["outcome"] == "unknown");
  }
  CHECK(Heaprec("check --from 2s --to 1s --budget 'total<2MB' " + path).code == 2);
}

TEST_CASE_METHOD(Scratch, "A baseline is exceeded only if the ratio's interval says so") {
  const std::string old = directory / "old.bin", now = directory / "now.bin";
  WriteQuarters(old);
  WriteQuarters(now, 30'000);
  const std::string by_work = "--by none --baseline " + old + " --max-regression 3% ",
                    baseline = by_work + "--per total ";
  CHECK(OutcomeOf(baseline, old) == "within");
  CHECK(OutcomeOf(baseline, now) == "exceeded");
  CHECK(OutcomeOf("--by none --baseline " + old + " --max-regression 60%", now) == "within");
  CHECK(OutcomeOf(baseline + "--budget 'class:byte[]<9MB' --budget 'class:String<99%'", now) ==
        "within within exceeded exceeded inconclusive");
  // Rates of single runs also say how fast the machine was; a total without --ops how long they ran.
  CHECK(OutcomeOf(by_work + "--per second ", now) == "inconclusive");
  const auto unjudged = Heaprec("check --per second --baseline " + old + " --max-regression 3% " + now);
  INFO(unjudged.out);
  CHECK(unjudged.code == 0);
  CHECK(unjudged.out.find("give --ops N (operations of a run)") != std::string::npos);
  CHECK(unjudged.out.find("\nby site: not judged\n") != std::string::npos);
  CHECK(Heaprec("check --strict --per second --baseline " + old + " --max-regression 3% " + now).code == 1);
  CHECK(OutcomeOf(by_work + "--ops 200 --baseline-ops 100", now) == "within");
  CHECK(OutcomeOf("--baseline " + old + " --max-regression 150% --by none", now) == "within");
}

TEST_CASE_METHOD(Scratch, "Against a baseline every site is compared, and those that are shown to be more are broken") {
  const std::string old = directory / "old.bin", now = directory / "now.bin";
  WriteQuarters(old);
  WriteQuarters(now, 30'000);
  const std::string baseline = "check --format json --per total --baseline " + old + " --max-regression 60% ";
  const auto outcome = Heaprec(baseline + now);
  CHECK(outcome.code == 1);
  const json document = json::parse(outcome.out);
  INFO(document.dump(1));
  CHECK(document["rows"]["by"] == "site");
  CHECK(document["rows"]["count"] == 2);
  CHECK(document["rows"]["exceeded"] == 1);
  CHECK(document["rows"]["fdr"] == 0.05);
  CHECK(document["exceeded"] == 1);
  REQUIRE(document["checks"].size() == 2);
  CHECK(document["checks"][0]["name"] == "total against the baseline, bytes");
  CHECK(document["checks"][0]["outcome"] == "within");
  const json& site = document["checks"][1];
  CHECK(site["name"] == "site:com.acme.Cache.fill against the baseline, bytes");
  CHECK(site["outcome"] == "exceeded");
  CHECK(site["value"]["value"] == Approx(3));
  CHECK(site["value"]["low"] > 1.6);
  CHECK(site["measured"].get<std::string>().find(", from 488 KiB to 1.43 MiB") != std::string::npos);
  CHECK(json::parse(Heaprec(baseline + "--by class " + now).out)["checks"][1]["name"] ==
        "class:byte[] against the baseline, bytes");
  CHECK(OutcomeOf("--baseline " + old + " --max-regression 250%", now) == "within");
  // The other way round: less is no regression.
  CHECK(OutcomeOf("--baseline " + now + " --max-regression 0%", old) == "within");
  const std::string kept = Heaprec("check --baseline " + now + " --max-regression 0% " + old).out;
  INFO(kept);
  CHECK(kept.find("\nby site: 0 of 2 allocate more than the baseline allows") != std::string::npos);
  const std::string junit = Heaprec("check --format junit --baseline " + now + " --max-regression 0% " + old).out;
  CHECK(junit.find("tests=\"2\" failures=\"0\"") != std::string::npos);
  CHECK(junit.find("name=\"every site against the baseline\"") != std::string::npos);
  CHECK(Heaprec("check --by colour --baseline " + now + " --max-regression 0% " + old).code == 2);
}

// Two lambdas of one class, which allocate 3 to 1.
void WriteLambdas(const std::string& path, const std::string& one, const std::string& other) {
  WriteSamples(path, 200, [&](uint64_t i) {
    const std::string lambda = "com/acme/App$$Lambda" + (i % 4 == 0 ? other : one);
    return Event{.time_ns = (50 * i + 1) * kMs,
                 .class_name = lambda,
                 .weight = 10'000,
                 .stack = {i % 4 == 0 ? "com/acme/App.lambda$main$1:9" : "com/acme/App.lambda$main$0:8",
                           lambda + ".run", "com/acme/App.main:3"}};
  });
}

TEST_CASE_METHOD(Scratch, "A budget for a lambda holds in every run, and is for that lambda alone") {
  const std::string one = directory / "one.bin", other = directory / "other.bin";
  WriteLambdas(one, "$141+0x00007f0f84115150", "$142+0x00007f0f84115358");
  WriteLambdas(other, "$77+0x00007f0f99999999", "$78+0x00007f0f99999000");
  for (const std::string& path : {one, other}) {
    const json rows = json::parse(Heaprec("top --json --by method --sort cumulative " + path).out)["tables"][0]["rows"];
    INFO(rows.dump());
    for (const auto& [name, percent] :
         {std::pair("com.acme.App$$Lambda[lambda$main$0].run", 75), {"com.acme.App$$Lambda[lambda$main$1].run", 25}}) {
      CHECK(std::ranges::any_of(rows, [name = name](const json& row) { return row["name"] == name; }));
      const std::string budget = std::string("--budget 'method:") + name + "<";
      CHECK(OutcomeOf(budget + std::to_string(percent - 15) + "%'", path) == "exceeded");
      CHECK(OutcomeOf(budget + std::to_string(percent + 15) + "%'", path) == "within");
    }
    CHECK(OutcomeOf("--budget 'method:com.acme.App$$Lambda*<90%'", path) == "exceeded");
    CHECK(OutcomeOf("--budget 'class:com.acme.App$$Lambda*<90%'", path) == "exceeded");
  }
  CHECK(OutcomeOf("--names exact --budget 'method:App$$Lambda$141/0x00007f0f84115150.run<90%'", one) == "within");
  CHECK(OutcomeOf("--by method --baseline " + one + " --max-regression 3%", other) == "within");
}

// Classes as frameworks generate them, each with a fifth of the bytes; Script has `more` times as many.
void WriteGenerated(const std::string& path, uint8_t id, const std::string& number, const std::string& word,
                    double more) {
  const std::string classes[] = {"p/Script" + number, "p/Bean$$EnhancerBySpringCGLIB$$" + word,
                                 "user$eval" + number + "$fn__" + number, "p/Dao$HibernateProxy$" + word,
                                 "p/Context$$Lambda$lambda$wrap$2$" + number + "+0x0000000800c0" + number};
  const auto sample = [&](uint64_t i) {
    return Event{.time_ns = (8 * i + 1) * kMs,
                 .weight = i % 5 == 0 ? 10'000 * more : 10'000,
                 .stack = {classes[i % 5] + ".run", "p/Main.main:3"}};
  };
  WriteSamples(path, 1000, sample, 10 * kSecond, HeaderOf(id));
}

TEST_CASE_METHOD(Scratch, "Classes whose names carry a number of the run are compared with their like") {
  const std::string old = directory / "old.bin", now = directory / "now.bin";
  WriteGenerated(old, 1, "1111", "a2c11f27", 1);
  WriteGenerated(now, 2, "2222", "b9d04e31", 3);
  const std::string compared = "check --json --per total --max-regression 60% --baseline " + old + " " + now;
  const json document = json::parse(Heaprec(compared).out);
  INFO(document.dump(1));
  CHECK(document["rows"]["count"] == 5);
  CHECK(document["rows"]["exceeded"] == 1);
  CHECK(document["checks"].back()["name"] == "site:p.Script#.run against the baseline, bytes");
  CHECK(json::parse(Heaprec(compared + " --names exact").out)["rows"]["count"] == 10);
  CHECK(OutcomeOf("--budget 'site:p.Script#.run<30%'", now) == "exceeded");
  const std::string top = Heaprec("top --by site " + old + " " + now).out;
  INFO(top);
  CHECK(top.find("user$eval#$fn__#.run\n") != std::string::npos);
  CHECK(Count(top, "p.Bean$$EnhancerBySpringCGLIB$$.run") == 1);
  CHECK(Count(top, "Script") == 1);
  CHECK(top.find("# 10 generated names of classes are shown as 5; --names exact keeps them apart\n") !=
        std::string::npos);
  CHECK(Count(Heaprec("top --names exact --by site " + old + " " + now).out, "Script") == 2);
}

TEST_CASE_METHOD(Scratch, "Thousands of classes of one template do not hide the method that allocates most") {
  WriteSamples(path, 1000, [](uint64_t i) {
    return Event{.time_ns = (8 * i + 1) * kMs,
                 .weight = 10'000,
                 .stack = {i % 10 == 0 ? "p/Main.other:5" : "p/Bean" + std::to_string(i) + ".make:1", "p/Main.main:3"}};
  });
  for (const char* command :
       {"top --by site ", "tree --callers ", "summary ", "diff --all --by site ", "timeline --by site "}) {
    const std::string out = Heaprec(command + path + (std::string(command).starts_with("diff") ? " " + path : "")).out;
    INFO(command << "\n" << out);
    CHECK(out.find("Bean#.make") != std::string::npos);
    CHECK(out.find("900 generated names of classes are shown as 1;") != std::string::npos);
  }
}

TEST_CASE_METHOD(Scratch, "One sample breaks a budget of nothing") {
  WriteSamples(path, 50, [](uint64_t i) {
    Event event{.time_ns = (50 * i + 1) * kMs, .weight = 10'000};
    if (i == 7) event.class_name = "com/acme/Rare";
    return event;
  });
  for (const char* none : {"0", "0%", "0 objects", "0B/s"}) {
    INFO(none);
    CHECK(OutcomeOf(std::string("--budget 'class:com.acme.Rare<") + none + "'", path) == "exceeded");
    CHECK(OutcomeOf(std::string("--budget 'class:com.acme.Absent?<") + none + "'", path) == "inconclusive");
  }
}

TEST_CASE_METHOD(Scratch, "Exceptions are counted: budgets and baselines of theirs are events, not bytes") {
  const auto write = [](const std::string& path, uint32_t often) {
    format::FileHeader header = SomeHeader();
    header.exceptions = {.interval_ns = kSecond, .interval_cap = 100, .rate_per_second = 100};
    RecordingFile file(path, header);
    file.Add(format::Window{format::kWindowStreamBit + 1, 0, 0.1});
    for (uint32_t i = 0; i < 100; ++i) {
      Event event{.time_ns = (50 * i + 1) * kMs,
                  .class_name = i % 4 == 0 ? "com/acme/Rare" : "com/acme/Often",
                  .size = 0,
                  .kind = format::Kind::kException,
                  .stack = {"com/acme/App.fail:7", "com/acme/App.main:3"}};
      event.weight = i % 4 == 0 ? 10 : 10.0 * often;
      file.Add(event);
    }
    file.End("jvm exit", 10 * kSecond);
  };
  const std::string one = directory / "one.bin", other = directory / "other.bin", of = "check --kind exception ";
  write(one, 1);
  write(other, 10);
  const std::string text = Heaprec(of + "--budget 'class:Often<300' --budget 'total<10000 events/s' " + one).out;
  INFO(text);
  CHECK(RowOf(text, "class:Often<300").starts_with("EXCEEDED 750 events "));
  CHECK(RowOf(text, "class:Often<300").ends_with(" 300 events class:Often<300"));
  CHECK(RowOf(text, "total<10000 events/s").find(" 10.0 k events/s ") != std::string::npos);
  const auto bytes = Heaprec(of + "--budget 'class:Often<300B' " + one);
  CHECK(bytes.code == 2);
  CHECK(bytes.err.find("counts throws") != std::string::npos);
  for (const char* kind : {"", "--kind malloc "}) {
    const auto of_others = Heaprec(std::string("check ") + kind + "--budget 'total<10000 events/s' " + one);
    INFO(of_others.out << of_others.err);
    CHECK(of_others.code == 2);
    CHECK(of_others.err.find("need --kind exception") != std::string::npos);
  }
  const std::string baseline =
      Heaprec(of + "--by class --per total --baseline " + one + " --max-regression 3% " + other).out;
  INFO(baseline);
  const std::string often = RowOf(baseline, "class:com.acme.Often against the baseline, events");
  CHECK(often.starts_with("EXCEEDED +900.0 % "));
  CHECK(often.find(" 750 ") < often.find(" 7.50 k "));
  CHECK(often.find(" 7.50 k ") != std::string::npos);
  CHECK(baseline.find("class:com.acme.Rare") == std::string::npos);
  const auto diff = Heaprec("diff --kind exception --all --per second --by class " + one + " " + other);
  INFO(diff.out);
  CHECK(diff.out.find(": 100/s before, 775/s after") != std::string::npos);
  CHECK(diff.out.find("before/s") != std::string::npos);
  CHECK(diff.out.find("B/s") == std::string::npos);
  CHECK(json::parse(Heaprec("diff --json --kind exception " + one + " " + other).out)["unit"] == "events");
}

TEST_CASE_METHOD(Scratch, "JUnit's XML parses and counts, whatever is in names") {
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

TEST_CASE_METHOD(Scratch, "Text and Markdown say what was measured and what is allowed") {
  WriteQuarters(path);
  const std::string budgets = " --budget 'total<1MB' --budget 'site:a|b*?<1MB' --budget 'class:byte[]<25%' ";
  const std::string text = Heaprec("check" + budgets + path).out;
  INFO(text);
  CHECK(text.find("rec.bin: 1 of 3 budgets exceeded, 1 inconclusive\n") != std::string::npos);
  CHECK(RowOf(text, "total<1MB") == "EXCEEDED 1.91 MiB 1.00 MiB total<1MB");
  CHECK(RowOf(text, "site:a|b*?<1MB").starts_with("within 0 B 0-"));
  CHECK(RowOf(text, "class:byte[]<25%").starts_with("inconclusive 25.0 % 19.2-31.6 25.0 % "));
  const std::string markdown = Heaprec("check --format markdown" + budgets + path).out;
  INFO(markdown);
  CHECK(markdown.find("| EXCEEDED | 1.91 MiB | 1.00 MiB | total\\<1MB |") != std::string::npos);
  CHECK(markdown.find("| site:a\\|b\\*?\\<1MB |") != std::string::npos);
  // Each row has the same cells.
  for (size_t at = markdown.find("\n| "); at != std::string::npos; at = markdown.find("\n| ", at + 1)) {
    const std::string row = markdown.substr(at + 1, markdown.find('\n', at + 1) - at - 1);
    CHECK(Count(row, "|") - Count(row, "\\|") == 5);
  }
  const std::string csv = Heaprec("check --format csv" + budgets + path).out;
  CHECK(
      csv.starts_with("outcome,value,value_low,value_high,limit,needs_runs,measured,allowed,why_unknown,name\nexceeded,"
                      "2000000,"));
}

TEST_CASE_METHOD(Scratch, "Annotations for GitHub name budgets that are not kept, and escape what would end them") {
  WriteQuarters(path);
  const std::string lines =
      Heaprec(
          "check --format github --budget 'total<1MB' --budget 'site:a,b<1MB' --budget 'class:byte[]<25%' "
          "--budget 'total<9MB' " +
          path)
          .out;
  INFO(lines);
  CHECK(Count(lines, "\n") == 3);
  CHECK(lines.starts_with("::error title=heaprec%3A total<1MB::1.91 MiB measured, 1.00 MiB allowed\n"));
  CHECK(lines.find("::error title=heaprec%3A site%3Aa%2Cb<1MB::unknown (") != std::string::npos);
  CHECK(
      lines.find("::warning title=heaprec%3A class%3Abyte[]<25%25::25.0 %25 (19.2-31.6) measured, 25.0 %25 allowed") !=
      std::string::npos);
}

TEST_CASE_METHOD(Scratch, "SARIF has a result for each budget, and its level") {
  WriteQuarters(path);
  const json sarif = json::parse(
      Heaprec("check --format sarif --budget 'total<1MB' --budget 'class:byte[]<25%' --budget 'total<9MB' " + path)
          .out);
  CHECK(sarif["version"] == "2.1.0");
  const json& results = sarif["runs"][0]["results"];
  REQUIRE(results.size() == 3);
  CHECK(results[0]["level"] == "error");
  CHECK(results[1]["level"] == "warning");
  CHECK(results[2]["kind"] == "pass");
  CHECK(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == path);
}

TEST_CASE_METHOD(Scratch, "Several baselines and several recordings are runs of the same program") {
  std::string options, now;
  for (int run = 0; run < 3; ++run) {
    const std::string old_run = directory / ("old" + std::to_string(run)),
                      new_run = directory / ("new" + std::to_string(run));
    WriteQuarters(old_run, 10'000 + 100 * run);
    WriteQuarters(new_run, 30'000 - 100 * run);
    options += " --baseline " + old_run, now += " " + new_run;
  }
  const auto outcome = Heaprec("check --format json --per second --max-regression 20%" + options + now);
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 1);
  const json document = json::parse(outcome.out);
  CHECK(document["runs"] == 3);
  CHECK(document["runs_of_baseline"] == 3);
  CHECK(document["rows"]["exceeded"] == 1);
  CHECK(document["checks"][0]["value"]["value"] == Approx(1.5).epsilon(0.02));
}

TEST_CASE_METHOD(Scratch, "check says what is missing") {
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
}  // namespace heaprec::tools::testing
