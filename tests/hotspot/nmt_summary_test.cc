// What VM.native_memory prints, read: of JDK 11 and 17, of 21 and 25, in bytes and in larger units, and what is none.
#include "recorder/hotspot/usage/nmt_summary.h"

#include <catch2/catch.hpp>

namespace heaprec::hotspot {

TEST_CASE("Categories are parsed as JDK 17 prints them, in bytes") {
  constexpr std::string_view kText = R"(
Native Memory Tracking:

(Omitting categories weighting less than 1)

Total: reserved=1489340123, committed=91876001
-                 Java Heap (reserved=67108864, committed=67108864)
                            (mmap: reserved=67108864, committed=67108864)

-                     Class (reserved=1073954231, committed=1753527)
                            (classes #1234)
                            (  instance classes #1100, array classes #134)
                            (malloc=212407 #2134)
                            (  Metadata:   )
                            (    reserved=8388608, committed=7864320)
-              Shared class space (reserved=13131776, committed=13131776)
)";
  const std::vector<MemoryCategory> found = ParseMemorySummary(kText);
  CHECK(found == std::vector<MemoryCategory>{{"Total", 1489340123, 91876001},
                                             {"Java Heap", 67108864, 67108864},
                                             {"Class", 1073954231, 1753527},
                                             {"Shared class space", 13131776, 13131776}});
}

TEST_CASE("Categories are parsed as JDK 25 prints them, in kilobytes") {
  constexpr std::string_view kText = R"(Native Memory Tracking:

Total: reserved=12KB, committed=3KB
       malloc: 2KB #12, peak=3KB #14
       mmap:   reserved=10KB, committed=1KB

-        Shared class space (reserved=16384KB, committed=13504KB, readonly=0KB)
                            (mmap: reserved=16384KB, committed=13504KB, peak=13576KB)
-                    Thread (reserved=2MB, committed=1GB)
)";
  CHECK(ParseMemorySummary(kText) == std::vector<MemoryCategory>{{"Total", 12 << 10, 3 << 10},
                                                                 {"Shared class space", 16384 << 10, 13504 << 10},
                                                                 {"Thread", 2 << 20, 1 << 30}});
}

TEST_CASE("Text without categories gives none") {
  CHECK(ParseMemorySummary("").empty());
  CHECK(ParseMemorySummary("Native memory tracking is not enabled\n").empty());
  CHECK(ParseMemorySummary("- (reserved=1, committed=2)\nTotal:\n-\n- x (reserved=, committed=9)").empty());
}

}  // namespace heaprec::hotspot
