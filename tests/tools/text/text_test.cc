#include "tools/text/text.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "tools/export/formats/row_format.h"
#include "tools/input/dictionary_names.h"
#include "tools/options/command.h"
#include "tools/text/interrupt.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

template <typename Value>
std::string With(void (*append)(Text&, Value), Value value) {
  Text text;
  append(text, value);
  return fmt::to_string(text);
}

std::string Json(std::string_view utf8) { return With<std::string_view>(AppendJsonString, utf8); }

std::string CsvRow(const Row& row) {
  Text text;
  CsvRows()->AppendRow(row, text);
  return fmt::to_string(text);
}

TEST_CASE("Bytes are written as by jfr print") {
  CHECK(Bytes(0) == "0 B");
  CHECK(Bytes(1) == "1 B");
  CHECK(Bytes(24) == "24 B");
  CHECK(Bytes(1024) == "1.0 KiB");
  CHECK(Bytes(244531.2) == "238.8 KiB");
  CHECK(Bytes(18.6 * 1024 * 1024) == "18.6 MiB");
  CHECK(Bytes(1e15) == "909.5 TiB");
  CHECK(Bytes(INFINITY) == "inf B");
}

TEST_CASE("Numbers are grouped and durations readable") {
  CHECK(Grouped(0) == "0");
  CHECK(Grouped(999) == "999");
  CHECK(Grouped(1234) == "1,234");
  CHECK(Grouped(1234567) == "1,234,567");
  CHECK(CountOf(0, "sample") == "0 samples");
  CHECK(CountOf(1, "sample") == "1 sample");
  CHECK(CountOf(1125, "sample") == "1,125 samples");
  CHECK(Duration(12'345'000'000) == "12.345 s");
  CHECK(Duration(3'723'000'000'000) == "1 h 02 min 03 s");
  CHECK(Duration(90'000'000'000) == "1 min 30 s");
}

TEST_CASE("A percentage has two digits or is whole, and never an exponent") {
  CHECK(ShortPercent(0) == "0 %");
  CHECK(ShortPercent(1e-6) == "<0.001 %");
  CHECK(ShortPercent(0.00047) == "0.047 %");
  CHECK(ShortPercent(0.005) == "0.5 %");
  CHECK(ShortPercent(0.05) == "5 %");
  CHECK(ShortPercent(0.0789) == "7.9 %");
  CHECK(ShortPercent(0.0996) == "10 %");
  CHECK(ShortPercent(0.994) == "99 %");
  CHECK(ShortPercent(1) == "100 %");
  CHECK(ShortPercent(2) == "200 %");
  CHECK(ShortPercent(4.5) == "450 %");
}

TEST_CASE("A JSON string round-trips") {
  for (const std::string& text : {""s, "plain"s, "quote \" and \\ slash"s, "a\nb\tc\x01\x1f\x7f"s, "nul \0 in it"s,
                                  "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"s}) {
    CHECK(nlohmann::json::parse(Json(text)).get<std::string>() == text);
  }
}

TEST_CASE("A JSON number round-trips, and what is no number becomes null") {
  for (const double number : {0.0, 1.0, 0.1, 1e300, 123456789.123, 4194304.0, 5e-324}) {
    CHECK(nlohmann::json::parse(With<double>(AppendJsonNumber, number)).get<double>() == number);
  }
  CHECK(With<double>(AppendJsonNumber, NAN) == "null");
}

TEST_CASE("Control characters cannot reach a terminal") {
  CHECK(With<std::string_view>(AppendPrintable, "a\x1b[31m\nb") == "a\\x1b[31m\\nb");
  // CSI in one character, the orders of right-to-left text, and their neighbours.
  CHECK(With<std::string_view>(AppendPrintable, "\u009b31m\u00a0") == "\\u009b31m\u00a0");
  CHECK(With<std::string_view>(AppendPrintable, "\u202eabc\u2066") == "\\u202eabc\\u2066");
  CHECK(With<std::string_view>(AppendPrintable, "\u2029\u202f\u2026\u2500\u00ff") == "\u2029\u202f\u2026\u2500\u00ff");
}

TEST_CASE("Modified UTF-8 becomes UTF-8, and invalid bytes a replacement character") {
  CHECK(ToUtf8("plain") == "plain");
  CHECK(ToUtf8("\xc3\xa4") == "\xc3\xa4");
  CHECK(ToUtf8("a\xc0\x80z") == "a\0z"s);
  CHECK(ToUtf8("\xed\xa0\xbd\xed\xb8\x80") == "\xf0\x9f\x98\x80");
  CHECK(ToUtf8("\xed\xa0\xbd!") == "\xef\xbf\xbd!");
  CHECK(ToUtf8("\xff\xc3") == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(ToUtf8("\xc1\xa1") == "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_CASE("A descriptor's parameters are written as simple names") {
  CHECK(ParameterTypes("()V").empty());
  CHECK(ParameterTypes("(Ljava/util/Map$Entry;[IZ)V") == "Map$Entry, int[], boolean");
  CHECK(ParameterTypes("([[Ljava/lang/String;J)I") == "String[][], long");
  CHECK(ParameterTypes("(Lbroken").empty());
  CHECK(ParameterTypes("([").empty());
  CHECK(ParameterTypes("").empty());
}

TEST_CASE("A CSV field is quoted only when it must be") {
  format::Sample sample{.size = 24, .weight = 48};
  CHECK(CsvRow({7, &sample, "main", "byte[]", "a.B.c:1;d.E.f:2"}) ==
        "7,tlab,main,byte[],24,48,2,0.5,a.B.c:1;d.E.f:2,\n");
  CHECK(CsvRow({7, &sample, "a,b", "x", ""}) == "7,tlab,\"a,b\",x,24,48,2,0.5,,\n");
  CHECK(CsvRow({7, &sample, "say \"hi\"", "x", ""}) == "7,tlab,\"say \"\"hi\"\"\",x,24,48,2,0.5,,\n");
  CHECK(CsvRow({7, &sample, "two\nlines", "x", ""}) == "7,tlab,\"two\nlines\",x,24,48,2,0.5,,\n");
  CHECK(CsvRow({7, &sample, "t", "x", "", "t\0request=a;b\0user=\"c\", d"sv}) ==
        "7,tlab,t,x,24,48,2,0.5,,\"request=a,b;user=\"\"c\"\", d\"\n");
}

TEST_CASE("Wall-clock times have nanoseconds in UTC") {
  ClockText clock(1795192800'000'000'000);
  Text text;
  clock.AppendIso(text, 731'602'772);
  Append(text, " ");
  clock.AppendIso(text, 60'000'000'001);
  CHECK(fmt::to_string(text) == "2026-11-20T16:40:00.731602772Z 2026-11-20T16:41:00.000000001Z");
}

// What fits a terminal: shortened names, bars; and what was meant by a typo.

TEST_CASE("Names lose their packages first, then their middle") {
  const std::string name = "com.acme.shop.Basket.add";
  CHECK(Shortened(name, 0, false) == name);
  CHECK(Shortened(name, 24, false) == name);
  CHECK(Shortened(name, 22, false) == "c.acme.shop.Basket.add");
  CHECK(Shortened(name, 20, false) == "c.a.shop.Basket.add");
  CHECK(Shortened(name, 16, false) == "c.a.s.Basket.add");
  CHECK(Shortened(name, 10, false) == "c.a.~t.add");
  CHECK(Shortened(name, 11, true) == "c.a.s…t.add");
  CHECK(Shortened("überlänge", 5, true) == "üb…ge");
  for (size_t width = 1; width < 30; ++width) CHECK(WidthOf(Shortened(name, width, true)) <= width);
}

TEST_CASE("More than zero is visible, and the maximum is full") {
  CHECK(Bar(0, 3, true) == "   ");
  CHECK(Bar(1e-9, 3, true) == "▏  ");
  CHECK(Bar(0.5, 3, true) == "█▌ ");
  CHECK(Bar(1, 3, false) == "###");
  CHECK(Bar(1e-9, 3, false) == "#  ");
  CHECK(Sparkline(std::vector<double>{0, 1, 4, 8}, 8, true) == " ▁▄█");
  CHECK(ChartLine(std::vector<double>{4, 8}, 8, 0, 2, true) == " █");
  CHECK(ChartLine(std::vector<double>{4, 8}, 8, 1, 2, true) == "██");
  CHECK(Sparkline(std::vector<double>{0, 0}, 0, true) == "  ");
}

TEST_CASE("A typo differs by a few letters") {
  const std::vector<std::string> commands{"record", "summary", "top", "trim", "tree"};
  CHECK(Nearest("summry", commands) == "summary");
  CHECK(Nearest("recrod", commands) == "record");
  CHECK(Nearest("tpo", commands) == "top");
  CHECK(Nearest("foo", commands).empty());
  CHECK(Nearest("frobnicate", commands).empty());
  CHECK(Nearest(std::string(100'000, 'x'), commands).empty());
  CHECK(Nearest("", commands).empty());
}

// Signals to a process of its own, which says how it took them by its end.

constexpr int kInterrupted = 7, kUndisturbed = 8;

// The wait status of a process that gets these, one after the other.
int StatusAfter(std::initializer_list<int> signals, useconds_t pause_us = 600'000) {
  const pid_t child = fork();
  if (child == 0) {
    CatchSignals({SIGINT, SIGTERM, SIGHUP});
    for (const int signal : signals) {
      (void)raise(signal);
      usleep(pause_us);
    }
    _exit(IsInterrupted() ? kInterrupted : kUndisturbed);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

bool Exited(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
bool WasEnded(int status, int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }

}  // namespace

TEST_CASE("A signal that is sent twice at once counts once") {
  // On a starved machine half a second may pass between the two.
  bool is_one = false;
  for (int i = 0; i < 5 && !is_one; ++i) is_one = Exited(StatusAfter({SIGTERM, SIGTERM, SIGINT}, 0), kInterrupted);
  CHECK(is_one);
}

TEST_CASE("The first signal is noted, a later one ends the process, and SIGHUP may be repeated") {
  CHECK(Exited(StatusAfter({}), kUndisturbed));
  for (const int first : {SIGINT, SIGTERM, SIGHUP}) {
    CHECK(Exited(StatusAfter({first}), kInterrupted));
    CHECK(Exited(StatusAfter({first, SIGHUP, SIGHUP}), kInterrupted));
    CHECK(WasEnded(StatusAfter({first, SIGINT}), SIGINT));
    CHECK(WasEnded(StatusAfter({first, SIGTERM}), SIGTERM));
  }
}

}  // namespace heaprec::tools
