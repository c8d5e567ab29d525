#include <catch2/catch.hpp>
#include <initializer_list>
#include <string>

#include "tools/input/dictionary_names.h"

namespace heaprec::tools {
namespace {

TEST_CASE("Only generated parts of a name are left out") {
  CHECK(StripGeneratedSuffix("p.Map$$Lambda$141/0x00007f0f84115150") == "p.Map$$Lambda");
  CHECK(StripGeneratedSuffix("jdk.proxy2.$Proxy17.hashCode") == "jdk.proxy.$Proxy.hashCode");
  CHECK(StripGeneratedSuffix("com.sun.proxy.$Proxy4") == "com.sun.proxy.$Proxy");
  CHECK(StripGeneratedSuffix("jdk.internal.reflect.GeneratedMethodAccessor3.invoke") ==
        "jdk.internal.reflect.GeneratedMethodAccessor.invoke");
  CHECK(StripGeneratedSuffix("p.Map$$Lambda/0x00007f0f84115150.apply") == "p.Map$$Lambda.apply");
  CHECK(StripGeneratedSuffix("p.Map$$Lambda$9/1225358173.run") == "p.Map$$Lambda.run");
  CHECK(StripGeneratedSuffix("java.lang.invoke.LambdaForm$MH/0x0000000800c03000.invoke") ==
        "java.lang.invoke.LambdaForm$MH.invoke");
  CHECK(StripGeneratedSuffix("p.A$$Lambda$1/0x00007f0f84115150;p.A$$Lambda$2/0x00007f0f84115358") ==
        "p.A$$Lambda;p.A$$Lambda");
  CHECK(StripGeneratedSuffix("p.S$$EnhancerBySpringCGLIB$$1a2b3c.m") == "p.S$$EnhancerBySpringCGLIB$$.m");
  CHECK(StripGeneratedSuffix("p.S$$EnhancerByX$$a2c11f27") == "p.S$$EnhancerByX$$");
  CHECK(StripGeneratedSuffix("p.S$$FastClassByCGLIB$$7d2f") == "p.S$$FastClassByCGLIB$$");
  CHECK(StripGeneratedSuffix("p.Dao$HibernateProxy$AbCdEf1u.load") == "p.Dao$HibernateProxy$.load");
  CHECK(StripGeneratedSuffix("p.Order_$$_jvst7a_1") == "p.Order_$$_jvst");
  for (const char* name : {"", "p.Main.main:3", "p.Path/0x12.f", "p.A/123456789.f", "p.A$1.run", "p.$$Lambd", "a/0x",
                           "p.C.m1", "p.A$$facade", "p.A$$deadbeefs", "p.Foo$ProxyX"}) {
    CHECK(StripGeneratedSuffix(name) == name);
  }
}

// The names of one recording each.
using Run = std::initializer_list<const char*>;

void Read(MergedNames* merged, std::initializer_list<Run> runs) {
  uint8_t id = 0;
  for (const Run& run : runs) {
    format::RecordingId recording{};
    recording.fill(++id);
    merged->Start(recording);
    for (const char* name : run) merged->Of(name);
  }
}

TEST_CASE("Numbers are merged if recordings would otherwise have no names in common") {
  MergedNames merged;
  const std::initializer_list<Run> runs{
      {"p.Script1111", "user$eval17$fn__4", "p.Outer$1", "p.Outer$2", "p.Outer$7", "p.Sha1"},
      {"p.Script2222", "user$eval18$fn__9", "p.Outer$1", "p.Outer$2", "p.Outer$8", "p.Sha1"}};
  Read(&merged, runs);
  CHECK(merged.Of("p.Script2222") == "p.Script2222");
  REQUIRE(merged.Settle());
  Read(&merged, runs);
  CHECK_FALSE(merged.Settle());
  CHECK(merged.Of("p.Script1111") == "p.Script#");
  CHECK(merged.Of("user$eval18$fn__9") == "user$eval#$fn__#");
  for (const char* apart : {"p.Outer$1", "p.Outer$7", "p.Sha1"}) CHECK(merged.Of(apart) == apart);
  CHECK(merged.Text() == "4 generated names of classes are shown as 2; --names exact keeps them apart");
}

TEST_CASE("Thousands of classes of one template are merged, a few are not") {
  for (const size_t classes : {MergedNames::kMostOfTemplate, MergedNames::kMostOfTemplate + 1}) {
    MergedNames merged;
    for (size_t i = 0; i < classes; ++i) merged.Of("p.Bean" + std::to_string(i));
    CHECK(merged.Settle() == (classes > MergedNames::kMostOfTemplate));
  }
  MergedNames of_jdk, once(/*settles=*/false);
  for (size_t i = 0; i < 1000; ++i) {
    of_jdk.Of("java.util.Map" + std::to_string(i));
    once.Of("p.Bean" + std::to_string(i));
  }
  CHECK_FALSE(of_jdk.Settle());
  CHECK_FALSE(once.Settle());
}

TEST_CASE("A label keeps the lambdas of a class apart") {
  MergedNames merged;
  CHECK(merged.Of("p.A$$Lambda$1/0x00007f0f84115150", "lambda$main$3") == "p.A$$Lambda[lambda$main$3]");
  CHECK(merged.Of("p.A$$Lambda$7/0x00007f0f84115358", "Foo::bar") == "p.A$$Lambda[Foo::bar]");
  CHECK(merged.Text().empty());
  CHECK(merged.Of("p.A$$Lambda$9/0x00007f0f84115400", "Foo::bar") == "p.A$$Lambda[Foo::bar]");
  CHECK(merged.Text().starts_with("2 generated names of classes are shown as 1;"));
}

}  // namespace
}  // namespace heaprec::tools
