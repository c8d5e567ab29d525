// Where libjvm's symbols are missing we record through JVMTI alone, and say so; where they are asked not to be used,
// too.
//
// Statistic: as truth_test.cc. The JVM's own sampler is the source here: it is right on small objects of one long-lived
//            thread and known to be wrong on large ones, on TLAB waste and on short threads; only the first is
//            asserted.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/estimates.h"
#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace fs = std::filesystem;

namespace {

void LinkAll(const fs::path& from, const fs::path& to, const std::vector<std::string>& but) {
  fs::create_directories(to);
  for (const auto& entry : fs::directory_iterator(from)) {
    const std::string name = entry.path().filename().string();
    if (std::find(but.begin(), but.end(), name) == but.end()) fs::create_symlink(entry.path(), to / name);
  }
}

// A JDK of links whose libjvm.so has no symbols, and nothing that would help to find them elsewhere.
std::string JdkWithoutSymbols() {
  const fs::path from = fs::canonical(JavaHome());
  const fs::path to = fs::path(FreshFolder()) / "jdk";
  LinkAll(from, to, {"bin", "lib"});
  LinkAll(from / "bin", to / "bin", {"java"});
  const fs::path jli = fs::exists(from / "lib/jli") ? "lib/jli/libjli.so" : "lib/libjli.so";  // 11, and later
  LinkAll(from / "lib", to / "lib", {"server", "jli", "libjli.so", "jvm.cfg"});
  LinkAll(from / "lib/server", to / "lib/server", {"libjvm.so"});
  // The launcher finds its JDK from where it really is, and so does libjvm.
  for (const fs::path& file : {fs::path("bin/java"), jli, fs::path("lib/jvm.cfg"), fs::path("lib/server/libjvm.so")}) {
    fs::create_directories((to / file).parent_path());
    fs::copy_file(from / file, to / file);
  }
  const std::string libjvm = to / "lib/server/libjvm.so";
  REQUIRE(Run(Command{{"chmod", "u+w", libjvm}}).exit_code == 0);
  REQUIRE(Run(Command{{"objcopy", "--strip-all", "--remove-section=.gnu_debuglink",
                       "--remove-section=.note.gnu.build-id", libjvm}})
              .exit_code == 0);
  return to;
}

Rows RecordLoop(const std::string& home, const std::string& source, Outcome* outcome) {
  const RecordedJava recorded =
      RecordJava({.main = "e2e.Sizes", .args = {"16", "0", "1", "12000000", "32", "64", "128"}, .home = home},
                 "rate=2000" + source);
  CHECK(recorded.outcome.out == "allocated 2688000000\n");
  *outcome = recorded.outcome;
  return ReadRows(recorded.file);
}

std::vector<Row> OursIn(const Rows& rows) {
  return rows.Where([](const Row& row) { return row.stack.find("e2e.Sizes$Worker.run") != std::string::npos; });
}

void RequireTruth(const Rows& rows) {
  RequireShares(OursIn(rows), {{32, 1.0 / 7}, {64, 2.0 / 7}, {128, 4.0 / 7}}, 200);
}

}  // namespace

TEST_CASE("Without symbols the source is JVMTI, as a line and the recording say, and shares are correct") {
  Outcome outcome;
  const Rows rows = RecordLoop(JdkWithoutSymbols(), "", &outcome);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 2);  // ours and the program's own "done"
  CHECK(outcome.err.starts_with("heaprec: source=jvmti instead of auto: "));
  INFO(rows.reasons());
  CHECK(rows.source() == "jvmti");
  CHECK(rows.summary["recording"]["source_reason"].get<std::string>().find("symbol") != std::string::npos);
  CHECK(rows.trustworthy());
  RequireTruth(rows);
}

TEST_CASE("source=jvmti has correct shares although there are symbols") {
  Outcome outcome;
  const Rows rows = RecordLoop(JavaHome(), ",source=jvmti", &outcome);
  CHECK(outcome.err == "done\n");
  CHECK(rows.source() == "jvmti");
  CHECK(rows.summary["recording"]["source_reason"].get<std::string>().rfind("asked for", 0) == 0);
  INFO(rows.reasons());
  CHECK(rows.trustworthy());
  RequireTruth(rows);
}

