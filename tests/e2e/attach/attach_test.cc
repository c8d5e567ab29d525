// heaprec attach, status, dump, stop and list on JVMs that run; and every reason why not, with exit code 5.
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

constexpr int kCannotAttach = 5;
constexpr int kTries = 300;  // of 100 ms, and what a try takes on a busy machine

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

TEST_CASE("attach, status, dump, stop, and again with other options: each recording is complete") {
  const std::string folder = FreshFolder();
  Process process = StartLoad();
  const std::string pid = std::to_string(process.pid());
  CHECK(HeaprecJson({"status", "--json", pid})["recording"].is_null());

  const Outcome first = Heaprec({"attach", pid, "--rate", "200", "-o", folder + "/rec.bin"});
  INFO(first.err);
  CHECK(first.out == "PID " + pid + ": recording " + folder + "/rec.bin\n");
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

  RequireHeaprec({"dump", "-q", pid, "-o", folder + "/dump.bin"});
  const Outcome taken = Heaprec({"dump", pid, "-o", folder + "/dump.bin"});
  CHECK(taken.exit_code == 6);  // the file exists
  CHECK(Heaprec({"stop", pid}).out == "PID " + pid + ": " + folder + "/rec.bin\n");
  RequireRefusal(Heaprec({"stop", pid}), "no recording is running");
  RequireRefusal(Heaprec({"dump", pid}), "no recording is running");

  CHECK(Heaprec({"attach", pid, "-q", "--rate", "300", "--set", "source=jvmti", "-o", folder + "/rec.bin"}).exit_code ==
        0);
  CHECK(Heaprec({"stop", pid}).out == "PID " + pid + ": " + folder + "/rec-1.bin\n");
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

TEST_CASE("attach --report and --flame write pages at the end of the duration or after an interrupt") {
  const std::string folder = FreshFolder();
  Process process = StartLoad({"-XX:+EnableDynamicAgentLoading"});
  const std::string pid = std::to_string(process.pid());
  const std::string page = folder + "/page.html", flame = folder + "/flame.html";
  const Outcome whole = Heaprec({"attach", pid, "--duration", "2s", "--report", page, "--flame", flame});
  INFO(whole.err);
  CHECK(whole.exit_code == 0);
  CHECK(whole.out == "PID " + pid + ": recorded " + folder + "/page.hrec\n");
  CHECK(whole.err.find("page.html: ") != std::string::npos);
  RequireVerified(folder + "/page.hrec");
  CHECK(ReadFile(page).find("</html>") != std::string::npos);
  CHECK(ReadFile(flame).find("</html>") != std::string::npos);
  CHECK(HeaprecJson({"status", "--json", pid})["recording"].is_null());

  const Outcome again = Heaprec({"attach", pid, "--duration", "2s", "--report", page});
  CHECK(again.exit_code == 2);
  CHECK(again.err.find("exists; -f overwrites it") != std::string::npos);
  CHECK(Heaprec({"attach", pid, "--report", folder + "/other.html"}).exit_code == 2);
  CHECK(Heaprec({"attach", pid, "--duration", "2s", "--inside", "--report", folder + "/other.html"}).exit_code == 2);

  const std::string early = folder + "/early.html";
  Process attach(HeaprecCommand({"attach", pid, "--duration", "1h", "--report", early}));
  for (int i = 0; i < kTries && HeaprecJson({"status", "--json", pid})["recording"].is_null(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  attach.Kill(SIGINT);
  const Outcome interrupted = attach.Finish();
  INFO(interrupted.err);
  CHECK(interrupted.exit_code == 0);
  CHECK(ReadFile(early).find("</html>") != std::string::npos);
  CHECK(HeaprecJson({"status", "--json", pid})["recording"].is_null());
  EndSilently(&process);
}

TEST_CASE("A dump contains everything committed before it, with names") {
  const std::string folder = FreshFolder();
  Java java{.main = "e2e.Ends", .args = {"wait"}};
  java.agent_options = "file=" + folder + "/rec.bin,rate=20000";
  Process process(CommandOf(java));
  REQUIRE(process.WaitForOutput("running"));
  RequireHeaprec({"dump", std::to_string(process.pid()), "-o", folder + "/dump.bin"});
  const Rows rows = ReadRows(folder + "/dump.bin");
  // The last object before the JVM waits: tests/e2e/lifecycle/endings_test.cc says how sure it is to be sampled.
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
  const auto all = HeaprecJson({"list", "--json"})["jvms"];
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

TEST_CASE("A recording that waits for its delay can be stopped, and another one started") {
  const std::string folder = FreshFolder();
  Process process = StartLoad();
  const std::string pid = std::to_string(process.pid());
  CHECK(Heaprec({"attach", pid, "--delay", "1h", "-o", folder + "/never.bin"}).out == "PID " + pid + ": waiting\n");
  CHECK(Heaprec({"status", pid}).out.find(" waiting for its delay\n") != std::string::npos);
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

TEST_CASE("The error for a process that is no JVM, or cannot be attached to, is one line") {
  RequireRefusal(Heaprec({"attach", "999999999"}), "999999999: no such process");
  RequireRefusal(Heaprec({"attach", "no.such.Main"}), "'no.such.Main' matches no JVM");
  RequireRefusal(Heaprec({"attach", std::to_string(getpid())}), "not a JVM");
  RequireRefusal(Heaprec({"status", "no.such.Main"}), "matches no JVM");

  Process closed = StartLoad({"-XX:-EnableDynamicAgentLoading"});
  RequireRefusal(Heaprec({"attach", std::to_string(closed.pid())}), "-XX:-EnableDynamicAgentLoading");
  Process deaf = StartLoad({"-XX:+DisableAttachMechanism"});
  RequireRefusal(Heaprec({"attach", std::to_string(deaf.pid())}), "-XX:+DisableAttachMechanism");
  RequireRefusal(Heaprec({"attach", "e2e.Load"}), "JVMs; use a pid: ");
  RequireRefusal(Heaprec({"stop", std::to_string(deaf.pid())}), "the heaprec agent is not loaded");
  EndSilently(&closed);
  EndSilently(&deaf);
}

TEST_CASE("attach does not wait for a stopped JVM, and shows the agent's refusals") {
  const std::string folder = FreshFolder();
  // JDK 21 and later warn of an agent that comes late, also of one that does not stay.
  Process process = StartLoad({"-XX:+EnableDynamicAgentLoading"});
  const std::string pid = std::to_string(process.pid());
  RequireRefusal(Heaprec({"attach", pid, "--rate", "fast"}), "invalid value `fast` for option `rate`");
  RequireRefusal(Heaprec({"attach", pid, "-o", "/no/such/folder/rec.bin"}), "/no/such/folder/rec.bin: No such file");
  RequireRefusal(Heaprec({"attach", pid, "-o", folder + "/" + std::string(1000, 'x')}), "too long");
  process.Kill(SIGSTOP);
  RequireRefusal(Heaprec({"attach", pid, "--timeout", "1"}), "is stopped");
  process.Kill(SIGCONT);
  EndSilently(&process);  // who asked has been told
}

TEST_CASE("Only the same user and root can attach; root's files belong to the JVM's user") {
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
  RequireRefusal(Run(as_nobody), "belongs to user root");
  EndSilently(&ours);

  Process theirs(Prefixed(kAsNobody, {JavaHome() + "/bin/java", "-Xmx200m", "-cp", open.path() + "/programs.jar",
                                      "e2e.Load", "1", "60000", "50"}));
  REQUIRE(theirs.WaitForOutput("running"));
  const std::string pid = std::to_string(theirs.pid());
  (void)OutputOf(
      HeaprecCommand({"attach", pid, "--lib", open.path() + "/libheaprec.so", "-o", open.path() + "/rec.bin"}));
  CHECK(HeaprecJson({"status", "--json", pid})["user"] == "nobody");
  struct stat status {};
  REQUIRE(stat((open.path() + "/rec.bin").c_str(), &status) == 0);
  CHECK(status.st_uid == 65534);
  CHECK(Heaprec({"stop", "-q", pid}).exit_code == 0);
  CHECK(ReadRows(open.path() + "/rec.bin").summary["ended"] == "stop");
}

TEST_CASE("A JVM in its own namespaces is found by its pid, and needs an agent that it can read") {
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
  const Outcome attached = Heaprec({"attach", pid, "--inside", "-o", rec, "--lib", open.path() + "/libheaprec.so"});
  INFO(attached.err);
  CHECK(attached.out == "PID " + pid + ": recording " + open.path() + "/rec-1.bin\n");  // 1: its pid in there
  CHECK(HeaprecJson({"status", "--json", pid})["recording"]["pid"] == 1);
  CHECK(Heaprec({"dump", "-q", pid, "-o", open.path() + "/dump.bin"}).exit_code == 0);
  CHECK(ReadRows(open.path() + "/dump.bin").trustworthy());
  CHECK(Heaprec({"stop", "-q", pid}).exit_code == 0);
  CHECK(ReadRows(open.path() + "/rec-1.bin").summary["ended"] == "stop");
}

TEST_CASE("Attaching as root changes nothing outside of the container, whatever its owner puts into /tmp") {
  const std::vector<std::string> unshare{"unshare", "--mount"};
  if (geteuid() != 0 || Run(Prefixed(unshare, {"true"})).exit_code != 0) {
    WARN("needs root and namespaces");
    return;
  }
  if (!IsOpenToOthers(JavaHome())) {
    WARN(JavaHome() << " is closed to other users");
    return;
  }
  const OpenFolder open;
  const std::string root = open.path() + "/root", victim = std::filesystem::absolute(FreshFolder()).string();
  REQUIRE_FALSE(victim.starts_with("/tmp/"));
  // The same name in the container is a folder of its own.
  std::filesystem::create_directories(root + victim);
  std::filesystem::create_directories(root + "/plain");
  for (const std::string& folder : {root + victim, root + "/plain"}) CHECK(chmod(folder.c_str(), 01777) == 0);
  std::filesystem::create_symlink(victim, root + "/tmp");
  const std::string script = R"(set -e; PATH=$PATH:/usr/sbin; root=$0; agent=$1; jdk=$2; shift 2
for folder in /usr /etc /proc /dev $jdk; do mkdir -p $root$folder; mount --rbind $folder $root$folder; done
mkdir $root/agent; mount --bind $agent $root/agent
for link in bin lib lib64; do ln -s usr/$link $root/$link; done
exec chroot --userspec=65534:65534 $root "$@")";
  Process jvm(Prefixed(unshare, {"sh", "-c", script, root, open.path(), JavaHome(), JavaHome() + "/bin/java",
                                 "-Xmx200m", "-cp", "/agent/programs.jar", "e2e.Load", "1", "60000", "50"}));
  const bool runs = jvm.WaitForOutput("running");
  INFO(jvm.Out());
  REQUIRE(runs);
  const std::string pid = std::to_string(jvm.pid());
  const std::vector<std::string> attach{"attach",  pid, "--lib", "/agent/libheaprec.so", "-o", "/agent/rec-%t.bin",
                                        "--inside"};
  const auto without = [&](const std::string& system_call) {
    Command command = HeaprecCommand(attach);
    command.args.insert(command.args.begin(), {RunfilePath("tests/support/refuse"), system_call});
    return Run(command);
  };

  SECTION("a link from the start") {
    RequireRefusal(without("openat2"),
                   "/tmp of the JVM is a symbolic link that cannot be followed inside its container");
    const Outcome attached = Heaprec(attach);
    INFO(attached.err);
    CHECK(attached.exit_code == 0);
    CHECK(FileExists(root + victim + "/.java_pid" + pid));
    CHECK(HeaprecJson({"status", "--json", pid})["recording"].is_object());
    CHECK(Heaprec({"stop", "-q", pid}).exit_code == 0);
  }
  SECTION("a link that is swapped for a folder all the while") {
    std::atomic<bool> ends{false};
    std::thread attacker([&] {
      const std::string tmp = root + "/tmp", plain = root + "/plain";
      while (!ends) renameat2(AT_FDCWD, tmp.c_str(), AT_FDCWD, plain.c_str(), RENAME_EXCHANGE);
    });
    for (int i = 0; i < 3; ++i) {
      std::vector<std::string> words = i % 2 == 0 ? attach : std::vector<std::string>{"stop", pid};
      words.insert(words.end(), {"--timeout", "1"});
      const Outcome outcome = Heaprec(words);
      CHECK((outcome.exit_code == 0 || outcome.exit_code == kCannotAttach));
    }
    ends = true;
    attacker.join();
  }
  SECTION("other things in the place of each file") {
    std::filesystem::remove(root + "/tmp");
    std::filesystem::rename(root + "/plain", root + "/tmp");
    const std::string socket = root + "/tmp/.java_pid" + pid, trigger = root + "/tmp/.attach_pid" + pid;
    std::filesystem::create_directories(root + "/tmp/hsperfdata_nobody");
    REQUIRE(mkfifo((root + "/tmp/hsperfdata_nobody/" + pid).c_str(), 0666) == 0);
    std::filesystem::create_symlink(victim + "/socket", socket);
    std::filesystem::create_symlink(victim + "/trigger", trigger);
    RequireRefusal(Heaprec({"attach", pid, "--lib", "/agent/libheaprec.so", "--timeout", "1"}), "no answer");
    std::filesystem::remove(trigger);
    std::filesystem::remove(socket);
    REQUIRE(mkfifo(socket.c_str(), 0666) == 0);
    REQUIRE(chown(socket.c_str(), 65534, 65534) == 0);
    REQUIRE(mknod((root + "/tmp/libheaprec.so").c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0);
    RequireRefusal(Heaprec({"attach", pid, "--lib", "/tmp/libheaprec.so"}),
                   "cannot open /tmp/libheaprec.so in its container (Invalid argument)");
    const Outcome attached = without("openat2");  // the JVM replaces the FIFO by its socket
    INFO(attached.err);
    CHECK(attached.exit_code == 0);
    CHECK(Heaprec({"stop", "-q", pid}).exit_code == 0);
  }
  CHECK(std::filesystem::is_empty(victim));
  jvm.Kill(SIGKILL);
  CHECK(jvm.Finish().signal == SIGKILL);
  RemoveRingsOf(jvm.pid());
}

TEST_CASE("Attaching works without pidfd_open") {
  const std::string folder = FreshFolder();
  Process process = StartLoad({"-XX:+EnableDynamicAgentLoading"});
  const std::string pid = std::to_string(process.pid());
  Command command = HeaprecCommand({"attach", pid, "-o", folder + "/rec.bin"});
  command.args.insert(command.args.begin(), {RunfilePath("tests/support/refuse"), "pidfd_open"});
  CHECK(Run(command).exit_code == 0);
  CHECK(Heaprec({"stop", "-q", pid}).exit_code == 0);
  CHECK(FileExists(folder + "/rec.bin"));
  EndSilently(&process);
}

}  // namespace heaprec::testing
