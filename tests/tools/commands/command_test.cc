// print and export from outside: what they write, and how they end.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/small_recording.h"
#include "tools/cli/command_line.h"
#include "tools/cli/help.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

// Lines on stdout and stderr that name the number of samples.
TEST_CASE_METHOD(Scratch, "One sample is 1 sample in each command") {
  const std::string rec = directory / "rec.bin", out = directory / "out.bin";
  {
    RecordingFile file(rec, SomeHeader());
    file.Add(At(kMs));
    file.End("jvm exit", kSecond);
  }
  for (const std::string command :
       {"print REC", "top REC", "summary -v REC", "doctor REC", "verify REC", "recover -f -o OUT REC",
        "trim -f --to 1s -o OUT REC", "merge -f -o OUT REC", "redact -f -o OUT REC", "report -f -o OUT REC",
        "export -f -o OUT.jfr REC", "import -f -o OUT OUT.jfr"}) {
    std::string line = command;
    for (const auto& [name, path] : {std::pair("REC", rec), std::pair("OUT", out)}) {
      for (size_t at = line.find(name); at != std::string::npos; at = line.find(name)) line.replace(at, 3, path);
    }
    const Outcome outcome = Heaprec(line);
    INFO(command << "\n" << outcome.out << outcome.err);
    CHECK((outcome.code == 0 || command.starts_with("doctor")));
    CHECK(Count(outcome.out + outcome.err, "1 samples") == 0);
    CHECK((Count(outcome.out + outcome.err, "1 sample") > 0) != command.starts_with("export"));
  }
}

TEST_CASE_METHOD(Scratch, "print writes blocks like jfr print and a loss line") {
  WriteSmall(path);
  const Outcome outcome = Heaprec("print " + path);
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out == R"(heaprec.AllocationSample {
  startTime = 16:40:00.731602 (2026-11-20)
  kind = tlab
  objectClass = java.lang.String
  size = 24 B
  tlabSize = 64.0 KiB
  weight = 2.3 KiB
  probability = 0.01
  eventThread = "main" (javaThreadId = 1, osThreadId = 1001)
  stackTrace = [
    java.util.HashMap.resize(Object, int) line: 702
    p.A.six(Object, int) line: 6
    p.A.five(Object, int) line: 5
    p.A.four(Object, int) line: 4
    p.A.three(Object, int) line: 3
    ...
  ]
}

heaprec.AllocationSample {
  startTime = 16:40:01.500000 (2026-11-20)
  kind = outside
  objectClass = byte[]
  size = 2.9 MiB
  weight = 2.9 MiB
  probability = 1
  eventThread = "worker "1", x" (javaThreadId = 23, osThreadId = 1023)
  stackTrace = [
    p.Leaf.allocate(Object, int) line: 7
    p.Main.main(Object, int) line: 3
  ]
}

heaprec.AllocationSample {
  startTime = 16:40:02.250000 (2026-11-20)
  kind = tlab
  objectClass = java.util.HashMap$Node
  size = 24 B
  tlabSize = 64.0 KiB
  weight = 2.3 KiB
  probability = 0.01
  eventThread = "main" (javaThreadId = 1, osThreadId = 1001)
  stackTrace = N/A
}

# 3 samples kept of 4 (rate limit; sums stay unbiased)
)");
}

