#include "tools/analysis/generated_names.h"

#include <catch2/catch.hpp>

#include "tools/analysis/name_pool.h"

namespace heaprec::tools {
namespace {

TEST_CASE("what a JVM makes up for hidden classes is left out, and nothing else") {
  CHECK(StripGeneratedSuffix("p.Map$$Lambda$141/0x00007f0f84115150") == "p.Map$$Lambda");
  CHECK(StripGeneratedSuffix("jdk.proxy2.$Proxy17.hashCode") == "jdk.proxy.$Proxy.hashCode");
  CHECK(StripGeneratedSuffix("com.sun.proxy.$Proxy4") == "com.sun.proxy.$Proxy");
  CHECK(StripGeneratedSuffix("jdk.internal.reflect.GeneratedMethodAccessor3.invoke") ==
        "jdk.internal.reflect.GeneratedMethodAccessor.invoke");
  CHECK(StripGeneratedSuffix("p.Map$$Lambda$141/0x00007f0f84115150.apply:7") == "p.Map$$Lambda.apply:7");
  CHECK(StripGeneratedSuffix("p.Map$$Lambda/0x00007f0f84115150.apply") == "p.Map$$Lambda.apply");
  CHECK(StripGeneratedSuffix("p.Map$$Lambda$9/1225358173.run") == "p.Map$$Lambda.run");
  CHECK(StripGeneratedSuffix("java.lang.invoke.LambdaForm$MH/0x0000000800c03000.invoke") ==
        "java.lang.invoke.LambdaForm$MH.invoke");
  CHECK(StripGeneratedSuffix("p.A$$Lambda$1/0x00007f0f84115150;p.A$$Lambda$2/0x00007f0f84115358") ==
        "p.A$$Lambda;p.A$$Lambda");
  for (const char* name : {"", "p.Main.main:3", "p.Path/0x12.f", "p.A/123456789.f", "p.A$1.run", "p.$$Lambd", "a/0x"}) {
    CHECK(StripGeneratedSuffix(name) == name);
  }
}

TEST_CASE("a pool for several JVMs knows their lambdas by one name") {
  NamePool apart, together(NamePool::Runs::kSeveral);
  const std::string first = "p.A$$Lambda$1/0x00007f0f84115150.run", other = "p.A$$Lambda$7/0x00007f0f84115358.run";
  CHECK(apart.Of(first) != apart.Of(other));
  CHECK(together.Of(first) == together.Of(other));
  CHECK(together.At(together.Of(first)) == "p.A$$Lambda.run");
}

}  // namespace
}  // namespace heaprec::tools
