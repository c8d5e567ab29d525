#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>
#include <string>

#include "tools/query/filter/name_pattern.h"
#include "tools/query/filter/time_point.h"

namespace heaprec::tools {
namespace {

bool NameMatches(const char* pattern, const char* name) {
  const auto parsed = NamePattern::ForNames(pattern);
  REQUIRE(parsed.ok());
  return parsed->Matches(name);
}

bool TextMatches(const char* pattern, const char* text) {
  const auto parsed = NamePattern::ForFreeText(pattern);
  REQUIRE(parsed.ok());
  return parsed->Matches(text);
}

TEST_CASE("A plain name matches the whole name or its end after a dot") {
  CHECK(NameMatches("java.util.HashMap", "java.util.HashMap"));
  CHECK(NameMatches("HashMap", "java.util.HashMap"));
  CHECK(NameMatches("HashMap.resize", "java.util.HashMap.resize"));
  CHECK(NameMatches("byte[]", "byte[]"));
  CHECK_FALSE(NameMatches("Map", "java.util.HashMap"));
  CHECK_FALSE(NameMatches("java.util", "java.util.HashMap"));
  CHECK(NameMatches("Node", "java.util.HashMap$Node"));
  CHECK(NameMatches("Node.<init>", "java.util.HashMap$Node.<init>"));
  CHECK_FALSE(NameMatches("HashMap", "java.util.HashMap$Node"));
  CHECK_FALSE(NameMatches("ode", "java.util.HashMap$Node"));
  CHECK_FALSE(NameMatches("byte[]", "byte[][]"));
}

TEST_CASE("Arrays in the JVM's spelling match arrays, and parameters are removed") {
  CHECK(NameMatches("[B", "byte[]"));
  CHECK(NameMatches("[[Ljava/lang/String;", "java.lang.String[][]"));
  CHECK(NameMatches("[Ljava.lang.String;", "java.lang.String[]"));
  CHECK(NameMatches("[unknown]", "[unknown]"));
  CHECK(NameMatches("Kinds.big(int)", "p.Kinds.big"));
  CHECK(NameMatches("alloc(unsigned long)", "libx.so.alloc(unsigned long)"));
  CHECK_FALSE(NameMatches("alloc(int)", "libx.so.alloc(unsigned long)"));
}

TEST_CASE("A glob's star matches any characters including dots, and brackets are literal") {
  CHECK(NameMatches("java.util.*", "java.util.concurrent.Foo"));
  CHECK(NameMatches("HashMap*", "java.util.HashMap$Node"));
  CHECK(NameMatches("*[]", "int[]"));
  CHECK(NameMatches("?nt[]", "int[]"));
  CHECK(NameMatches("Caf?", "demo.Café"));
  CHECK(NameMatches("*a*b*", "xxaxxabxx"));
  CHECK(NameMatches("*b", "a\nb"));
  CHECK(NameMatches("*", ""));
  CHECK_FALSE(NameMatches("java.*", "javax.Foo"));
  CHECK_FALSE(NameMatches("*[]", "java.lang.String"));
  CHECK_FALSE(NameMatches("a*b", "acbc"));
}

TEST_CASE("A pattern between slashes is a regular expression, found anywhere") {
  CHECK(NameMatches("/Hash(Map|Set)$/", "java.util.HashSet"));
  CHECK(NameMatches("/^java\\.util/", "java.util.HashSet"));
  CHECK_FALSE(NameMatches("/^Hash/", "java.util.HashSet"));
  CHECK_FALSE(NamePattern::ForNames("/(/").ok());
}

TEST_CASE("A thread's name is searched for the text, also as a regular expression") {
  CHECK(TextMatches("worker", "pool-1-worker-3"));
  CHECK(TextMatches("worker-[0-9]+", "pool-1-worker-3"));
  CHECK(TextMatches("^main$", "main"));
  CHECK(TextMatches("pool (io", "pool (io) 1"));
  CHECK(TextMatches("/^pool/", "pool-1"));
  CHECK_FALSE(TextMatches("^worker", "pool-1-worker-3"));
}

// A backtracking matcher recurses once a character: on 8 MiB of stack this name ended the process.
TEST_CASE("A long name from a hostile recording neither overflows the stack nor takes exponential time") {
  const std::string name(1 << 20, 'a');
  CHECK(TextMatches("(a|b)*$", name.c_str()));
  CHECK_FALSE(NameMatches("/^(a+)+b$/", name.c_str()));
}

TEST_CASE("The error for an invalid regular expression shows the position") {
  const auto parsed = NamePattern::ForNames("/Hash(Map/");
  REQUIRE_FALSE(parsed.ok());
  CHECK(parsed.error().message.find("Hash(Map") != std::string::npos);
}

constexpr int64_t kSecond = 1'000'000'000;
// 2026-11-20T16:40:00Z
constexpr int64_t kEpoch = 1795192800;

int64_t Offset(const char* text) {
  const auto time = ParseTimePoint(text);
  REQUIRE(time.ok());
  REQUIRE(time->origin == TimePoint::Origin::kStart);
  return time->ns;
}

int64_t Absolute(const char* text) {
  const auto time = ParseTimePoint(text);
  INFO(text);
  REQUIRE(time.ok());
  REQUIRE(time->origin == TimePoint::Origin::kEpoch);
  return time->ns;
}

TEST_CASE("An offset is a sum of numbers with units") {
  CHECK(Offset("10s") == 10 * kSecond);
  CHECK(Offset("1m30s") == 90 * kSecond);
  CHECK(Offset("250ms") == kSecond / 4);
  CHECK(Offset("1.5s") == 3 * kSecond / 2);
  CHECK(Offset("2h3min") == 7380 * kSecond);
  CHECK(Offset("1d") == 86400 * kSecond);
  CHECK(Offset("7us") == 7000);
  CHECK(Offset("7ns") == 7);
  CHECK(Offset("0") == 0);
}

TEST_CASE("An ISO 8601 time with a zone is absolute") {
  CHECK(Absolute("2026-11-20T16:40:00Z") == kEpoch * kSecond);
  CHECK(Absolute("2026-11-20T17:40:00+01:00") == kEpoch * kSecond);
  CHECK(Absolute("2026-11-20T11:10:00-0530") == kEpoch * kSecond);
  CHECK(Absolute("2026-11-20 16:40Z") == kEpoch * kSecond);
  CHECK(Absolute("2026-11-20T16:40:00.25Z") == kEpoch * kSecond + kSecond / 4);
  CHECK(Absolute("2026-11-20T16:40:00.000000001Z") == kEpoch * kSecond + 1);
}

TEST_CASE("A year outside of nanoseconds since 1970 is refused") {
  for (const char* text : {"1013-01-30T00:00:00Z", "1013-01-30", "9999-01-01T00:00:00Z"}) {
    INFO(text);
    CHECK_FALSE(ParseTimePoint(text).ok());
  }
  CHECK(ParseTimePoint("2026-01-30T00:00:00Z").ok());
}

TEST_CASE("An ISO 8601 time without a zone is local") {
  setenv("TZ", "Asia/Tokyo", 1);
  tzset();
  const int64_t tokyo = Absolute("2026-11-21T01:40:00");
  setenv("TZ", "UTC", 1);
  tzset();
  CHECK(tokyo == kEpoch * kSecond);
  CHECK(Absolute("2026-11-20") == (kEpoch - 60000) * kSecond);
}

TEST_CASE("A large number is nanoseconds since 1970 and a small one lacks its unit") {
  CHECK(Absolute("1795192800000000001") == kEpoch * kSecond + 1);
  const auto forgotten = ParseTimePoint("10");
  REQUIRE_FALSE(forgotten.ok());
  CHECK(forgotten.error().message.find("10s") != std::string::npos);
}

TEST_CASE("Invalid times are refused") {
  for (const char* text : {"", "s", "10x", "10s5", "-5", "--5s", "24:00", "1:30", "12:00:00Zz", "1m 30s", "2026-13-01",
                           "2026-11-20T25:00", "2026-11-20T", "2026-11-20T16:40:00+", "2026-11-20T16:40:00Zz",
                           "99999999999999999999", "yesterday", "1e3s", "9999999d"}) {
    INFO(text);
    CHECK_FALSE(ParseTimePoint(text).ok());
  }
}

TEST_CASE("An absolute time becomes an offset from the recording's start, which may be negative") {
  CHECK(ParseTimePoint("2026-11-20T16:40:01Z")->InRecording(kEpoch * kSecond, 0) == kSecond);
  CHECK(ParseTimePoint("2026-11-20T16:39:59Z")->InRecording(kEpoch * kSecond, 0) == -kSecond);
  CHECK(ParseTimePoint("2s")->InRecording(kEpoch * kSecond, 0) == 2 * kSecond);
}

TEST_CASE("A negative offset counts from the recording's end") {
  CHECK(ParseTimePoint("-30s")->InRecording(kEpoch * kSecond, 100 * kSecond) == 70 * kSecond);
  CHECK(ParseTimePoint("-2m")->InRecording(kEpoch * kSecond, 100 * kSecond) == -20 * kSecond);
}

// The recording starts at 16:40:00 UTC.
TEST_CASE("A time of day is the last one in the recording, otherwise the nearest one") {
  const auto at = [](const char* text, int64_t seconds) {
    return ParseTimePoint(text)->InRecording(kEpoch * kSecond, static_cast<uint64_t>(seconds * kSecond)) / kSecond;
  };
  constexpr int64_t kHour = 3600, kDay = 24 * kHour;
  CHECK(at("16:41Z", 10 * kHour) == 60);
  CHECK(at("16:41:30.5Z", 10 * kHour) == 90);
  CHECK(at("01:40+01:00", 10 * kHour) == 8 * kHour);
  CHECK(at("16:41Z", 3 * kDay) == 2 * kDay + 60);
  CHECK(at("16:39Z", 600) == -60);
  CHECK(at("17:00Z", 600) == 20 * 60);
  CHECK(at("03:00Z", 600) == 10 * kHour + 20 * 60);
  setenv("TZ", "Asia/Tokyo", 1);
  tzset();
  CHECK(at("01:41", 600) == 60);
  setenv("TZ", "UTC", 1);
  tzset();
}

}  // namespace

}  // namespace heaprec::tools
