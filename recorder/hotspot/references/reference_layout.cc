#include "recorder/hotspot/references/reference_layout.h"

#include <utility>

namespace heaprec::hotspot {
namespace {

// Returns null if there is no such class, or its java.lang.Class may not be read (Names::KlassOfMirror).
const char* FindKlass(JNIEnv* jni, const Names& names, const char* name) {
  const jclass mirror = jni->FindClass(name);
  jni->ExceptionClear();
  const auto* const klass = mirror != nullptr ? static_cast<const char*>(names.KlassOfMirror(jni, mirror)) : nullptr;
  jni->DeleteLocalRef(mirror);
  return klass;
}

// Of a field; 0: not found.
uint32_t OffsetOf(const Names& names, const char* klass, std::string_view field) {
  constexpr uint32_t kMostBytes = 512;
  for (uint32_t offset = 8; klass != nullptr && offset < kMostBytes; offset += 4) {
    if (names.FieldName(klass, offset, /*is_static=*/false) == field) return offset;
  }
  return 0;
}

// HotSpot's Klass::layout_helper: an array of references has these highest bits.
constexpr int kArrayOfReferences = -2;

}  // namespace

Result<ReferenceLayout> ReferenceLayout::Resolve(const VmStructs& structs, const ObjectLayout& objects,
                                                 const Names& names, JNIEnv* jni) {
  if (!structs.BoolFlag("UseCompressedOops").value_or(false)) return Error{"references are not compressed"};
  ReferenceLayout layout(objects, names);
  NeededFields fields(structs);
  layout.class_bytes_ = (fields.Size("InstanceKlass") + 7) & ~size_t{7};
  layout.vtable_ = fields.At("Klass", "_vtable_len");
  layout.itable_ = fields.At("InstanceKlass", "_itable_len");
  layout.map_words_ = fields.At("InstanceKlass", "_nonstatic_oop_map_size");
  layout.reference_type_ = fields.At("InstanceKlass", "_reference_type");
  layout.constants_ = fields.At("InstanceKlass", "_constants");
  layout.mirror_ = fields.At("Klass", "_java_mirror");
  layout.next_class_ = fields.At("Klass", "_next_link");
  layout.pool_cache_ = fields.At("ConstantPool", "_cache");
  layout.resolved_ = fields.At("ConstantPoolCache", "_resolved_references");
  layout.loaders_ = static_cast<const char*>(fields.Static("ClassLoaderDataGraph", "_head"));
  layout.data_next_ = fields.At("ClassLoaderData", "_next");
  layout.data_klasses_ = fields.At("ClassLoaderData", "_klasses");
  layout.data_loader_ = fields.At("ClassLoaderData", "_class_loader");
  // A hidden class that can be unloaded alone has such data of its own.
  layout.data_is_of_hidden_ =
      fields.At({"ClassLoaderData"}, {"_has_class_mirror_holder", "_is_unsafe_anonymous", "_is_anonymous"});
  layout.mirror_klass_ = static_cast<const int*>(fields.Static("java_lang_Class", "_klass_offset"));
  layout.static_count_ = static_cast<const int*>(fields.Static("java_lang_Class", "_static_oop_field_count_offset"));
  const size_t reserved = fields.At("CollectedHeap", "_reserved");
  const size_t start = fields.At("MemRegion", "_start"), words = fields.At("MemRegion", "_word_size");
  const void* const heap_pointer = fields.Static("Universe", "_collectedHeap");
  if (!fields.missing().empty()) return Error{"libjvm.so does not describe " + fields.missing()};
  // OopHandle contains one pointer; until JDK 12 its field has no name.
  if (structs.Offset("OopHandle", "_obj").value_or(0) != 0) return Error{"libjvm.so does not describe its handles"};

  const void *base = nullptr, *shift = nullptr;
  for (const auto& [owner, member] :
       {std::pair("CompressedOops", "_narrow_oop._base"), std::pair("CompressedOops", "_base"),
        std::pair("Universe", "_narrow_oop._base")}) {
    if (base == nullptr) base = structs.Static(owner, member);
  }
  for (const auto& [owner, member] :
       {std::pair("CompressedOops", "_narrow_oop._shift"), std::pair("CompressedOops", "_shift"),
        std::pair("Universe", "_narrow_oop._shift")}) {
    if (shift == nullptr) shift = structs.Static(owner, member);
  }
  const char* const heap = PointerAt(static_cast<const char*>(heap_pointer), 0);
  if (base == nullptr || shift == nullptr || heap == nullptr) {
    return Error{"libjvm.so does not describe its compressed references"};
  }
  layout.base_ = Load<uint64_t>(static_cast<const char*>(base));
  layout.shift_ = Load<int32_t>(static_cast<const char*>(shift));
  layout.heap_begin_ = Load<uint64_t>(heap + reserved + start);
  layout.heap_end_ = layout.heap_begin_ + 8 * Load<uint64_t>(heap + reserved + words);
  if (layout.shift_ < 0 || layout.shift_ > 3 || layout.heap_begin_ < 4096 || layout.heap_begin_ < layout.base_ ||
      layout.heap_end_ <= layout.heap_begin_ || layout.heap_end_ - layout.base_ > uint64_t{1} << (32 + layout.shift_)) {
    return Error{"the heap is not where libjvm.so says"};
  }

  layout.class_of_mirrors_ = FindKlass(jni, names, "java/lang/Class");
  const char* const reference = FindKlass(jni, names, "java/lang/ref/Reference");
  if (layout.class_of_mirrors_ == nullptr || reference == nullptr) return Error{"classes cannot be read"};
  layout.mirror_bytes_ = static_cast<uint32_t>(objects.LayoutOf(layout.class_of_mirrors_)) & ~1U;
  constexpr std::pair<const char*, Kind> kReferences[] = {{"java/lang/ref/SoftReference", Kind::kSoft},
                                                          {"java/lang/ref/FinalReference", Kind::kFinal},
                                                          {"java/lang/ref/WeakReference", Kind::kWeak},
                                                          {"java/lang/ref/PhantomReference", Kind::kWeak}};
  size_t at = 0;
  for (const auto& [name, kind] : kReferences) {
    const char* const klass = FindKlass(jni, names, name);
    const uint8_t code = klass != nullptr ? Load<uint8_t>(klass + layout.reference_type_) : 0;
    if (code == 0) return Error{"references that do not keep their objects alive cannot be told apart"};
    layout.types_[at++] = {code, kind};
  }
  layout.referent_ = OffsetOf(names, reference, "referent");
  layout.thread_id_ = OffsetOf(names, FindKlass(jni, names, "java/lang/Thread"), "tid");
  if (layout.referent_ == 0 || layout.thread_id_ == 0) return Error{"names of fields cannot be read"};
  return layout;
}

ReferenceLayout::Class ReferenceLayout::ClassOf(const char* klass) const {
  Class of;
  of.klass = klass;
  const int32_t helper = objects_.LayoutOf(klass);
  if (helper < 0) {
    of.kind = helper >> 30 == kArrayOfReferences ? Kind::kArray : Kind::kNone;
    of.first = static_cast<uint32_t>(helper) >> 16 & 0xff;
    return of;
  }
  const auto words = [klass](size_t offset) { return static_cast<size_t>(Load<int32_t>(klass + offset)); };
  of.map_count = static_cast<uint32_t>(words(map_words_));
  of.maps = klass + class_bytes_ + 8 * (words(vtable_) + words(itable_));
  of.kind = of.map_count > 0 ? Kind::kInstance : Kind::kNone;
  if (klass == class_of_mirrors_) of.kind = Kind::kMirror;
  const auto code = Load<uint8_t>(klass + reference_type_);
  for (const Type& type : types_) {
    if (code != 0 && code == type.code) of.kind = type.kind;
  }
  return of;
}

uint32_t ReferenceLayout::ConstantsOf(uint64_t mirror) const {
  const char* const klass = ClassOfMirror(mirror);
  if (klass == nullptr || objects_.LayoutOf(klass) < 0) return 0;
  const char* const pool = PointerAt(klass, constants_);
  const char* const cache = pool != nullptr ? PointerAt(pool, pool_cache_) : nullptr;
  return cache != nullptr ? ReferenceTo(Held(cache + resolved_)) : 0;
}

bool ReferenceLayout::IsPermanent(const char* loader_data) const {
  if (Load<uint8_t>(loader_data + data_is_of_hidden_) != 0) return false;
  const uint64_t loader = Held(loader_data + data_loader_);
  if (loader == 0) return true;
  if (ReferenceTo(loader) == 0) return false;
  const std::string_view name = names_.KlassName(objects_.ClassOf(objects_.ClassWordOf(loader)));
  return name == "jdk/internal/loader/ClassLoaders$AppClassLoader" ||
         name == "jdk/internal/loader/ClassLoaders$PlatformClassLoader";
}

}  // namespace heaprec::hotspot
