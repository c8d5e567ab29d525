#include "recorder/hotspot/stacks/stack_layout.h"

#include <string>

#include "recorder/hotspot/memory.h"

namespace heaprec::hotspot {
namespace {

void ResolveThread(NeededFields& fields, StackLayout* out) {
  out->thread = {fields.At("JavaThread", "_anchor"), fields.At("JavaThread", "_stack_base"),
                 fields.At("JavaThread", "_stack_size")};
  out->anchor = {fields.At("JavaFrameAnchor", "_last_Java_sp"), fields.At("JavaFrameAnchor", "_last_Java_fp"),
                 fields.At("JavaFrameAnchor", "_last_Java_pc")};
  out->wrapper_anchor = fields.At("JavaCallWrapper", "_anchor");
}

void ResolveCodeCache(NeededFields& fields, const VmStructs& structs, StackLayout* out) {
  // JDK 17 introduced a base of GrowableArray; the count is the first word in both cases.
  const size_t count = structs.Offset("GrowableArrayBase", "_len").value_or(0);
  out->cache = {static_cast<const void* const*>(fields.Static("CodeCache", "_heaps")),
                count,
                fields.At("GrowableArray<int>", "_data"),
                fields.At("CodeHeap", "_memory"),
                fields.At("CodeHeap", "_segmap"),
                fields.At("CodeHeap", "_log2_segment_size"),
                fields.At("VirtualSpace", "_low"),
                fields.At("VirtualSpace", "_high"),
                fields.At("HeapBlock::Header", "_used"),
                fields.Size("HeapBlock")};
}

void ResolveCompiled(NeededFields& fields, const VmStructs& structs, StackLayout* out) {
  out->has_distances = structs.Offset("CodeBlob", "_code_offset").has_value();
  const bool distances = out->has_distances;
  out->blob = {fields.At("CodeBlob", "_name"), distances ? fields.At("CodeBlob", "_kind") : 0,
               fields.At("CodeBlob", "_size"), fields.At("CodeBlob", distances ? "_code_offset" : "_code_begin"),
               fields.At("CodeBlob", "_frame_size")};
  // A field of nmethod or, before 25, of its base.
  const auto compiled = [&fields](const char* field) { return fields.At({"nmethod", "CompiledMethod"}, {field}); };
  // Since 26 there is no separate handler for calls of method handles.
  const bool has_one_handler = structs.Offset("nmethod", "_deopt_handler_entry_offset").has_value();
  const char* const deopt = has_one_handler ? "_deopt_handler_entry_offset"
                            : distances     ? "_deopt_handler_offset"
                                            : "_deopt_handler_begin";
  out->compiled = {
      compiled("_method"),
      compiled("_compile_id"),
      compiled("_comp_level"),
      compiled("_orig_pc_offset"),
      compiled(deopt),
      has_one_handler ? compiled(deopt) : compiled(distances ? "_deopt_mh_handler_offset" : "_deopt_mh_handler_begin"),
      compiled("_scopes_pcs_offset"),
      compiled(distances ? "_scopes_data_offset" : "_dependencies_offset"),
      compiled(distances ? "_scopes_data_offset" : "_scopes_data_begin"),
      distances ? 0 : compiled("_metadata_offset")};
  if (distances) {
    out->immutable_data = compiled("_immutable_data");
    out->immutable_size = compiled("_immutable_data_size");
    out->mutable_size = fields.At("CodeBlob", "_mutable_data_size");
    out->mutable_data = fields.At("CodeBlob", "_mutable_data");
    out->relocation_size = fields.At("CodeBlob", "_relocation_size");
    out->nmethod_kind = static_cast<uint8_t>(structs.IntConstant("CodeBlobKind::Nmethod").value_or(0));
  }
  out->pc_desc_size = fields.Size("PcDesc");
  out->pc_desc_pc = fields.At("PcDesc", "_pc_offset");
  out->pc_desc_scope = fields.At("PcDesc", "_scope_decode_offset");
}

// The queue of codelets exists before any agent is loaded.
bool ResolveInterpreter(NeededFields& fields, StackLayout* out) {
  const void* const code = fields.Static("AbstractInterpreter", "_code");
  const void* const stub_return = fields.Static("StubRoutines", "_call_stub_return_address");
  const size_t begin = fields.At("StubQueue", "_stub_buffer");
  const size_t size = fields.At("StubQueue", "_buffer_limit");
  if (!fields.missing().empty()) return false;
  const char* const queue = Load<const char*>(static_cast<const char*>(code));
  if (queue == nullptr) return false;
  out->interpreter_begin = Load<uintptr_t>(queue + begin);
  out->interpreter_end = out->interpreter_begin + static_cast<size_t>(Load<int32_t>(queue + size));
  out->call_stub_return = Load<uintptr_t>(static_cast<const char*>(stub_return));
  return out->interpreter_begin != 0 && out->call_stub_return != 0;
}

}  // namespace

Result<StackLayout> StackLayout::Resolve(const VmStructs& structs, const JdkRules& rules) {
  if (!rules.knows_frames) return Error{"raw stacks: the frames of this JDK are not known"};
  StackLayout out{};
  NeededFields fields(structs);
  ResolveThread(fields, &out);
  ResolveCodeCache(fields, structs, &out);
  ResolveCompiled(fields, structs, &out);
  const bool interpreter = ResolveInterpreter(fields, &out);
  if (!fields.missing().empty()) return Error{"raw stacks: libjvm.so does not describe " + fields.missing()};
  if (!interpreter) return Error{"raw stacks: the interpreter is not ready yet"};
  out.excluded_bytes = rules.excluded_bytes;
  return out;
}

}  // namespace heaprec::hotspot
