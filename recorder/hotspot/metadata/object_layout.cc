#include "recorder/hotspot/metadata/object_layout.h"

#include <string_view>

namespace heaprec::hotspot {

Result<ObjectLayout> ObjectLayout::Resolve(const VmStructs& structs, const JdkRules& rules, const Names& names) {
  ObjectLayout layout;
  layout.names_ = names;
  const bool compact = structs.BoolFlag("UseCompactObjectHeaders").value_or(false);
  const bool compressed = compact || structs.BoolFlag("UseCompressedClassPointers").value_or(true);
  const auto helper = structs.Offset("Klass", "_layout_helper");
  // JDK 27 and later have only compressed class pointers.
  const auto klass = structs.Offset("oopDesc", {"_metadata._klass", "_compressed_klass"});
  const auto alignment = structs.IntFlag("ObjectAlignmentInBytes");
  layout.mirror_size_ = static_cast<const int*>(structs.Static("java_lang_Class", "_oop_size_offset"));
  if (!helper || !klass || !alignment || layout.mirror_size_ == nullptr) {
    return Error{"libjvm.so does not describe its objects"};
  }
  layout.layout_helper_ = *helper;
  layout.klass_offset_ = *klass;
  layout.alignment_ = static_cast<uint64_t>(*alignment);
  layout.compressed_oops_ = structs.BoolFlag("UseCompressedOops").value_or(true);
  layout.length_offset_ = *klass + 8;
  if (!compressed) return layout;
  // "CompressedKlassPointers" since 17; later versions moved its members out of their struct.
  const auto find = [&](const char* older, const char* newer) {
    void* const found = structs.Static(rules.narrow_klass_owner, older);
    return found != nullptr ? found : structs.Static(rules.narrow_klass_owner, newer);
  };
  layout.narrow_base_ = static_cast<const char* const*>(find("_narrow_klass._base", "_base"));
  layout.narrow_shift_ = static_cast<const int*>(find("_narrow_klass._shift", "_shift"));
  if (layout.narrow_base_ == nullptr || layout.narrow_shift_ == nullptr) {
    return Error{"libjvm.so does not describe its compressed class pointers"};
  }
  layout.header_ = compact ? Header::kCompact : Header::kCompressed;
  layout.length_offset_ = compact ? 8 : *klass + 4;
  if (!compact) return layout;
  const auto shift = structs.LongConstant("markWord::klass_shift");
  if (!shift) return Error{"libjvm.so does not describe its compact headers"};
  layout.mark_shift_ = static_cast<int>(*shift);
  return layout;
}

const void* ObjectLayout::KlassOf(uint64_t word) const {
  if (word == 0) return nullptr;
  const auto* const wide = reinterpret_cast<const char*>(word);  // NOLINT: as the JVM has it
  return Metadata(header_ == Header::kWide ? wide : *narrow_base_ + (word << *narrow_shift_));
}

bool ObjectLayout::IsReadable(const void* klass) const {
  return SafeReader::IsReadable(static_cast<const char*>(klass) + layout_helper_);
}

// Klass::_layout_helper: above 0 it is an instance's size, odd if the slow path is required; below 0 it contains an
// array's header size and the logarithm of its elements' size.
uint64_t ObjectLayout::SizeAt(uint64_t object, const void* klass) const {
  const auto helper = Load<int32_t>(static_cast<const char*>(klass) + layout_helper_);
  if (helper < 0) {
    const auto bits = static_cast<uint32_t>(helper);
    const auto length = Load<uint32_t>(object + length_offset_);
    return Aligned((uint64_t{length} << (bits & 0xff)) + ((bits >> 16) & 0xff));
  }
  const uint64_t instance = static_cast<uint64_t>(helper) & ~uint64_t{1};
  return (helper & 1) != 0 ? SlowSizeAt(object, klass, instance) : Aligned(instance);
}

// Instances of two classes vary in size.
uint64_t ObjectLayout::SlowSizeAt(uint64_t object, const void* klass, uint64_t instance) const {
  const std::string_view name = names_.KlassName(klass);
  if (name == "java/lang/Class") return 8 * uint64_t{Load<uint32_t>(object + static_cast<uint64_t>(*mirror_size_))};
  if (name != "jdk/internal/vm/StackChunk") return Aligned(instance);
  if (chunk_size_ == 0) return 0;
  // The stack's words, and one bit for each word that may be a reference.
  const uint64_t words = Load<uint32_t>(object + chunk_size_);
  const uint64_t bits = compressed_oops_ ? 2 * words : words;
  return Aligned(instance + 8 * (words + (bits + 63) / 64));
}

}  // namespace heaprec::hotspot
