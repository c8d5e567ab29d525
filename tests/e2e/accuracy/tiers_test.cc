// A site and its share do not depend on how its methods ran: interpreted, compiled by C1, by C2, or by all in turns.
//
// Each share lies within five standard errors of that in the interpreter, by the intervals that heaprec prints: 30
// comparisons, a false alarm in fewer than 1 of 50,000 runs.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/java_run.h"

namespace heaprec::testing {
namespace {

using nlohmann::json;

struct Share {
  double value = 0, error = 0;
};

// Of sites with at least a hundredth of all bytes.
std::map<std::string, Share> SharesOf(const std::vector<std::string>& flags) {
  const std::string recording = FreshFolder() + "/rec.bin";
  const Outcome outcome = Run(Java{
      .flags = flags, .main = "e2e.Tiers", .args = {"100000"}, .agent_options = "file=" + recording + ",rate=2000"});
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const Outcome top =
      Run(Command{{HeaprecPath(), "top", "--by", "site", "--min-share", "1%", "--json", "--limit", "0", recording}});
  REQUIRE(top.exit_code == 0);
  std::map<std::string, Share> shares;
  const json document = json::parse(top.out);
  for (const json& row : document["tables"][0]["rows"]) {
    const json& share = row["share"];
    shares[row["name"]] = {share["value"], (share["high"].get<double>() - share["low"].get<double>()) / 3.92};
  }
  return shares;
}

std::string NamesOf(const std::map<std::string, Share>& shares) {
  std::string names;
  for (const auto& [name, share] : shares) names += name + " ";
  return names;
}

}  // namespace

TEST_CASE("Sites have the same shares interpreted, compiled by C1, by C2, and in mixed mode") {
  const std::map<std::string, Share> interpreted = SharesOf({"-Xint"});
  CHECK(NamesOf(interpreted) ==
        "e2e.Tiers$Point.copy e2e.Tiers.captures e2e.Tiers.clonesArray e2e.Tiers.concatenates e2e.Tiers.constructs "
        "e2e.Tiers.copies e2e.Tiers.copiesRange e2e.Tiers.lambda$main$1 e2e.Tiers.reflects java.util.BitSet.clone ");
  for (const char* mode : {"-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation", "-Xmixed"}) {
    const std::map<std::string, Share> shares = SharesOf({mode});
    INFO(mode);
    CHECK(NamesOf(shares) == NamesOf(interpreted));
    for (const auto& [name, share] : shares) {
      const Share& expected = interpreted.at(name);
      INFO(name << " " << share.value << ", interpreted " << expected.value);
      CHECK(std::abs(share.value - expected.value) < 5 * std::hypot(share.error, expected.error));
    }
  }
}

}  // namespace heaprec::testing
