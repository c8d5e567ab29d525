// Where HotSpot's objects hold references to other objects: fields, elements of arrays, and static fields, which are in
// the class's java.lang.Class.
//
// Units:    addresses; a reference is 32 bits (compressed oops).
// Context:  Resolve: setup, an attached thread. The rest: the VM paused, addresses of live objects.
// Threads:  any.
// Failure:  Resolve returns an Error for a JVM whose references are not known to be stored like this.
#pragma once

#include <jni.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "recorder/hotspot/memory.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/metadata/object_layout.h"
#include "recorder/hotspot/vm_structs.h"

namespace heaprec::hotspot {

// The place of a reference in the object that holds it: a field, by its offset, any element of an array, or one of two
// that HotSpot keeps outside of the object.
class Place {
 public:
  static constexpr Place Field(uint32_t offset) { return Place(offset); }
  static constexpr Place StaticField(uint32_t offset) { return Place(offset | kStaticBit); }
  static constexpr Place Element() { return Place(kElement); }
  // From an object to the java.lang.Class of its class.
  static constexpr Place ClassOfObject() { return Place(kClass); }
  // From a java.lang.Class to the constants of the class's code: strings, lambdas.
  static constexpr Place Constants() { return Place(kConstants); }

  bool is_static() const { return (value_ & kStaticBit) != 0; }
  uint32_t offset() const { return value_ & ~kStaticBit; }
  uint32_t value() const { return value_; }
  bool operator==(const Place&) const = default;

 private:
  explicit constexpr Place(uint32_t value) : value_(value) {}
  static constexpr uint32_t kStaticBit = 1U << 31, kElement = 0x7fffffff, kClass = 0x7ffffffe, kConstants = 0x7ffffffd;
  uint32_t value_;
};

class ReferenceLayout {
 public:
  static Result<ReferenceLayout> Resolve(const VmStructs& structs, const ObjectLayout& objects, const Names& names,
                                         JNIEnv* jni);

  // What the class of an object says about its references.
  enum class Kind : uint8_t { kNone, kInstance, kArray, kMirror, kSoft, kFinal, kWeak };  // the last three: Reference
  struct Class {
    const char* klass = nullptr;
    const char* maps = nullptr;  // OopMapBlock: int offset, unsigned count
    uint32_t map_count = 0;
    uint32_t first = 0;  // of an array: the offset of its elements
    Kind kind = Kind::kNone;
  };
  Class ClassOf(const char* klass) const;

  // Calls visit(reference, Place) for each reference that is not null and keeps its object alive, and with 0 from time
  // to time in an array without references. Stops if visit returns false.
  template <typename Visit>
  void ForEach(uint64_t object, const Class& of, const Visit& visit) const {
    if (of.kind == Kind::kNone) return;
    if (of.kind == Kind::kArray) {
      const uint32_t length = objects_.LengthOf(object);
      for (uint32_t i = 0; i < length; ++i) {
        const auto reference = Load<uint32_t>(object + of.first + 4 * uint64_t{i});
        if (reference == 0 && i % kNulls != 0) continue;
        if (!visit(reference, Place::Element())) return;
      }
      return;
    }
    for (uint32_t map = 0; map < of.map_count; ++map) {
      const auto offset = Load<uint32_t>(of.maps + 8 * size_t{map});
      const auto count = Load<uint32_t>(of.maps + 8 * size_t{map} + 4);
      for (uint32_t at = offset; at < offset + 4 * count; at += 4) {
        const auto reference = Load<uint32_t>(object + at);
        if (reference != 0 && !visit(reference, Place::Field(at))) return;
      }
    }
    if (of.kind == Kind::kMirror) ForEachOfMirror(object, visit);
  }
  // What a Reference refers to; 0: nothing.
  uint32_t ReferentOf(uint64_t object) const { return Load<uint32_t>(object + referent_); }
  Place referent() const { return Place::Field(referent_); }