TEST_CASE_METHOD(Scratch, "print --stack-depth 0 shows every frame, one without a line as well") {
  WriteSmall(path);
  const std::string all = Heaprec("print --stack-depth 0 --limit 1 " + path).out;
  CHECK(all.find("    p.A.main(Object, int)\n  ]\n") != std::string::npos);
  CHECK(all.find("...") == std::string::npos);
  const std::string one = Heaprec("print --stack-depth 1 --limit 1 " + path).out;
  CHECK(one.find("line: 702\n    ...\n  ]\n") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "print --json is one document with everything") {
  WriteSmall(path);
  const Outcome outcome = Heaprec("print --json " + path);
  CHECK(outcome.code == 0);
  const json document = json::parse(outcome.out);
  CHECK(document["recording"]["jvm_version"] == "17.0.21+9");
  CHECK(document["recording"]["recording_id"] == "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
  REQUIRE(document["events"].size() == 3);
  const json& first = document["events"][0];
  CHECK(first["time_ns"] == 1795192800731602752u);  // times are kept in ticks of 64 ns
  CHECK(first["class"] == "java.lang.String");
  CHECK(first["weight_objects"] == Approx(100));
  CHECK(first["stack"]["frames"].size() == 6);
  CHECK(first["stack"]["truncated"] == false);
  CHECK(first["thread"]["os_tid"] == 1001);
  CHECK(document["events"][1]["thread"]["name"] == "worker \"1\", x");
  CHECK(document["events"][2]["stack"].is_null());
  CHECK(document["losses"]["second_stage"] == 1);
  CHECK(document["losses"]["complete"] == true);
}

TEST_CASE_METHOD(Scratch, "Recordings come through pipes of the shell, several of them too") {
  WriteSmall(path);
  const Outcome one = Heaprec("top <(cat " + path + ")");
  INFO(one.err);
  CHECK(one.code == 0);
  CHECK(one.out == Heaprec("top " + path).out);
  CHECK(Heaprec("top <(cat " + path + ") <(cat " + path + ")").out == Heaprec("top " + path + " " + path).out);
}

TEST_CASE_METHOD(Scratch, "print --json of a recording without events is still a document") {
  RecordingFile(path, SomeHeader()).End("jvm exit", kSecond);
  CHECK(json::parse(Heaprec("print --json " + path).out)["events"].empty());
}

TEST_CASE_METHOD(Scratch, "Filters choose events, and the loss line says of how many") {
  const std::string file = path;
  WriteSmall(file);
  const auto count = [&](const std::string& options) {
    const Outcome outcome = Heaprec("print " + options + " " + file);
    CHECK(outcome.code == 0);
    return Count(outcome.out, "startTime");
  };
  CHECK(count("--from 1s") == 2);
  CHECK(count("--to 1500ms") == 1);  // the end is exclusive
  CHECK(count("--from 1500ms --to 1501ms") == 1);
  CHECK(count("--from 2026-11-20T16:40:02Z") == 1);
  CHECK(count("--to 1795192801000000000") == 1);
  CHECK(count("--from 16:40:02") == 1);
  CHECK(count("--to 16:40:02") == 2);
  CHECK(count("--from -1s") == 1);  // it lasted three seconds
  CHECK(count("--to -1s") == 2);
  CHECK(count("--thread worker") == 1);
  CHECK(count("--thread '^(main|nobody)$'") == 2);
  CHECK(count("--thread '#1'") == 2);
  CHECK(count("--thread '#os:1023'") == 1);
  CHECK(count("--class 'byte[]'") == 1);
  CHECK(count("--class 'java.*'") == 2);
  CHECK(count("--class String") == 1);
  CHECK(count("--class '/Node$/'") == 1);
  CHECK(count("--site HashMap.resize") == 1);
  CHECK(count("--site 'p.*'") == 1);
  CHECK(count("--site 'p.A.main'") == 0);
  CHECK(count("--frame 'p.*'") == 2);
  CHECK(count("--frame 'p.A.main'") == 1);
  CHECK(count("--kind outside") == 1);
  CHECK(count("--kind tlab,outside") == 3);
  CHECK(count("--limit 2") == 2);
  CHECK(count("--limit 0") == 0);
  CHECK(Heaprec("print --kind outside " + file)
            .out.find("# 1 of 3 samples kept of 4 (rate limit; sums stay unbiased)\n") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "A filter that no name fits says so, with the nearest names") {
  const std::string file = path;
  WriteSmall(file);
  for (const std::string command : {"print", "top", "tree", "export --format collapsed"}) {
    const auto says = [&](const std::string& options, const std::string& text) {
      const Outcome outcome = Heaprec(command + " " + options + " " + file);
      INFO(command << " " << options << ": " << outcome.err);
      CHECK(outcome.code == 0);
      CHECK(outcome.err.find(text) != std::string::npos);
    };
    says("--class Strin", "--class 'Strin': no class matches; nearest: java.lang.String\n");
    says("--site HashMap.resiz", "--site 'HashMap.resiz': no method matches; nearest: java.util.HashMap.resize\n");
    says("--frame p.B.main", "--frame 'p.B.main': no method matches; nearest: p.A.main");
    says("--thread nobody", "--thread 'nobody': no thread matches\n");
    says("--thread '#77'", "--thread '#77': no thread matches");
    says("--label request", "--label 'request': no label matches\n");
    const Outcome known = Heaprec(command + " --class 'byte[]' --thread main " + file);
    CHECK(known.err.find("matches") == std::string::npos);
  }
}

TEST_CASE_METHOD(Scratch, "export --format csv has the columns of the manual") {
  WriteSmall(path);
  const Outcome outcome = Heaprec("export --format csv -o - " + path);
  CHECK(outcome.code == 0);
  CHECK(
      outcome.out ==
      R"(time_ns,kind,thread,class,size,weight_bytes,weight_objects,probability,stack,labels,calibrated_bytes,calibrated_objects
1795192800731602752,tlab,main,java.lang.String,24,2400,100,0.01,p.A.main;p.A.three:3;p.A.four:4;p.A.five:5;p.A.six:6;java.util.HashMap.resize:702,,2400,100
1795192801500000000,outside,"worker ""1"", x",byte[],3000000,3000000,1,1,p.Main.main:3;p.Leaf.allocate:7,,3000000,1
1795192802250000000,tlab,main,java.util.HashMap$Node,24,2400,100,0.01,,,2400,100
)");
}

TEST_CASE_METHOD(Scratch, "export --format jsonl has one object per line with the same columns") {
  WriteSmall(path);
  const Outcome outcome = Heaprec("export --format jsonl --thread worker " + path);
  CHECK(outcome.code == 0);
  REQUIRE(Count(outcome.out, "\n") == 1);
  CHECK(json::parse(outcome.out) == json{{"time_ns", 1795192801500000000u},
                                         {"kind", "outside"},
                                         {"thread", "worker \"1\", x"},
                                         {"class", "byte[]"},
                                         {"size", 3000000},
                                         {"weight_bytes", 3e6},
                                         {"weight_objects", 1.0},
                                         {"probability", 1.0},
                                         {"stack", "p.Main.main:3;p.Leaf.allocate:7"},
                                         {"labels", json::object()},
                                         {"calibrated_bytes", 3e6},
                                         {"calibrated_objects", 1.0}});
}

TEST_CASE_METHOD(Scratch, "export of several files has all of them, each row with the recording it is from") {
  WriteSmall(directory / "a.bin");
  format::FileHeader header = SomeHeader();
  header.recording_id[0] = 0;
  WriteSmall(directory / "b.bin", header);
  const Outcome outcome = Heaprec("export --limit 4 " + directory / "a.bin" + " " + directory / "b.bin");
  CHECK(outcome.code == 0);
  CHECK(outcome.out.find("labels,recording,calibrated_bytes,calibrated_objects\n") != std::string::npos);
  CHECK(Count(outcome.out, ",a0a1a2a3a4a5a6a7a8a9aaabacadaeaf,") == 3);
  CHECK(Count(outcome.out, ",00a1a2a3a4a5a6a7a8a9aaabacadaeaf,") == 1);
  CHECK(Heaprec("export -f -o " + directory / "b.bin" + " " + directory / "a.bin" + " " + directory / "b.bin").code ==
        6);
}

TEST_CASE_METHOD(Scratch, "export without --format chooses the format by the file's ending") {
  WriteSmall(directory / "rec.bin");
  const auto [ending, begin] = GENERATE(table<std::string, std::string>({{"csv", "time_ns,"},
                                                                         {"txt", "time_ns,"},
                                                                         {"jsonl", "{\""},
                                                                         {"collapsed", "[unknown"},
                                                                         {"pb.gz", "\x1f\x8b"},
                                                                         {"jfr", std::string("FLR\0", 4)},
                                                                         {"speedscope.json", "{\"$schema\""},
                                                                         {"db", "SQLite format 3"}}));
  const std::string path = directory / ("out." + ending);
  CHECK(Heaprec("export -o " + path + " " + directory / "rec.bin").code == 0);
  INFO(path);
  CHECK(Contents(path).substr(0, begin.size()) == begin);
  CHECK(Heaprec("export --format csv -f -o " + path + " " + directory / "rec.bin").code == 0);
  CHECK(Contents(path).starts_with("time_ns,"));
}

TEST_CASE_METHOD(Scratch, "No command replaces a file unless it is told to, and never the recording that it reads") {
  WriteSmall(path);
  const std::string out = directory / "out", before = Contents(path);
  for (const std::string command :
       {"export --format csv -o ", "flame -q --svg -o ", "timeline --svg ", "timeline --html ", "diff --html ",
        "report -q -o ", "recover -q -o ", "trim -q -o ", "merge -q -o ", "redact -q -o "}) {
    CAPTURE(command);
    const std::string recordings = " " + path + (command.starts_with("diff") ? " " + path : "");
    Overwrite(out, "mine");
    const Outcome refused = Heaprec(command + out + recordings);
    CHECK(refused.code == 6);
    CHECK(refused.err.find("-f") != std::string::npos);
    CHECK(Contents(out) == "mine");
    CHECK(Heaprec(command + out + " -f" + recordings).code == 0);
    CHECK(Contents(out) != "mine");
    for (const std::string& itself : {path, directory / "./rec.bin"}) {
      CHECK(Heaprec(command + itself + " -f" + recordings).code == 6);
      CHECK(Contents(path) == before);
    }
  }
  CHECK(Heaprec("export -f -o " + path + " - < " + path).err.find("is the recording itself") != std::string::npos);
  CHECK(Contents(path) == before);
  CHECK(Heaprec("export -o /nonexistent/out.csv " + path).code == 6);
  CHECK(directory.Entries() == std::vector<std::string>{"out", "rec.bin"});
}

TEST_CASE_METHOD(Scratch, "Names cannot steer the terminal, whatever shows them") {
  {
    format::FileHeader header = SomeHeader();
    header.max_tracked_objects = 4096;
    RecordingFile file(path, header);
    file.Add(Event{.time_ns = kMs, .class_name = "evil\x1b[2J", .thread = "\x1b[31m", .stack = {"e\nvil.m:1"}});
    file.End("jvm exit", kSecond);
  }
  for (const std::string command :
       {"print", "summary", "top", "top --by stack", "top --by thread", "tree", "timeline --by class", "live"}) {
    const std::string out = Heaprec(command + " " + path).out;
    INFO(command << "\n" << out);
    CHECK((out.find("vil") != std::string::npos || command == "top --by thread"));
    CHECK(out.find('\x1b') == std::string::npos);
    CHECK(out.find("e\nvil") == std::string::npos);
  }
}

TEST_CASE_METHOD(Scratch, "A full disk is exit 6 and leaves no half file") {
  WriteSmall(path);
  const Outcome full = Heaprec("print " + path + " >/dev/full");
  CHECK(full.code == 6);
  CHECK(full.err.find("No space left") != std::string::npos);
  const Outcome limited = Shell("ulimit -f 0; trap '' XFSZ; $HEAPREC export -o " + directory / "out.csv" + " " + path);
  CHECK(limited.code == 6);
  CHECK(directory.Entries() == std::vector<std::string>{"rec.bin"});
}

TEST_CASE_METHOD(Scratch, "A closed pipe ends quietly with 0") {
  RecordingFile file(path, SomeHeader());
  for (uint64_t i = 0; i < 20'000; ++i) file.Add(At(i * kMs));
  file.End("jvm exit", 20 * kSecond);
  const Outcome outcome = Shell("$HEAPREC print " + path + " | head -n 1; echo ${PIPESTATUS[0]}");
  CHECK(outcome.out == "heaprec.AllocationSample {\n0\n");
  CHECK(outcome.err.empty());
}

TEST_CASE_METHOD(Scratch, "A dash is standard input") {
  WriteSmall(path);
  const std::string from_file = Heaprec("print " + path).out;
  CHECK(Shell("cat " + path + " | $HEAPREC print -").out == from_file);
  CHECK(Shell("$HEAPREC print --follow - </dev/null").code == 2);
  CHECK(Shell("$HEAPREC print - </dev/null").code == 3);
}

TEST_CASE_METHOD(Scratch, "What is no recording is exit 3") {
  Overwrite(directory / "text", "hello\n");
  for (const char* command : {"print ", "summary ", "export "}) {
    CHECK(Heaprec(command + directory / "text").code == 3);
    const Outcome missing = Heaprec(command + directory / "missing");
    CHECK(missing.code == 3);
    CHECK(missing.err == "heaprec: " + directory / "missing" + ": No such file or directory\n");
  }
  CHECK(Heaprec("print /tmp").code == 3);
  // A regular file of which no byte can be read.
  CHECK(Heaprec("print /proc/self/mem").err == "heaprec: /proc/self/mem: offset 0: Input/output error\n");
  // Nobody writes into this pipe: it is not waited for.
  REQUIRE(mkfifo((directory / "pipe").c_str(), 0600) == 0);
  const Outcome pipe = Heaprec("print " + directory / "pipe");
  CHECK(pipe.code == 3);
  CHECK(pipe.err == "heaprec: " + directory / "pipe" + ": not a regular file ('-' reads a pipe)\n");
}

TEST_CASE_METHOD(Scratch, "Damage in the middle is skipped, named with its offset, and exit 4") {
  RecordingFile file(path, SomeHeader());
  for (uint64_t i = 0; i < 10; ++i) file.Add(At(i * kMs));
  file.Flush();
  file.StartChunk();
  const uint64_t second = file.size();
  for (uint64_t i = 10; i < 20; ++i) file.Add(At(i * kMs));
  file.Flush();
  file.StartChunk();
  file.Add(At(30 * kMs));
  file.End("jvm exit", kSecond);
  std::string bytes = Contents(path);
  bytes[second + 100] ^= 0x10;
  Overwrite(path, bytes);

  for (const char* command : {"print ", "export ", "summary "}) {
    const Outcome outcome = Heaprec(command + path);
    CHECK(outcome.code == 4);
    CHECK(outcome.err.find("heaprec: " + path + ": offset ") == 0);
  }
  CHECK(Count(Heaprec("print " + path).out, "startTime") == 11);
  const std::string summary = Heaprec("summary " + path).out;
  CHECK(summary.find("\ntrustworthy: no, because ") != std::string::npos);
  CHECK(summary.find("damaged bytes were skipped") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "A recording that was cut off in a block is read up to there with exit 0 and a note") {
  RecordingFile file(path, SomeHeader());
  file.Add(At(kMs));
  file.Flush();
  const uint64_t whole = file.size();
  file.Add(At(2 * kMs));
  file.Flush();
  Overwrite(path, Contents(path).substr(0, whole + 20));
  const Outcome outcome = Heaprec("print " + path);
  CHECK(outcome.code == 0);
  CHECK(Count(outcome.out, "startTime") == 1);
  CHECK(Count(outcome.err, "\n") == 1);
  CHECK(outcome.err.find("at the end") != std::string::npos);
  const std::string summary = Heaprec("summary " + path).out;
  CHECK(summary.find("cut off") != std::string::npos);
  CHECK(summary.find("\ntrustworthy: yes\n") != std::string::npos);
}

TEST_CASE_METHOD(Scratch, "Wrong usage names what is valid and is exit 2") {
  WriteSmall(path);
  CHECK(Heaprec("prnt rec.bin").err == "heaprec: unknown command 'prnt'; did you mean 'print'? See 'heaprec --help'\n");
  CHECK(Heaprec("").err == "heaprec: no command; see 'heaprec --help'\n");
  const Outcome command = Heaprec("frobnicate rec.bin");
  CHECK(command.code == 2);
  CHECK(command.err.find("heaprec: unknown command 'frobnicate'; commands: record, attach, ") == 0);
  for (const char* name : {"print, ", "export, ", "verify, ", "sql, ", "doctor"}) {
    CHECK(command.err.find(name) != std::string::npos);
  }
  CHECK(command.err.ends_with("; see 'heaprec --help'\n"));
  CHECK(Heaprec("help prnt").err == Heaprec("prnt").err);
  CHECK(Heaprec("prnt --help").err == Heaprec("prnt").err);
  CHECK(Heaprec("top --limit -- " + path).err.find("top: --limit: a value is missing") != std::string::npos);
  CHECK(Heaprec("top " + path + " --limit").err.find("top: --limit: a value is missing") != std::string::npos);
  CHECK(Heaprec("top " + path + " --limit 1 --limit 2").err.find("top: --limit is given more than once") !=
        std::string::npos);
  CHECK(Heaprec("top " + path + " --json --json").code == 0);
  const Outcome option = Heaprec("print --colour " + path);
  CHECK(option.code == 2);
  CHECK(option.err.find("--stack-depth") != std::string::npos);
  const Outcome record = Heaprec("record --colour -- java");
  CHECK(record.code == 2);
  CHECK(record.err.find("--child-jvms") != std::string::npos);
  for (const std::string arguments :
       {"", "print", "print --from 10 REC", "print --to later REC", "print --class '/(/' REC", "print --kind stack REC",
        "print --limit -1 REC", "print --limit x REC", "print --thread '#x' REC", "export --format xml REC"}) {
    const size_t at = arguments.find("REC");
    const std::string filled =
        at == std::string::npos ? arguments : arguments.substr(0, at) + path + arguments.substr(at + 3);
    const Outcome outcome = Heaprec(filled);
    INFO(arguments << ": " << outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.find("heaprec: ") == 0);
    CHECK(Count(outcome.err, "\n") == 1);
  }
}

TEST_CASE_METHOD(Scratch, "Each command says that a recording has no data of the time that was asked for") {
  WriteSmall(path);
  for (const char* command : {"print", "print --json", "summary", "top", "export --format csv",
                              "export --format pprof -f -o /dev/null", "sql"}) {
    CAPTURE(command);
    const std::string query = std::string(command) == "sql" ? " 'select * from samples'" : "";
    const Outcome asked = Heaprec(command + (" --from 1h " + path) + query);
    CHECK(asked.code == 0);
    CHECK(Count(asked.err, "no data in this range: " + path + " has data from 0.000 s to ") == 1);
    CHECK(Heaprec(command + (" --from 1s " + path) + query).err.find("no data") == std::string::npos);
  }
}

TEST_CASE_METHOD(Scratch, "Every option that takes a duration takes the same forms") {
  const std::string rec = path, folder = directory / "";
  WriteSmall(rec);
  for (const std::string& command : std::vector<std::string>{
           "attach no.such.Jvm --timeout ", "stop no.such.Jvm --timeout ", "attach no.such.Jvm --duration ",
           "record --delay ", "bench --duration ", "bench --grace ", "live " + rec + " --min-age ",
           "native " + rec + " --min-age ", "flame --live -f -o /dev/null " + rec + " --min-age ",
           "fleet services --from-dir " + folder + " --slice ", "fleet timeline --from-dir " + folder + " --step ",
           "fleet services --timeout "}) {
    for (const char* const form : {"60s", "1m", "60", "60000ms", "1h"}) {
      const Outcome outcome = Heaprec(command + form);
      INFO(command << form << "\n" << outcome.err);
      CHECK(outcome.err.find("is not a duration") == std::string::npos);
      CHECK(outcome.err.find("'" + std::string(form) + "'") == std::string::npos);
    }
    const Outcome refused = Heaprec(command + "soon");
    INFO(command << "\n" << refused.err);
    CHECK(refused.code == 2);
    CHECK(refused.err.find("'soon' is not a duration, such as 30s, 1m30s or 500ms") != std::string::npos);
  }
}

TEST_CASE("Help and version go to standard output with exit 0") {
  CHECK(Heaprec("--version").out.find("heaprec ") == 0);
  CHECK(Heaprec("--version").code == 0);
  for (const char* command : {"print", "export", "summary", "sql", "doctor"}) {
    const Outcome outcome = Heaprec(command + std::string(" --help"));
    CHECK(outcome.code == 0);
    CHECK(outcome.out.substr(0, outcome.out.find('\n')).ends_with('?'));
    CHECK(outcome.out.find("Examples:") != std::string::npos);
    CHECK(Heaprec("--help").out.find(command) != std::string::npos);
  }
}

}  // namespace

}  // namespace heaprec::tools::testing

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
