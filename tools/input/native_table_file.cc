#include "tools/input/native_table_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <span>
#include <unordered_map>

#include "format/native/native_frames.h"
#include "tools/input/confined_open.h"

namespace heaprec::tools {
namespace {

using format::NativeHeader;
using format::NativeModule;
using format::NativeShard;
using format::NativeSite;
using format::NativeSiteCounters;

constexpr size_t kMaxBytes = format::kNativeRowsAt + format::kMaxNativeShards * format::kNativeChunkBytes;

Result<std::string> ReadAll(const std::string& path) {
  const Descriptor file = OpenRegularBelow("", path);
  struct stat status {};
  if (!file.is_open() || fstat(file.number(), &status) != 0) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    return Error{fmt::format("{}: {}", path, errno == EINVAL ? "not a regular file" : std::strerror(errno))};
  }
  std::string bytes(std::min<size_t>(static_cast<size_t>(status.st_size), kMaxBytes), '\0');
  size_t have = 0;
  for (ssize_t got = 1; got > 0 && have < bytes.size(); have += static_cast<size_t>(std::max<ssize_t>(got, 0))) {
    got = pread(file.number(), bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
  }
  bytes.resize(have);
  return bytes;
}

// Copies data that another process may be writing: values may be from different moments, but are in range.
template <typename T>
class Copy {
 public:
  Copy(const std::string& bytes, size_t offset) { std::memcpy(storage_, bytes.data() + offset, sizeof storage_); }
  const T* operator->() const { return reinterpret_cast<const T*>(storage_); }
  const T& operator*() const { return *reinterpret_cast<const T*>(storage_); }

