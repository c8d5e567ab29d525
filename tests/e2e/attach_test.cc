// heaprec attach, status, dump, stop and list on JVMs that run; and every reason why not, with exit code 5.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

constexpr int kCannotAttach = 5;
constexpr int kTries = 300;  // of 100 ms, and what a try takes on a busy machine

Outcome Heaprec(const std::vector<std::string>& args) {
  Command command{{HeaprecPath()}};
  command.args.insert(command.args.end(), args.begin(), args.end());
  command.environment = {"HEAPREC_LIB=" + AgentPath()};
  return Run(command);
}

nlohmann::json HeaprecJson(const std::vector<std::string>& args) {
  const Outcome outcome = Heaprec(args);
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return nlohmann::json::parse(outcome.out);
}

void RequireRefusal(const Outcome& outcome, const std::string& says) {
  INFO(outcome.err);
  CHECK(outcome.exit_code == kCannotAttach);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("heaprec: "));
  CHECK(outcome.err.find(says) != std::string::npos);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
}

Process StartLoad(const std::vector<std::string>& flags = {}) {
  Process process(CommandOf({.flags = flags, .main = "e2e.Load", .args = {"2", "60000", "50"}}));
  REQUIRE(process.WaitForOutput("running"));
  return process;
}

// Of a JVM that had no reason to say anything.
void EndSilently(Process* process) {
  process->Kill(SIGTERM);
  const Outcome outcome = process->Finish();
  CHECK(outcome.exit_code == 128 + SIGTERM);
  CHECK(outcome.out == "running\n");
  CHECK(outcome.err.empty());
}

// Like a test's scratch folder, but open to every user.
class OpenFolder {
 public:
  OpenFolder() {
    REQUIRE(mkdtemp(path_.data()) != nullptr);
    CHECK(chmod(path_.c_str(), 0777) == 0);
    for (const std::string& file : {AgentPath(), ProgramsJar(), HeaprecPath()}) {
      std::filesystem::copy_file(file, path_ + "/" + std::filesystem::path(file).filename().string());
    }
  }
  ~OpenFolder() { std::filesystem::remove_all(path_); }
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/heaprec-test-XXXXXX";
};

const std::vector<std::string> kAsNobody{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};

Command Prefixed(std::vector<std::string> prefix, const std::vector<std::string>& args) {
  prefix.insert(prefix.end(), args.begin(), args.end());
  return Command{prefix};
}

}  // namespace