  uint64_t AddressOf(uint32_t reference) const { return base_ + (uint64_t{reference} << shift_); }
  // 0: it is no address within the heap.
  uint32_t ReferenceTo(uint64_t address) const {
    if (address < heap_begin_ || address >= heap_end_ || address % 8 != 0) return 0;
    return static_cast<uint32_t>((address - base_) >> shift_);
  }
  int shift() const { return shift_; }
  uint64_t heap_bytes() const { return heap_end_ - heap_begin_; }  // the largest size
  const ObjectLayout& objects() const { return objects_; }
  // The java.lang.Class of a class; 0: none yet.
  uint32_t MirrorOf(const char* klass) const { return ReferenceTo(Held(klass + mirror_)); }
  // The class that a java.lang.Class is of; null: a primitive type.
  const char* ClassOfMirror(uint64_t mirror) const {
    return Metadata(Load<const char*>(mirror + static_cast<uint64_t>(*mirror_klass_)));
  }

  // The id in Java of a java.lang.Thread.
  uint64_t IdOfThread(uint64_t thread) const { return Load<uint64_t>(thread + thread_id_); }

  // Calls visit(klass) for each class of the loaders that are never unloaded: boot, platform and application; with null
  // for each loader, also others. Stops if visit returns false.
  template <typename Visit>
  void ForEachPermanentClass(const Visit& visit) const {
    for (const char* data = Metadata(Load<const char*>(loaders_)); data != nullptr;
         data = PointerAt(data, data_next_)) {
      if (!visit(static_cast<const char*>(nullptr))) return;
      if (!IsPermanent(data)) continue;
      for (const char* klass = PointerAt(data, data_klasses_); klass != nullptr;
           klass = PointerAt(klass, next_class_)) {
        if (!visit(klass)) return;
      }
    }
  }

 private:
  static constexpr uint32_t kNulls = 1024;

  template <typename Visit>
  void ForEachOfMirror(uint64_t mirror, const Visit& visit) const {
    const auto statics = Load<uint32_t>(mirror + static_cast<uint64_t>(*static_count_));
    for (uint32_t i = 0; i < statics; ++i) {
      const auto reference = Load<uint32_t>(mirror + mirror_bytes_ + 4 * uint64_t{i});
      if (reference != 0 && !visit(reference, Place::StaticField(mirror_bytes_ + 4 * i))) return;
    }
    if (const uint32_t constants = ConstantsOf(mirror); constants != 0) visit(constants, Place::Constants());
  }
  uint32_t ConstantsOf(uint64_t mirror) const;
  // An OopHandle: a pointer to the reference, which is not compressed. 0: null.
  static uint64_t Held(const char* handle) {
    const char* const slot = Metadata(Load<const char*>(handle));
    return slot != nullptr ? Load<uint64_t>(slot) : 0;
  }
  bool IsPermanent(const char* loader_data) const;

  explicit ReferenceLayout(const ObjectLayout& objects, const Names& names) : objects_(objects), names_(names) {}

  ObjectLayout objects_;
  Names names_;
  uint64_t base_ = 0, heap_begin_ = 0, heap_end_ = 0;
  int shift_ = 0;
  size_t class_bytes_ = 0, vtable_ = 0, itable_ = 0, map_words_ = 0, reference_type_ = 0, constants_ = 0, mirror_ = 0,
         next_class_ = 0;
  size_t pool_cache_ = 0, resolved_ = 0;
  const char* loaders_ = nullptr;  // address of ClassLoaderDataGraph::_head
  size_t data_next_ = 0, data_klasses_ = 0, data_loader_ = 0, data_is_of_hidden_ = 0;
  const int* mirror_klass_ = nullptr;
  const int* static_count_ = nullptr;
  const char* class_of_mirrors_ = nullptr;  // of java.lang.Class
  uint32_t mirror_bytes_ = 0;               // without static fields
  uint32_t referent_ = 0, thread_id_ = 0;   // offsets of fields
  struct Type {
    uint8_t code = 0;
    Kind kind = Kind::kNone;
  };
  std::array<Type, 4> types_{};
};

}  // namespace heaprec::hotspot
