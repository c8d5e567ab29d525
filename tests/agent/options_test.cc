#include "recorder/agent/options.h"

#include <catch2/catch.hpp>
#include <string>

namespace heaprec::agent {
namespace {

Options Parsed(const std::string& text) {
  auto options = ParseOptions(text);
  INFO((options.ok() ? "" : options.error().message));
  REQUIRE(options.ok());
  return *options;
}

std::string Refused(const std::string& text) {
  const auto options = ParseOptions(text);
  REQUIRE_FALSE(options.ok());
  return options.error().message;
}

}  // namespace

TEST_CASE("Without options there are defaults") {
  const Options options = Parsed("");
  CHECK(options.file == "heaprec-%p.bin");
  CHECK(options.rate_per_second == 150);
  CHECK(options.stack_depth == 128);
  CHECK(options.source == SourceChoice::kAuto);
  CHECK_FALSE(options.strict);
}

TEST_CASE("All options of the README are understood, with = and with :") {
  const Options options = Parsed(
      "file=/tmp/a=b:c.bin,rate:300/s,samples=5000,duration=1h,delay=250ms,stackdepth=64,source=tlab,ring=off,"
      "sync=off,loglevel=debug,strict");
  CHECK(options.file == "/tmp/a=b:c.bin");
  CHECK(options.rate_per_second == 300);
  CHECK(options.samples == 5000);
  CHECK(options.duration_ns == 3'600'000'000'000u);
  CHECK(options.delay_ns == 250'000'000u);
  CHECK(options.stack_depth == 64);
  CHECK(options.source == SourceChoice::kTlab);
  CHECK(options.ring == "off");
  CHECK(options.sync_ns == 0);
  CHECK(options.log_level == LogLevel::kDebug);
  CHECK(options.strict);
}

TEST_CASE("Rates may be given per second, minute and hour") {
  CHECK(Parsed("rate=2.5").rate_per_second == 2.5);
  CHECK(Parsed("rate=6/min").rate_per_second == Approx(0.1));
  CHECK(Parsed("rate=1/h").rate_per_second == Approx(1.0 / 3600));
}

TEST_CASE("An explicit rate beats settings=, in either order") {
  CHECK(Parsed("settings=profile").rate_per_second == 300);
  CHECK(Parsed("settings=profile,rate=20").rate_per_second == 20);
  CHECK(Parsed("rate=20,settings=profile").rate_per_second == 20);
}

TEST_CASE("hooks=off is source=jvmti") { CHECK(Parsed("hooks=off").source == SourceChoice::kJvmti); }

TEST_CASE("An unknown option is named, and the valid ones are listed") {
  const std::string message = Refused("rate=150,fiel=x");
  CHECK(message.find("`fiel`") != std::string::npos);
  for (const char* valid : {"file", "rate", "samples", "duration", "delay", "stackdepth", "source", "ring", "strict"}) {
    CHECK(message.find(valid) != std::string::npos);
  }
  CHECK(message.find('\n') == std::string::npos);
}

TEST_CASE("A bad value is named with its option and what would be valid") {
  for (const char* bad :
       {"rate=0", "rate=-1", "rate=abc", "rate=150/year", "rate=1e9", "rate=nan", "rate=", "samples=0", "samples=1.5",
        "duration=5parsecs", "duration=", "stackdepth=0", "stackdepth=99999", "source=magic", "loglevel=loud",
        "strict=maybe", "file=", "sync=often", "duration=1e30"}) {
    const std::string text = bad;
    const std::string key = text.substr(0, text.find('='));
    INFO(text);
    const std::string message = Refused(text);
    CHECK(message.find("`" + key + "`") != std::string::npos);
    CHECK(message.find("valid is: ") != std::string::npos);
  }
}

TEST_CASE("strict is seen even where the rest is wrong") {
  CHECK(AsksForStrict("nonsense,strict"));
  CHECK(AsksForStrict("strict=on,rate=x"));
  CHECK_FALSE(AsksForStrict("strict=off"));
  CHECK_FALSE(AsksForStrict("file=strict"));
}

}  // namespace heaprec::agent