TEST_CASE("attach, status, dump, stop, and again with other options: each recording is whole") {
  const std::string folder = FreshFolder();
  Process process = StartLoad();
  const std::string pid = std::to_string(process.pid());
  CHECK(HeaprecJson({"status", "--json", pid})["recording"].is_null());

  const Outcome first = Heaprec({"attach", pid, "--rate", "200", "-o", folder + "/rec.bin"});
  INFO(first.err);
  CHECK(first.out == pid + ": recording " + folder + "/rec.bin\n");
  RequireRefusal(Heaprec({"attach", pid, "-o", folder + "/other.bin"}), "already recording into " + folder);
  CHECK_FALSE(FileExists(folder + "/other.bin"));
  auto status = HeaprecJson({"status", "--json", pid});
  for (int tries = 0; tries < kTries && status["recording"]["committed"] <= 100; ++tries) {
    usleep(100'000);
    status = HeaprecJson({"status", "--json", pid});
  }
  CHECK(status["main"] == "e2e.Load");
  CHECK(status["recording"]["file"] == folder + "/rec.bin");
  CHECK(status["recording"]["rate_per_second"] == 200);
  CHECK(status["recording"]["committed"] > 100);

  REQUIRE(Heaprec({"dump", "-q", pid, "-o", folder + "/dump.bin"}).exit_code == 0);
  const Outcome taken = Heaprec({"dump", pid, "-o", folder + "/dump.bin"});
  CHECK(taken.exit_code == 6);  // the file exists
  CHECK(Heaprec({"stop", pid}).out == pid + ": " + folder + "/rec.bin\n");
  RequireRefusal(Heaprec({"stop", pid}), "nothing is being recorded");
  RequireRefusal(Heaprec({"dump", pid}), "nothing is being recorded");

  CHECK(Heaprec({"attach", pid, "-q", "--settings", "profile", "--set", "source=jvmti", "-o", folder + "/rec.bin"})
            .exit_code == 0);
  CHECK(Heaprec({"stop", pid}).out == pid + ": " + folder + "/rec-1.bin\n");
  process.Kill(SIGTERM);
  CHECK(process.Finish().out == "running\n");

  const Rows rows = ReadRows(folder + "/rec.bin"), dump = ReadRows(folder + "/dump.bin");
  INFO(rows.reasons() << dump.reasons());
  CHECK(rows.trustworthy());
  CHECK(rows.summary["ended"] == "stop");
  CHECK(dump.trustworthy());
  CHECK(dump.summary["ended"] == "dump");
  CHECK(dump.rows.size() > 100);
  CHECK(dump.summary["duration_ns"] < rows.summary["duration_ns"]);
  const auto again = ReadSummary(folder + "/rec-1.bin")["recording"];
  CHECK(again["source"] == "jvmti");
  CHECK(again["rate_per_second"] == 300);
}

TEST_CASE("A dump holds what was committed until then, names included") {
  const std::string folder = FreshFolder();
  Java java{.main = "e2e.Ends", .args = {"wait"}};
  java.agent_options = "file=" + folder + "/rec.bin,rate=20000";
  Process process(CommandOf(java));
  REQUIRE(process.WaitForOutput("running"));
  REQUIRE(Heaprec({"dump", std::to_string(process.pid()), "-o", folder + "/dump.bin"}).exit_code == 0);
  const Rows rows = ReadRows(folder + "/dump.bin");
  // The last object before the JVM waits: tests/e2e/endings_test.cc says how sure it is to be sampled.
  const auto last = rows.Where([](const Row& row) { return row.size == 4 << 20; });
  REQUIRE(last.size() == 1);
  CHECK(last.front().stack.find(";e2e.Ends.last:") != std::string::npos);
  CHECK(last.front().thread == "main");
  EndSilently(&process);
}

TEST_CASE("list names the JVMs of this user, with version and recording") {
  const std::string folder = FreshFolder();
  Process plain = StartLoad({"-XX:-UsePerfData"});
  Java java{.main = "e2e.Ends", .args = {"wait"}};
  java.agent_options = "file=" + folder + "/rec.bin";
  Process recorded(CommandOf(java));
  REQUIRE(recorded.WaitForOutput("running"));
  const auto all = HeaprecJson({"list", "--json"});
  const auto of = [&](const Process& process) {
    const auto found = std::find_if(all.begin(), all.end(), [&](auto& jvm) { return jvm["pid"] == process.pid(); });
    REQUIRE(found != all.end());
    return *found;
  };
  CHECK(of(plain)["main"] == "e2e.Load");
  const std::string version = of(plain)["version"];
  REQUIRE(!version.empty());
  CHECK(Run(Command{{JavaHome() + "/bin/java", "-version"}}).err.find("\"" + version + "\"") != std::string::npos);
  CHECK(of(plain)["recording"].is_null());
  CHECK(of(recorded)["main"] == "e2e.Ends");
  CHECK(of(recorded)["version"] == of(plain)["version"]);
  CHECK(of(recorded)["recording"]["file"] == folder + "/rec.bin");
  const Outcome text = Heaprec({"list"});
  CHECK(text.out.find("recording " + folder + "/rec.bin\n") != std::string::npos);
  EndSilently(&plain);
  EndSilently(&recorded);
}

TEST_CASE("A recording that waits for its delay can be called off, and another one started") {
  const std::string folder = FreshFolder();
  Process process = StartLoad();
  const std::string pid = std::to_string(process.pid());
  CHECK(Heaprec({"attach", pid, "--delay", "1h", "-o", folder + "/never.bin"}).out == pid + ": waiting\n");
  CHECK(Heaprec({"status", pid}).out.find("heaprec:    waiting for its delay\n") != std::string::npos);
  CHECK(Heaprec({"list"}).out.find("waiting for its delay\n") != std::string::npos);
  CHECK(HeaprecJson({"status", "--json", pid})["waiting"] == true);
  RequireRefusal(Heaprec({"attach", pid, "-o", folder + "/rec.bin"}), "waiting for its delay");
  CHECK(Heaprec({"stop", "-q", pid}).exit_code == 0);
  CHECK(Heaprec({"attach", pid, "-q", "-o", folder + "/rec.bin"}).exit_code == 0);
  CHECK(HeaprecJson({"status", "--json", pid})["waiting"] == false);
  process.Kill(SIGTERM);
  CHECK(process.Finish().exit_code == 128 + SIGTERM);
  CHECK(ReadRows(folder + "/rec.bin").summary["ended"] == "jvm exit");
  CHECK_FALSE(FileExists(folder + "/never.bin"));
}

TEST_CASE("What is no JVM, or lets no agent in, is named in one line") {
  RequireRefusal(Heaprec({"attach", "999999999"}), "999999999: no such process");
  RequireRefusal(Heaprec({"attach", "no.such.Main"}), "no.such.Main: no JVM of that name");
  RequireRefusal(Heaprec({"attach", std::to_string(getpid())}), "not a JVM");
  RequireRefusal(Heaprec({"status", "no.such.Main"}), "no JVM of that name");

  Process closed = StartLoad({"-XX:-EnableDynamicAgentLoading"});
  RequireRefusal(Heaprec({"attach", std::to_string(closed.pid())}), "-XX:-EnableDynamicAgentLoading");
  Process deaf = StartLoad({"-XX:+DisableAttachMechanism"});
  RequireRefusal(Heaprec({"attach", std::to_string(deaf.pid())}), "-XX:+DisableAttachMechanism");
  RequireRefusal(Heaprec({"attach", "e2e.Load"}), "JVMs, say which by its pid: ");
  RequireRefusal(Heaprec({"stop", std::to_string(deaf.pid())}), "heaprec is not in it");
  EndSilently(&closed);
  EndSilently(&deaf);
}

TEST_CASE("A JVM that is stopped does not keep anybody waiting, and what the agent refuses is passed on") {
  const std::string folder = FreshFolder();
  // JDK 21 and later warn of an agent that comes late, also of one that does not stay.
  Process process = StartLoad({"-XX:+EnableDynamicAgentLoading"});
  const std::string pid = std::to_string(process.pid());
  RequireRefusal(Heaprec({"attach", pid, "--rate", "fast"}), "bad value `fast` of option `rate`");
  RequireRefusal(Heaprec({"attach", pid, "-o", "/no/such/folder/rec.bin"}), "/no/such/folder/rec.bin: No such file");
  RequireRefusal(Heaprec({"attach", pid, "-o", folder + "/" + std::string(1000, 'x')}), "too long");
  process.Kill(SIGSTOP);
  RequireRefusal(Heaprec({"attach", pid, "--timeout", "1"}), "is stopped");
  process.Kill(SIGCONT);
  EndSilently(&process);  // who asked has been told
}

TEST_CASE("Only the same user, or root, gets in; root's request leaves files of the JVM's user") {
  if (geteuid() != 0) {
    WARN("needs root, to be two users");
    return;
  }
  if (!IsOpenToOthers(JavaHome())) {
    WARN(JavaHome() << " is closed to other users");
    return;
  }
  const OpenFolder open;
  Process ours = StartLoad();
  Command as_nobody = Prefixed(kAsNobody, {open.path() + "/heaprec", "attach", std::to_string(ours.pid())});
  as_nobody.environment = {"HEAPREC_LIB=" + open.path() + "/libheaprec.so"};
  RequireRefusal(Run(as_nobody), "belongs to root");
  EndSilently(&ours);

  Process theirs(Prefixed(kAsNobody, {JavaHome() + "/bin/java", "-Xmx200m", "-cp", open.path() + "/programs.jar",
                                      "e2e.Load", "1", "60000", "50"}));
  REQUIRE(theirs.WaitForOutput("running"));
  const std::string pid = std::to_string(theirs.pid());
  const Outcome attached =
      Heaprec({"attach", pid, "--lib", open.path() + "/libheaprec.so", "-o", open.path() + "/rec.bin"});
  INFO(attached.err);
  REQUIRE(attached.exit_code == 0);
  CHECK(HeaprecJson({"status", "--json", pid})["user"] == "nobody");
  struct stat status {};
  REQUIRE(stat((open.path() + "/rec.bin").c_str(), &status) == 0);
  CHECK(status.st_uid == 65534);
  CHECK(Heaprec({"stop", "-q", pid}).exit_code == 0);
  CHECK(ReadRows(open.path() + "/rec.bin").summary["ended"] == "stop");
}

TEST_CASE("A JVM in namespaces of its own is found by its own pid, and needs an agent that it can see") {
  const std::vector<std::string> unshare{"unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"};
  if (Run(Prefixed(unshare, {"true"})).exit_code != 0) {
    WARN("namespaces are not allowed here");
    return;
  }
  const OpenFolder open;
  // What covers the hidden folder is seen in there only.
  std::filesystem::create_directory(open.path() + "/hidden");
  std::filesystem::copy_file(AgentPath(), open.path() + "/hidden/libheaprec.so");
  Process outer(
      Prefixed(unshare, {"sh", "-c", "mount -t tmpfs none $0/hidden; exec \"$@\"", open.path(),
                         JavaHome() + "/bin/java", "-cp", open.path() + "/programs.jar", "e2e.Ends", "wait"}));
  REQUIRE(outer.WaitForOutput("running"));
  const std::string outer_pid = std::to_string(outer.pid());
  const std::string children = ReadFile("/proc/" + outer_pid + "/task/" + outer_pid + "/children");
  const std::string pid = children.substr(0, children.find(' ')), rec = open.path() + "/rec-%p.bin";
  RequireRefusal(Heaprec({"attach", pid, "-o", rec, "--lib", open.path() + "/hidden/libheaprec.so"}), "container");
  const Outcome attached = Heaprec({"attach", pid, "-o", rec, "--lib", open.path() + "/libheaprec.so"});
  INFO(attached.err);
  CHECK(attached.out == pid + ": recording " + open.path() + "/rec-1.bin\n");  // 1: its pid in there
  CHECK(HeaprecJson({"status", "--json", pid})["recording"]["pid"] == 1);
  CHECK(Heaprec({"dump", "-q", pid, "-o", open.path() + "/dump.bin"}).exit_code == 0);
  CHECK(ReadRows(open.path() + "/dump.bin").trustworthy());
  CHECK(Heaprec({"stop", "-q", pid}).exit_code == 0);
  CHECK(ReadRows(open.path() + "/rec-1.bin").summary["ended"] == "stop");
}

}  // namespace heaprec::testing
