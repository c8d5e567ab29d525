#include "recorder/hotspot/jdk_rules.h"

#include <algorithm>
#include <array>

namespace heaprec::hotspot {
namespace {

using Rules = JdkRules;

// Each column with the file in HotSpot's sources (src/hotspot/share) that determines it:
constexpr std::array<Rules, 8> kRows{{
    {11, Rules::ThresholdRule::kJdk11, Rules::MethodIds::kPointers, true, 0, "Universe", 2, true, false,
     Rules::DefaultZ::kOneGeneration},
    {17, Rules::ThresholdRule::kJdk17, Rules::MethodIds::kPointers, true, 0, "CompressedKlassPointers", 2, true, false,
     Rules::DefaultZ::kOneGeneration},
    {21, Rules::ThresholdRule::kJdk17, Rules::MethodIds::kPointers, true, 1, "CompressedKlassPointers", 2, false, true,
     Rules::DefaultZ::kOneGeneration},
    {25, Rules::ThresholdRule::kJdk25, Rules::MethodIds::kPointers, true, 1, "CompressedKlassPointers", 2, false, true,
     Rules::DefaultZ::kGenerations},
    {26, Rules::ThresholdRule::kJdk25, Rules::MethodIds::kNumbers, true, 1, "CompressedKlassPointers", 2, false, true,
     Rules::DefaultZ::kGenerations},
    {27, Rules::ThresholdRule::kJdk25, Rules::MethodIds::kNumbers, true, 1, "CompressedKlassPointers", 2, false, true,
     Rules::DefaultZ::kGenerations},
    {28, Rules::ThresholdRule::kJdk25, Rules::MethodIds::kNumbers, true, 1, "CompressedKlassPointers", 3, false, true,
     Rules::DefaultZ::kGenerations},
    // The conservative row. The flag decides whether young objects keep weak references.
    {0, Rules::ThresholdRule::kUnknown, Rules::MethodIds::kUnknown, false, 1, "CompressedKlassPointers", 0, false, true,
     Rules::DefaultZ::kUnknown},
}};

}  // namespace

const JdkRules& JdkRules::For(int major) {
  const auto row = std::find_if(kRows.begin(), kRows.end() - 1, [major](const Rules& of) { return of.jdk == major; });
  return *row;
}

}  // namespace heaprec::hotspot
