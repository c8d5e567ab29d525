#include "tools/input/ring_copy.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/descriptors.h"
#include "format/ring/content_keys.h"
#include "format/ring/ring_reader.h"
#include "format/ring/ring_records.h"
#include "tools/input/confined_open.h"

namespace heaprec::tools {
namespace {

using format::RingHeader;

// A ring has at most 34 MiB with a census; a much larger file is not a ring.
constexpr size_t kMaxRingBytes = size_t{64} << 20;

// Reads the number at `offset` again; nullopt: the file is gone.
template <typename Number>
std::optional<Number> NumberAt(int descriptor, size_t offset) {
  Number number = 0;
  if (!ReadAt(descriptor, std::as_writable_bytes(std::span(&number, 1)), offset)) return std::nullopt;
  return number;
}

// As checked by RingView::Of. Takes no modules if they change meanwhile.
bool ReadModules(int descriptor, size_t offset, std::span<std::byte> into) {
  if (!ReadAt(descriptor, into, offset)) return false;
  static_assert(offsetof(format::RingModules, sequence) == 0);
  const auto after = NumberAt<uint32_t>(descriptor, offset);
  auto* const modules = reinterpret_cast<format::RingModules*>(into.data());
  if (after && modules->sequence != *after) modules->sequence = 1;
  return after.has_value();
}

// The same for pages: takes none that change meanwhile.
bool ReadRows(int descriptor, size_t offset, std::span<std::byte> into) {
  if (!ReadAt(descriptor, into, offset)) return false;
  static_assert(offsetof(format::RingRowPage, block) == 0);
  for (format::RingRowPage& page : *reinterpret_cast<format::RingRowPages*>(into.data())) {
    const auto after = NumberAt<uint64_t>(descriptor, offset);
    if (!after) return false;
    if (page.block.load(std::memory_order_relaxed) != *after) page.block.store(0, std::memory_order_relaxed);
    offset += sizeof(page);
  }
  return true;
}

using format::Dictionaries;
using format::Index;
using format::kNone;
using format::RingFrame;
using format::StackKey;

constexpr StackKey kNoStackKey{0, 0};
// Deeper than any recorded stack: a longer path in a damaged tree is a loop.
constexpr size_t kMaxDepth = 1 << 16;

// Returns the frames from node `leaf` to the root, with methods as keys; nullopt if the tree is damaged.
std::optional<bool> WalkPath(const Dictionaries& dictionaries, const std::vector<uint64_t>& method_keys, Index leaf,
                             std::vector<RingFrame>* path) {
  path->clear();
  bool truncated = false;
  for (Index at = leaf; at != kNone; at = dictionaries.stacks[at].parent) {
    if (at >= dictionaries.stacks.size() || path->size() > kMaxDepth) return std::nullopt;
    const format::StackNode& node = dictionaries.stacks[at];
    if (node.frame >= dictionaries.frames.size()) return std::nullopt;
    const format::Frame& frame = dictionaries.frames[node.frame];
    path->push_back(
        {frame.method < method_keys.size() ? method_keys[frame.method] : 0, frame.bci, frame.line, frame.type});
    truncated |= node.truncated;
  }
  return truncated;
}

// Returns the index of `key` in `entries`; `known` caches indices of entries from `defined`.
template <typename Key, typename Defined, typename Known, typename Entry>
Index Intern(const Key& key, const Defined& defined, Known& known, std::vector<Entry>& entries) {
  const auto [at, is_new] = known.try_emplace(key, kNone);
  if (!is_new) return at->second;
  const auto definition = defined.find(key);
  if (definition == defined.end()) return kNone;
  entries.push_back(definition->second);
  return at->second = static_cast<Index>(entries.size() - 1);
}

template <typename Key, typename Known, typename Entry>
Index InternValue(const Key& key, const Entry& entry, Known& known, std::vector<Entry>& entries) {
  const auto [at, is_new] = known.try_emplace(key, static_cast<Index>(entries.size()));
  if (is_new) entries.push_back(entry);
  return at->second;
}

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

Result<OpenedRing> OpenedRing::Open(const std::string& path, const format::RecordingId& recording,
                                    const std::string& root) {
  return Check(OpenRegularBelow(root, path), path, recording);
}

Result<OpenedRing> OpenedRing::OpenOf(uid_t owner, const std::string& path, const format::RecordingId& recording) {
  return Check(OpenRegularOf(owner, path), path, recording);
}

// Checks the header alone.
Result<OpenedRing> OpenedRing::Check(Descriptor file, const std::string& path, const format::RecordingId& recording) {
  if (!file.is_open()) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  alignas(RingHeader) std::array<std::byte, format::kRingHeaderBytes> page;
  if (!ReadAt(file.number(), page, 0)) return Error{path + ": not a ring"};
  const auto* header = reinterpret_cast<const RingHeader*>(page.data());
  if (header->magic != format::kRingMagic) return Error{path + ": not a ring"};
  if (std::memcmp(header->recording_id, recording.data(), recording.size()) != 0) {
    return Error{path + ": belongs to another recording"};
  }
  return OpenedRing(path, std::move(file),
                    {static_cast<format::RingState>(header->state.load()), header->heartbeat_ns.load()});
}

Result<RingCopy> RingCopy::Of(const OpenedRing& ring) {
  const std::string& path = ring.path();
  const int file = ring.file().number();
  struct stat status {};
  if (fstat(file, &status) != 0) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  const auto size = static_cast<size_t>(status.st_size);
  if (size > kMaxRingBytes) return Error{path + ": too large for a ring"};

  RingCopy copy(size);
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(copy.words_)).first(size);
  const Error truncated{path + ": truncated while it was being read"};
  if (size < format::kRingHeaderBytes || !ReadAt(file, bytes.first(format::kRingHeaderBytes), 0)) return truncated;
  auto view = format::RingView::Of(bytes);
  if (!view.ok()) return Error{fmt::format("{}: {}", path, view.error().message)};
  const auto* header = reinterpret_cast<const RingHeader*>(bytes.data());
  static_assert(offsetof(format::LaneHeader, head) == 0 && offsetof(format::LaneHeader, tail) == sizeof(uint64_t));
  const size_t stride = size_t{header->lane_header_bytes} + header->lane_bytes;
  for (uint32_t lane = 0; lane < header->lane_count; ++lane) {
    const size_t at = header->header_bytes + lane * stride;
    copy.heads_.push_back(NumberAt<uint64_t>(file, at).value_or(0));
    if (!ReadAt(file, bytes.subspan(at, stride), at)) return truncated;
  }
  for (uint32_t lane = 0; lane < header->lane_count; ++lane) {
    const size_t tail_at = header->header_bytes + lane * stride + sizeof(uint64_t);
    copy.tails_.push_back(NumberAt<uint64_t>(file, tail_at).value_or(0));
  }
  // The drain clears what it has written to the file. So a copy of a running recorder's ring may lack counts, and then
  // the file has them.
  const auto part = [&](uint64_t at, size_t part_bytes) { return bytes.subspan(at, part_bytes); };
  const uint64_t census = header->census_at, modules = header->modules_at, rows = header->rows_at;
  if ((census != 0 && !ReadAt(file, part(census, sizeof(format::RingCensusPages)), census)) ||
      (modules != 0 && !ReadModules(file, modules, part(modules, sizeof(format::RingModules)))) ||
      (rows != 0 && !ReadRows(file, rows, part(rows, sizeof(format::RingRowPages))))) {
    return truncated;
  }
  copy.view_ = std::make_unique<format::RingView>(std::move(*view));
  return copy;
}

format::StreamCounters RingCopy::counters(format::Stream stream) const {
  const format::RingCounters& from = view_->header().CountersOf(stream);
  format::StreamCounters counters;
  counters.candidates = from.candidates;
  counters.candidate_bytes = from.candidate_bytes;
  counters.points = from.points;
  counters.thinned = from.thinned;
  counters.committed = from.committed;
  counters.written = from.written;
  counters.second_stage = from.second_stage;
  if (stream == format::Stream::kAllocations) {
    const format::RingStacks& stacks = view_->header().stacks;
    counters.stacks_walked = stacks.walked;
    counters.stacks_from_jvmti = stacks.asked;
    counters.stack_mismatches = stacks.differed;
  }
  if (stream == format::Stream::kNative) counters.unseen_allocators = view_->header().unseen_allocators;
  for (int reason = 0; reason < format::kRingLosses; ++reason) {
    counters.lost[reason] = from.lost[reason];
    counters.lost_weight[reason] = from.lost_weight[reason];
  }
  if (stream == format::Stream::kAllocations) {
    counters.SetStackChunks(view_->header().stack_chunks.objects, view_->header().stack_chunks.bytes);
  }
  return counters;
}

void RingDefinitions::Require(uint64_t class_key, uint64_t thread_key, const StackKey& stack_key) {
  if (class_key != 0 && !classes.contains(class_key)) missing_classes_.insert(class_key);
  if (thread_key != 0 && !threads.contains(thread_key)) missing_threads_.insert(thread_key);
  if (stack_key != kNoStackKey && !stacks.contains(stack_key)) missing_stacks_.insert(stack_key);
}

void RingDefinitions::RequireMethodsOfStacks() {
  for (const auto& [key, stack] : stacks) {
    for (const RingFrame& frame : stack.leaf_first) {
      if (frame.method != 0 && !methods.contains(frame.method)) missing_methods_.insert(frame.method);
    }
  }
}

bool RingDefinitions::is_incomplete() const {
  return !(missing_classes_.empty() && missing_methods_.empty() && missing_threads_.empty() && missing_stacks_.empty());
}

void RingDefinitions::TakeFrom(const format::Block& block) {
  const Dictionaries& from = *block.dictionaries;
  if (block.chunk != chunk_ || from.stacks.size() < stacks_seen_ || from.classes.size() < classes_seen_) {
    chunk_ = block.chunk;
    classes_seen_ = methods_seen_ = threads_seen_ = stacks_seen_ = 0;
    method_keys_.clear();
  }
  for (; classes_seen_ < from.classes.size(); ++classes_seen_) {
    const std::string& name = from.classes[classes_seen_];
    const uint64_t key = format::ClassKey(name);
    if (missing_classes_.erase(key) > 0) classes.emplace(key, name);
  }
  for (; methods_seen_ < from.methods.size(); ++methods_seen_) {
    const format::Method& method = from.methods[methods_seen_];
    const uint64_t key = format::MethodKey(method.class_name, method.name, method.descriptor);
    method_keys_.push_back(key);
    if (missing_methods_.erase(key) > 0) methods.emplace(key, method);
  }
  for (; threads_seen_ < from.threads.size(); ++threads_seen_) {
    const format::Thread& thread = from.threads[threads_seen_];
    const uint64_t key = format::ThreadKey(thread.java_tid, thread.os_tid, thread.is_virtual, thread.name);
    if (missing_threads_.erase(key) > 0) threads.emplace(key, thread);
  }
  for (; stacks_seen_ < from.stacks.size(); ++stacks_seen_) {
    if (!missing_stacks_.empty()) TakeStack(from, static_cast<Index>(stacks_seen_));
  }
}

// Any node may be the leaf of a stack, so every node's key is computed.
void RingDefinitions::TakeStack(const Dictionaries& dictionaries, Index node) {
  const std::optional<bool> truncated = WalkPath(dictionaries, method_keys_, node, &path_);
  if (!truncated) return;
  const StackKey key = format::KeyOfStack(path_, *truncated);
  if (missing_stacks_.erase(key) == 0) return;
  for (Index at = node; at != kNone; at = dictionaries.stacks[at].parent) {
    const Index method = dictionaries.frames[dictionaries.stacks[at].frame].method;
    if (method < method_keys_.size()) methods.emplace(method_keys_[method], dictionaries.methods[method]);
  }
  stacks.emplace(key, KeyedStack{path_, *truncated});
}

Index KeyedDictionaries::Class(uint64_t key) { return Intern(key, definitions_.classes, classes_, into_.classes); }
Index KeyedDictionaries::Thread(uint64_t key) { return Intern(key, definitions_.threads, threads_, into_.threads); }
Index KeyedDictionaries::Method(uint64_t key) { return Intern(key, definitions_.methods, methods_, into_.methods); }

Index KeyedDictionaries::FrameOf(const format::RingFrame& ring) {
  const format::Frame frame{Method(ring.method), ring.bci, ring.line, ring.type};
  return InternValue(std::tuple(frame.method, frame.bci, frame.line, frame.type), frame, frames_, into_.frames);
}

Index KeyedDictionaries::Node(Index parent, Index frame, bool truncated) {
  const format::StackNode node{parent, frame, truncated};
  return InternValue(std::tuple(parent, frame, truncated), node, nodes_, into_.stacks);
}

Index KeyedDictionaries::Stack(format::StackKey key) {
  const auto [at, is_new] = stacks_.try_emplace(key, kNone);
  const auto definition = definitions_.stacks.find(key);
  if (!is_new || definition == definitions_.stacks.end()) return at->second;
  return at->second = Nodes(definition->second.leaf_first, definition->second.truncated);
}

Index KeyedDictionaries::Path(format::StackKey key) {
  const auto [at, is_new] = paths_.try_emplace(key, kNone);
  const auto definition = definitions_.stacks.find(key);
  if (!is_new || definition == definitions_.stacks.end()) return at->second;
  const std::span<const RingFrame> frames = definition->second.leaf_first;
  const format::Path path = format::PathOf(frames.size(), definition->second.truncated,
                                           [&](size_t i) { return IsPrimitive(frames[i].method); });
  return at->second = Nodes(frames.first(path.frames), path.truncated);
}

bool KeyedDictionaries::IsPrimitive(uint64_t method) {
  const auto [at, is_new] = is_primitive_.try_emplace(method, false);
  const auto definition = definitions_.methods.find(method);
  if (is_new && definition != definitions_.methods.end())
    at->second = primitives_.HasMethod(definition->second.class_name, definition->second.name);
  return at->second;
}

Index KeyedDictionaries::Nodes(std::span<const RingFrame> leaf_first, bool truncated) {
  Index node = kNone;
  for (auto frame = leaf_first.rbegin(); frame != leaf_first.rend(); ++frame) {
    node = Node(node, FrameOf(*frame), node == kNone && truncated);
  }
  return node;
}

NativePointNames::NativePointNames(std::span<const format::RingModule> modules)
    : modules_(ModulesOf(modules)), symbols_(modules_) {}

format::CodeLocation NativePointNames::At(uint64_t return_address) {
  // No native memory was recorded, or the process died while it wrote the list: only addresses are known.
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

// As the drain names them: up to the first frame outside all libraries.
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
