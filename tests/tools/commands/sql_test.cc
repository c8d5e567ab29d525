// sql from outside: what queries see, how rows come out, and how queries fail.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

json Ask(const std::string& path, const std::string& query) {
  const Outcome outcome = Heaprec("sql --json " + path + " \"" + query + "\"");
  INFO(query << ": " << outcome.err);
  REQUIRE(outcome.code == 0);
  return json::parse(outcome.out);
}

TEST_CASE_METHOD(Scratch, "sql answers with an aligned table, CSV or JSON") {
  WriteSmall(path);
  const std::string query = path +
                            " \"select class, sum(weight_bytes) as bytes, null as n from samples "
                            "group by 1 order by 2 desc, 1\"";
  CHECK(Heaprec("sql " + query).out ==
        "class                     bytes  n\n"
        "byte[]                  3000000\n"
        "java.lang.String           2400\n"
        "java.util.HashMap$Node     2400\n");
  CHECK(Heaprec("sql --csv " + query).out ==
        "class,bytes,n\nbyte[],3000000,\njava.lang.String,2400,\njava.util.HashMap$Node,2400,\n");
  CHECK(Heaprec("sql --format markdown " + query).out.find("| byte\\[] | 3000000 |  |") != std::string::npos);
  CHECK(Heaprec("sql --format html " + query).out.find("data-value=\"2400\">2400") != std::string::npos);
  const json rows = json::parse(Heaprec("sql --json " + query).out);
  CHECK(rows[0] == json{{"class", "byte[]"}, {"bytes", 3e6}, {"n", nullptr}});
  CHECK(Ask(path, "select * from samples where 0") == json::array());
}

TEST_CASE_METHOD(Scratch, "samples has the events with their names, in numbers that add up to the others'") {
  WriteSmall(path);
  const json rows = Ask(path, "select * from samples order by time_ns");
  REQUIRE(rows.size() == 3);
  const json& first = rows[0];
  CHECK(first["time_ns"] == 1795192800731602752u);
  CHECK(first["kind"] == "tlab");
  CHECK(first["thread"] == "main");
  CHECK(first["class"] == "java.lang.String");
  CHECK(first["site"] == "java.util.HashMap.resize");
  CHECK(first["line"] == 702);
  CHECK(first["probability"] == 0.01);
  CHECK(first["stack"] == "p.A.main;p.A.three:3;p.A.four:4;p.A.five:5;p.A.six:6;java.util.HashMap.resize:702");
  CHECK(first["labels"].is_null());
  CHECK(rows[2]["site"] == "[unknown]");
  CHECK(rows[2]["stack"].is_null());
  // The samples say exactly what was counted.
  CHECK(first["calibrated_bytes"] == Approx(2400));
  const json summary = json::parse(Heaprec("summary --json " + path).out);
  CHECK(Ask(path, "select calibration from recordings")[0]["calibration"] == summary["estimates"]["calibration"]);
  CHECK(Ask(path, "select sum(weight_bytes) as sum from samples")[0]["sum"] ==
        summary["estimates"]["bytes_uncalibrated"]["value"]);
  CHECK(Ask(path, "select method from by_method where weight_bytes > 2400") ==
        json::parse(R"([{"method": "p.Leaf.allocate"}, {"method": "p.Main.main"}])"));
  CHECK(Ask(path, "select count(*) as n from intervals")[0]["n"] == 3);
  CHECK(Ask(path, "select second_stage from stream_counters where stream = 'allocations'")[0]["second_stage"] == 1);
  CHECK(Ask(path, "select ended, source, rate_per_second from recordings") ==
        json::parse(R"([{"ended": "jvm exit", "source": "hooks", "rate_per_second": 150.0}])"));
}

TEST_CASE_METHOD(Scratch, "A sum over a group of which a part is unknown is NULL, not the sum of the rest") {
  RecordingFile file(path, SomeHeader());
  for (const uint64_t size : {24, 0}) {
    Event event = At((1 + size) * kMs);
    event.size = size;
    event.class_name = "p/Mixed";
    file.Add(event);
  }
  file.Add(Event{.time_ns = 50 * kMs, .class_name = "p/Known", .thread = "other", .stack = {"p/Other.make:1"}});
  file.End("stop", kSecond);
  for (const char* view : {"by_class", "by_site", "by_method", "by_thread"}) {
    CAPTURE(view);
    const json rows = Ask(path, std::string("select * from ") + view + " order by samples desc");
    CHECK(rows[0]["samples"] == 2);
    CHECK(rows[0]["weight_bytes"] == 4800);
    CHECK(rows[0]["weight_objects"].is_null());
    CHECK(rows[0]["calibrated_objects"].is_null());
    CHECK(rows.back()["weight_objects"] == 100);
    CHECK(rows.back()["calibrated_objects"] == 100);
  }
  CHECK(Ask(path, "select * from by_second")[0]["weight_objects"].is_null());
}

