// heaprec record: as if the command had been started without it, but for the recording and one line at the end.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

std::string JavaPath() { return JavaHome() + "/bin/java"; }

Command RecordCommand(const std::string& folder, const std::vector<std::string>& options,
                      const std::vector<std::string>& program) {
  Command command = HeaprecCommand({"record"});
  command.folder = folder;
  command.args.insert(command.args.end(), options.begin(), options.end());
  command.args.push_back("--");
  command.args.insert(command.args.end(), program.begin(), program.end());
  return command;
}

std::vector<std::string> Program(const std::string& main, const std::vector<std::string>& args) {
  std::vector<std::string> program{JavaPath(), "-Xmx400m", "-cp", ProgramsJar(), main};
  program.insert(program.end(), args.begin(), args.end());
  return program;
}

std::vector<std::string> RecordingsIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".bin") names.push_back(entry.path().filename());
  }
  return names;
}

// With commas, as the command writes numbers.
std::string Grouped(size_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; digits.insert(at, ",")) at -= 3;
  return digits;
}

std::string SamplesLine(const std::string& path) {
  const Rows rows = ReadRows(path);
  return "heaprec: " + path + ": " + Grouped(rows.rows.size()) + " samples";
}

}  // namespace

TEST_CASE("record adds its options to the JVM, passes output and exit code on, and describes the recording") {
  const std::string folder = FreshFolder();
  const Outcome outcome = Run(RecordCommand(folder, {"-o", "rec.bin", "--rate", "90", "--set", "stackdepth=3"},
                                            Program("e2e.Load", {"2", "500", "0"})));
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "running\ndone\n");
  CHECK(outcome.err == SamplesLine(folder + "/rec.bin") + "\n");
  const auto header = ReadSummary(folder + "/rec.bin")["recording"];
  CHECK(header["rate_per_second"] == 90);
  CHECK(header["agent_options"] == "file=" + folder + "/rec.bin,rate=90,stackdepth=3");

  const Outcome quiet = Run(RecordCommand(folder, {"-q", "-o", "quiet.bin"}, Program("e2e.Ends", {"exit"})));
  CHECK(quiet.exit_code == 7);
  CHECK(quiet.out.empty());
  CHECK(quiet.err.empty());
  CHECK(ReadRows(folder + "/quiet.bin").trustworthy());
}

TEST_CASE("record finds the agent of its own build without being told") {
  const std::string folder = FreshFolder();
  Command command = RecordCommand(folder, {"-o", "rec.bin"}, Program("e2e.Ends", {"halt"}));
  command.environment = {"HEAPREC_LIB="};
  const Outcome outcome = Run(command);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 8);
  CHECK(ReadRows(folder + "/rec.bin").trustworthy());
}

TEST_CASE("The recording has the service labels, and OTLP exports include them") {
  const std::string folder = FreshFolder();
  const auto recorded = [&](const std::string& name, const std::vector<std::string>& options) {
    std::vector<std::string> all{"-q", "-o", folder + "/" + name};
    all.insert(all.end(), options.begin(), options.end());
    Command command = RecordCommand(folder, all, Program("e2e.Load", {"1", "100", "0"}));
    command.environment.insert(command.environment.end(),
                               {"OTEL_SERVICE_NAME=from-environment",
                                "OTEL_RESOURCE_ATTRIBUTES=service.version=1%2C5,password=not-to-be-seen"});
    REQUIRE(Run(command).exit_code == 0);
    return OutputOf(HeaprecCommand({"export", "--format", "otlp", folder + "/" + name}));
  };
  // As protobuf has a key and its value: tag, length, text.
  const auto attribute = [](const std::string& key, const std::string& value) {
    const auto sized = [](char tag, const std::string& text) { return tag + (static_cast<char>(text.size()) + text); };
    return sized('\x0a', key) + sized('\x12', sized('\x0a', value));
  };
  const std::string by_environment = recorded("a.bin", {});
  CHECK(by_environment.find(attribute("service.name", "from-environment")) != std::string::npos);
  CHECK(by_environment.find(attribute("service.version", "1,5")) != std::string::npos);
  CHECK(recorded("b.bin", {"--service", "shop"}).find(attribute("service.name", "shop")) != std::string::npos);
  for (const char* name : {"/a.bin", "/b.bin"}) {
    CHECK(ReadFile(folder + name).find("not-to-be-seen") == std::string::npos);
  }
}

