#include "recorder/hotspot/jdk_rules.h"

#include <algorithm>
#include <array>

namespace heaprec::hotspot {
namespace {

using Rules = JdkRules;

// Each column with the file in HotSpot's sources (src/hotspot/share, or src/hotspot/cpu) that determines it:
//
//   threshold                       gc/shared/memAllocator.cpp, notify_allocation_jvmti_sampler, and
//                                   runtime/threadHeapSampler.hpp. 11: an allocation outside of the TLAB leaves the
//                                   TLAB's end as it is. 17: `_bytes_until_sample`, and the TLAB keeps
//                                   `_bytes_since_last_sample_point`. 25: one threshold in bytes that the thread has
//                                   allocated (JDK-8355692).
//   method_ids                      oops/method.cpp, Method::resolve_jmethod_id. 26: a key of oops/jmethodIDTable.cpp
//                                   (JDK-8268406).
//   knows_frames                    code/nmethod.hpp and code/codeBlob.hpp, whose fields StackLayout looks up;
//                                   x86/frame_x86.hpp, aarch64/frame_aarch64.hpp.
//   excluded_bytes                  utilities/unsigned5.hpp, `X` (JDK-8292758).
//   narrow_klass_owner              memory/universe.hpp on 11; later oops/compressedOops.hpp, compressedKlass.hpp.
//   field_id_shift                  runtime/jfieldIDWorkaround.hpp, `offset_shift`. 28: one more bit, for flat fields.
//   allocates_inline_without_tlabs  gc/serial/serialHeap.hpp, supports_inline_contig_alloc (until JDK-8290706).
//   has_virtual_threads             prims/jvmtiExport.cpp, since JEP 444.
//   default_z                       gc/z/z_globals.hpp: no generations until JEP 474, no flag since JEP 490.
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
