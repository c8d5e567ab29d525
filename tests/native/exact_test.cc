// libheaprec-native.so in programs whose allocations are known to the byte.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "format/native/native_table.h"
#include "tests/native/native_run.h"

namespace heaprec::testing {
namespace {

struct Sums {
  int64_t allocated_blocks, allocated_bytes, live_blocks, live_bytes;
  bool operator==(const Sums&) const = default;
};

std::vector<std::string> WithPlugin() { return {Built("allocations"), Built("libplugin.so")}; }
std::vector<std::string> With(const std::string& options) {
  return {"LD_PRELOAD=" + ExactLibrary(), "HEAPREC_NATIVE_EXACT=" + options};
}

// Runs a program whose calls are counted; where its table is afterwards.
struct Counted {
  Outcome outcome;
  std::string table;
};
Counted Count(std::vector<std::string> program, const std::string& options = "") {
  const std::string table = FreshFolder() + "/native.bin";
  Command command{std::move(program)};
  command.environment = With("file=" + table + (options.empty() ? "" : ",") + options);
  const Outcome outcome = Run(command);
  return {outcome, table};
}

json TableOf(const std::string& table, const std::vector<std::string>& more = {"--by", "function"}) {
  std::vector<std::string> arguments{"native", "--json", table};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return Read(arguments);
}

// A table of WithPlugin.
std::string MakeTable(const std::string& options = "") {
  const Counted counted = Count(WithPlugin(), options);
  REQUIRE(counted.outcome.exit_code == 3);
  return counted.table;
}

// Of all rows whose name begins so.
Sums SumsOf(const json& document, const std::string& function) {
  Sums sums{};
  for (const json& row : document["rows"]) {
    if (!row["name"].get<std::string>().starts_with(function + " ")) continue;
    sums.allocated_blocks += row["allocated_blocks"].get<int64_t>();
    sums.allocated_bytes += row["allocated_bytes"].get<int64_t>();
    sums.live_blocks += row["live_blocks"].get<int64_t>();
    sums.live_bytes += row["live_bytes"].get<int64_t>();
  }
  return sums;
}

std::string Text(const Sums& sums) {
  return std::to_string(sums.allocated_blocks) + " " + std::to_string(sums.allocated_bytes) + " live " +
         std::to_string(sums.live_blocks) + " " + std::to_string(sums.live_bytes);
}

void CheckSums(const json& document, const std::string& function, const Sums& expected) {
  const Sums found = SumsOf(document, function);
  INFO(function << ": " << Text(found) << ", not " << Text(expected));
  CHECK(found == expected);
}

// What odd_program.c allocates in so many rounds.
void RequireOddProgram(const json& document, int64_t rounds) {
  for (const char* function : {"directly", "through_pointers"}) {
    CheckSums(document, function, {rounds * 20'000, rounds * 20'000'000, 0, 0});
  }
}

// The test program has libstdc++ within itself: one frame does not tell callers of operator new apart.
void RequireExact(const json& document) {
  CheckSums(document, "leaks", {1024, 64 << 20, 1024, 64 << 20});
  CheckSums(document, "churns", {5000, 500'000'000, 0, 0});
  CheckSums(document, "grows", {1000, 50'050'000, 1, 100'000});
  CheckSums(document, "larges", {14, 3 * 2'700'100 + (20 << 20) + (1 << 20) - 1 + (1 << 25) - 1, 1, 20 << 20});
  CheckSums(document, "copies", {1000, 12'000, 500, 6'000});
  if (document["depth"] != 1) CheckSums(document, "news", {100, 100'000, 0, 0});
  CheckSums(document, "aligns", {17, 50'000 + 5 * 128 + 1000 + 3000, 10, 50'000});
  CheckSums(document, "pages", {20, 10 * 5000 + 10 * 9000, 0, 0});
  CheckSums(document, "odd_alignments", {2, 20, 0, 0});
  CheckSums(document, "texts", {1000, 6'000, 500, 3'000});
  CheckSums(document, "zeroes", {20, 20'000, 0, 0});
  if (document["depth"] == 1) CHECK(SumsOf(document, "operator new(unsigned long)").allocated_bytes >= 100'000);
  CheckSums(document, "of_thread", {64'000, 64'000 * 48, 32'000, 32'000 * 48});
  CheckSums(document, "shared", {7, 3500, 7, 3500});
  CheckSums(document, "in_child", {0, 0, 0, 0});
  CheckSums(document, "after_fork", {5, 5000, 5, 5000});
  CheckSums(document, "plugin_allocates", {7, 7 * 1234, 7, 7 * 1234});
}

}  // namespace

TEST_CASE("Every block of a program is counted by the function that requested it") {
  const Outcome without = Run(Command{WithPlugin()});
  REQUIRE(without.exit_code == 3);
  for (const char* options : {"depth=1", "depth=3", "check,depth=1"}) {
    const auto [outcome, table] = Count(WithPlugin(), options);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 3);
    CHECK(outcome.out == without.out);
    CHECK(outcome.err.empty());
    const json document = TableOf(table);
    CHECK(document["ended"] == true);
    CHECK(document["calls_not_counted"] == 0);
    RequireExact(document);
  }
}

TEST_CASE("A table uses disk space only for what is in use") {
  const auto [outcome, table] = Count({"true"});
  REQUIRE(outcome.exit_code == 0);
  struct stat status {};
  REQUIRE(stat(table.c_str(), &status) == 0);
  CHECK(status.st_size > 2 << 20);
  CHECK(status.st_blocks * 512 < 512 << 10);
  CHECK(TableOf(table)["ended"] == true);
}

TEST_CASE("With `check`, blocks that are written past their end are found") {
  const auto [outcome, table] = Count({Built("overruns")}, "check");
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "done\n");
  CHECK(outcome.err ==
        "heaprec: a block of 107 bytes was written past its end; 'heaprec native' shows who allocated it: " + table +
            "\n");
  const json document = TableOf(table);
  CHECK(document["overruns"] == 2);
  CHECK(document["first_overrun"].get<std::string>().starts_with("makes "));
  const Outcome text = RunHeaprec({"native", table});
  CHECK(text.out.find("2 blocks were written past their end, the first one allocated by makes [overruns") !=
        std::string::npos);
}

TEST_CASE("After kill -9 the table is in shared memory and complete") {
  Command command{{Built("allocations"), Built("libplugin.so"), "wait"}};
  command.environment = With("file=" + FreshFolder() + "/native.bin");
  Process process(command);
  REQUIRE(process.WaitForOutput("kept"));
  const std::string table = "/dev/shm/heaprec-native-" + std::to_string(process.pid());
  RequireExact(TableOf(table));  // while it runs
  process.Kill(SIGKILL);
  (void)process.Finish();
  const json document = TableOf(table);
  CHECK(document["ended"] == false);
  RequireExact(document);
  std::filesystem::remove(table);
}

TEST_CASE("A program that closes our descriptor is counted, and its own file of that number is not changed") {
  const std::string own = FreshFolder() + "/own";
  const std::vector<std::string> program{Built("odd_program_pie"), "closes", own};
  const Outcome without = Run(Command{program});
  REQUIRE(without.exit_code == 0);
  const auto [outcome, table] = Count(program);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.signal == without.signal);
  CHECK(outcome.out == without.out);
  CHECK(outcome.err == "");
  CHECK(std::filesystem::file_size(own) == 0);
  const json document = TableOf(table);
  CHECK(document["calls_not_counted"] == 0);
  RequireOddProgram(document, 31);
}

TEST_CASE(
    "A library in the place of one that was unloaded has sites of its own, and one that comes back has its old ones") {
  for (const char* options : {"depth=1", "depth=3"}) {
    const auto [outcome, table] =
        Count({Built("reloader"), Built("libplugin.so"), Built("libplugin_second.so")}, options);
    REQUIRE(outcome.exit_code == 0);
    CAPTURE(options, outcome.out);
    // Else the test shows nothing: all were in one place.
    std::istringstream places(outcome.out);
    CHECK(std::set<std::string>(std::istream_iterator<std::string>(places), {}).size() == 1);
    const json document = TableOf(table);
    CheckSums(document, "plugin_allocates", {6003, 6'000'030, 3000, 3'000'000});
    CheckSums(document, "second_allocates", {15, 1500, 15, 1500});
    CHECK(document["sites"] < 1000);
  }
}

TEST_CASE("Blocks of another allocator at the beginning of a page are passed to it") {
  const std::string table = FreshFolder() + "/native.bin";
  Command command{{Built("odd_program_pie"), "frees pages"}};
  command.environment = With("file=" + table);
  command.environment.front() += ":" + Built("libpage_allocator.so");
  const Outcome outcome = Run(command);
  CHECK(outcome.signal == 0);
  CHECK(outcome.exit_code == 0);
  CHECK(TableOf(table)["foreign_frees"] == 200);
}

// ctypes and other foreign-function interfaces look functions up in a library; servers load modules with RTLD_DEEPBIND.
TEST_CASE("Functions of libc accept the program's blocks, however they are found") {
  for (const std::string build : {"pie", "fixed"}) {
    const std::string table = FreshFolder() + "/native.bin";
    for (const std::string& options : {"file=" + table, std::string("only=another")}) {
      CAPTURE(build, options);
      Command command{{Built("odd_program_" + build), "mixes", Built("libplugin.so")}};
      command.environment = With(options);
      const Outcome outcome = Run(command);
      INFO(outcome.err);
      CHECK(outcome.signal == 0);
      CHECK(outcome.exit_code == 0);
    }
    CHECK(TableOf(table)["foreign_frees"] == 0);
  }
}

TEST_CASE("A program with its own malloc runs as usual, and a message says that nothing is recorded") {
  const auto [outcome, table] = Count({Built("own_malloc")});
  CHECK(outcome.signal == 0);
  CHECK(outcome.exit_code == 7);
  CHECK(
      outcome.err.find(
          "the program, or a library preloaded before heaprec, has its own malloc; native memory is not recorded\n") !=
      std::string::npos);
  CHECK(!std::filesystem::exists(table));
}

TEST_CASE("If the file of its table exists, a program runs unchanged, and a message says how to record it alone") {
  // As if a program of another user had the table: its lock is held.
  Command command{{"bash", "-c", "exec 9>/dev/shm/heaprec-native-$$; flock 9; exec \"$0\"", Built("odd_program_pie")}};
  command.environment = With("only=odd_program_pie,file=" + FreshFolder() + "/native.bin");
  Process process(command);
  const pid_t pid = process.pid();
  const Outcome outcome = process.Finish();
  const std::string path = "/dev/shm/heaprec-native-" + std::to_string(pid);
  CHECK(std::filesystem::remove(path));
  CHECK(outcome.exit_code == 4);
  CHECK(outcome.err.starts_with("heaprec: " + path + ": exists and cannot be replaced; "));
  CHECK(outcome.err.find("with only=NAME") != std::string::npos);
}

TEST_CASE("aligned_alloc accepts the same alignments as libc's") {
  const std::vector<std::string> program{Built("odd_program_pie"), "aligns"};
  CHECK(Count(program).outcome.exit_code == Run(Command{program}).exit_code);
}

// With a limit of 256 no number is high.
TEST_CASE("A standard stream that a program has closed stays closed") {
  const std::string folder = FreshFolder();
  const auto run = [&](const std::string& shell) {
    Command command{{"sh", "-c", "ulimit -n 256; exec \"$0\" -c '" + shell + "'", "/bin/bash"}};
    command.environment = With("only=cat,file=" + folder + "/%p.bin");
    return Run(command);
  };
  const Outcome input = run("cat <&-");
  CHECK(input.out.empty());
  CHECK(input.exit_code == 1);
  CHECK(run("cat /etc/hostname >&-").exit_code == 1);
}

TEST_CASE("Messages never go to a file of a program that was started without standard error") {
  CheckNoMessageInOwnFile(
      [](Command* command, const std::string& folder) {
        const std::string table = folder + "/native.bin";
        std::ofstream{table};  // so that there is something to say at the end
        command->environment = With("only=odd_program_pie,file=" + table);
      },
      "native.bin: File exists; ");
}

TEST_CASE("A child that was forked without fork's handlers is not counted") {
  for (const std::string build : {"pie", "fixed"}) {
    for (const char* options : {"depth=1", "depth=3", "check,depth=1"}) {
      CAPTURE(build, options);
      const auto [outcome, table] = Count({Built("odd_program_" + build), "forks"}, options);
      CHECK(outcome.exit_code == 0);
      CHECK(outcome.err == "");
      const json document = TableOf(table);
      CHECK(document["calls_not_counted"] == 0);
      RequireOddProgram(document, 2);
    }
  }
}

TEST_CASE("A library whose first page is unreadable allocates as usual") {
  const auto [outcome, table] = Count({Built("odd_program_pie"), "hides", Built("libplugin_far.so")});
  CHECK(outcome.signal == 0);
  CHECK(outcome.exit_code == 0);
  CHECK(TableOf(table, {"--by", "library"})["total"]["allocated_blocks"].get<int64_t>() >= 40'010);
}

// Units of `ulimit -f` in sh: 512 bytes. With 0 nothing fits; with 5280 the table fits, but no thread's own
// counters. The program prints to a pipe, which has no such limit.
TEST_CASE("A limit on the size of files raises no signal") {
  const std::string without = Run(Command{WithPlugin()}).out;
  const auto limited = [](const std::string& limit, const std::string& table) {
    Command command{{"sh", "-c", "{ (ulimit -f " + limit + "; exec \"$0\" \"$1\"); echo exit $?; } 2>&1 | cat",
                     Built("allocations"), Built("libplugin.so")}};
    command.environment = With("only=allocations,file=" + table);
    return Run(command).out;
  };
  const std::string table = FreshFolder() + "/native.bin", nothing = limited("0", table);
  CHECK(nothing.find(": File too large; native memory is not recorded\n") != std::string::npos);
  CHECK(nothing.ends_with(without + "exit 3\n"));
  CHECK(limited("5280", table) == without + "exit 3\n");
  CHECK(std::filesystem::file_size(table) <= 5280 * 512);
  RequireExact(TableOf(table));
}

TEST_CASE("A pipe without a reader raises no signal") {
  const std::string code = FreshFolder() + "/code";
  Command command{{"sh", "-c", "{ sleep 0.2; \"$0\" \"$1\" >/dev/null; echo $? > " + code + "; } 2>&1 | true",
                   Built("allocations"), Built("libplugin.so")}};
  command.environment = With("only=allocations,unknown=1");
  REQUIRE(Run(command).exit_code == 0);
  for (int i = 0; i < 1000 && !FileExists(code); ++i) usleep(10'000);
  std::string found;
  for (int i = 0; i < 100 && found.empty(); ++i) {
    std::ifstream(code) >> found;
    if (found.empty()) usleep(10'000);
  }
  CHECK(found == "3");
}

TEST_CASE("A full pipe without a reader does not block") {
  const FullPipe unread;
  Command command{WithPlugin()};
  command.environment = With("only=allocations,unknown=1");
  CHECK(Run(unread.Into(command)).exit_code == 3);
}

TEST_CASE("With full shared memory all calls are counted and no signal is raised") {
  const std::string folder = FreshFolder();
  const auto within = [](const std::string& command) {
    return std::vector<std::string>{"unshare", "--mount", "sh", "-c",
                                    "mount -t tmpfs -o size=2640k none /dev/shm && " + command};
  };
  if (Run(Command{within("true")}).exit_code != 0) {
    WARN("a mount namespace of our own is not allowed here");
    return;
  }
  Command command{within("exec " + Built("allocations") + " " + Built("libplugin.so"))};
  command.environment = With("only=allocations,file=" + folder + "/native.bin");
  const Outcome outcome = Run(command);
  CHECK(outcome.signal == 0);
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.err.empty());
  RequireExact(TableOf(folder + "/native.bin"));
}

TEST_CASE("A table with uncounted calls is not exact, and no growth is computed from it") {
  const std::string table = MakeTable(), damaged = FreshFolder() + "/missing.bin";
  std::filesystem::copy_file(table, damaged);
  const uint64_t calls = 7;
  std::fstream(damaged, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(offsetof(format::NativeHeader, without_shard))
      .write(reinterpret_cast<const char*>(&calls), sizeof calls);
  CHECK(TableOf(table)["exact"] == true);
  const json missing = TableOf(damaged), grown = TableOf(table, {"--baseline", damaged});
  CHECK(missing["exact"] == false);
  CHECK(missing["total"]["live_bytes"].is_null());
  CHECK(missing["total"]["live_blocks"].is_null());
  CHECK(missing["total"]["allocated_bytes"] == TableOf(table)["total"]["allocated_bytes"]);
  for (const json& row : missing["rows"]) CHECK(row["live_bytes"].is_null());
  CHECK(grown["exact"] == false);
  for (const json& row : grown["rows"]) CHECK(row["growth_bytes"].is_null());
  CHECK(grown["total"]["live_bytes"].is_number());
  const std::string text = RunHeaprec({"native", damaged}).out;
  CHECK(text.starts_with("at least "));
  CHECK(text.find("# trustworthy: no, because there was no memory to count 7 calls: ") != std::string::npos);
  CHECK(text.find("# exact") == std::string::npos);
}

TEST_CASE("A shell that executes the program does not disturb its table") {
  const auto [outcome, table] =
      Count({"sh", "-c", "exec \"$0\" \"$1\"", Built("allocations"), Built("libplugin.so")}, "depth=2");
  INFO(outcome.err);
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.err.empty());
  RequireExact(TableOf(table));
}

TEST_CASE("Sites have their name and their callers, and libraries their sums") {
  const std::string table = MakeTable();
  const json sites = TableOf(table, {"--by", "site"});
  CHECK(sites["rows"][0]["name"].get<std::string>().starts_with("leaks [allocations+0x"));
  CHECK(sites["rows"][0]["callers"][0].get<std::string>() == "main [allocations]");
  const json libraries = TableOf(table, {"--by", "library"});
  CHECK(libraries["rows"][0]["name"] == "allocations");
  int64_t live = 0;
  for (const json& row : libraries["rows"]) live += row["live_bytes"].get<int64_t>();
  CHECK(live == libraries["total"]["live_bytes"]);
  const Outcome text = RunHeaprec({"native", "--callers", "1", "--sort", "allocated", "--limit", "1", table});
  CHECK(text.exit_code == 0);
  CHECK(text.out.find("churns [allocations+0x") != std::string::npos);
  CHECK(text.out.find("main [allocations]") != std::string::npos);
  CHECK(text.out.find("more; --limit 0 shows all") != std::string::npos);
}

TEST_CASE("Sites with equal visible frames are one row, whatever their hidden frames") {
  const auto [outcome, table] = Count({Built("allocations")}, "depth=8");
  REQUIRE(outcome.exit_code == 3);
  const auto rows = [&](std::vector<std::string> options) {
    std::vector<json> found;
    const json document = TableOf(table, std::move(options));
    for (const json& row : document["rows"]) {
      if (row["name"].get<std::string>().starts_with("shared ")) found.push_back(row);
    }
    CHECK(document["count"] == document["rows"].size());
    return found;
  };
  const auto all = rows({"--limit", "0"});
  REQUIRE(all.size() == 1);
  CHECK(all[0]["live_blocks"] == 7);
  CHECK(all[0]["live_bytes"] == 3500);
  CHECK(all[0]["callers"] == json::array());
  const auto by_caller = rows({"--limit", "0", "--callers", "1"});
  REQUIRE(by_caller.size() == 2);
  CHECK(by_caller[0]["live_blocks"] == 4);
  CHECK(by_caller[0]["callers"][0] == "second_caller [allocations]");
  CHECK(by_caller[1]["callers"][0] == "first_caller [allocations]");
  // A table is compared site by site, and then added up.
  const auto grown = rows({"--limit", "0", "--baseline", table});
  REQUIRE(grown.size() == 1);
  CHECK(grown[0]["growth_bytes"] == 0);
}

TEST_CASE("Growth since an older table is shown by site, also of sites that are gone") {
  const std::string before = Count({Built("allocations")}).table, after = MakeTable();
  const auto growth = [](const json& document, const std::string& function) {
    int64_t bytes = 0;
    for (const json& row : document["rows"]) {
      if (row["name"].get<std::string>().starts_with(function + " ")) bytes += row["growth_bytes"].get<int64_t>();
    }
    return bytes;
  };
  const json grown = TableOf(after, {"--baseline", before, "--by", "function"});
  CHECK(growth(grown, "plugin_allocates") == 7 * 1234);
  CHECK(growth(grown, "leaks") == 0);
  const json gone = TableOf(before, {"--baseline", after});
  CHECK(growth(gone, "plugin_allocates") == -7 * 1234);
  const Outcome text = RunHeaprec({"native", "--limit", "0", "--baseline", before, after});
  CHECK(text.exit_code == 0);
  CHECK(text.out.find("+8.44 KiB") != std::string::npos);
}

TEST_CASE("A JVM runs as without heaprec, and its direct buffers belong to libjvm") {
  const std::vector<std::string> jvm{JavaHome() + "/bin/java", "-Xmx64m", "-cp", ProgramsJar(), "e2e.Direct", "32"};
  const Outcome without = Run(Command{jvm});
  const auto [outcome, table] = Count(jvm, "only=java");
  INFO(outcome.err);
  CHECK(outcome.exit_code == without.exit_code);
  CHECK(outcome.out == without.out);
  CHECK(outcome.err == without.err);
  const json libraries = TableOf(table, {"--by", "library"});
  CHECK(libraries["rows"][0]["name"] == "libjvm.so");
  CHECK(libraries["rows"][0]["live_bytes"].get<int64_t>() >= 32 << 20);
}

TEST_CASE("A program that is not to be recorded runs as usual") {
  const auto run = [](const std::string& options) {
    const auto [outcome, table] = Count(WithPlugin(), options);
    CHECK(outcome.exit_code == 3);
    CHECK_FALSE(FileExists(table));
    return outcome.err;
  };
  CHECK(run("only=another").empty());
  CHECK(run("deep=3").find("HEAPREC_NATIVE_EXACT: no option `deep`; options: check, depth, file, only") !=
        std::string::npos);
  CHECK(run("depth=30").find("HEAPREC_NATIVE_EXACT: depth=30: 1 to 29") != std::string::npos);
  CHECK(run("depth=x").find("1 to 29") != std::string::npos);
}

TEST_CASE("An existing file is kept, and a message names the table") {
  const std::string file = FreshFolder() + "/native.bin";
  const Outcome made = Run(Command{{"touch", file}});
  REQUIRE(made.exit_code == 0);
  Command command{WithPlugin()};
  command.environment = With("file=" + file + ",depth=2");
  const Outcome outcome = Run(command);
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.err.starts_with("heaprec: " + file +
                                ": File exists; the table of native memory is /dev/shm/heaprec-native-"));
  CHECK(std::filesystem::file_size(file) == 0);
  const std::string table =
      outcome.err.substr(outcome.err.find("/dev/shm/"), outcome.err.find('\n') - outcome.err.find("/dev/shm/"));
  RequireExact(TableOf(table));
  std::filesystem::remove(table);
}

TEST_CASE("A copy without space is removed, and the table stays") {
  const std::string folder = FreshFolder();
  const auto within = [&folder](const std::string& command) {
    return std::vector<std::string>{"unshare", "--mount", "sh", "-c",
                                    "mount -t tmpfs -o size=32k none " + folder + " && " + command};
  };
  if (Run(Command{within("true")}).exit_code != 0) {
    WARN("a mount namespace of our own is not allowed here");
    return;
  }
  Command command{
      within("{ " + Built("allocations") + " " + Built("libplugin.so") + "; echo exit $?; ls " + folder + "; }")};
  command.environment = With("only=allocations,depth=2,file=" + folder + "/native.bin");
  const Outcome outcome = Run(command);
  INFO(outcome.out << outcome.err);
  CHECK(outcome.out.ends_with("exit 3\n"));
  const std::string said =
      "heaprec: " + folder + "/native.bin: No space left on device; the table of native memory is ";
  REQUIRE(outcome.err.starts_with(said));
  const std::string table = outcome.err.substr(said.size(), outcome.err.find('\n') - said.size());
  RequireExact(TableOf(table));
  std::filesystem::remove(table);
}

TEST_CASE("The error for a file that is no table says so") {
  const std::string table = MakeTable(), pipe = FreshFolder() + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const auto& files : {std::vector{pipe}, std::vector<std::string>{"--baseline", pipe, table}}) {
    Command native{{"timeout", "60", HeaprecPath(), "native"}};
    native.args.insert(native.args.end(), files.begin(), files.end());
    const Outcome outcome = Run(native);
    CHECK(outcome.exit_code == 3);
    CHECK(outcome.err == "heaprec: " + pipe + ": not a regular file\n");
  }
  const Outcome none = RunHeaprec({"native", "/nowhere/native.bin"});
  CHECK(none.exit_code == 3);
  CHECK(none.err.find("/nowhere/native.bin: No such file") != std::string::npos);
  const Outcome other = RunHeaprec({"native", ProgramsJar()});
  CHECK(other.exit_code == 3);
  CHECK(other.err.find("not a native memory table") != std::string::npos);
}

}  // namespace heaprec::testing