TEST_CASE("record passes signals on, and reports a recording that was cut off") {
  const std::string folder = FreshFolder();
  Process terminated(RecordCommand(folder, {"-o", "term.bin"}, Program("e2e.Ends", {"wait"})));
  REQUIRE(terminated.WaitForOutput("running"));
  terminated.Kill(SIGTERM);
  CHECK(terminated.Finish().exit_code == 128 + SIGTERM);
  CHECK(ReadSummary(folder + "/term.bin")["ended"] == "jvm exit");

  // The JVM, not us: a shell in between becomes it.
  Process killed(RecordCommand(
      folder, {"--child-jvms", "-o", "kill-%p.bin", "--rate", "20000"},
      {"sh", "-c", "echo $$ >pid; exec \"$0\" \"$@\"", JavaPath(), "-cp", ProgramsJar(), "e2e.Ends", "wait"}));
  REQUIRE(killed.WaitForOutput("running"));
  const pid_t pid = std::stoi(ReadFile(folder + "/pid"));
  CHECK(kill(pid, SIGKILL) == 0);
  const Outcome outcome = killed.Finish();
  CHECK(outcome.exit_code == 128 + SIGKILL);
  INFO(outcome.err);
  CHECK(outcome.err.find(SamplesLine(folder + "/kill-" + std::to_string(pid) + ".bin") + ", cut off; ") !=
        std::string::npos);
  RemoveRingsOf(pid);
}

TEST_CASE("--child-jvms records every descendant JVM, which prints a line itself") {
  const std::string folder = FreshFolder();
  const std::string run = JavaPath() + " -cp " + ProgramsJar() + " e2e.Ends exit; ";
  const Outcome outcome =
      Run(RecordCommand(folder, {"--child-jvms", "-o", "rec-%p.bin"}, {"sh", "-c", run + run + "exit 3"}));
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.out.empty());
  const auto names = RecordingsIn(folder);
  CHECK(names.size() == 2);
  for (const std::string& name : names) {
    CHECK(ReadRows(folder + "/" + name).trustworthy());
    CHECK(outcome.err.find(SamplesLine(folder + "/" + name)) != std::string::npos);
  }
}

TEST_CASE("If no file can be written, record gives that reason, not that the JVM ended too early") {
  const std::string folder = FreshFolder();
  const auto run = [&](const std::vector<std::string>& program) {
    Command command = RecordCommand(folder, {"-o", "rec.bin"}, program);
    command.args.insert(command.args.begin(), {"sh", "-c", "(ulimit -f 0; \"$@\" 2>&1; echo code $?) | cat", "sh"});
    return Run(command).out;
  };
  // The program's own code, or that it did well and was not recorded.
  for (const auto& [program, code] : {std::pair(Program("e2e.Ends", {"exit"}), "code 7\n"),
                                      std::pair(Program("e2e.Load", {"1", "10", "1"}), "code 6\n")}) {
    const std::string out = run(program);
    INFO(out);
    CHECK(out.find("heaprec: not recording: " + folder + "/rec.bin: File too large\n") != std::string::npos);
    CHECK(out.find("nothing was recorded") == std::string::npos);
    CHECK(out.find(code) != std::string::npos);
  }
}

TEST_CASE("Without a writable /tmp the result is still reported") {
  const std::vector<std::string> sealed{
      "unshare", "--mount", "sh", "-c", "mount -t tmpfs -o ro none /tmp && exec \"$@\"", "sh"};
  const std::string folder = FreshFolder();
  Command command = RecordCommand(folder, {"-o", "rec.bin"}, Program("e2e.Load", {"1", "100", "5"}));
  command.args.insert(command.args.begin(), sealed.begin(), sealed.end());
  if (Run(Command{{"unshare", "--mount", "mount", "-t", "tmpfs", "none", "/tmp"}}).exit_code != 0 ||
      folder.starts_with("/tmp/") || ProgramsJar().starts_with("/tmp/")) {
    WARN("skipped: needs a mount namespace, and files outside of /tmp");
    return;
  }
  const Outcome outcome = Run(command);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err == SamplesLine(folder + "/rec.bin") + "\n");
}

