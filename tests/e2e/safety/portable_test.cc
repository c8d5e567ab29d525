// source=portable: JVMTI and the JVM's beans alone, nothing of the JVM's own memory; what an unknown JDK gets by
// itself.
//
// Statistic: as truth_test.cc. The JVM's own sampler is the source: it is right on small objects of one thread that
//            lives long (fallback_test.cc), and only that is asserted.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tests/support/estimates.h"
#include "tests/support/java_run.h"
#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

std::string ReasonOf(const Rows& rows) { return rows.summary["recording"]["source_reason"]; }

// Removes the warning about the bias of JDKs before 25 from stderr.
std::string WithoutBiasWarning(const std::string& err) {
  const size_t begin = err.find("heaprec: source=portable: JDK ");
  if (begin == std::string::npos) return err;
  return err.substr(0, begin) + err.substr(err.find('\n', begin) + 1);
}

Rows RecordSizes(const std::vector<std::string>& flags, const std::string& options) {
  const std::string recording = FreshFolder() + "/rec.bin";
  const Outcome outcome = Run(Java{.flags = flags,
                                   .main = "e2e.Sizes",
                                   .args = {"16", "0", "1", "12000000", "32", "64", "128"},
                                   .agent_options = "file=" + recording + ",rate=2000,source=portable" + options});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.out == "allocated 2688000000\n");
  CHECK(WithoutBiasWarning(outcome.err) == "done\n");
  const Outcome verified = Run(Command{{HeaprecPath(), "verify", recording}});
  INFO(verified.out << verified.err);
  CHECK(verified.exit_code == 0);
  return ReadRows(recording);
}

void RequireTruth(const Rows& rows) {
  CHECK(rows.source() == "jvmti");
  CHECK(ReasonOf(rows).starts_with("portable, asked for; thresholds are the JVM's"));
  const std::string version = rows.summary["recording"]["jvm_version"];
  const bool is_biased = std::atoi(version.c_str()) < 25;  // NOLINT(cert-err34-c)
  CHECK(is_biased == (ReasonOf(rows).find(", biased outside TLABs; bytes are ") != std::string::npos));
  CHECK(ReasonOf(rows).find("stacks by GetStackTrace") != std::string::npos);
  const auto ours =
      rows.Where([](const Row& row) { return row.stack.find("e2e.Sizes$Worker.run") != std::string::npos; });
  for (const auto& [size, truth] : std::map<uint64_t, double>{{32, 1.0 / 7}, {64, 2.0 / 7}, {128, 4.0 / 7}}) {
    const Share share = ShareOf(ours, [size = size](const Row& row) { return row.size == size; });
    INFO("size " << size << ": " << share.value << ", truth " << truth << ", effective n " << share.effective_count);
    CHECK(share.Holds(truth));
    CHECK(share.effective_count > 200);
  }
  for (const Row& row : ours) {
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
  RequireTruth(RecordSizes({}, ""));
}

TEST_CASE("-Xcheck:jni reports nothing with source=portable") { RequireTruth(RecordSizes({"-Xcheck:jni"}, "")); }

TEST_CASE("source=portable supports what JVMTI can do, and names what it does not support") {
  const std::string recording = FreshFolder() + "/rec.bin";
  const Outcome outcome =
      Run(Java{.main = "e2e.Leak",
               .args = {"400000", "200", "3"},
               .agent_options = "file=" + recording + ",rate=1000,source=portable,live=on,exceptions=on,census=all"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "kept 400000\n");
  CHECK(outcome.err.find("no census") != std::string::npos);
  const std::string rest = WithoutBiasWarning(outcome.err);
  CHECK(std::count(rest.begin(), rest.end(), '\n') == 1);
  const Outcome live = Run(Command{{HeaprecPath(), "live", "--by", "class", recording}});
  INFO(live.out << live.err);
  CHECK(live.exit_code == 0);
  CHECK(live.out.find("e2e.Leak$Kept") != std::string::npos);
}

}  // namespace heaprec::testing
