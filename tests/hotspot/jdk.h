// Where the tests find a JDK, and room for their files.
#pragma once

#include <cstdlib>
#include <string>

namespace heaprec::hotspot {

inline std::string JavaHome() {
  const char* const home = getenv("JAVA_HOME");  // NOLINT(concurrency-mt-unsafe): tests
  return home != nullptr && *home != '\0' ? home : "/usr/lib/jvm/default-java";
}

inline std::string LibJvmFile() { return JavaHome() + "/lib/server/libjvm.so"; }

inline std::string TestFolder() {
  const char* const folder = getenv("TEST_TMPDIR");  // NOLINT(concurrency-mt-unsafe): tests
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

}  // namespace heaprec::hotspot