TEST_CASE("The error for a folder or a device in place of the file is one line, and the JVM continues") {
  const std::string folder = FreshFolder();
  std::filesystem::create_directory(folder + "/dir");
  for (const std::string& file : {folder + "/dir", std::string("/dev/null")}) {
    const Outcome outcome = Run(RecordCommand(folder, {"-o", file}, Program("e2e.Ends", {"exit"})));
    INFO(outcome.err);
    CHECK(outcome.exit_code == 7);
    CHECK(outcome.err ==
          "heaprec: not recording: " + file + ": exists and is not a regular file; name a file to record into\n");
    CHECK_FALSE(FileExists(file + "-1"));
  }
}

TEST_CASE("A tool of the JDK is recorded too") {
  const std::string folder = FreshFolder();
  std::ofstream(folder + "/A.java") << "class A {}\n";
  const Outcome outcome = Run(RecordCommand(folder, {"-o", "rec.bin"}, {JavaHome() + "/bin/javac", "A.java"}));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(FileExists(folder + "/A.class"));
  CHECK(outcome.err == SamplesLine(folder + "/rec.bin") + "\n");
}

TEST_CASE("Options can come from a file; options that the agent would refuse are refused before the program starts") {
  const std::string folder = FreshFolder();
  std::ofstream(folder + "/my.conf") << "# slow\nrate=6/min\nsource=jvmti\n";
  const auto program = Program("e2e.Ends", {"exit"});
  CHECK(Run(RecordCommand(folder, {"-q", "-o", "rec.bin", "--options", "my.conf"}, program)).exit_code == 7);
  const auto header = ReadSummary(folder + "/rec.bin")["recording"];
  CHECK(header["source"] == "jvmti");
  CHECK(header["agent_options"] == "rate=6/min,source=jvmti,file=" + folder + "/rec.bin");

  std::ofstream(folder + "/bad.conf") << "rate=20\nfiel=x\n";
  const Outcome refused = Run(RecordCommand(folder, {"-o", "bad.bin", "--options", "bad.conf"}, program));
  CHECK(refused.exit_code == 2);
  CHECK(
      refused.err.starts_with("heaprec: " + folder + "/bad.conf:2: unknown agent option 'fiel'; did you mean 'file'?"));
  CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
  CHECK_FALSE(FileExists(folder + "/bad.bin"));
}

TEST_CASE("If a command cannot be started or recorded, the error is one line") {
  const auto refused = [](const std::vector<std::string>& options, const std::vector<std::string>& program, int code,
                          const std::string& says) {
    const Outcome outcome = Run(RecordCommand(FreshFolder(), options, program));
    INFO(outcome.err);
    CHECK(outcome.exit_code == code);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.starts_with("heaprec: "));
    CHECK(outcome.err.find(says) != std::string::npos);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  };
  refused({}, {"/no/such/java"}, 127, "/no/such/java: No such file or directory");
  refused({}, {"true"}, 2, "--child-jvms");
  refused({}, {}, 2, "no command");
  refused({"--rat", "5"}, {"java"}, 2, "--rat");
  refused({"--lib", "/no/such.so"}, {"java"}, 2, "/no/such.so: no such file (given by --lib)");
  refused({"--rate", "fast"}, {JavaPath(), "-version"}, 2, "invalid value `fast` for option `rate`");
  refused({"--set", "livee=on"}, {JavaPath(), "-version"}, 2, "did you mean 'live'?");
  const std::string odd = FreshFolder() + "/a=b";
  std::filesystem::create_directory(odd);
  std::filesystem::copy_file(AgentPath(), odd + "/libheaprec.so");
  refused({"--lib", odd + "/libheaprec.so"}, {JavaPath(), "-version"}, 2, "'='");
}

