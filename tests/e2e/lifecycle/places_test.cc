// Where files cannot be, or have no room: said once, and the program's output is its own.
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/lifecycle/ends.h"
#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {

// With a folder that holds copies of what is needed: the build's own folders may be closed to others.
class Stranger {
 public:
  Stranger() {
    REQUIRE(mkdtemp(folder_.data()) != nullptr);
    std::filesystem::copy_file(AgentPath(), folder_ + "/libheaprec.so");
    std::filesystem::copy_file(ProgramsJar(), folder_ + "/programs.jar");
    std::filesystem::create_directory(folder_ + "/out");
    CHECK(chmod(folder_.c_str(), 0755) == 0);
    CHECK(chmod((folder_ + "/out").c_str(), 0777) == 0);
  }
  ~Stranger() { std::filesystem::remove_all(folder_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  const std::string& folder() const { return folder_; }

  // In "/", where only root may create files; as nobody, if we are root.
  Command CommandWith(const std::string& options) const {
    Command command;
    if (geteuid() == 0) command.args = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    const std::vector<std::string> java{JavaHome() + "/bin/java",
                                        "-Xmx200m",
                                        "-agentpath:" + folder_ + "/libheaprec.so=" + options,
                                        "-cp",
                                        folder_ + "/programs.jar",
                                        "e2e.Ends",
                                        "exit"};
    command.args.insert(command.args.end(), java.begin(), java.end());
    command.folder = "/";
    return command;
  }

 private:
  std::string folder_ = "/tmp/heaprec-test-XXXXXX";
};

TEST_CASE("A user who cannot write to the folder gets one message, and the recording is written elsewhere") {
  if (geteuid() == 0 && !IsOpenToOthers(JavaHome())) {
    WARN(JavaHome() << " is closed to other users");
    return;
  }
  const Stranger stranger;
  const Outcome refused = Run(stranger.CommandWith("rate=100"));
  CHECK(refused.exit_code == 7);
  CHECK(refused.out.empty());
  CHECK(refused.err.starts_with("heaprec: not recording: heaprec-"));
  CHECK(refused.err.find("Permission denied") != std::string::npos);
  CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);

  Process process(stranger.CommandWith("rate=20000,file=" + stranger.folder() + "/out/rec.bin"));
  const Ended ended{stranger.folder() + "/out", process.pid(), process.Finish()};
  RequireSilent(ended, 7);
  RequireLast(ended, "jvm exit");
}

TEST_CASE("On a read-only root file system one line says so, and a file elsewhere can be written") {
  std::string out = "/dev/shm/heaprec-test-XXXXXX";
  REQUIRE(mkdtemp(out.data()) != nullptr);
  const auto command = [](const std::string& file) {
    Java java{.flags = {"-XX:-UsePerfData"}, .main = "e2e.Ends", .args = {"exit"}};
    java.agent_options = std::string(file).append("rate=") + kEndsRate;
    Command command = CommandOf(java);
    const std::vector<std::string> sealed{"unshare", "--mount", "sh", "-c", "mount -o remount,ro,bind / && exec \"$@\"",
                                          "sh"};
    command.args.insert(command.args.begin(), sealed.begin(), sealed.end());
    command.folder = "/";
    return command;
  };
  if (Run(Command{{"unshare", "--mount", "mount", "-o", "remount,ro,bind", "/"}}).exit_code != 0) {
    WARN("a mount namespace of our own is not allowed here");
    std::filesystem::remove(out);
    return;
  }
  const Outcome refused = Run(command(""));
  CHECK(refused.exit_code == 7);
  CHECK(refused.out.empty());
  CHECK(refused.err.starts_with("heaprec: not recording: heaprec-"));
  CHECK(refused.err.find("Read-only file system") != std::string::npos);
  CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);

  Process process(command("file=" + out + "/rec.bin,"));
  const Ended ended{out, process.pid(), process.Finish()};
  RequireSilent(ended, 7);
  RequireLast(ended, "jvm exit");
  std::filesystem::remove_all(out);
}

