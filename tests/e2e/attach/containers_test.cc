// heaprec attach from outside: JVMs of another user, with other files, in namespaces of their own. Nothing is prepared
// for it in there.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

constexpr int kCannotAttach = 5, kCannotWrite = 6;

bool CanUnshare(std::vector<std::string> unshare) {
  unshare.insert(unshare.end(), {"true"});
  if (geteuid() == 0 && IsOpenToOthers(JavaHome()) && Run(Command{unshare}).exit_code == 0) return true;
  WARN("skipped: needs root, namespaces, and a JDK that every user can read");
  return false;
}

// The root folder of a container: /usr and the JDK of this machine, programs.jar, no agent; each of its other folders
// as the script says. Everything in it is visible in there alone.
class Container {
 public:
  // `owner`: of the folders, outside. `user`: of the JVM, inside.
  explicit Container(std::string mounts, std::vector<std::string> unshare = {"unshare", "--mount"},
                     const std::string& owner = "0:0", const std::string& user = "65534:65534")
      : mounts_(std::move(mounts)), unshare_(std::move(unshare)), user_(user) {
    REQUIRE(mkdtemp(root_.data()) != nullptr);
    CHECK(chmod(root_.c_str(), 0755) == 0);
    for (const char* folder : {"tmp", "var/tmp", "dev/shm", "work", "proc", "programs"}) {
      std::filesystem::create_directories(root_ + "/" + folder);
    }
    std::filesystem::copy_file(ProgramsJar(), root_ + "/programs/programs.jar");
    CHECK(Run(Command{{"chown", "-R", owner, root_}}).exit_code == 0);
  }
  ~Container() { std::filesystem::remove_all(root_); }
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  Process Start() const {
    // A JVM that reads random numbers needs the device; /proc must be that of its pid namespace.
    const std::string script = R"(set -e; PATH=$PATH:/usr/sbin; root=$0; jdk=$1; user=$2; shift 2
mount --bind $root $root
for folder in /usr /etc $jdk; do mkdir -p $root$folder; mount --rbind $folder $root$folder; done
mount --rbind /proc $root/proc
for link in bin lib lib64; do ln -sfn usr/$link $root/$link; done
for device in null random urandom; do touch $root/dev/$device; mount --bind /dev/$device $root/dev/$device; done
)" + mounts_ + R"(
exec chroot --userspec=$user $root /bin/sh -c 'cd /work; exec "$@"' sh "$@")";
    std::vector<std::string> words = unshare_;
    words.insert(words.end(), {"sh", "-c", script, root_, JavaHome(), user_, JavaHome() + "/bin/java", "-Xmx200m",
                               "-cp", "/programs/programs.jar", "e2e.Load", "1", "600000", "50"});
    Process process(Command{words});
    const bool runs = process.WaitForOutput("running");
    INFO(process.Out());
    REQUIRE(runs);
    return process;
  }

 private:
  std::string root_ = "/tmp/heaprec-test-XXXXXX";
  const std::string mounts_;
  const std::vector<std::string> unshare_;
  const std::string user_;
};

// A user namespace with users 0 to 65535, which have other numbers outside. The machine's root has none in there.
class UserNamespace {
 public:
  static constexpr uid_t kFirst = 100'000;

  UserNamespace() : holder_(Command{{"unshare", "--user", "--mount", "sleep", "3600"}}) {
    const std::string proc = "/proc/" + std::to_string(holder_.pid());
    const auto own = std::filesystem::read_symlink("/proc/self/ns/user");
    for (int i = 0; i < 300 && std::filesystem::read_symlink(proc + "/ns/user") == own; ++i) usleep(10'000);
    for (const char* map : {"/uid_map", "/gid_map"}) {
      std::ofstream(proc + map) << "0 " << kFirst << " 65536";
      REQUIRE(ReadFile(proc + map).find("100000") != std::string::npos);
    }
  }
  ~UserNamespace() {
    holder_.Kill(SIGKILL);
    (void)holder_.Finish();
  }

  // Before a command: in there, as its root.
  std::vector<std::string> Enter() const {
    return {
        "nsenter", "--user", "--mount", "--setuid", "0", "--setgid", "0", "--target", std::to_string(holder_.pid())};
  }

 private:
  Process holder_;
};

// The JVM itself: the process that was started, or its only child where that is in a pid namespace.
std::string PidOf(const Process& process) {
  const std::string pid = std::to_string(process.pid());
  const std::string children = ReadFile("/proc/" + pid + "/task/" + pid + "/children");
  return children.empty() ? pid : children.substr(0, children.find(' '));
}

// What heaprec has left behind in a container, whose folders nobody else uses.
std::vector<std::string> LeftIn(const std::string& pid) {
  std::vector<std::string> left;
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm", "/work"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + pid + "/root" + folder, error)) {
      const std::string name = entry.path().filename();
      // Rings are the agent's own, while it records.
      if (name.starts_with("heaprec-") && entry.is_directory()) left.push_back(std::string(folder) + "/" + name);
    }
  }
  return left;
}

