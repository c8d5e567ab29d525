#include "tools/query/filter/name_pattern.h"

#include <catch2/catch.hpp>
#include <string>

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

}  // namespace
}  // namespace heaprec::tools
