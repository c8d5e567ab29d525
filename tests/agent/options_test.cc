#include "recorder/agent/options/options.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "recorder/agent/options/rates.h"
#include "recorder/agent/options/service_labels.h"
#include "tests/support/files.h"

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

// A file of options with this content; gone at the end.
class OptionFile {
 public:
  explicit OptionFile(const std::string& content) { std::ofstream(path_) << content; }
  const std::string& path() const { return path_; }

 private:
  const testing::Folder folder_;
  const std::string path_ = folder_ / "options";
};

}  // namespace

TEST_CASE("Default options") {
  const Options options = Parsed("");
  CHECK(options.file == "heaprec-%p.hrec");
  CHECK(options.rate_per_second == 150);
  CHECK(options.stack_depth == 128);
  CHECK(options.source == SourceChoice::kAuto);
  CHECK_FALSE(options.strict);
  CHECK_FALSE(options.exceptions);
  CHECK(options.exceptions_per_second == 100);
  CHECK(options.tracks);
}

TEST_CASE("exceptions=on turns exceptions on and has its own rate") {
  CHECK(Parsed("exceptions=on").exceptions);
  CHECK(Parsed("exceptions").exceptions);
  CHECK_FALSE(Parsed("exceptions=off").exceptions);
  const Options options = Parsed("rate=20,exceptions:on,exceptions.rate:6/min");
  CHECK(options.rate_per_second == 20);
  CHECK(options.exceptions_per_second == Approx(0.1));
}