// A recording of a second, copied out; stop and dump of a second recording, whose agent's file is gone by then.
void CheckRecords(const Process& jvm) {
  const std::string pid = PidOf(jvm), folder = std::filesystem::absolute(FreshFolder()).string();
  INFO(ReadFile("/proc/" + pid + "/status"));
  const Outcome first = Heaprec({"attach", pid, "-o", folder + "/first.hrec", "--duration", "1s"});
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  CHECK(first.out == "PID " + pid + ": recorded " + folder + "/first.hrec\n");
  const auto rows = ReadRows(folder + "/first.hrec");
  CHECK(rows.trustworthy());
  CHECK(rows.summary["recording"]["source"] == "hooks");
  CHECK(LeftIn(pid).empty());
  struct stat status {};
  REQUIRE(stat((folder + "/first.hrec").c_str(), &status) == 0);
  CHECK(status.st_uid == geteuid());

  Process second(HeaprecCommand({"attach", pid, "-q", "-o", folder + "/second.hrec"}));
  const auto is_recording = [&] { return Heaprec({"dump", "-q", pid, "-o", folder + "/dump.hrec"}).exit_code == 0; };
  for (int i = 0; i < 300 && !is_recording(); ++i) usleep(100'000);
  CHECK(ReadRows(folder + "/dump.hrec").trustworthy());
  const Outcome stopped = Heaprec({"stop", "-q", pid});
  INFO(stopped.err);
  CHECK(stopped.exit_code == 0);
  CHECK(second.Finish().exit_code == 0);
  CHECK(ReadRows(folder + "/second.hrec").summary["ended"] == "stop");
  CHECK(LeftIn(pid).empty());
}

// --kill-child does not outlive the change of user.
void End(Process* jvm) {
  kill(std::stoi(PidOf(*jvm)), SIGKILL);
  jvm->Kill(SIGKILL);
  (void)jvm->Finish();
}

const char* const kOwnTmp = "mount -t tmpfs -o mode=1777 none $root/tmp";

}  // namespace

TEST_CASE("A JVM of another user in a mount and a pid namespace is recorded, and nothing is left in its files") {
  const std::vector<std::string> unshare{"unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"};
  if (!CanUnshare(unshare)) return;
  const Container container(kOwnTmp, unshare);
  Process jvm = container.Start();
  CheckRecords(jvm);
  End(&jvm);
}

TEST_CASE("A JVM in a user namespace, where the machine's root is nobody, is recorded") {
  if (!CanUnshare({"unshare", "--user", "--mount"})) return;
  const UserNamespace users;
  std::vector<std::string> words = users.Enter();
  for (const char* word : {"unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"})
    words.push_back(word);
  const std::string root = std::to_string(UserNamespace::kFirst);
  const Container container(kOwnTmp, words, root + ":" + root, "1000:1000");
  Process jvm = container.Start();
  struct stat status {};
  REQUIRE(stat(("/proc/" + PidOf(jvm)).c_str(), &status) == 0);
  CHECK(status.st_uid == UserNamespace::kFirst + 1000);
  CheckRecords(jvm);
  End(&jvm);
}

TEST_CASE("With a read-only root and a noexec /tmp the agent is copied to another folder") {
  if (!CanUnshare({"unshare", "--mount"})) return;
  const Container container(R"(mount -t tmpfs -o mode=1777,noexec none $root/tmp
mount -t tmpfs -o mode=1777 none $root/dev/shm
mount -o remount,bind,ro $root)");
  Process jvm = container.Start();
  CheckRecords(jvm);
  End(&jvm);
}

TEST_CASE("The agent is copied to the JVM's working folder if no other is possible") {
  if (!CanUnshare({"unshare", "--mount"})) return;
  const Container container(R"(mount -t tmpfs -o mode=1777,noexec none $root/tmp
mount -t tmpfs -o mode=1777 none $root/work
mount -o remount,bind,ro $root)");
  Process jvm = container.Start();
  CheckRecords(jvm);
  End(&jvm);
}