TEST_CASE("If there is no space for a ring, one line says what that costs, and recording continues") {
  const std::string folder = FreshFolder();
  Java java{.main = "e2e.Ends", .args = {"exit"}};
  java.agent_options = std::string("file=rec.bin,ring=/no/such/folder/x.ring,rate=") + kEndsRate;
  Command command = CommandOf(java);
  command.folder = folder;
  Process process(command);
  const Ended ended{folder, process.pid(), process.Finish()};
  CHECK(ended.outcome.exit_code == 7);
  CHECK(ended.outcome.out.empty());
  CHECK(ended.outcome.err.starts_with(
      "heaprec: cannot create the shared ring (/no/such/folder/x.ring: No such file or directory)"));
  CHECK(std::count(ended.outcome.err.begin(), ended.outcome.err.end(), '\n') == 1);
  RequireLast(ended, "jvm exit");
}

// A tmpfs of so many bytes in place of `folder`, for this process and those that it starts; none where that is
// forbidden.
class SmallDisk {
 public:
  SmallDisk(std::string folder, const std::string& size) : folder_(std::move(folder)) {
    exists_ = unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
              mount("tmpfs", folder_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
    if (!exists_) WARN("a file system of our own is not allowed here");
  }
  ~SmallDisk() {
    if (exists_) umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool exists() const { return exists_; }
  std::string ballast() const { return folder_ + "/ballast"; }
  // Until nothing more can be written.
  void Fill() const {
    std::ofstream file(ballast(), std::ios::app);
    const std::string some(4096, 'x');
    while (file << some << std::flush) {
    }
  }

 private:
  std::string folder_;
  bool exists_ = false;
};

constexpr char kStopped[] = "No space left on device; cannot write the recording.";
constexpr char kResumed[] = "heaprec: writing the recording works again after ";

bool Says(const Outcome& outcome, const std::string& what) { return outcome.err.find(what) != std::string::npos; }

struct LoadedDisk {
  std::string file;
  Process process;
};

Java LoadFor(const char* milliseconds) {
  return Java{.flags = {"-XX:-UsePerfData"}, .main = "e2e.Load", .args = {"4", milliseconds, "0"}};
}

// Allocates for six seconds, and records into the disk, which is full once the file has some blocks.
LoadedDisk RunOn(const SmallDisk& disk, const std::string& folder, const std::string& options) {
  const std::string file = folder + "/rec.bin";
  Java java = LoadFor("6200");
  java.agent_options = "file=" + file + ",rate=10000," + options;
  Process process(CommandOf(java));
  REQUIRE(process.WaitForOutput("running"));
  usleep(2'200'000);
  disk.Fill();
  return {file, std::move(process)};
}

void RequireUnharmed(const Outcome& outcome) {
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "running\ndone\n");
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') <= 2);
}

// What readers make of a recording of which some could not be written.
void RequireInconclusive(const std::string& file) {
  RequireVerified(file);
  const Outcome check = Heaprec({"check", "--budget", "total<1TB", file});
  CHECK(check.exit_code == 1);
  CHECK(check.out.find("inconclusive: the recording is untrustworthy") != std::string::npos);
  const Outcome accepted = Heaprec({"check", "--accept-untrustworthy", "--budget", "total<1TB", file});
  CHECK(accepted.exit_code == 0);
  CHECK(Heaprec({"summary", file}).out.find("no bytes were counted") == std::string::npos);
}

TEST_CASE("A disk that is full for seconds loses samples, which are counted when there is space again") {
  const std::string folder = FreshFolder();
  const SmallDisk disk(folder, "2m");
  if (!disk.exists()) return;
  LoadedDisk loaded = RunOn(disk, folder, "ring=off");
  usleep(3'000'000);  // what waits is bounded: 1 MiB, half of a lane
  REQUIRE(std::filesystem::remove(disk.ballast()));
  const Outcome outcome = loaded.process.Finish();
  RequireUnharmed(outcome);
  CHECK(Says(outcome, kStopped));
  CHECK(Says(outcome, kResumed));
  const Rows rows = ReadRows(loaded.file);
  INFO(rows.reasons());
  RequireWriteLossesCounted(rows);
  RequireInconclusive(loaded.file);
}

TEST_CASE("A disk that stays full leaves a valid file, which says what is missing") {
  const std::string folder = FreshFolder();
  const SmallDisk disk(folder, "2m");
  if (!disk.exists()) return;
  LoadedDisk loaded = RunOn(disk, folder, "ring=off,census=all,native=on,live=on");
  const Outcome outcome = loaded.process.Finish();
  RequireUnharmed(outcome);
  CHECK(Says(outcome, kStopped));  // and maybe kResumed: the end may just fit
  const Rows rows = ReadRows(loaded.file);
  INFO(rows.reasons());
  RequireWriteLossesCounted(rows);
  RequireInconclusive(loaded.file);
}

TEST_CASE("If the disk stays full, the ring keeps the end, and status, stop and record say so") {
  const std::string folder = FreshFolder();
  const SmallDisk disk(folder, "500k");
  if (!disk.exists()) return;
  const std::string file = folder + "/rec.bin";
  Java java = LoadFor("60000");
  java.agent_options = "file=" + file + ",rate=2000";
  Process process(CommandOf(java));
  REQUIRE(process.WaitForOutput("running"));
  disk.Fill();
  const std::string pid = std::to_string(process.pid());
  std::string status;
  for (int i = 0; i < 100 && status.find(" nothing for ") == std::string::npos; ++i) {
    usleep(100'000);
    status = Heaprec({"status", pid}).out;
  }
  INFO(status);
  CHECK(status.find("s: No space left on device") != std::string::npos);
  const Outcome stopped = Heaprec({"stop", pid});
  INFO(stopped.out << stopped.err);
  process.Kill(SIGKILL);
  const Outcome ended = process.Finish();
  INFO(ended.err);
  CHECK(Says(ended, kStopped));
  // The end may just fit: if nothing was lost by then, the recording is whole.
  const bool fits = Says(ended, kResumed);
  CHECK((stopped.exit_code == 6 || (fits && stopped.exit_code == 0)));
  if (stopped.exit_code == 6) RequireInconclusive(file);
  if (!fits) {
    CHECK(Says(stopped, "No space left on device; "));
    CHECK(ReadRows(file).summary["losses"]["salvage"]["samples"] > 0);
  }
  RemoveRingsOf(process.pid());
}

TEST_CASE("record exits with 6 if only the recording failed, otherwise with the command's code") {
  const std::string folder = FreshFolder();
  const SmallDisk disk(folder, "100k");  // 24,000 samples, of a busy machine, fit into 200 KiB
  if (!disk.exists()) return;
  for (const auto& [ending, code] : {std::pair("0", 6), std::pair("7", 7)}) {
    const std::string file = folder + "/rec-" + ending + ".bin";
    const std::vector<std::string> java = CommandOf(LoadFor("3500")).args;
    Command command{{"sh", "-c", "\"$@\"; exit " + std::string(ending), "sh"}};
    command.args.insert(command.args.end(), java.begin(), java.end());
    Command record{{HeaprecPath(), "record", "--child-jvms", "--lib", AgentPath(), "-o", file, "--rate", "20000",
                    "--set", "ring=off", "--"}};
    record.args.insert(record.args.end(), command.args.begin(), command.args.end());
    const Outcome outcome = Run(record);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.exit_code == code);
    CHECK(Says(outcome, " samples that could not be written"));
    std::filesystem::remove(file);
  }
}

TEST_CASE("Without space in shared memory there is no ring, but a recording") {
  const SmallDisk disk("/dev/shm", "64k");
  if (!disk.exists()) return;
  const std::string folder = FreshFolder();
  Java java{.flags = {"-XX:-UsePerfData"}, .main = "e2e.Load", .args = {"2", "1200", "0"}};
  java.agent_options = "file=" + folder + "/rec.bin,rate=150";
  const Outcome outcome = Run(java);
  RequireUnharmed(outcome);
  CHECK(outcome.err.find("cannot create the shared ring") != std::string::npos);
  const Rows rows = ReadRows(folder + "/rec.bin");
  CHECK(rows.trustworthy());
  CHECK(rows.rows.size() > 100);
}

}  // namespace heaprec::testing
