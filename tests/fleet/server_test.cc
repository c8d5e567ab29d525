#include "tools/fleet/server/server.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "tools/fleet/answers/hosts.h"
#include "tools/fleet/answers/selection.h"
#include "tools/fleet/answers/server_source.h"
#include "tools/fleet/rows/slices.h"
#include "tools/fleet/server/http.h"
#include "tools/fleet/server/native_block.h"
#include "tools/fleet/server/schema.h"

namespace heaprec::tools::fleet {
using namespace std::string_literals;

namespace {

ServerOptions OptionsOf(const std::string& url, const std::string& token = "") {
  ServerOptions options;
  options.url = url;
  options.token = token;
  return options;
}

}  // namespace

TEST_CASE("SQL literals are escaped completely") {
  CHECK(Quoted("it's") == "'it\\'s'");
  CHECK(Quoted("a\\'; DROP TABLE x; --") == "'a\\\\\\'; DROP TABLE x; --'");
  CHECK(Quoted("\0\n"s) == "'\\0\\n'");
  CHECK_FALSE(IsIdentifier("a; DROP"));
  CHECK_FALSE(IsIdentifier("1a"));
  CHECK(IsIdentifier("heaprec_2"));
}

TEST_CASE("Server addresses are parsed") {
  const auto url = Url::Parse("https://[::1]:9000/db/");
  REQUIRE(url.ok());
  CHECK(url->is_tls);
  CHECK(url->host == "::1");
  CHECK(url->port == "9000");
  CHECK(url->path == "db");
  CHECK(Url::Parse("http://host")->port == "8123");
  for (const char* wrong : {"host:8123", "ftp://host", "http://", "http://u:p@host", "http://host:x", "http://host:"}) {
    CHECK_FALSE(Url::Parse(wrong).ok());
  }
  CHECK_FALSE(Server::Open(OptionsOf("http://host/a-b")).ok());
  CHECK_FALSE(Server::Open(OptionsOf("http://host", "secret")).ok());
}

TEST_CASE("Errors never contain the password of an address") {
  for (const char* address :
       {"https://me:s3cret@host:8443", "https://me:s3cret@s3cret@host", "https://me:s3cret/s3cret@host/db",
        "https://me:s3cret?s3cret@host", "me:s3cret@host:8123", "me:s3cret@http://host", "https://me:1/s3cret@host",
        "ftp://me:s3cret@host", "http://s3cret@host:x", "http://host:8123/?user=me&password=s3cret",
        "http://host:8123/db?password=s3cret", "http://host:8123?password=s3cret", "http://host?password=s3cret",
        "http://host/?password=me@s3cret", "ftp://host/?password=s3cret"}) {
    INFO(address);
    const auto server = Server::Open(OptionsOf(address));
    REQUIRE_FALSE(server.ok());
    CHECK(server.error().message.find("s3cret") == std::string::npos);
    ServerOptions options = OptionsOf("http://host");
    options.http.proxy = address;
    const auto proxied = Server::Open(options);
    REQUIRE_FALSE(proxied.ok());
    CHECK(proxied.error().message.find("s3cret") == std::string::npos);
  }
  CHECK(Url::Parse("https://me:s3cret@host/db").error().message ==
        "'https://...@host/db' is not an address: it has a user, a password or parameters; use --user and "
        "--password-file, or the environment");
}

TEST_CASE("A block is decoded as it was encoded") {
  NativeBlock block("n UInt64, x Float32, text String, ids Array(UInt64)");
  const std::string text(65536, '\0');
  block.AddRow(uint64_t{13'000'000'000'000'000'003u}, 0.5F, text, std::vector<uint64_t>{1, 2});
  const std::string bytes = block.Encode();
  const auto answer = DecodeNative(bytes + bytes);
  REQUIRE(answer.ok());
  REQUIRE(answer->rows == 2);
  CHECK(answer->columns[0].numbers[1] == 13'000'000'000'000'000'003u);
  CHECK(answer->columns[1].reals[0] == 0.5);
  CHECK(answer->columns[2].texts[1] == text);
  CHECK(answer->columns[3].arrays[1] == std::vector<uint64_t>{1, 2});
  CHECK(block.Names() == "n, x, text, ids");
}

TEST_CASE("A truncated or invalid block is refused") {
  NativeBlock block("text String");
  block.AddRow(std::string("some words"));
  const std::string bytes = block.Encode();
  for (size_t size = 1; size < bytes.size(); ++size) CHECK_FALSE(DecodeNative(bytes.substr(0, size)).ok());
  CHECK_FALSE(DecodeNative("<html><body>It works!</body></html>").ok());
  CHECK(DecodeNative("")->rows == 0);
}

TEST_CASE("Statements of a file are split") {
  const auto statements = StatementsOf("-- a note\nCREATE $a (\n  x\n);\nDROP $b;\n", {{"a", "one"}, {"b", "two"}});
  REQUIRE(statements.size() == 2);
  CHECK(statements[0] == "CREATE one (   x )");
  CHECK(statements[1] == "DROP two");
}

TEST_CASE("The replicas of a table have the same rows") {
  const std::string create = "CREATE TABLE IF NOT EXISTS d.rows ( x UInt8 ) ";
  const std::string after =
      " ORDER BY x SETTINGS replicated_deduplication_window = 10000, "
      "replicated_deduplication_window_seconds = 604800";
  CHECK(Replicated(create + "ENGINE = ReplacingMergeTree ORDER BY x", "/f/{shard}") ==
        create + "ENGINE = ReplicatedReplacingMergeTree('/f/{shard}/rows', '{replica}')" + after);
  CHECK(Replicated(create + "ENGINE = ReplacingMergeTree(x) ORDER BY x", "/f") ==
        create + "ENGINE = ReplicatedReplacingMergeTree('/f/rows', '{replica}', x)" + after);
  // Which version of the tables a server has is its own.
  CHECK(Replicated(create + "ENGINE = MergeTree ORDER BY x", "/f") == create + "ENGINE = MergeTree ORDER BY x");
}

TEST_CASE("Names have the same ids on all hosts") {
  CHECK(NameId(NameKind::kClass, "a") != NameId(NameKind::kMethod, "a"));
}

TEST_CASE("Whole hours are read from roll-ups, the rest from slices") {
  CHECK(WholeHours({3000, 8000}).from == 3600);
  CHECK(WholeHours({3000, 8000}).to == 7200);
  CHECK(WholeHours({3000, 7000}).from == WholeHours({3000, 7000}).to);
  RowQuery query;
  query.sums = "d.sums", query.hours = "d.hours", query.range = {3600, 7200}, query.recordings = {7};
  query.columns = {"bytes"};
  CHECK(RowsSql(query, {}).find("d.sums") == std::string::npos);
  CHECK(RowsSql(query, {{7, 1}}).find("d.sums") != std::string::npos);
  query.range = {3600, 7300};
  CHECK(RowsSql(query, {}).find("UNION ALL") != std::string::npos);
}

TEST_CASE("Times are parsed") {
  CHECK(*ParseFleetTime("2h", 10'000) == 2800);
  CHECK(*ParseFleetTime("1h30m", 10'000) == 4600);
  CHECK(*ParseFleetTime("14d", 10'000) == 0);
  CHECK(*ParseFleetTime("2026-11-20T10:00:00Z", 0) == 1795168800);
  CHECK(TimeText(1795168800) == "2026-11-20 10:00:00");
  for (const char* wrong : {"", "10", "m", "-5m", "10y", "tomorrow"}) CHECK_FALSE(ParseFleetTime(wrong, 100).ok());
}

namespace {

HostSums SumsOf(const std::vector<double>& rates) {
  HostSums sums;
  sums.hosts = rates.size();
  for (const double rate : rates) sums.sum += rate, sums.squares += rate * rate;
  return sums;
}

}  // namespace

TEST_CASE("Welch's test gives the values of a textbook") {
  // R: t.test(c(1,2,3,4,5), c(3,5,7,9,11)): t = -2.5298, df = 5.8824, p = 0.04567
  const HostComparison of = CompareHosts(SumsOf({1, 2, 3, 4, 5}), SumsOf({3, 5, 7, 9, 11}));
  CHECK(of.before == Approx(3));
  CHECK(of.after == Approx(7));
  CHECK(of.p == Approx(0.0457).margin(0.0005));
  CHECK(of.change.low == Approx(0.113).margin(0.01));
  CHECK(of.change.high == Approx(7.887).margin(0.01));
  CHECK(of.detectable > of.change.high - of.change.value);
}

TEST_CASE("Fewer than two hosts give no result, and hosts without scatter differ for certain") {
  CHECK(CompareHosts(SumsOf({1}), SumsOf({5, 6})).p == 1);
  CHECK(CompareHosts(SumsOf({1, 1}), SumsOf({1, 1})).p == 1);
  CHECK(CompareHosts(SumsOf({1, 1}), SumsOf({2, 2})).p == 0);
  CHECK(ComparePaired(1, 2, 1, 1).p == 1);
}

TEST_CASE("Paired hosts detect more than unpaired ones") {
  // Differences 1, 1.2, 0.8, 1: mean 1, standard error 0.0816; t = 12.2 with 3 degrees of freedom, p = 0.0012.
  const HostComparison of = ComparePaired(100, 104, 1 + 1.44 + 0.64 + 1, 4);
  CHECK(of.change.value == Approx(1));
  CHECK(of.p == Approx(0.0012).margin(0.0002));
}

TEST_CASE("Without a difference 5 % of the p-values are below 0.05") {
  // 2,000 seeded comparisons: 3.5 to 6.5 % but for 2 in 1,000 seeds.
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(10, 1);
  int below = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> one(8), other(12);
    for (double& rate : one) rate = normal(random);
    for (double& rate : other) rate = normal(random);
    if (CompareHosts(SumsOf(one), SumsOf(other)).p < 0.05) ++below;
  }
  CHECK(below > 70);
  CHECK(below < 130);
}

TEST_CASE("Benjamini and Hochberg's procedure judges all rows together") {
  std::vector<HostComparison> rows(4);
  rows[0].p = 0.01, rows[1].p = 0.02, rows[2].p = 0.03, rows[3].p = 0.5;
  JudgeHosts({&rows[0], &rows[1], &rows[2], &rows[3]}, 0.05);
  CHECK(rows[0].is_real);
  CHECK(rows[2].is_real);
  CHECK(rows[2].q == Approx(0.04));
  CHECK_FALSE(rows[3].is_real);
}

TEST_CASE("An outlier is far from the median, relative to the scatter of hosts and its own error") {
  std::vector<HostRate> rates;
  for (uint32_t host = 0; host < 9; ++host) rates.push_back({host, 10 + 0.1 * host, 0});
  rates.push_back({9, 20, 0});
  const std::vector<Outlier> scored = ScoreHosts(rates, rates.size());
  CHECK(scored[9].z > 20);
  CHECK(std::abs(scored[4].z) < 1);
  rates[9].variance = 100;
  CHECK(ScoreHosts(rates, rates.size())[9].z < 1.1);
}

}  // namespace heaprec::tools::fleet