TEST_CASE("source=jvmti respects the rate") {
  Outcome outcome;
  const Rows rows = RecordLoop(JavaHome(), ",source=jvmti,rate=150", &outcome);
  for (const uint64_t count : rows.PerInterval()) CHECK(count <= 150);
}

TEST_CASE("source=hooks on a JDK without symbols falls back to JVMTI, too") {
  const std::string home = JdkWithoutSymbols();
  Outcome outcome;
  CHECK(RecordLoop(home, ",source=hooks", &outcome).source() == "jvmti");
  CHECK(outcome.err.starts_with("heaprec: source=jvmti instead of hooks: "));
}

namespace {

// source=portable: JVMTI and the JVM's beans alone, nothing of the JVM's own memory; what an unknown JDK gets by
// itself.
//
// Statistic: as truth_test.cc. The JVM's own sampler is the source: it is right on small objects of one thread that
//            lives long (fallback_test.cc), and only that is asserted.

std::string ReasonOf(const Rows& rows) { return rows.summary["recording"]["source_reason"]; }

// Removes the warning about the bias of JDKs before 25 from stderr.
std::string WithoutBiasWarning(const std::string& err) {
  const size_t begin = err.find("heaprec: source=portable: JDK ");
  if (begin == std::string::npos) return err;
  return err.substr(0, begin) + err.substr(err.find('\n', begin) + 1);
}

Rows RecordPortable(const std::vector<std::string>& flags = {}) {
  const auto [recording, outcome] =
      RecordJava({.flags = flags, .main = "e2e.Sizes", .args = {"16", "0", "1", "12000000", "32", "64", "128"}},
                 "rate=2000,source=portable");
  CHECK(outcome.out == "allocated 2688000000\n");
  CHECK(WithoutBiasWarning(outcome.err) == "done\n");
  RequireVerified(recording);
  return ReadRows(recording);
}

void RequirePortable(const Rows& rows) {
  CHECK(rows.source() == "jvmti");
  CHECK(ReasonOf(rows).starts_with("portable, asked for; thresholds are the JVM's"));
  const std::string version = rows.summary["recording"]["jvm_version"];
  const bool is_biased = std::atoi(version.c_str()) < 25;  // NOLINT(cert-err34-c)
  CHECK(is_biased == (ReasonOf(rows).find(", biased outside TLABs; bytes are ") != std::string::npos));
  CHECK(ReasonOf(rows).find("stacks by GetStackTrace") != std::string::npos);
  RequireTruth(rows);
  for (const Row& row : OursIn(rows)) {
    CHECK(row.class_name == "byte[]");
    CHECK(!row.thread.empty());
  }
  // Counted by the JVM, or estimated.
  const double counted = rows.summary["allocated_bytes"];
  CHECK(counted > 0.9 * 2'688'000'000);
  CHECK(counted < 1.2 * 2'688'000'000);
}

}  // namespace

TEST_CASE("source=portable does not read the JVM's memory, says so, and its shares are correct") {
  RequirePortable(RecordPortable());
}

TEST_CASE("-Xcheck:jni reports nothing with source=portable") { RequirePortable(RecordPortable({"-Xcheck:jni"})); }

TEST_CASE("source=portable supports what JVMTI can do, and names what it does not support") {
  const auto [recording, outcome] = RecordJava({.main = "e2e.Leak", .args = {"400000", "200", "3"}},
                                               "rate=1000,source=portable,live=on,exceptions=on,census=all");
  CHECK(outcome.out == "kept 400000\n");
  CHECK(outcome.err.find("no census") != std::string::npos);
  const std::string rest = WithoutBiasWarning(outcome.err);
  CHECK(std::count(rest.begin(), rest.end(), '\n') == 1);
  const std::string live = OutputOf(HeaprecCommand({"live", "--by", "class", recording}));
  CHECK(live.find("e2e.Leak$Kept") != std::string::npos);
}

}  // namespace heaprec::testing
