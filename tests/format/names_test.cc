#include <catch2/catch.hpp>
#include <set>

#include "format/model/java_names.h"
#include "format/model/model.h"
#include "format/native/native_frames.h"

namespace heaprec::format {
namespace {

TEST_CASE("Classes have the names that Java gives them") {
  CHECK(JavaClassName("java/lang/String") == "java.lang.String");
  CHECK(JavaClassName("Main") == "Main");
  CHECK(JavaClassName("java/util/Map$Entry") == "java.util.Map$Entry");
}

TEST_CASE("Arrays are written as in Java's source") {
  CHECK(JavaClassName("[B") == "byte[]");
  CHECK(JavaClassName("[[I") == "int[][]");
  CHECK(JavaClassName("[Z") == "boolean[]");
  CHECK(JavaClassName("[C") == "char[]");
  CHECK(JavaClassName("[S") == "short[]");
  CHECK(JavaClassName("[J") == "long[]");
  CHECK(JavaClassName("[F") == "float[]");
  CHECK(JavaClassName("[D") == "double[]");
  CHECK(JavaClassName("[Lx/Y;") == "x.Y[]");
  CHECK(JavaClassName("[[Ljava/lang/Object;") == "java.lang.Object[][]");
}

TEST_CASE("Hidden classes have their address after a slash, whichever way HotSpot spells them") {
  CHECK(JavaClassName("p/C$$Lambda$14+0x0000000800c03000") == "p.C$$Lambda$14/0x0000000800c03000");
  CHECK(JavaClassName("p.C$$Lambda$14.0x0000000800c03000") == "p.C$$Lambda$14/0x0000000800c03000");
  CHECK(JavaClassName("p/C$$Lambda.0x00007f0123ABCDEF") == "p.C$$Lambda/0x00007f0123ABCDEF");
  CHECK(JavaClassName("[Lp/C$$Lambda$14+0x0000000800c03000;") == "p.C$$Lambda$14/0x0000000800c03000[]");
}

TEST_CASE("Functions through which HotSpot allocates are not sites, in any JDK") {
  const auto allocates = [](const char* function) { return AllocatesForCaller("libjvm.so", function, Kind::kNative); };
  // JDK 17 and 25.
  for (const char* name : {"os::malloc", "ChunkPool::allocate", "ChunkPool::allocate_chunk", "Chunk::operator new",
                           "ResourceObj::operator new", "AnyObj::operator new", "CHeapObjBase::operator new[]"}) {
    CAPTURE(name);
    CHECK(allocates(name));
  }
  CHECK_FALSE(allocates("Unsafe_AllocateMemory0"));
  CHECK_FALSE(allocates("ChunkPool::clean"));
  // A program's own.
  CHECK_FALSE(AllocatesForCaller("libfoo.so", "Pool::operator new", Kind::kNative));
  CHECK(AllocatesForCaller("libfoo.so", "operator new", Kind::kNative));
}

TEST_CASE("Text that is no class name is returned with dots") {
  CHECK(JavaClassName("").empty());
  CHECK(JavaClassName("[") == "[");
  CHECK(JavaClassName("[[") == "[[");
  CHECK(JavaClassName("[X") == "[X");
  CHECK(JavaClassName("[L;") == "[L;");
  CHECK(JavaClassName("[a/b") == "[a.b");
  CHECK(JavaClassName("a+0x") == "a+0x");
  CHECK(JavaClassName("a+0xyz") == "a+0xyz");
  CHECK(JavaClassName("+0x12") == "+0x12");
}

TEST_CASE("Every loss has its own name") {
  std::set<std::string> names;
  for (int i = 0; i < kLosses; ++i) names.insert(LossReasonName(static_cast<LossReason>(i)));
  CHECK(names.size() == kLosses);
  CHECK(names.count("unknown") == 0);
  CHECK(std::string(LossReasonName(static_cast<LossReason>(kLosses))) == "unknown");
}

}  // namespace
}  // namespace heaprec::format
