// Advice: which stacks, classes and sizes a rule matches, and which it leaves to others.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/tools/small_recording.h"
#include "tools/query/allocations/advice_scan.h"

namespace heaprec::tools::testing {
namespace {

using Stack = std::vector<std::string>;

// A hundred samples of 10,000 B that match no rule, and those that are added.
class Samples {
 public:
  Samples() : file_(scratch_.path, SomeHeader()) {
    file_.Add(format::Window{1, 0, 7e-9});
    Add(100, "p/Plain", {"p/Plain.make:1", "p/Main.main:3"});
  }
  Samples& Add(uint32_t count, const std::string& class_name, const Stack& stack, uint64_t size = 24,
               format::Kind kind = format::Kind::kTlab) {
    for (uint32_t i = 0; i < count; ++i) {
      Event event{.time_ns = ++added_ * kMs, .class_name = class_name, .stack = stack};
      event.size = size;
      event.kind = kind;
      event.weight = std::max(10'000.0, static_cast<double>(size));
      bytes_ += static_cast<uint64_t>(event.weight);
      file_.Add(event);
    }
    return *this;
  }
  // "rule frame:line", the largest first.
  std::vector<std::string> Found(double least_share = kAdviceShare) {
    file_.Add(format::Interval{0, added_, bytes_, added_, added_, 0});
    file_.End("jvm exit", 10 * kSecond);
    FileScan scan(scratch_.path);
    AdviceScan advice;
    REQUIRE(scan.Run(&advice));
    std::vector<std::string> found;
    for (const RuleFinding& one : advice.Findings(least_share))
      found.push_back(std::string(one.rule->name) + " " + one.Place());
    return found;
  }

 private:
  const Scratch scratch_;
  RecordingFile file_;
  uint64_t added_ = 0, bytes_ = 0;
};

using Names = std::vector<std::string>;

TEST_CASE("The frame to change is the first that is not library code") {
  const Stack boxing{"java/lang/Integer.valueOf:3",      "java/util/HashMap.merge:9", "p/A$$Lambda$14/0x00007f.apply",
                     "scala/runtime/BoxesRunTime.box:1", "p/Orders.total:42",         "p/Main.main:3"};
  CHECK(Samples().Add(50, "java/lang/Integer", boxing).Found() == Names{"boxing p.Orders.total:42"});
}

TEST_CASE("A box that valueOf did not make is not boxing") {
  CHECK(Samples().Add(50, "java/lang/Integer", {"p/Orders.total:42"}).Found().empty());
  CHECK(Samples().Add(50, "p/Box", {"java/lang/Integer.valueOf:3", "p/Orders.total:42"}).Found().empty());
}

TEST_CASE("A stack of library code only has no frame to change") {
  CHECK(Samples()
            .Add(50, "java/lang/Long",
                 {"java/lang/Long.valueOf:3", "java/util/HashMap.merge:9", "java/lang/Thread.run:1"})
            .Found()
            .empty());
}

TEST_CASE("Boxes that a library makes for itself are not the program's") {
  CHECK(Samples()
            .Add(50, "java/lang/Long",
                 {"java/lang/Long.valueOf:3", "clojure/lang/LongRange.reduce:9", "user$sum.invoke:4"})
            .Found()
            .empty());
  CHECK(Samples()
            .Add(50, "java/lang/Long", {"java/lang/Long.valueOf:3", "clojure/lang/Numbers.add:9", "user$sum.invoke:4"})
            .Found() == Names{"boxing user$sum.invoke:4"});
}

TEST_CASE("Buffers count where the program makes the stream") {
  const Stack made{"java/io/BufferedReader.<init>:4", "java/io/BufferedReader.<init>:3", "p/A.read:7"};
  CHECK(Samples().Add(50, "[C", made, 16400).Found() == Names{"buffer p.A.read:7"});
  CHECK(Samples().Add(5, "[C", made, 16400).Found(0).empty());
  CHECK(Samples()
            .Add(50, "[B",
                 {"java/io/BufferedInputStream.<init>:4", "java/util/jar/JarFile.getInputStream:3", "p/A.read:7"}, 8208)
            .Found()
            .empty());
}

TEST_CASE("Findings in several lines of a method are one, at the line with the most bytes") {
  Samples samples;
  samples.Add(10, "java/lang/Long", {"java/lang/Long.valueOf:3", "p/A.sum:7"});
  samples.Add(20, "java/lang/Long", {"java/lang/Long.valueOf:3", "p/A.sum:8"});
  CHECK(samples.Found() == Names{"boxing p.A.sum:8"});
}

TEST_CASE("What is below one percent, or may be, is not shown") {
  const Stack boxing{"java/lang/Long.valueOf:3", "p/A.sum:7"};
  CHECK(Samples().Add(1, "java/lang/Long", boxing).Found().empty());
  CHECK(Samples().Add(1, "java/lang/Long", boxing).Found(0) == Names{"boxing p.A.sum:7"});
}

TEST_CASE("An array of no elements is empty, a small one is not") {
  CHECK(Samples().Add(50, "[I", {"p/A.none:7"}, 16).Found() == Names{"empty-array p.A.none:7"});
  CHECK(Samples().Add(50, "[I", {"p/A.none:7"}, 24).Found().empty());
}

TEST_CASE("Growth has several sizes, and does not reserve") {
  const auto grown = [](const Stack& below, const std::vector<uint64_t>& sizes) {
    Samples samples;
    Stack stack{"java/util/HashMap.resize:702"};
    stack.insert(stack.end(), below.begin(), below.end());
    stack.push_back("p/A.fill:7");
    for (const uint64_t size : sizes) samples.Add(10, "[Ljava/util/HashMap$Node;", stack, size);
    return samples.Found();
  };
  const Names found{"growth p.A.fill:7"};
  CHECK(grown({"java/util/HashMap.putVal@290:663", "java/util/HashMap.put:610"}, {144, 272, 528}) == found);
  CHECK(grown({"java/util/HashMap.putVal@290:663", "java/util/HashMap.put:610"}, {144, 272}).empty());
  CHECK(grown({"java/util/HashMap.putVal@20:629", "java/util/HashMap.put:610"}, {144, 272, 528}).empty());
  CHECK(grown({"java/util/HashMap.putMapEntries:500", "java/util/HashMap.putAll:610"}, {144, 272, 528}).empty());
  // The library has made it, so nobody can give it a capacity.
  CHECK(grown({"java/util/HashMap.putVal@290:663", "java/text/Format.format:1"}, {144, 272, 528}).empty());
}

TEST_CASE("What grows in a class of the program is created by a caller of the class") {
  Samples samples;
  for (const uint64_t size : {200, 400, 800})
    samples.Add(10, "[C", {"p/Text.ensureCapacity:4", "p/Text.append:9", "p/Page.write:30"}, size);
  CHECK(samples.Found() == Names{"growth p.Page.write:30"});
}

TEST_CASE("A text that becomes longer at each + is string building in a loop, texts of one length are not") {
  const auto joined = [](uint64_t step) {
    Samples samples;
    for (uint64_t i = 0; i < 20; ++i)
      samples.Add(3, "[B", {"java/lang/StringConcatHelper.newArray:4", "p/A.join:7"}, 400 + step * i);
    return samples.Found();
  };
  CHECK(joined(400) == Names{"string-concat p.A.join:7"});
  CHECK(joined(8).empty());
}

TEST_CASE("A line that calls a logger builds strings for it") {
  const Stack text{"java/lang/StringConcatHelper.newArray:4", "p/A.run:7"};
  const Stack record{"java/util/logging/Logger.log:1", "java/util/logging/Logger.info:2", "p/A.run:7"};
  CHECK(Samples().Add(50, "[B", text, 48).Found().empty());
  CHECK(Samples().Add(50, "[B", text, 48).Add(1, "java/util/logging/LogRecord", record).Found() ==
        Names{"logging p.A.run:7"});
  // Another line does not.
  const Stack other{"java/util/logging/Logger.info:2", "p/A.run:8"};
  CHECK(Samples().Add(50, "[B", text, 48).Add(1, "java/util/logging/LogRecord", other).Found().empty());
  const Stack setup{"java/util/logging/LogManager.demandLogger:2", "java/util/logging/Logger.getLogger:2", "p/A.run:7"};
  CHECK(Samples().Add(50, "[B", setup, 48).Found().empty());
}

TEST_CASE("A sample belongs to the first rule that holds") {
  Samples samples;
  for (uint64_t size : {200, 400, 800, 1600}) {
    samples.Add(
        10, "[B",
        {"java/lang/AbstractStringBuilder.ensureCapacityInternal:4", "java/lang/StringBuilder.append:7", "p/A.run:7"},
        size);
  }
  samples.Add(1, "p/Entry", {"org/slf4j/Logger.info:2", "p/A.run:7"});
  CHECK(samples.Found() == Names{"logging p.A.run:7"});
}

TEST_CASE("Exceptions and their constructors are passed over") {
  const Stack stack{"java/lang/Throwable.fillInStackTrace", "java/lang/Throwable.<init>:1",
                    "java/lang/Exception.<init>:2", "p/BadOrderException.<init>:5", "p/Orders.parse:30"};
  CHECK(Samples().Add(50, "[J", stack, 200).Add(20, "p/BadOrderException", {"p/Orders.parse:30"}).Found() ==
        Names{"exception p.Orders.parse:30"});
}

TEST_CASE("Getters and values() of enums copy defensively, other methods change the copy") {
  const auto cloned = [](const std::string& method) {
    // Compiled code inlines clone: one stack that shows the call tells of the line.
    return Samples()
        .Add(50, "[I", {method}, 400)
        .Add(1, "[I", {"java/lang/Object.clone()Ljava/lang/Object;", method}, 400)
        .Found();
  };
  CHECK(cloned("p/A.getValues:7") == Names{"copy p.A.getValues:7"});
  CHECK(cloned("p/A.<init>:7") == Names{"copy p.A.<init>:7"});
  CHECK(cloned("p/A.with:7").empty());
  CHECK(Samples().Add(50, "[I", {"p/A.getValues:7"}, 400).Found().empty());
  CHECK(Samples().Add(50, "[Lp/Color;", {"p/Color.values()[Lp/Color;:1", "p/A.paint:7"}, 400).Found() ==
        Names{"copy p.A.paint:7"});
  CHECK(Samples().Add(50, "[Lp/Color;", {"p/Table.values()[Lp/Color;:1", "p/A.paint:7"}, 400).Found().empty());
}

TEST_CASE("Arguments in an array are seen if the called method is on a stack of the line") {
  const Stack call{"p/Text.format(Ljava/lang/String;[Ljava/lang/Object;)V:3", "p/A.run:7"};
  const std::string array = "[Ljava/lang/Object;";
  CHECK(Samples().Add(50, array, {"p/A.run:7"}).Add(1, "p/Text", call).Found() == Names{"varargs p.A.run:7"});
  CHECK(Samples().Add(50, array, {"p/A.run:7"}).Found().empty());
  CHECK(Samples().Add(50, array, {"p/A.run:7"}, 400).Add(1, "p/Text", call).Found().empty());
}

TEST_CASE("Large arrays outside of TLABs count if there are many") {
  const auto large = [](uint32_t count, format::Kind kind) {
    return Samples().Add(count, "[B", {"p/A.read:7"}, 1 << 20, kind).Found();
  };
  CHECK(large(50, format::Kind::kOutside) == Names{"large-array p.A.read:7"});
  CHECK(large(3, format::Kind::kOutside).empty());
  CHECK(large(50, format::Kind::kTlab).empty());
}

TEST_CASE("Large arrays that the program keeps are none to change") {
  const auto large = [](uint64_t died) {
    const Scratch scratch;
    format::FileHeader header = SomeHeader();
    header.max_tracked_objects = 4096;
    RecordingFile file(scratch.path, header);
    file.Add(format::Window{1, 0, 7e-9});
    for (uint64_t i = 1; i <= 50; ++i) {
      file.Add(Event{.time_ns = i * kMs,
                     .class_name = "[B",
                     .size = 1 << 20,
                     .weight = 1 << 20,
                     .kind = format::Kind::kOutside,
                     .stack = {"p/A.read:7"},
                     .id = i});
    }
    for (uint64_t i = 1; i <= died; ++i) file.Add(format::LifecycleEvent{.sample = i, .time_ns = 100 * kMs});
    file.Add(format::Interval{0, 50, 50 << 20, 50, 50, 0});
    file.End("jvm exit", kSecond);
    FileScan scan(scratch.path);
    AdviceScan advice;
    REQUIRE(scan.Run(&advice));
    return advice.Findings(kAdviceShare).size();
  };
  CHECK(large(40) == 1);
  CHECK(large(10) == 0);
  CHECK(large(0) == 1);  // there was no collection
}

TEST_CASE("Collections stay empty if there are fewer tables for elements, anywhere") {
  const auto maps = [](uint32_t tables) {
    return Samples()
        .Add(50, "java/util/HashMap", {"p/A.make:7"}, 48)
        .Add(tables, "[Ljava/util/HashMap$Node;",
             {"java/util/HashMap.resize:1", "java/util/HashMap.put:2", "p/B.put:1"}, 80)
        .Found();
  };
  CHECK(maps(1) == Names{"empty-collection p.A.make:7"});
  CHECK(maps(50).empty());
}

TEST_CASE("Samples without a stack match no rule") {
  Samples samples;
  samples.Add(50, "[I", {}, 400);
  CHECK(samples.Found().empty());
}

TEST_CASE("Each rule has a name of its own and one sentence") {
  Names names;
  for (const AdviceRule& rule : AdviceRules()) {
    names.emplace_back(rule.name);
    INFO(rule.name);
    CHECK(rule.advice.ends_with('.'));
    CHECK(std::ranges::count(rule.advice, '.') == 1);
    CHECK(rule.advice.size() <= 41);
    CHECK(rule.matches != nullptr);
  }
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
}

}  // namespace
}  // namespace heaprec::tools::testing
