// Property: whatever a table of native memory holds, reading it ends, and its sites and modules are in bounds.
//
// Input: 4 bytes that shorten the table (bytes cut off its end), then patches of 12 bytes: where, and 8 bytes to put
// there. A table has megabytes, nearly all of them zero; patches reach all of it.
#include <algorithm>
#include <cstring>

#include "format/native/native_table.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"
#include "tools/input/native_table_file.h"

namespace heaprec::fuzz {
namespace {

constexpr size_t kBytes = format::kNativeRowsAt + 2 * format::kNativeChunkBytes;
constexpr size_t kPatch = 12;

template <typename T>
void Put(std::vector<std::byte>* table, size_t at, T value) {
  std::memcpy(table->data() + at, &value, sizeof value);
}

// One module, one site in it, one chunk with its sums.
std::vector<std::byte> SmallTable() {
  using namespace format;  // NOLINT(google-build-using-namespace): the layout's names
  std::vector<std::byte> table(kBytes);
  Put(&table, offsetof(NativeHeader, magic), kNativeMagic);
  Put(&table, offsetof(NativeHeader, version), kNativeVersion);
  Put(&table, offsetof(NativeHeader, header_bytes), static_cast<uint32_t>(kNativeHeaderBytes));
  Put(&table, offsetof(NativeHeader, depth), uint32_t{1});
  Put(&table, offsetof(NativeHeader, sites_used), uint32_t{2});
  Put(&table, offsetof(NativeHeader, modules_used), uint32_t{1});
  Put(&table, offsetof(NativeHeader, chunks_used), uint32_t{2});
  const size_t site = kNativeSitesAt + sizeof(NativeSite);
  Put(&table, site + offsetof(NativeSite, key), uint64_t{7});
  Put(&table, site + offsetof(NativeSite, depth), uint32_t{1});
  Put(&table, site + offsetof(NativeSite, pcs), uint64_t{0x1010});
  Put(&table, kNativeModulesAt + offsetof(NativeModule, begin), uint64_t{0x1000});
  Put(&table, kNativeModulesAt + offsetof(NativeModule, end), uint64_t{0x2000});
  Put(&table, kNativeChunksAt + offsetof(NativeShard, first_site), uint32_t{1});
  Put(&table, kNativeRowsAt + sizeof(NativeSiteCounters), uint64_t{64});
  Put(&table, kNativeRowsAt + sizeof(NativeSiteCounters) + 8, uint64_t{1});
  return table;
}

std::vector<Input> Seeds() {
  std::vector<Input> seeds{Input(4)};
  for (const uint32_t at :
       {uint32_t{offsetof(format::NativeHeader, sites_used)}, uint32_t{offsetof(format::NativeHeader, overrun_site)},
        static_cast<uint32_t>(format::kNativeSitesAt + sizeof(format::NativeSite) + 8),
        static_cast<uint32_t>(format::kNativeModulesAt), uint32_t{format::kNativeChunksAt},
        uint32_t{format::kNativeRowsAt}}) {
    Input& seed = seeds.emplace_back(4 + kPatch, uint8_t{0xff});
    std::memset(seed.data(), 0, 4);
    std::memcpy(seed.data() + 4, &at, sizeof at);
  }
  return seeds;
}

void Check(const uint8_t* bytes, size_t size) {
  static const std::vector<std::byte> small = SmallTable();
  static const MemoryFile file;
  if (size < 4) return;
  uint32_t cut = 0;
  std::memcpy(&cut, bytes, sizeof cut);
  std::vector<std::byte> table = small;
  for (size_t at = 4; at + kPatch <= size; at += kPatch) {
    uint32_t where = 0;
    std::memcpy(&where, bytes + at, sizeof where);
    std::memcpy(table.data() + where % (kBytes - 8), bytes + at + sizeof where, 8);
  }
  table.resize(kBytes - cut % kBytes);
  file.Set(table);
  const auto read = tools::ReadNativeTable(file.path());
  if (!read.ok()) {
    Require(read.error().message.starts_with(file.path()));
    return;
  }
  Require(read->modules.size() <= format::kMaxNativeModules);
  for (const auto& place : read->places) {
    Require(place.pcs.size() <= format::kMaxNativeFrames && (place.first == 0 || place.first < place.pcs.size()));
  }
}

const Registered kRegistered(
    {.name = "native_table", .seeds = Seeds, .check = Check, .mutations = 400});  // each reads a table of 2.5 MB

}  // namespace
}  // namespace heaprec::fuzz
