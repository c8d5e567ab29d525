#include "format/ring/content_keys.h"

#define XXH_STATIC_LINKING_ONLY  // XXH3_state_t on the stack: no allocation
#include <xxhash.h>

#include <algorithm>
#include <array>

namespace heaprec::format {
namespace {

constexpr size_t kShortMethod = 256;

class Hasher {
 public:
  Hasher() { XXH3_64bits_reset(&state_); }
  Hasher& Add(std::string_view text) {
    XXH3_64bits_update(&state_, text.data(), text.size());
    return *this;
  }
  template <typename T>
  Hasher& AddInteger(T value) {
    XXH3_64bits_update(&state_, &value, sizeof(value));
    return *this;
  }
  uint64_t Digest() const { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

}  // namespace

uint64_t ClassKey(std::string_view name) { return XXH3_64bits(name.data(), name.size()); }

uint64_t MethodKey(std::string_view class_name, std::string_view name, std::string_view descriptor) {
  // Nearly all methods are this short, and hashing one contiguous text is faster.
  std::array<char, kShortMethod> text;
  if (class_name.size() + name.size() + descriptor.size() + 2 > text.size()) {
    return Hasher().Add(class_name).AddInteger('\0').Add(name).AddInteger('\0').Add(descriptor).Digest();
  }
  char* end = std::copy(class_name.begin(), class_name.end(), text.begin());
  *end++ = '\0';
  end = std::copy(name.begin(), name.end(), end);
  *end++ = '\0';
  end = std::copy(descriptor.begin(), descriptor.end(), end);
  return XXH3_64bits(text.data(), static_cast<size_t>(end - text.data()));
}

StackKey KeyOfStack(std::span<const RingFrame> leaf_first, bool truncated) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(leaf_first.data(), leaf_first.size_bytes(), truncated ? 1 : 0);
  return {hash.low64, hash.high64};
}

uint64_t ThreadKey(uint64_t java_tid, uint32_t os_tid, bool is_virtual, std::string_view name) {
  return Hasher().AddInteger(java_tid).AddInteger(os_tid).AddInteger(uint32_t{is_virtual}).Add(name).Digest();
}

uint64_t CallPathKey(std::span<const RingFrame> leaf_first) {
  constexpr size_t kMethods = 4;
  constexpr int kBits = 16;
  uint64_t path = 0;
  for (size_t i = 0; i < std::min(leaf_first.size(), kMethods); ++i)
    path |= leaf_first[i].method >> (64 - kBits) << (kBits * static_cast<int>(kMethods - 1 - i));
  return path;
}

}  // namespace heaprec::format