TEST_CASE_METHOD(Scratch, "sql reads several recordings, each under its own number") {
  WriteSmall(directory / "a.bin");
  WriteSmall(directory / "b.bin");
  const std::string both = directory / "a.bin" + " " + directory / "b.bin";
  CHECK(Ask(both, "select recording, count(*) as n from samples group by 1") ==
        json::parse(R"([{"recording": 1, "n": 3}, {"recording": 2, "n": 3}])"));
  CHECK(Ask(both, "select count(*) as n from classes")[0]["n"] == 3);
  CHECK(Ask("--class String " + both, "select count(*) as n from events")[0]["n"] == 2);
}

TEST_CASE_METHOD(Scratch, "A recording of several chunks names each thing once") {
  RecordingFile file(path, SomeHeader());
  for (uint64_t chunk = 0; chunk < 3; ++chunk) {
    for (uint64_t i = 0; i < 5; ++i) file.Add(At((chunk * 5 + i) * kMs));
    if (chunk < 2) file.StartChunk();
  }
  file.End("jvm exit", kSecond);
  CHECK(Ask(path,
            "select (select count(*) from stacks) as stacks, (select count(*) from classes) as classes, "
            "(select count(*) from threads) as threads, (select count(*) from events) as events") ==
        json::parse(R"([{"stacks": 2, "classes": 1, "threads": 1, "events": 15}])"));
}

TEST_CASE_METHOD(Scratch, "A query that is wrong says where, and what there is") {
  WriteSmall(path);
  const Outcome column = Heaprec("sql " + path + " 'select clas from samples'");
  CHECK(column.code == 2);
  CHECK(column.err.find("heaprec: sql: no such column: clas, at character 8: clas from samples; views: ") == 0);
  CHECK(column.err.find("; tables: recordings, classes, ") != std::string::npos);
  CHECK(Count(column.err, "\n") == 1);
  for (const char* query :
       {"delete from events", "create table x(y)", "attach '/tmp/x' as y", "pragma user_version = 3",
        "vacuum into '/tmp/x.db'", "insert into events(id) values (99)"}) {
    const Outcome writes = Heaprec("sql " + path + " \"" + query + "\"");
    INFO(query << writes.err);
    CHECK(writes.code == 2);
    CHECK(writes.err.find("only reading queries") != std::string::npos);
    CHECK(writes.out.empty());
  }
  CHECK(Heaprec("sql " + path + " 'select 1; select 2'").err.find("one query") != std::string::npos);
  CHECK(Heaprec("sql 'select 1'").err.find("no recording given") != std::string::npos);
  const std::string rec = path;
  CHECK(Heaprec("sql 'select 1' " + rec).err.find("'select 1' is not a file; the query must be the last") !=
        std::string::npos);
  CHECK(Heaprec("sql " + rec + " ''").err.find("the query is empty") != std::string::npos);
  CHECK(Heaprec("sql " + path + " " + directory / "nothing").code == 3);
}

TEST_CASE_METHOD(Scratch, "Without a query sql shows all tables and views, and the columns that they have") {
  WriteSmall(path);
  const Outcome outcome = Heaprec("sql " + path);
  CHECK(outcome.code == 0);
  for (const char* line : {"CREATE TABLE events (\n", "weight_bytes REAL, ", "VIEW by_class (class, samples, ",
                           "VIEW samples (id, recording, time_ns, ", "\n  -- samples with names\n"}) {
    INFO(line << "---\n" << outcome.out);
    CHECK(outcome.out.find(line) != std::string::npos);
  }
}

TEST_CASE_METHOD(Scratch, "What a name holds cannot steer a terminal or break a row") {
  RecordingFile file(path, SomeHeader());
  Event event = At(kMs);
  event.thread = "a\x1b[31m\"b\",\n'c'; drop table events; --";
  file.Add(event);
  file.End("jvm exit", kSecond);
  const std::string query = path + " 'select thread from samples'";
  CHECK(Heaprec("sql " + query).out == "thread\na\\x1b[31m\"b\",\\n'c'; drop table events; --\n");
  CHECK(json::parse(Heaprec("sql --json " + query).out)[0]["thread"] == event.thread);
  CHECK(Heaprec("sql --csv " + query).out == "thread\n\"a\x1b[31m\"\"b\"\",\n'c'; drop table events; --\"\n");
}

}  // namespace
}  // namespace heaprec::tools::testing
