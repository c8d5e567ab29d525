#include "tools/query/allocations/escape_result.h"

#include <catch2/catch.hpp>

namespace heaprec::tools {

TEST_CASE("The JVM's description of methods is parsed, including errors") {
  const auto outcomes = ParseOutcomes(
      "method\tp.A.x\t30000\t200\t199\t360\t1\t1\nmethod\tp.A.y\t100\t200\t200\t9600\t0\t0\nclass\tbyte[]\t1\t24\n"
      "class\tjava.lang.String\t2\t48\nclass\tp.A$$Lambda$1/0x00007f1688000c18\t1\t16\n"
      "class\tp.A$$Lambda$2/0x00007f1688000d18\t1\t24\nerror\tp.A.z\tit throws\n"
      "unusable\tp.A.w\tno such\tx\ty\nunusable\tp.B.x\tno class\n");
  REQUIRE(outcomes.ok());
  CHECK(outcomes->size() == 5);
  const CallOutcome& x = outcomes->at("p.A.x");
  CHECK((x.calls_before == 30'000 && x.calls == 200 && x.typical == 199 && x.bytes_of_all == 360 && x.is_whole &&
         x.is_stable));
  CHECK((x.Bytes() == 0 && x.Objects() == 0 && x.error.empty()));
  const CallOutcome& y = outcomes->at("p.A.y");
  CHECK_FALSE(y.is_whole);
  CHECK_FALSE(y.is_stable);
  CHECK((y.Bytes() == 112 && y.Objects() == 5));
  REQUIRE(y.classes.size() == 3);
  CHECK(y.classes[1].name == "java.lang.String");
  CHECK((y.classes[2].name == "p.A$$Lambda" && y.classes[2].bytes == 40));
  CHECK((outcomes->at("p.A.z").error == "it throws" && !outcomes->at("p.A.z").is_unusable));
  const CallOutcome& w = outcomes->at("p.A.w");
  CHECK((w.error == "no such" && w.is_unusable && w.usable == std::vector<std::string>{"x", "y"}));
  CHECK((outcomes->at("p.B.x").is_unusable && outcomes->at("p.B.x").usable.empty()));
}

TEST_CASE("An unparsable line is named") {
  for (const char* wrong :
       {"method\tx\t1\t2\t3\t4", "method\tx\t1\t0\t0\t0\t1\t1", "class\tx\t1\t2", "method\tx\t1\t2\t3\t4\tyes\t1",
        "other", "error\tx", "unusable\tx", "method\tx\t1\t2\t3\t-4\t1\t1"}) {
    const auto outcomes = ParseOutcomes(std::string("error\tp.A.z\tno such\n") + wrong + "\n");
    INFO(wrong);
    REQUIRE_FALSE(outcomes.ok());
    CHECK(outcomes.error().message == "line 2 of the result cannot be read");
  }
}

TEST_CASE("The modes have different flags, and the last one is the JVM's default") {
  CHECK(EscapeModes().size() == 4);
  CHECK(EscapeModes().back().name == std::string("c2"));
}

}  // namespace heaprec::tools
