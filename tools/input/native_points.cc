#include "tools/input/native_points.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "format/ring/address_frames.h"
#include "format/ring/call_path_key.h"
#include "format/ring/ring_reader.h"

namespace heaprec::tools {
namespace {

template <size_t N>
std::string TextOf(const char (&chars)[N]) {
  return {chars, strnlen(chars, N)};
}

std::vector<LoadedModule> ModulesOf(std::span<const format::RingModule> modules) {
  std::vector<LoadedModule> loaded;
  loaded.reserve(modules.size());
  for (const format::RingModule& module : modules) {
    loaded.push_back({module.begin, module.end, module.bias, TextOf(module.build_id), TextOf(module.path)});
  }
  return loaded;
}

uint64_t Define(RingDefinitions* definitions, const format::Method& method) {
  const uint64_t key = format::MethodKey(method.class_name, method.name, method.descriptor);
  definitions->methods.try_emplace(key, method);
  return key;
}

}  // namespace

NativePointNames::NativePointNames(std::span<const format::RingModule> modules)
    : modules_(ModulesOf(modules)), symbols_(modules_) {}

format::CodeLocation NativePointNames::At(uint64_t return_address) {
  // No native memory was recorded, or the process died while it wrote the list: addresses are all there is.
  if (modules_.empty()) return {"?", fmt::format("{:#x}", return_address - 1), "", 0};
  const LoadedModule* const module = symbols_.ModuleOf(return_address - 1, 0);
  if (module == nullptr) return {};
  const TableSymbolizer::Function& function = symbols_.At(return_address, 0);
  format::CodeLocation location{function.module, format::DemangledFunction(function.symbol), module->build_id,
                                function.offset};
  if (function.symbol.empty()) location.function = fmt::format("{:#x}", return_address - 1 - module->bias);
  return location;
}

std::vector<format::RingFrame> NativePointNames::FramesOf(const NativePoint& point, RingDefinitions* definitions) {
  std::vector<format::CodeLocation> locations;
  for (const uint64_t pc : point.pcs) locations.push_back(At(pc));
  return format::FramesToShow(
      locations.size(), [&](size_t i) -> const format::CodeLocation& { return locations[i]; },
      [&](const format::CodeLocation& location) {
        return Define(definitions, {location.module, location.function, location.build_id});
      },
      format::Kind::kNative, point.java, point.record.is_cut != 0);
}

format::SampleRecord NativePointNames::SampleOf(const NativePoint& point, RingDefinitions* definitions) {
  const format::NativePointRecord& record = point.record;
  const std::string class_name = format::kNativeFunctions[record.function];
  const std::string thread_name = TextOf(record.thread_name);
  const std::vector<format::RingFrame> frames = FramesOf(point, definitions);
  format::SampleRecord sample{};
  sample.monotonic_ns = record.monotonic_ns;
  sample.id = record.id;
  sample.thread_key = format::ThreadKey(0, record.os_tid, false, thread_name);
  sample.class_key = format::ClassKey(class_name);
  if (!frames.empty()) sample.stack_key = format::KeyOfStack(frames, /*truncated=*/false);
  sample.call_path = format::CallPathKey(frames);
  sample.size = record.size;
  sample.weight = record.weight;
  sample.window = record.window;
  sample.kind = static_cast<uint16_t>(format::Kind::kNative);
  sample.tracking_index = record.tracking_index;
  definitions->threads.try_emplace(sample.thread_key, format::Thread{0, record.os_tid, false, thread_name});
  definitions->classes.try_emplace(sample.class_key, class_name);
  if (!frames.empty()) definitions->stacks.try_emplace(sample.stack_key, KeyedStack{frames, false});
  return sample;
}

// As the drain names them: up to the first that is in no library.
void NativePointNames::NameStacksOf(RingDefinitions* definitions) {
  for (auto& [key, stack] : definitions->stacks) {
    if (!format::AreAddresses(stack.leaf_first)) continue;
    std::vector<format::RingFrame> named;
    for (const format::RingFrame& address : stack.leaf_first) {
      const format::CodeLocation location = At(address.method);
      if (location.module.empty()) break;
      named.push_back({Define(definitions, {location.module, location.function, location.build_id}),
                       static_cast<int32_t>(location.offset), -1, format::FrameType::kNative});
    }
    stack.leaf_first = std::move(named);
  }
}

}  // namespace heaprec::tools