TEST_CASE("The names of recordings and of the working folder may contain any character") {
  std::vector<std::string> files;
  std::vector<Command> commands;
  for (const std::string name :
       {"a,b", "it's", "\"quoted\"", "'\"", " two  blanks ", "a\tb", "a\nb", "a=b", "a\\b", "a\\,b"}) {
    for (const bool are_children : {false, true}) {
      const std::string folder = FreshFolder() + "/" + name;
      std::filesystem::create_directory(folder);
      std::vector<std::string> options{"-o", name + ".bin"};
      if (are_children) options.emplace_back("--child-jvms");
      files.push_back(folder + "/" + name + ".bin");
      commands.push_back(RecordCommand(folder, options, Program("e2e.Ends", {"exit"})));
    }
  }
  const std::vector<Outcome> outcomes = RunAll(commands, 4);
  for (size_t i = 0; i < files.size(); ++i) {
    CAPTURE(files[i], commands[i].args, outcomes[i].err);
    CHECK(outcomes[i].exit_code == 7);
    CHECK(FileExists(files[i]));
    CHECK(outcomes[i].err.find(" samples\n") != std::string::npos);
  }
}

TEST_CASE("With --child-jvms, only and skip select JVMs by their main class") {
  const std::string folder = FreshFolder();
  const auto program = Program("e2e.Ends", {"exit"});
  Run(RecordCommand(folder, {"--child-jvms", "-o", "skipped.bin", "--set", "skip=e2e.*"}, program));
  CHECK_FALSE(FileExists(folder + "/skipped.bin"));
  Run(RecordCommand(folder, {"--child-jvms", "-o", "only.bin", "--set", "only=e2e.Ends"}, program));
  CHECK(FileExists(folder + "/only.bin"));
}

// 400 and 480 MiB, by one site: its estimates vary by less than 3 % between runs, which is seven deviations from 20 %.
TEST_CASE("bench alternates both commands, stops when every site is decided, and names what grew") {
  const std::string folder = FreshFolder();
  const auto bench = [&](const std::vector<std::string>& options,
                         const std::vector<std::vector<std::string>>& programs) {
    Command command = HeaprecCommand({"bench"});
    command.folder = folder;
    command.args.insert(command.args.end(), options.begin(), options.end());
    for (const auto& program : programs) {
      command.args.push_back("--");
      command.args.insert(command.args.end(), program.begin(), program.end());
    }
    return Run(command);
  };
  const auto less = Program("e2e.Settled", {"10", "400", "0.8"}), more = Program("e2e.Settled", {"10", "480", "0.8"});
  const Outcome both = bench({"-n", "5", "-o", "runs", "--json"}, {less, more});
  INFO(both.err);
  REQUIRE(both.exit_code == 0);
  CHECK(both.err.find("run 3 of 5 of B") != std::string::npos);
  CHECK(both.err.find("run 4 of 5") == std::string::npos);
  CHECK(both.err.find("is decided after 3 runs") != std::string::npos);
  const auto result = nlohmann::json::parse(both.out);
  CHECK(result["per"] == "total");
  CHECK(result["total"]["verdict"] == "more");
  bool is_named = false;
  for (const auto& row : result["tables"][1]["rows"]) {
    if (row["name"] != "e2e.Settled.discard") continue;
    is_named = true;
    CHECK(row["verdict"] == "more");
  }
  CHECK(is_named);

  // What is stored is the baseline of another bench, of the same program here.
  const Outcome later = bench({"-n", "2", "-o", "later", "--baseline", "runs", "--json"}, {less});
  INFO(later.err);
  REQUIRE(later.exit_code == 0);
  CHECK(nlohmann::json::parse(later.out)["before"]["runs"].size() == 3);
  // Counted, not estimated: what a JVM does for itself may still differ by little.
  CHECK(nlohmann::json::parse(later.out)["total"]["ratio"]["value"].get<double>() == Approx(1).epsilon(0.01));

  const Outcome failing = bench({"-o", "failing"}, {Program("e2e.Ends", {"exit"}), less});
  CHECK(failing.exit_code == 1);
  CHECK(failing.err.find("the command exited with") != std::string::npos);
}

}  // namespace heaprec::testing
