// What a killed process left in its lanes with addresses of native code: sample points of native memory, made into the
// samples that its drain would have committed, and stacks of objects that native code allocated. Names come from the
// files of its libraries, found by build id.
//
// Failure:  a function without a name is its address in the library; one in no known library, its address. Files that
//           are others by now have no names.
// Format:   docs/format/ring.md#native-points
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "format/native/native_frames.h"
#include "format/ring/ring_layout.h"
#include "format/ring/ring_records.h"
#include "tools/input/ring_definitions.h"
#include "tools/input/table_symbolizer.h"

namespace heaprec::tools {

struct NativePoint {
  format::NativePointRecord record;
  std::vector<uint64_t> pcs;            // return addresses, innermost first
  std::vector<format::RingFrame> java;  // that called them
};

class NativePointNames {
 public:
  // The content of `modules` may be anything.
  explicit NativePointNames(std::span<const format::RingModule> modules);
  NativePointNames(const NativePointNames&) = delete;
  NativePointNames& operator=(const NativePointNames&) = delete;

  // What the sample refers to goes into `definitions`.
  format::SampleRecord SampleOf(const NativePoint& point, RingDefinitions* definitions);
  // Names the stacks of addresses (format::AreAddresses) among the definitions.
  void NameStacksOf(RingDefinitions* definitions);

 private:
  format::CodeLocation At(uint64_t return_address);
  std::vector<format::RingFrame> FramesOf(const NativePoint& point, RingDefinitions* definitions);

  const std::vector<LoadedModule> modules_;
  TableSymbolizer symbols_;
};

}  // namespace heaprec::tools