TEST_CASE("If no folder can hold the agent, each one's reason is shown, and nothing is left") {
  if (!CanUnshare({"unshare", "--mount"})) return;
  const Container container(R"(mount -t tmpfs -o mode=1777,noexec none $root/tmp
mount -o remount,bind,ro $root)");
  Process jvm = container.Start();
  const std::string pid = PidOf(jvm), out = FreshFolder() + "/rec.hrec";
  const Outcome refused = Heaprec({"attach", pid, "-o", out});
  INFO(refused.err);
  CHECK(refused.exit_code == kCannotAttach);
  CHECK(refused.err.find("(/tmp: mounted noexec; /var/tmp: Read-only file system; /dev/shm: Read-only file system; "
                         "/work: Read-only file system)") != std::string::npos);
  CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
  CHECK_FALSE(FileExists(out));
  CHECK(LeftIn(pid).empty());
  End(&jvm);
}

TEST_CASE("A JVM of another user in the same file system is recorded, although it cannot read or write our files") {
  if (!CanUnshare({"unshare", "--mount"})) return;
  std::string folder = "/tmp/heaprec-test-XXXXXX";
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  CHECK(chmod(folder.c_str(), 0755) == 0);
  std::filesystem::copy_file(ProgramsJar(), folder + "/programs.jar");
  std::filesystem::create_directory(folder + "/closed");
  CHECK(chmod((folder + "/closed").c_str(), 0700) == 0);
  std::filesystem::copy_file(AgentPath(), folder + "/closed/libheaprec.so");
  Process jvm(Command{{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", JavaHome() + "/bin/java",
                       "-Xmx200m", "-cp", folder + "/programs.jar", "e2e.Load", "1", "600000", "50"}});
  REQUIRE(jvm.WaitForOutput("running"));
  const std::string pid = std::to_string(jvm.pid()), out = folder + "/closed/rec.hrec";
  const std::string options = folder + "/closed/options";
  REQUIRE(Run(Command{{"sh", "-c", "echo rate=77 >" + options}}).exit_code == 0);
  const std::vector<std::string> attach{
      "attach", pid, "--lib", folder + "/closed/libheaprec.so", "-o", out, "--duration", "1s", "--options", options};
  const Outcome outcome = Heaprec(attach);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  const auto rows = ReadRows(out);
  CHECK(rows.trustworthy());
  CHECK(rows.summary["recording"]["rate_per_second"] == 77);
  // Our own file is not overwritten: the next one has a number, as the agent's have.
  CHECK(Heaprec(attach).exit_code == 0);
  CHECK(FileExists(folder + "/closed/rec-1.hrec"));
  CHECK(Heaprec({"attach", pid, "-o", folder + "/absent/rec.hrec"}).exit_code == kCannotWrite);
  End(&jvm);
  std::filesystem::remove_all(folder);
}