TEST_CASE("Objects are tracked unless live=off, up to the given number") {
  CHECK(Parsed("").tracks);
  CHECK(Parsed("live").tracks);
  CHECK(Parsed("live=on").max_tracked_objects == 0);
  CHECK_FALSE(Parsed("live=500,live=off").tracks);
  CHECK(Parsed("live=500").tracks);
  CHECK(Parsed("live=500").max_tracked_objects == 500);
  CHECK(Parsed("live=65535").max_tracked_objects == 65'535);
  CHECK_FALSE(Parsed("").paths);
  CHECK(Parsed("paths").paths);
  CHECK(Parsed("paths=on").paths_every_ns == 0);
  CHECK(Parsed("paths=10m").paths);
  CHECK(Parsed("paths=10m").paths_every_ns == 600 * uint64_t{1'000'000'000});
  CHECK_FALSE(Parsed("paths=10m,paths=off").paths);
  CHECK(Parsed("paths.pause=5ms").paths_pause_ns == 5'000'000);
  CHECK(Parsed("").paths_retained_ns == 50'000'000);
  CHECK(Parsed("paths.retained=2s").paths_retained_ns == 2'000'000'000);
  CHECK(Parsed("paths.retained=off").paths_retained_ns == 0);
  CHECK(Parsed("paths.memory=64m").paths_memory == 64 << 20);
}

TEST_CASE("Limits of files are sizes and times; m means minutes for an age and megabytes for a size") {
  const Options bounded = Parsed("maxsize=64m,maxage=10m");
  CHECK(bounded.limits.max_bytes == 64u << 20);
  CHECK(bounded.limits.max_age_ns == 600'000'000'000u);
  CHECK(Parsed("maxsize=2097152").limits.max_bytes == 2u << 20);
  CHECK(Parsed("maxsize=1.5GB").limits.max_bytes == 3u << 29);
  CHECK(Parsed("maxage=1d").limits.max_age_ns == 86'400'000'000'000u);
  CHECK(Parsed("rotate=100m").limits.rotate_bytes == 100u << 20);
  CHECK(Parsed("rotate=100m").limits.rotate_ns == 0);
  for (const char* size : {"rotate=100MB", "rotate=100MiB", "rotate=102400k", "rotate=102400KiB"}) {
    CHECK(Parsed(size).limits.rotate_bytes == 100u << 20);
  }
  CHECK(Parsed("rotate=1h").limits.rotate_ns == 3'600'000'000'000u);
  CHECK(Parsed("rotate=30").limits.rotate_ns == 30'000'000'000u);
}

TEST_CASE("A recording is limited to 256 MiB unless another size, an age, rotation or none is given") {
  CHECK(Parsed("").limits.max_bytes == 256u << 20);
  CHECK_FALSE(Parsed("").limits.are_close());
  CHECK_FALSE(Parsed("maxsize=none").limits.drops());
  CHECK(Parsed("maxage=1d").limits.max_bytes == 0);
  CHECK(Parsed("rotate=1h").limits.max_bytes == 0);
  CHECK(Parsed("maxsize=1g,rotate=1h").limits.max_bytes == 1u << 30);
}

TEST_CASE("sync= flushes every 5 s, after each block, or never") {
  CHECK(Parsed("").sync.every_ns == 5'000'000'000u);
  CHECK(Parsed("sync=200ms").sync.every_ns == 200'000'000u);
  CHECK(Parsed("sync=block").sync.every_ns == 0);
  CHECK_FALSE(Parsed("sync=block").sync.never);
  CHECK(Parsed("sync=none").sync.never);
}

TEST_CASE("Escaped commas and backslashes, and spaces, belong to the value") {
  const std::string text = "file= a\\,b\\\\c\\d =:'\"\n,service=x\\\\,rate=20";
  const Options options = Parsed(text);
  CHECK(options.file == " a,b\\c\\d =:'\"\n");
  CHECK(options.service == "x\\");
  CHECK(options.rate_per_second == 20);
  CHECK(Parsed(options.given).file == options.file);
  CHECK(Refused("@/no/such\\,file") == "/no/such,file: No such file or directory");
}

TEST_CASE("only= and skip= match the main class or jar, without module and folder") {
  const Options some = Parsed("only=com.x.*,only=app.jar,skip=*Test");
  for (const char* main : {"com.x.Main", "mod/com.x.Main", "/opt/app.jar", "app.jar"}) CHECK(some.Records(main));
  for (const char* main : {"com.y.Main", "com.x.MainTest", "myapp.jar", ""}) CHECK_FALSE(some.Records(main));
  const Options most = Parsed("skip=jdk.*/*");
  CHECK_FALSE(most.Records("jdk.jcmd/sun.tools.jps.Jps"));
  CHECK(most.Records("com.x.Main"));
  CHECK(Parsed("").Records(""));
}

TEST_CASE("All options of the README are accepted, with = and with :") {
  const Options options = Parsed(
      "file=/tmp/a=b:c.bin,rate:300/s,maxsamples=5000,duration=1h,delay=250ms,stackdepth=64,source=portable,ring=off,"
      "sync=none,loglevel=debug,strict");
  CHECK(options.file == "/tmp/a=b:c.bin");
  CHECK(options.rate_per_second == 300);
  CHECK(options.max_samples == 5000);
  CHECK(options.duration_ns == 3'600'000'000'000u);
  CHECK(options.delay_ns == 250'000'000u);
  CHECK(options.stack_depth == 64);
  CHECK(options.source == SourceChoice::kPortable);
  CHECK(options.ring == "off");
  CHECK(options.sync.never);
  CHECK(options.log_level == LogLevel::kDebug);
  CHECK(options.strict);
}

TEST_CASE("Rates may be given per second, minute and hour") {
  CHECK(Parsed("rate=2.5").rate_per_second == 2.5);
  CHECK(Parsed("rate=6/min").rate_per_second == Approx(0.1));
  CHECK(Parsed("rate=1/h").rate_per_second == Approx(1.0 / 3600));
}

TEST_CASE("points= has its own rate, which may be 0") {
  CHECK(Parsed("").points_per_second == 4000);
  CHECK(Parsed("points=0").points_per_second == 0);
  CHECK(Parsed("points=500/s").points_per_second == 500);
  CHECK(Parsed("points=100000").points_per_second == 100'000);
  CHECK_FALSE(Parsed("points=500").max_points);
  const Options most = Parsed("points=500,points=max");
  CHECK((most.max_points && most.points_per_second == 4000));
  CHECK_FALSE(Parsed("points=max,points=500").max_points);
}

TEST_CASE("throttle= chooses the rule; the default is adaptive") {
  CHECK(Parsed("").rule == throttle::Rule::kAdaptive);
  CHECK(Parsed("throttle=window").rule == throttle::Rule::kWindow);
  CHECK(Parsed("throttle=window,throttle=adaptive").rule == throttle::Rule::kAdaptive);
}

TEST_CASE("The error for an unknown option names it and lists the valid ones") {
  const std::string message = Refused("rate=150,fiel=x");
  CHECK(message.find("`fiel`") != std::string::npos);
  for (const char* valid :
       {"file", "rate", "maxsamples", "duration", "delay", "stackdepth", "source", "ring", "strict"}) {
    CHECK(message.find(valid) != std::string::npos);
  }
  CHECK(message.find('\n') == std::string::npos);
}

TEST_CASE("The error for a bad value names its option and the valid values") {
  for (const char* bad : {"rate=0",
                          "rate=-1",
                          "rate=abc",
                          "rate=150/year",
                          "rate=1e9",
                          "rate=nan",
                          "rate=",
                          "points=-1",
                          "points=100001",
                          "points=maximum",
                          "points=",
                          "maxsamples=0",
                          "maxsamples=1.5",
                          "duration=5parsecs",
                          "duration=",
                          "stackdepth=0",
                          "stackdepth=99999",
                          "source=magic",
                          "loglevel=loud",
                          "strict=maybe",
                          "exceptions=perhaps",
                          "exceptions.rate=0",
                          "exceptions.rate=fast",
                          "live=63",
                          "paths=500ms",
                          "paths=leaks",
                          "paths.pause=4ms",
                          "paths.pause=2m",
                          "paths.memory=1k",
                          "live=65536",
                          "live=many",
                          "file=",
                          "sync=often",
                          "sync=0",
                          "maxsize=1k",
                          "maxsize=10x",
                          "maxage=5s",
                          "maxage=1k",
                          "rotate=5s",
                          "rotate=1k",
                          "duration=1e30"}) {
    const std::string text = bad;
    const std::string key = text.substr(0, text.find('='));
    INFO(text);
    const std::string message = Refused(text);
    CHECK(message.find("`" + key + "`") != std::string::npos);
    CHECK(message.find("valid: ") != std::string::npos);
  }
}

TEST_CASE("strict is found even if the other options are wrong") {
  CHECK(AsksForStrict("nonsense,strict"));
  CHECK(AsksForStrict("strict=on,rate=x"));
  CHECK_FALSE(AsksForStrict("strict=off"));
  CHECK_FALSE(AsksForStrict("file=strict"));
}

TEST_CASE("A file of options is inserted where it is named, with comments and commas; later values win") {
  const OptionFile file("# a comment\n\n  rate = 20/min \r\nfile=/tmp/a,b.bin\nstrict\n#rate=7\nstackdepth:9");
  const Options options = Parsed("stackdepth=5,loglevel=info,@" + file.path() + ",source=jvmti");
  CHECK(options.rate_per_second == Approx(1.0 / 3));
  CHECK(options.file == "/tmp/a,b.bin");
  CHECK(options.strict);
  CHECK(options.stack_depth == 9);
  CHECK(options.log_level == LogLevel::kInfo);
  CHECK(options.source == SourceChoice::kJvmti);
  CHECK(options.given == "stackdepth=5,loglevel=info,rate=20/min,file=/tmp/a\\,b.bin,strict,stackdepth=9,source=jvmti");
  CHECK(Parsed("@" + file.path() + ",stackdepth=3").stack_depth == 3);
  CHECK(AsksForStrict("@" + file.path() + ",nonsense"));
}

TEST_CASE("An error in a file of options names the file and the line") {
  const OptionFile unknown("rate=20\n\nfiel=x\n");
  CHECK(Refused("@" + unknown.path()).find(unknown.path() + ":3: unknown option `fiel`; valid options: file") == 0);
  const OptionFile bad("# rates\nrate=fast");
  CHECK(Refused("strict,@" + bad.path()).find(bad.path() + ":2: invalid value `fast` for option `rate`") == 0);
  const OptionFile nested("@other.conf\n");
  CHECK(Refused("@" + nested.path()).find(nested.path() + ":1: `@other.conf`") == 0);
  CHECK(Refused("@/no/such.conf") == "/no/such.conf: No such file or directory");
  CHECK(Refused("@/tmp") == "/tmp: Is a directory");
  const OptionFile binary(std::string("rate=20\0\n", 9));
  CHECK(Refused("@" + binary.path()).find("not a text file of agent options") != std::string::npos);
  CHECK(AsksForStrict("@/no/such.conf,strict"));
  CHECK_FALSE(AsksForStrict("@/no/such.conf"));
}

TEST_CASE("The intervals of a second together never exceed the rate, and are whole ticks") {
  for (const double rate : {1.0, 1.5, 14.0, 149.0, 150.0, 7'999.0, 8'001.0, 123'457.0, 200'000.0}) {
    const throttle::ControllerConfig config = ControllerFor(rate, false);
    INFO(rate);
    // A second touches at most one interval more than it has room for only if intervals do not divide it.
    const double intervals = 1e9 / static_cast<double>(config.interval_ns);
    CHECK(intervals * config.cap <= rate);
    CHECK(config.cap >= 1);
    CHECK(config.interval_ns % 64 == 0);
  }
  CHECK(ControllerFor(8'000, false).oversampling == Approx(1.2));  // the largest interval
}

TEST_CASE("All threads together update their clocks 4,000 times a second, or as often as there are points") {
  throttle::ControllerConfig config = ControllerFor(150, false);
  const auto touches = [&] {
    const double points = std::max(config.oversampling * config.cap, config.points);
    return points / -std::expm1(-MaxGapOf(config));
  };
  CHECK(touches() == Approx(4000));
  config.points = 3000;
  CHECK(touches() == Approx(4000));
  config.points = 4000;
  CHECK(touches() < 1.02 * 4000);
  config.points = 100'000;
  CHECK(touches() < 1.02 * 100'000);
}

namespace {

using Labels = std::vector<format::ServiceLabel>;
using Variables = std::map<std::string, std::string>;

Labels Parse(const std::string& service, const Variables& variables) {
  return ParseServiceLabels(service, [&](const char* name) -> std::string_view {
    const auto found = variables.find(name);
    return found != variables.end() ? std::string_view(found->second) : std::string_view();
  });
}

}  // namespace

TEST_CASE("The option takes precedence over OTEL_SERVICE_NAME, and that over the resource attributes") {
  const Variables one{{"OTEL_RESOURCE_ATTRIBUTES", "service.name=c,service.version=1.2"}};
  Variables both = one;
  both["OTEL_SERVICE_NAME"] = "b";
  CHECK(Parse("a", both) == Labels{{"service.name", "a"}, {"service.version", "1.2"}});
  CHECK(Parse("", both) == Labels{{"service.name", "b"}, {"service.version", "1.2"}});
  CHECK(Parse("", one) == Labels{{"service.name", "c"}, {"service.version", "1.2"}});
  CHECK(Parse("", {}).empty());
}

TEST_CASE("Host and pod come from the resource attributes, otherwise from other variables") {
  Variables variables{{"HOSTNAME", "h"}, {"POD_NAME", "p"}, {"POD_NAMESPACE", "n"}, {"PASSWORD", "secret"}};
  CHECK(Parse("", variables) == Labels{{"host.name", "h"}, {"k8s.namespace.name", "n"}, {"k8s.pod.name", "p"}});
  variables["OTEL_RESOURCE_ATTRIBUTES"] = "host.name=node7,k8s.pod.name=";
  CHECK(Parse("", variables) == Labels{{"host.name", "node7"}, {"k8s.namespace.name", "n"}, {"k8s.pod.name", "p"}});
}

TEST_CASE("Resource attributes are percent-decoded, and only documented keys are kept") {
  CHECK(Parse("", {{"OTEL_RESOURCE_ATTRIBUTES",
                    " deployment.environment.name = pre%2Cprod%20%C3%A9 ,password=secret,service.namespace=x,"
                    "service.instance.id=,service.version=%4,nothing"}}) ==
        Labels{{"service.namespace", "x"},
               {"service.version", "%4"},
               {"deployment.environment.name", "pre,prod \xc3\xa9"}});
}

TEST_CASE("A long value is cut after a whole character") {
  const Labels labels = Parse(std::string(254, 'a') + "\xc3\xa9", {});
  REQUIRE(labels.size() == 1);
  CHECK(labels[0].value == std::string(254, 'a'));
}

TEST_CASE("The environment of the process is read, hashed, or not read") {
  for (const char* name : {"HOSTNAME", "POD_NAME", "POD_NAMESPACE"}) unsetenv(name);
  setenv("OTEL_SERVICE_NAME", "shop", 1);
  setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,service.namespace=web", 1);
  CHECK(ServiceLabels("", LabelChoice::kOn) == Labels{{"service.name", "shop"}, {"service.namespace", "web"}});
  CHECK(ServiceLabels("mine", LabelChoice::kOn).front().value == "mine");
  CHECK(ServiceLabels("mine", LabelChoice::kOff).empty());
  const Labels hashed = ServiceLabels("", LabelChoice::kRedact);
  REQUIRE(hashed.size() == 2);
  CHECK(hashed[0].key == "service.name");
  CHECK(hashed[0].value.size() == 16);
  CHECK(hashed[0].value != hashed[1].value);
  CHECK(hashed == ServiceLabels("", LabelChoice::kRedact));
  for (const char* name : {"OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"}) unsetenv(name);
}

}  // namespace heaprec::agent
