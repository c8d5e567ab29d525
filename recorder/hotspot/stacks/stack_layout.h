// Layout of the data that a walk of a thread's own stack reads, from the JVM's description of itself: anchors, code
// cache, compiled methods and their debug information.
//
// Units:    offsets and sizes in bytes; frame slots in words from the frame pointer.
// Context:  setup.
// Failure:  Resolve returns an Error for a JDK whose frames are unknown (JdkRules), or if a field is missing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "recorder/hotspot/jdk_rules.h"
#include "recorder/hotspot/vm_structs.h"

namespace heaprec::hotspot {

struct StackLayout {
  static Result<StackLayout> Resolve(const VmStructs& structs, const JdkRules& rules);

  struct {
    size_t anchor, stack_base, stack_size;
  } thread;
  struct {
    size_t sp, fp, pc;
  } anchor;
  size_t wrapper_anchor;  // offset of the previous anchor in a JavaCallWrapper

  // The interpreter's code, and the address to which a call from native code into Java returns.
  uintptr_t interpreter_begin, interpreter_end, call_stub_return;

  struct {
    const void* const* heaps;  // GrowableArray<CodeHeap*>**
    size_t heap_count, heap_list;
    size_t memory, segments, log2_segment;  // in a CodeHeap
    size_t low, high;                       // in a VirtualSpace
    size_t block_used, block_size;          // of a HeapBlock
  } cache;

  struct {
    size_t name, kind, size, code_begin, frame_size;
  } blob;
  struct {
    size_t method, compile_id, level, original_pc;
    size_t deopt_handler, deopt_mh_handler;
    size_t scopes_pcs, scopes_end, scopes_data, metadata;
  } compiled;
  // JDK 25: code_begin, the deopt handlers, scopes_pcs and scopes_data are distances, the last two from
  // immutable_data, and the metadata follow the relocations in mutable_data. Before: pointers, except for scopes_pcs,
  // scopes_end, metadata.
  bool has_distances;
  size_t immutable_data, immutable_size, mutable_data, mutable_size, relocation_size;
  uint8_t nmethod_kind;

  size_t pc_desc_size, pc_desc_pc, pc_desc_scope;
  uint8_t excluded_bytes;  // UNSIGNED5: byte values below this are not digits
};

}  // namespace heaprec::hotspot
