#include "tools/query/filter/time_point.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>

namespace heaprec::tools {
namespace {

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