TEST_CASE("The files that a JVM of another user can access depend on its supplementary groups, not on root's") {
  if (!CanUnshare({"unshare", "--mount"})) return;
  std::string folder = "/tmp/heaprec-test-XXXXXX";
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  const std::string agent = folder + "/libheaprec.so", ours = folder + "/ours", theirs = folder + "/theirs";
  std::filesystem::copy_file(ProgramsJar(), folder + "/programs.jar");
  std::filesystem::copy_file(AgentPath(), agent);
  REQUIRE(Run(Command{{"sh", "-ec", R"(cd $0; chmod 0755 .; mkdir ours theirs; chmod 0770 ours theirs
chgrp 4242 theirs; chmod 0640 libheaprec.so)",
                       folder}})
              .exit_code == 0);
  const auto attach = [&](std::vector<std::string> words, const std::string& pid, const std::string& output) {
    Command command = HeaprecCommand({"attach", pid, "--lib", agent, "-o", output});
    words.insert(words.begin(), "setpriv");
    command.args.insert(command.args.begin(), words.begin(), words.end());
    return command;
  };
  const auto start = [&](const std::string& group, const std::string& groups) {
    Process jvm(Command{{"setpriv", "--reuid=65534", "--regid=" + group, "--groups=" + groups, JavaHome() + "/bin/java",
                         "-Xmx200m", "-cp", folder + "/programs.jar", "e2e.Load", "1", "600000", "50"}});
    REQUIRE(jvm.WaitForOutput("running"));
    return jvm;
  };

  SECTION("the kernel sets them") {
    Process jvm = start("65534", "4242");
    const std::string pid = std::to_string(jvm.pid());
    Command relayed = attach({"--groups=0"}, pid, ours + "/rec.hrec");
    relayed.args.insert(relayed.args.end(), {"--duration", "1s"});
    const Outcome copied = Run(relayed);
    INFO(copied.err);
    CHECK(copied.out == "PID " + pid + ": recorded " + ours + "/rec.hrec\n");
    CHECK(ReadRows(ours + "/rec.hrec").trustworthy());
    const Outcome direct = Run(attach({"--groups=0"}, pid, theirs + "/rec.hrec"));
    INFO(direct.err);
    CHECK(direct.out == "PID " + pid + ": recording " + theirs + "/rec.hrec\n");
    CHECK(Heaprec({"stop", "-q", pid}).exit_code == 0);
    End(&jvm);
  }
  SECTION("the kernel refuses to set them: with its own") {
    Process jvm = start("0", "4242");
    const std::string pid = std::to_string(jvm.pid());
    const Outcome attached = Run(attach({"--bounding-set=-setgid", "--groups=0"}, pid, ours + "/rec.hrec"));
    INFO(attached.err);
    CHECK(attached.out == "PID " + pid + ": recording " + ours + "/rec.hrec\n");
    CHECK(Heaprec({"stop", "-q", pid}).exit_code == 0);
    End(&jvm);
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("Ctrl-C, and the end of the JVM, end a recording that is copied out") {
  if (!CanUnshare({"unshare", "--mount"})) return;
  const Container container(kOwnTmp);
  Process jvm = container.Start();
  const std::string pid = PidOf(jvm), folder = FreshFolder();
  const auto is_recording = [&] {
    return Heaprec({"status", "--json", pid}).out.find("\"recording\": {") != std::string::npos;
  };
  Process first(HeaprecCommand({"attach", pid, "-o", folder + "/first.hrec"}));
  for (int i = 0; i < 300 && !is_recording(); ++i) usleep(100'000);
  first.Kill(SIGINT);
  CHECK(first.Finish().exit_code == 0);
  CHECK(ReadRows(folder + "/first.hrec").summary["ended"] == "stop");
  Process second(HeaprecCommand({"attach", pid, "-o", folder + "/second.hrec"}));
  for (int i = 0; i < 300 && !is_recording(); ++i) usleep(100'000);
  jvm.Kill(SIGTERM);
  (void)jvm.Finish();
  CHECK(second.Finish().exit_code == 0);
  CHECK(ReadRows(folder + "/second.hrec").summary["ended"] == "jvm exit");
}

TEST_CASE("Each file of a recording with rotation is copied out, and nothing is left") {
  if (!CanUnshare({"unshare", "--mount"})) return;
  const Container container(kOwnTmp);
  Process jvm = container.Start();
  const std::string pid = PidOf(jvm), folder = std::filesystem::absolute(FreshFolder()).string();
  const Outcome outcome =
      Heaprec({"attach", pid, "-o", folder + "/rec.hrec", "--duration", "12s", "--set", "rotate=10s"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "PID " + pid + ": recorded 2 files, " + folder + "/rec.hrec to " + folder + "/rec-1.hrec\n");
  CHECK(ReadRows(folder + "/rec.hrec").summary["ended"] == "rotated");
  CHECK(ReadRows(folder + "/rec-1.hrec").summary["ended"] == "duration");
  CHECK(LeftIn(pid).empty());
  End(&jvm);
}

TEST_CASE("With --inside the recording stays in the container, and attach does not wait") {
  if (!CanUnshare({"unshare", "--mount"})) return;
  const Container container(kOwnTmp);
  Process jvm = container.Start();
  const std::string pid = PidOf(jvm);
  const Outcome attached = Heaprec({"attach", pid, "--inside", "-o", "/tmp/rec.hrec"});
  INFO(attached.err);
  CHECK(attached.out == "PID " + pid + ": recording /tmp/rec.hrec\n");
  CHECK(LeftIn(pid).empty());
  CHECK(Heaprec({"stop", "-q", pid}).exit_code == 0);
  CHECK(FileExists("/proc/" + pid + "/root/tmp/rec.hrec"));
  End(&jvm);
}

}  // namespace heaprec::testing