 private:
  alignas(T) char storage_[sizeof(T)];
};

template <size_t kSize>
std::string TextOf(const char (&text)[kSize]) {
  return {text, strnlen(text, kSize)};
}

std::vector<LoadedModule> ModulesOf(const std::string& bytes, uint32_t count) {
  std::vector<LoadedModule> modules;
  for (uint32_t i = 0; i < std::min(count, format::kMaxNativeModules); ++i) {
    const Copy<NativeModule> module(bytes, format::kNativeModulesAt + i * sizeof(NativeModule));
    const std::span build_id =
        std::span(module->build_id).first(std::min<size_t>(module->build_id_bytes, sizeof module->build_id));
    modules.push_back({module->begin, module->end, module->bias, fmt::format("{:02x}", fmt::join(build_id, "")),
                       TextOf(module->path), module->from, module->until});
  }
  return modules;
}

// By number. Number 0 is for calls without a site.
std::map<uint32_t, NativeSums> SumsOf(const std::string& bytes, uint32_t chunks) {
  std::map<uint32_t, NativeSums> sums;
  const size_t whole = (bytes.size() - format::kNativeRowsAt) / format::kNativeChunkBytes;
  for (uint32_t i = 0; i < std::min<size_t>({chunks, whole, format::kMaxNativeShards}); ++i) {
    const Copy<NativeShard> chunk(bytes, format::kNativeChunksAt + i * sizeof(NativeShard));
    const uint32_t first = chunk->first_site;
    if (first == 0 || first > format::kMaxNativeSites) continue;
    for (uint32_t row = 0; row < format::kNativeShardSites; ++row) {
      const Copy<NativeSiteCounters> one(
          bytes, format::kNativeRowsAt + i * format::kNativeChunkBytes + row * sizeof(NativeSiteCounters));
      const NativeSums of_thread{one->allocated_bytes, one->allocated_blocks, one->freed_bytes, one->freed_blocks};
      if (of_thread.allocated_blocks != 0 || of_thread.freed_blocks != 0) sums[first - 1 + row] += of_thread;
    }
  }
  return sums;
}

// Site 0 has no call stack.
NativePlace PlaceOf(const std::string& bytes, uint32_t number, uint64_t* key) {
  NativePlace place;
  if (number == 0 || number >= format::kMaxNativeSites) return place;
  const Copy<NativeSite> site(bytes, format::kNativeSitesAt + number * sizeof(NativeSite));
  const uint32_t depth = std::min<uint32_t>(site->depth, format::kMaxNativeFrames);
  place.pcs.assign(site->pcs, site->pcs + depth);
  place.first = std::min<size_t>(site->first, depth > 0 ? depth - 1 : 0);
  place.replaced = site->replaced;
  *key = depth > 0 ? site->key : 0;
  return place;
}

std::vector<NativePlace> PlacesOf(const std::string& bytes, uint32_t chunks) {
  std::vector<NativePlace> places;
  std::unordered_map<uint64_t, size_t> by_key;
  for (const auto& [number, sums] : SumsOf(bytes, chunks)) {
    uint64_t key = 0;
    NativePlace place = PlaceOf(bytes, number, &key);
    const auto [known, is_new] = by_key.emplace(key, places.size());
    if (is_new) places.push_back(std::move(place));
    places[known->second].sums += sums;
  }
  return places;
}

}  // namespace

NativeSums& NativeSums::operator+=(const NativeSums& other) {
  allocated_bytes += other.allocated_bytes;
  allocated_blocks += other.allocated_blocks;
  freed_bytes += other.freed_bytes;
  freed_blocks += other.freed_blocks;
  return *this;
}

Result<NativeTableFile> ReadNativeTable(const std::string& path) {
  const auto read = ReadAll(path);
  if (!read.ok()) return read.error();
  const std::string& bytes = *read;
  if (bytes.size() < sizeof(NativeHeader))
    return Error{fmt::format("{}: not a native memory table: only {} bytes", path, bytes.size())};
  const Copy<NativeHeader> header(bytes, 0);
  if (header->magic != format::kNativeMagic) return Error{fmt::format("{}: offset 0: not a native memory table", path)};
  if (header->version != format::kNativeVersion || header->header_bytes != format::kNativeHeaderBytes) {
    return Error{
        fmt::format("{}: offset 8: version {}; this heaprec reads {}", path, header->version, format::kNativeVersion)};
  }
  if (bytes.size() < format::kNativeRowsAt) {
    return Error{
        fmt::format("{}: the file ends at {}, before its sites begin ({})", path, bytes.size(), format::kNativeRowsAt)};
  }
  NativeTableFile table;
  table.path = path;
  table.program = TextOf(header->program);
  table.pid = header->pid;
  table.depth = header->depth;
  table.has_ended = header->state == static_cast<uint32_t>(format::NativeState::kEnded);
  table.start_epoch_ns = header->start_epoch_ns;
  table.early_blocks = header->early_blocks;
  table.early_bytes = header->early_bytes;
  table.foreign_frees = header->foreign_frees;
  table.without_shard = header->without_shard;
  table.checks = header->checks != 0;
  table.overruns = header->overruns;
  uint64_t ignored = 0;
  table.first_overrun = PlaceOf(bytes, std::max<uint32_t>(header->overrun_site, 1) - 1, &ignored);
  table.sites = header->sites_used;
  table.modules = ModulesOf(bytes, header->modules_used);
  table.places = PlacesOf(bytes, header->chunks_used);
  return table;
}

const LoadedModule* TableSymbolizer::ModuleOf(uint64_t pc, uint32_t replaced) const {
  const auto found = std::find_if(modules_.rbegin(), modules_.rend(),
                                  [=](const LoadedModule& module) { return module.Holds(pc, replaced); });
  return found == modules_.rend() ? nullptr : &*found;
}

const TableSymbolizer::Function& TableSymbolizer::At(uint64_t pc, uint32_t replaced) {
  const LoadedModule* const module = ModuleOf(pc, replaced);
  const auto [known, is_new] = known_.try_emplace({module, pc});
  Function& function = known->second;
  if (!is_new) return function;
  if (module == nullptr) {
    function = {fmt::format("{:#x}", pc), "?", false};
    return function;
  }
  function.module = module->path.substr(module->path.rfind('/') + 1);
  const uint64_t address = pc - module->bias;
  // A call at the very end of a function returns to the address after it. The module's path may now refer to another
  // file.
  const ElfFunctions& functions = functions_.try_emplace(module, module->path, module->build_id, OpenElf).first->second;
  auto [symbol, offset] = functions.At(address - 1);
  function.is_known = !symbol.empty();
  function.name = function.is_known ? format::Demangled(symbol) : fmt::format("{}+{:#x}", function.module, address);
  function.symbol = std::move(symbol);
  function.offset = offset;
  return function;
}

}  // namespace heaprec::tools
