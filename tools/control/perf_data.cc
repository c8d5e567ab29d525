#include "tools/control/perf_data.h"

#include <cstdint>
#include <cstring>

namespace heaprec::tools {
namespace {

constexpr std::string_view kMagic("\xca\xfe\xc0\xc0", 4);
constexpr size_t kByteOrder = 4;  // 1: little-endian, the only one of this machine
constexpr size_t kMajor = 5;
constexpr size_t kEntryOffset = 24, kEntries = 28, kPrologue = 32;
// Layout of an entry: length, offset of the name, length of the vector, type, three bytes, offset of the data.
constexpr size_t kNameAt = 4, kVectorAt = 8, kTypeAt = 12, kDataAt = 16, kEntry = 20;

// Zero beyond the end.
uint32_t WordAt(std::string_view file, size_t at) {
  uint32_t word = 0;
  if (at <= file.size() && file.size() - at >= sizeof word) std::memcpy(&word, file.data() + at, sizeof word);
  return word;
}

// Up to its zero, or the end.
std::string_view TextAt(std::string_view file, size_t at, size_t most) {
  if (at >= file.size()) return {};
  file = file.substr(at, most);
  return file.substr(0, file.find('\0'));
}

}  // namespace

std::map<std::string, std::string> PerfDataStrings(std::string_view file) {
  std::map<std::string, std::string> strings;
  if (file.size() < kPrologue || !file.starts_with(kMagic) || file[kByteOrder] != 1 || file[kMajor] != 2) return {};
  size_t at = WordAt(file, kEntryOffset);
  for (uint32_t left = WordAt(file, kEntries); left > 0 && at < file.size() && file.size() - at >= kEntry; --left) {
    const std::string_view entry = file.substr(at);
    const size_t length = WordAt(entry, 0);
    if (length < kEntry) break;
    if (entry[kTypeAt] == 'B') {
      strings.emplace(TextAt(entry, WordAt(entry, kNameAt), length),
                      TextAt(entry, WordAt(entry, kDataAt), WordAt(entry, kVectorAt)));
    }
    at += length;
  }
  return strings;
}

}  // namespace heaprec::tools
