#include "recorder/sources/paths/jvmti_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "recorder/hotspot/jvmti_memory.h"
#include "recorder/hotspot/memory.h"

namespace heaprec::sources {

using format::PathStrength;
using format::RootKind;
using format::WalkEnd;
using hotspot::MappedArray;

namespace {

// In HotSpot's CallbackWrapper the address of an object is so far before its tag, and that of the referrer before the
// referrer's.
constexpr uintptr_t kBeforeTag = 16, kBeforeReferrerTag = 8;
constexpr uint32_t kBetweenLooks = 1 << 11;  // references
constexpr uint64_t kReadingNs = 2'000'000'000;
// Until JDK 17 JVMTI marks what it has visited in the objects, and restores all of the heap within the pause.
constexpr int kLastJdkThatRestores = 17;
constexpr uint64_t kRestoringNsPerMiB = 450'000;
constexpr size_t kMostRoots = 1 << 22;
// Of the memory, a quarter is for the noted references, the rest for the graph: so many bytes a node.
constexpr uint64_t kNotesShare = 4, kBytesOfMemoryANode = 80;

// What a reference is: the number of a field, or one of these.
constexpr uint32_t kStaticBit = 1 << 17;
constexpr uint32_t kElement = (1 << 18) - 1, kClassOf = kElement - 1, kConstants = kElement - 2, kLoader = kElement - 3,
                   kHidden = kElement - 4, kMostFields = kStaticBit - 16;
bool IsStatic(uint32_t place) { return (place & kStaticBit) != 0 && place < kHidden; }

// A reference is the object's address, of which the lowest three bits are 0, and the place. An object's references
// follow an entry with its own address and kOfObject, and one with the tag of its class.
constexpr int kPlaceBits = 19, kAddressBits = 48;
constexpr uint64_t kOfObject = (1 << kPlaceBits) - 1;
static_assert(kAddressBits - 3 + kPlaceBits == 64);
uint64_t Entry(uint64_t address, uint64_t place) { return address >> 3 << kPlaceBits | place; }
uint64_t AddressOf(uint64_t entry) { return entry >> kPlaceBits << 3; }

uint32_t PlaceOf(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info) {
  switch (kind) {
    case JVMTI_HEAP_REFERENCE_FIELD:
      return std::min(static_cast<uint32_t>(info->field.index), kMostFields);
    case JVMTI_HEAP_REFERENCE_STATIC_FIELD:
      return std::min(static_cast<uint32_t>(info->field.index), kMostFields) | kStaticBit;
    case JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT:
      return kElement;
    case JVMTI_HEAP_REFERENCE_CLASS:
      return kClassOf;
    case JVMTI_HEAP_REFERENCE_CLASS_LOADER:
      return kLoader;
    case JVMTI_HEAP_REFERENCE_CONSTANT_POOL:
      return kConstants;
    default:
      return kHidden;
  }
}

// The classes of the JVM, with their names and fields, which are read when they are needed.
class Classes {
 public:
  // Tags of classes are 1 and up.
  static Result<std::unique_ptr<Classes>> Tag(jvmtiEnv* jvmti, JNIEnv* jni) {
    std::unique_ptr<Classes> classes(new Classes(jvmti, jni));
    hotspot::JvmtiArray<jclass> list(jvmti);
    if (jvmti->GetLoadedClasses(list.count(), list.out()) != JVMTI_ERROR_NONE)
      return Error{"JVMTI does not list the classes"};
    // -Xcheck:jni would complain.
    if (jni->EnsureLocalCapacity(*list.count() + kMoreLocals) != JNI_OK) jni->ExceptionClear();
    bool all = true;
    for (const jclass mirror : list) {
      classes->classes_.emplace_back().mirror = mirror;
      all = all && jvmti->SetTag(mirror, static_cast<jlong>(classes->size())) == JVMTI_ERROR_NONE;
    }
    if (!all) return Error{"classes cannot be tagged"};
    classes->FindPermanent();
    return classes;
  }
  ~Classes() {
    for (const Class& of : classes_) jni_->DeleteLocalRef(of.mirror);
  }
  Classes(const Classes&) = delete;
  Classes& operator=(const Classes&) = delete;

  size_t size() const { return classes_.size(); }
  bool IsClass(jlong tag) const { return tag > 0 && static_cast<size_t>(tag) <= classes_.size(); }
  // Of a loader that is never unloaded: boot, platform and application.
  bool IsPermanent(jlong tag) const { return IsClass(tag) && At(tag).is_permanent; }
  // Valid as long as this object.
  const void* OwnerOf(jlong tag) const { return IsClass(tag) ? &At(tag) : nullptr; }

  enum class Reference : uint8_t { kNone, kSoft, kFinal, kWeak };
  Reference ReferenceOf(jlong tag) {
    if (!IsClass(tag)) return Reference::kNone;
    Class& of = At(tag);
    if (of.reference) return *of.reference;
    of.reference = Reference::kNone;
    constexpr std::pair<std::string_view, Reference> kKinds[] = {{"java/lang/ref/SoftReference", Reference::kSoft},
                                                                 {"java/lang/ref/FinalReference", Reference::kFinal},
                                                                 {"java/lang/ref/WeakReference", Reference::kWeak},
                                                                 {"java/lang/ref/PhantomReference", Reference::kWeak}};
    for (const auto& [name, kind] : kKinds) {
      if (NameOf(tag) == name) of.reference = kind;
    }
    if (of.reference == Reference::kNone) {
      if (const jlong super = SuperOf(tag); super != 0) of.reference = ReferenceOf(super);
    }
    return *of.reference;
  }
  // "java/lang/String"; empty: it has been unloaded, or there is no such class.
  std::string_view NameOf(jlong tag) {
    if (!IsClass(tag)) return {};
    Class& of = At(tag);
    if (of.name.empty()) of.name = SignatureOf(of.mirror);
    return of.name;
  }
  // By the number that JVMTI gives it; empty: there is no such field.
  std::string_view FieldOf(jlong tag, uint32_t number) {
    const Fields* const fields = FieldsOfClass(tag);
    return fields != nullptr && number < fields->names.size() ? std::string_view(fields->names[number])
                                                              : std::string_view();
  }
  // Whether the field is one of java.lang.ref.Reference: what it refers to, and that by which the collector links it.
  bool IsReferent(jlong tag, uint32_t number) {
    const Fields* const fields = FieldsOfClass(tag);
    return fields != nullptr && number == fields->referent;
  }
  bool IsDiscovered(jlong tag, uint32_t number) {
    const Fields* const fields = FieldsOfClass(tag);
    return fields != nullptr && number == fields->discovered;
  }
  std::string SignatureOf(jclass mirror) const {
    hotspot::JvmtiText text(jvmti_);
    jvmti_->GetClassSignature(mirror, text.out(), nullptr);
    std::string name(text.c_str());
    if (name.starts_with('L') && name.ends_with(';')) name = name.substr(1, name.size() - 2);
    std::ranges::replace(name, '.', '+');  // a hidden class, as HotSpot writes it
    return name;
  }

 private:
  static constexpr jint kMoreLocals = 64;
  struct Fields {
    std::vector<std::string> names;
    uint32_t referent = UINT32_MAX, discovered = UINT32_MAX;
  };
  struct Class {
    jclass mirror = nullptr;
    bool is_permanent = false;
    std::string name;
    std::optional<Reference> reference;
    std::optional<Fields> fields;
  };

  Classes(jvmtiEnv* jvmti, JNIEnv* jni) : jvmti_(jvmti), jni_(jni) {}
  Class& At(jlong tag) { return classes_[static_cast<size_t>(tag) - 1]; }
  const Class& At(jlong tag) const { return classes_[static_cast<size_t>(tag) - 1]; }

  void FindPermanent() {
    const jclass application = jni_->FindClass("jdk/internal/loader/ClassLoaders$AppClassLoader");
    const jclass platform =
        application != nullptr ? jni_->FindClass("jdk/internal/loader/ClassLoaders$PlatformClassLoader") : nullptr;
    jni_->ExceptionClear();
    for (Class& of : classes_) {
      jobject loader = nullptr;
      if (jvmti_->GetClassLoader(of.mirror, &loader) != JVMTI_ERROR_NONE) continue;
      of.is_permanent = loader == nullptr || (platform != nullptr && (jni_->IsInstanceOf(loader, application) != 0 ||
                                                                      jni_->IsInstanceOf(loader, platform) != 0));
      jni_->DeleteLocalRef(loader);
    }
    jni_->DeleteLocalRef(application);
    jni_->DeleteLocalRef(platform);
  }

  jlong TagOf(jobject object) const {
    jlong tag = 0;
    return object != nullptr && jvmti_->GetTag(object, &tag) == JVMTI_ERROR_NONE ? tag : 0;
  }
  // 0: there is none.
  jlong SuperOf(jlong tag) const {
    if (!IsClass(tag)) return 0;
    const jclass super = jni_->GetSuperclass(At(tag).mirror);
    const jlong of = TagOf(super);
    jni_->DeleteLocalRef(super);
    return of;
  }

  // Adds the interfaces of a class, and theirs, each once.
  void AddInterfaces(jlong tag, std::vector<jlong>* into) const {
    hotspot::JvmtiArray<jclass> list(jvmti_);
    if (!IsClass(tag) || jvmti_->GetImplementedInterfaces(At(tag).mirror, list.count(), list.out()) != JVMTI_ERROR_NONE)
      return;
    for (const jclass interface : list) {
      const jlong of = TagOf(interface);
      jni_->DeleteLocalRef(interface);
      if (std::ranges::find(*into, of) != into->end()) continue;
      into->push_back(of);
      AddInterfaces(of, into);
    }
  }
  void AddFields(jlong tag, std::vector<std::string>* into) const {
    hotspot::JvmtiArray<jfieldID> list(jvmti_);
    if (!IsClass(tag) || jvmti_->GetClassFields(At(tag).mirror, list.count(), list.out()) != JVMTI_ERROR_NONE) return;
    for (const jfieldID field : list) {
      hotspot::JvmtiText name(jvmti_);
      jvmti_->GetFieldName(At(tag).mirror, field, name.out(), nullptr, nullptr);
      into->emplace_back(name.c_str());
    }
  }
  const Fields* FieldsOfClass(jlong tag) {
    if (!IsClass(tag)) return nullptr;
    if (!At(tag).fields) At(tag).fields = FieldsOf(tag);
    return &*At(tag).fields;
  }
  // JVMTI counts the fields of all interfaces first, then those of the classes from Object on.
  Fields FieldsOf(jlong tag) {
    std::vector<jlong> classes, interfaces;
    for (jlong of = tag; of != 0; of = SuperOf(of)) {
      classes.push_back(of);
      AddInterfaces(of, &interfaces);
    }
    Fields fields;
    for (const jlong of : interfaces) AddFields(of, &fields.names);
    for (size_t i = classes.size(); i-- > 0;) {
      const size_t first = fields.names.size();
      AddFields(classes[i], &fields.names);
      if (NameOf(classes[i]) != "java/lang/ref/Reference") continue;
      for (size_t field = first; field < fields.names.size(); ++field) {
        if (fields.names[field] == "referent") fields.referent = static_cast<uint32_t>(field);
        if (fields.names[field] == "discovered") fields.discovered = static_cast<uint32_t>(field);
      }
    }
    return fields;
  }

  jvmtiEnv* const jvmti_;
  JNIEnv* const jni_;
  std::vector<Class> classes_;
};

// The references, as they are noted within the pause. Everything that it uses was mapped before.
class NotedReferences {
 public:
  struct Root {
    uint64_t address;
    RootKind kind;
    jmethodID method;
    uint64_t thread;
  };
  struct Tagged {
    uint64_t address;
    jlong tag;
  };

  // `most_tag`: the largest tag. `from_object`: nothing but fields and elements of arrays is followed. `classes` must
  // outlive it.
  Status Map(const Classes& classes, uint64_t memory_bytes, jlong most_tag, bool from_object) {
    classes_ = &classes;
    from_object_ = from_object;
    const auto tags = static_cast<size_t>(most_tag) + 1;
    constexpr size_t kLeastEntries = 1 << 16;
    for (const Status& made : {entries_.Map(std::max<size_t>(kLeastEntries, memory_bytes / sizeof(uint64_t))),
                               roots_.Map(kMostRoots), tagged_.Map(tags), is_noted_.Map(tags)}) {
      if (!made.ok()) return made;
    }
    return {};
  }

  Status Follow(jvmtiEnv* jvmti, jobject from, uint64_t pause_ns) {
    pause_ns_ = pause_ns;
    jvmtiHeapCallbacks callbacks{};
    callbacks.heap_reference_callback = OnReference;
    const jvmtiError error = jvmti->FollowReferences(0, nullptr, from, &callbacks, this);
    end_ns_ = MonotonicNs();
    if (error != JVMTI_ERROR_NONE)
      return Error{fmt::format("FollowReferences: JVMTI error {}", static_cast<int>(error))};
    return {};
  }

  WalkEnd end() const { return end_; }
  uint64_t paused_ns() const { return end_ns_ - begin_ns_; }
  std::span<const uint64_t> entries() const { return {&entries_[0], entry_count_}; }
  std::span<const Root> roots() const { return {&roots_[0], root_count_}; }
  std::span<const Tagged> tagged() const { return {&tagged_[0], tagged_count_}; }

 private:
  static jint JNICALL OnReference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong,
                                  jlong referrer_class_tag, jlong, jlong* tag, jlong* referrer_tag, jint, void* self) {
    auto& noted = *static_cast<NotedReferences*>(self);
    return noted.Note(kind, info, referrer_class_tag, tag, referrer_tag);
  }

  jint Note(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong referrer_class_tag, const jlong* tag,
            const jlong* referrer_tag) {
    if (!MayGoOn()) return JVMTI_VISIT_ABORT;
    if (tag == referrer_tag) return 0;  // a reference to itself
    const auto address = hotspot::Load<uint64_t>(reinterpret_cast<uintptr_t>(tag) - kBeforeTag);
    if (address >> kAddressBits != 0 || address % 8 != 0) return Abort(WalkEnd::kFailed);
    NoteTag(address, *tag);
    if (referrer_tag == nullptr) return NoteRoot(kind, info, address);
    const uint32_t place = PlaceOf(kind, info);
    if (from_object_ && kind != JVMTI_HEAP_REFERENCE_FIELD && kind != JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT) return 0;
    // That an object keeps its class alive is known from the tag of its class.
    const bool is_class = kind == JVMTI_HEAP_REFERENCE_CLASS;
    if (is_class && (!classes_->IsClass(referrer_class_tag) || classes_->IsPermanent(referrer_class_tag)))
      return JVMTI_VISIT_OBJECTS;
    const auto referrer = hotspot::Load<uint64_t>(reinterpret_cast<uintptr_t>(referrer_tag) - kBeforeReferrerTag);
    if (referrer >> kAddressBits != 0 || referrer % 8 != 0) return Abort(WalkEnd::kFailed);
    if (entries_.size() - entry_count_ < 3) return Abort(WalkEnd::kMemory);
    if (referrer != referrer_) {
      NoteTag(referrer, *referrer_tag);
      entries_[entry_count_++] = Entry(referrer, kOfObject);
      entries_[entry_count_++] = static_cast<uint64_t>(referrer_class_tag);
      referrer_ = referrer;
    }
    if (!is_class) entries_[entry_count_++] = Entry(address, place);
    return JVMTI_VISIT_OBJECTS;
  }

  jint NoteRoot(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, uint64_t address) {
    // Classes are roots by their tags.
    if (kind == JVMTI_HEAP_REFERENCE_SYSTEM_CLASS) return JVMTI_VISIT_OBJECTS;
    if (root_count_ == roots_.size()) return Abort(WalkEnd::kRoots);
    Root& root = roots_[root_count_++];
    root = {address, RootKindOf(kind), nullptr, 0};
    if (kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL && info != nullptr) {
      root.method = info->stack_local.method;
      root.thread = static_cast<uint64_t>(info->stack_local.thread_id);
    }
    if (kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL && info != nullptr) {
      root.method = info->jni_local.method;
      root.thread = static_cast<uint64_t>(info->jni_local.thread_id);
    }
    return JVMTI_VISIT_OBJECTS;
  }

  void NoteTag(uint64_t address, jlong tag) {
    if (tag <= 0 || static_cast<size_t>(tag) >= is_noted_.size()) return;
    if (std::exchange(is_noted_[static_cast<size_t>(tag)], uint8_t{1}) == 0) tagged_[tagged_count_++] = {address, tag};
  }

  bool MayGoOn() {
    if (begin_ns_ == 0) {
      begin_ns_ = MonotonicNs();
      deadline_ns_ = DeadlineOf(begin_ns_, pause_ns_);
    }
    if (end_ == WalkEnd::kComplete && ++looks_ % kBetweenLooks == 0 && MonotonicNs() >= deadline_ns_)
      end_ = WalkEnd::kTime;
    return end_ == WalkEnd::kComplete;
  }
  jint Abort(WalkEnd why) {
    end_ = why;
    return JVMTI_VISIT_ABORT;
  }

  const Classes* classes_ = nullptr;
  bool from_object_ = false;
  uint64_t pause_ns_ = 0, begin_ns_ = 0, end_ns_ = 0, deadline_ns_ = 0, referrer_ = 0;
  uint32_t looks_ = 0;
  WalkEnd end_ = WalkEnd::kComplete;
  MappedArray<uint64_t> entries_;
  MappedArray<Root> roots_;
  MappedArray<Tagged> tagged_;
  MappedArray<uint8_t> is_noted_;  // by tag
  size_t entry_count_ = 0, root_count_ = 0, tagged_count_ = 0;
};

// The noted references as a graph, searched breadth first after the pause.
class Graph {
 public:
  static constexpr uint32_t kNone = UINT32_MAX, kRootBit = 1U << 31;
  // Of Node::parent: a class that is never unloaded.
  static constexpr uint32_t kClassRoot = kRootBit - 2;
  struct Node {
    uint64_t address;
    jlong tag, class_tag;  // its own, and that of its class; 0: none
    uint32_t first;        // index of its references among the entries, plus 1; 0: none
    uint32_t parent;  // the node that it was reached from, or kRootBit and the number of a root; kNone: not reached
    uint32_t place;
    PathStrength strength;
  };

  // All must outlive it. `own_thread`: the id in Java of the thread that searches. Afterwards end() says whether the
  // memory or the time was too short for all references.
  static Result<std::unique_ptr<Graph>> Make(const NotedReferences& noted, jvmtiEnv* jvmti, Classes* classes,
                                             uint64_t own_thread, uint64_t memory_bytes, uint64_t give_up_ns) {
    std::unique_ptr<Graph> graph(new Graph(noted, jvmti, classes, own_thread, give_up_ns));
    constexpr uint64_t kLeastNodes = 1 << 12;
    const uint64_t nodes =
        std::min<uint64_t>(std::max(kLeastNodes, memory_bytes / kBytesOfMemoryANode),
                           noted.entries().size() + noted.roots().size() + noted.tagged().size() + 1);
    for (const Status& made :
         {graph->nodes_.Map(nodes), graph->slots_.Map(std::bit_ceil(2 * nodes)), graph->queue_.Map(nodes)}) {
      if (!made.ok()) return made.error();
    }
    graph->Build();
    return graph;
  }

  WalkEnd end() const { return end_; }
  size_t size() const { return count_; }
  const Node& operator[](uint32_t node) const { return nodes_[node]; }
  uint32_t Find(uint64_t address) const {
    for (size_t slot = Hash(address);; ++slot) {
      const uint32_t node = slots_[slot & (slots_.size() - 1)];
      if (node == 0) return kNone;
      if (nodes_[node - 1].address == address) return node - 1;
    }
  }

  // The classes that are never unloaded come first, because "static field of X" says most.
  void Search() {
    for (const auto& tagged : noted_.tagged()) {
      if (classes_.IsPermanent(tagged.tag)) Reach(Find(tagged.address), kRootBit | kClassRoot, kHidden);
    }
    const auto roots = noted_.roots();
    for (size_t i = 0; i < roots.size(); ++i) {
      if (!IsOwn(roots[i]) && !IsConstantOfCode(roots[i]))
        Reach(Find(roots[i].address), kRootBit | static_cast<uint32_t>(i), kHidden);
    }
    Drain();
    strength_ = PathStrength::kSoft;
    while (soft_next_ < soft_.size()) FollowReferents(soft_, &soft_next_);
    strength_ = PathStrength::kFinal;
    while (final_next_ < final_.size() || soft_next_ < soft_.size()) {
      FollowReferents(final_, &final_next_);
      FollowReferents(soft_, &soft_next_);
    }
  }

  // From one object only.
  void SearchFrom(uint32_t node) {
    Reach(node, kRootBit, kHidden);
    Drain();
  }

 private:
  Graph(const NotedReferences& noted, jvmtiEnv* jvmti, Classes* classes, uint64_t own_thread, uint64_t give_up_ns)
      : noted_(noted), jvmti_(jvmti), classes_(*classes), own_thread_(own_thread), give_up_ns_(give_up_ns) {}
  static size_t Hash(uint64_t address) { return address / 8 * 0x9E3779B97F4A7C15U >> 20; }

  void Build() {
    for (const auto& tagged : noted_.tagged()) {
      const uint32_t node = NodeOf(tagged.address);
      if (node == kNone) return;
      nodes_[node].tag = tagged.tag;
      if (classes_.IsClass(tagged.tag)) mirrors_.resize(std::max(mirrors_.size(), static_cast<size_t>(tagged.tag) + 1));
      if (classes_.IsClass(tagged.tag)) mirrors_[static_cast<size_t>(tagged.tag)] = node + 1;
    }
    for (const auto& root : noted_.roots()) {
      if (NodeOf(root.address) == kNone) return;
    }
    const auto entries = noted_.entries();
    for (size_t i = 0; i < entries.size(); ++i) {
      const uint32_t node = MayGoOn() ? NodeOf(AddressOf(entries[i])) : kNone;
      if (node == kNone) return;
      if ((entries[i] & kOfObject) != kOfObject) continue;
      nodes_[node].class_tag = static_cast<jlong>(entries[++i]);
      if (nodes_[node].first == 0) nodes_[node].first = static_cast<uint32_t>(i + 2);
    }
  }

  bool MayGoOn() {
    if (end_ == WalkEnd::kComplete && ++looks_ % kBetweenLooks == 0 && MonotonicNs() >= give_up_ns_)
      end_ = WalkEnd::kTime;
    return end_ == WalkEnd::kComplete;
  }

  // kNone: there is no memory for another one.
  uint32_t NodeOf(uint64_t address) {
    size_t slot = Hash(address) & (slots_.size() - 1);
    for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
      if (nodes_[slots_[slot] - 1].address == address) return slots_[slot] - 1;
    }
    if (count_ == nodes_.size()) {
      end_ = WalkEnd::kMemory;
      return kNone;
    }
    nodes_[count_] = {address, 0, 0, 0, kNone, 0, PathStrength::kStrong};
    slots_[slot] = static_cast<uint32_t>(++count_);
    return static_cast<uint32_t>(count_ - 1);
  }

  void Reach(uint32_t node, uint32_t parent, uint32_t place) {
    if (node == kNone || nodes_[node].parent != kNone) return;
    nodes_[node].parent = parent;
    nodes_[node].place = place;
    nodes_[node].strength = strength_;
    queue_[queued_++] = node;
  }

  template <typename Visit>
  void ForEach(uint32_t node, const Visit& visit) const {
    if (nodes_[node].first == 0) return;
    const auto entries = noted_.entries();
    for (size_t i = nodes_[node].first - 1; i < entries.size() && (entries[i] & kOfObject) != kOfObject; ++i)
      visit(Find(AddressOf(entries[i])), static_cast<uint32_t>(entries[i] & kOfObject));
  }
  // What the agent itself refers to during the search.
  bool IsOwn(const NotedReferences::Root& root) const {
    return root.kind == RootKind::kJniLocal && root.thread == own_thread_;
  }
  // The constants of compiled Java code, which are held elsewhere, too.
  bool IsConstantOfCode(const NotedReferences::Root& root) const {
    jboolean is_native = JNI_TRUE;
    return root.kind == RootKind::kJniLocal && root.method != nullptr &&
           jvmti_->IsMethodNative(root.method, &is_native) == JVMTI_ERROR_NONE && is_native == JNI_FALSE;
  }

  void Drain() {
    using Reference = Classes::Reference;
    for (; next_ < queued_ && MayGoOn(); ++next_) {
      const uint32_t node = queue_[next_];
      const jlong of = nodes_[node].class_tag;
      const Reference reference = classes_.ReferenceOf(of);
      if (reference == Reference::kSoft) soft_.push_back(node);
      if (reference == Reference::kFinal) final_.push_back(node);
      ForEach(node, [&](uint32_t to, uint32_t place) {
        const bool is_weak =
            reference != Reference::kNone && (classes_.IsReferent(of, place) || classes_.IsDiscovered(of, place));
        if (!is_weak) Reach(to, node, place);
      });
      if (of > 0 && static_cast<size_t>(of) < mirrors_.size() && mirrors_[static_cast<size_t>(of)] != 0)
        Reach(mirrors_[static_cast<size_t>(of)] - 1, node, kClassOf);
    }
  }
  void FollowReferents(const std::vector<uint32_t>& references, size_t* next) {
    for (; *next < references.size(); ++*next) {
      const uint32_t node = references[*next];
      ForEach(node, [&](uint32_t to, uint32_t place) {
        if (classes_.IsReferent(nodes_[node].class_tag, place)) Reach(to, node, place);
      });
    }
    Drain();
  }

  const NotedReferences& noted_;
  jvmtiEnv* const jvmti_;
  Classes& classes_;
  const uint64_t own_thread_, give_up_ns_;
  WalkEnd end_ = WalkEnd::kComplete;
  uint32_t looks_ = 0;
  MappedArray<Node> nodes_;
  MappedArray<uint32_t> slots_;  // by the hash of the address: a node, plus 1
  MappedArray<uint32_t> queue_;
  size_t count_ = 0, queued_ = 0, next_ = 0;
  std::vector<uint32_t> mirrors_;  // by the tag of a class: the node of its java.lang.Class, plus 1; 0: none
  std::vector<uint32_t> soft_, final_;
  size_t soft_next_ = 0, final_next_ = 0;
  PathStrength strength_ = PathStrength::kStrong;
};

// Disposes of its tags.
class Environment {
 public:
  static Result<std::unique_ptr<Environment>> Make(JavaVM* vm) {
    void* made = nullptr;
    if (vm->GetEnv(&made, JVMTI_VERSION_1_2) != JNI_OK) return Error{"no JVMTI environment"};
    std::unique_ptr<Environment> environment(new Environment(static_cast<jvmtiEnv*>(made)));
    jvmtiCapabilities tags{};
    tags.can_tag_objects = 1;
    if (environment->jvmti_->AddCapabilities(&tags) != JVMTI_ERROR_NONE) return Error{"objects cannot be tagged"};
    return environment;
  }
  ~Environment() { jvmti_->DisposeEnvironment(); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  jvmtiEnv* get() const { return jvmti_; }

 private:
  explicit Environment(jvmtiEnv* jvmti) : jvmti_(jvmti) {}
  jvmtiEnv* const jvmti_;
};

// Names the steps of paths.
class PathReader {
 public:
  PathReader(jvmtiEnv* jvmti, JNIEnv* jni, const NotedReferences& noted, const Graph& graph, Classes* classes,
             PathSet* into)
      : jvmti_(jvmti), jni_(jni), noted_(noted), graph_(graph), classes_(*classes), paths_(*into) {}

  // False: there is no time, or no room.
  bool Read(uint32_t node, uint64_t sample, const std::vector<ThreadIdentity>& threads, jlong first_thread_tag,
            uint64_t give_up_ns) {
    if (!paths_.has_room() || MonotonicNs() >= give_up_ns) return false;
    PathSet::Path path{};
    path.sample = sample;
    path.strength = graph_[node].strength;
    path.root_step = PathSet::kGapStep;
    PathSet::Frames frames;
    bool ends_in_class = false;
    uint32_t at = node;
    const PathSet::Mark* met = nullptr;
    for (uint32_t steps = 1; met == nullptr && (graph_[at].parent & Graph::kRootBit) == 0; ++steps) {
      if (steps % kBetweenLooks == 0 && MonotonicNs() >= give_up_ns) return false;
      const uint32_t place = graph_[at].place;
      at = graph_[at].parent;
      frames.Add({StepOf(at, place), 1});
      ends_in_class = IsStatic(place) || place == kConstants;
      met = paths_.Pass(at, steps, frames, /*leaves=*/true);
    }
    const uint32_t number = graph_[at].parent & ~Graph::kRootBit;
    if (met != nullptr) {
      paths_.GoOn(*met, &frames, &path);
    } else if (number == Graph::kClassRoot) {
      path.root = RootKind::kStatic;
      if (!ends_in_class) path.root_step = ClassStep(graph_[at].tag);
    } else {
      const NotedReferences::Root& root = noted_.roots()[number];
      path.root = root.kind;
      path.thread = root.thread;
      if (root.method != nullptr) path.root_step = MethodStep(root.method);
      const jlong thread = graph_[at].tag - first_thread_tag;
      if (root.kind == RootKind::kThread && thread >= 0 && static_cast<size_t>(thread) < threads.size())
        path.thread = threads[static_cast<size_t>(thread)].java_tid;
    }
    paths_.Keep(frames, &path);
    paths_.Add(path);
    return true;
  }

 private:
  uint32_t StepOf(uint32_t holder, uint32_t place) {
    const bool is_of_mirror = IsStatic(place) || place == kConstants || place == kLoader || place == kHidden;
    const Graph::Node& node = graph_[holder];
    const jlong tag = is_of_mirror && classes_.IsClass(node.tag) ? node.tag : node.class_tag;
    const void* const owner = classes_.OwnerOf(tag);
    if (owner == nullptr) return PathSet::kGapStep;
    return paths_.StepOf(owner, place, [&]() -> std::pair<std::string_view, std::string_view> {
      const std::string_view name = classes_.NameOf(tag);
      if (place == kElement) return {name, format::kElementStep};
      if (place == kClassOf) return {name, format::kClassStep};
      if (place == kConstants) return {name, format::kConstantsStep};
      if (place == kLoader) return {"java/lang/Class", "classLoader"};
      const std::string_view field = classes_.FieldOf(tag, place & ~kStaticBit);
      return {name, field.empty() || place == kHidden ? std::string_view(format::kHiddenStep) : field};
    });
  }
  uint32_t ClassStep(jlong tag) {
    const void* const owner = classes_.OwnerOf(tag);
    if (owner == nullptr) return PathSet::kGapStep;
    return paths_.StepOf(owner, kClassOf, [&] {
      return std::pair<std::string_view, std::string_view>(classes_.NameOf(tag), format::kClassStep);
    });
  }
  uint32_t MethodStep(jmethodID method) {
    jclass declaring = nullptr;
    if (jvmti_->GetMethodDeclaringClass(method, &declaring) != JVMTI_ERROR_NONE) return PathSet::kGapStep;
    const std::string owner = classes_.SignatureOf(declaring);
    jni_->DeleteLocalRef(declaring);
    hotspot::JvmtiText name(jvmti_);
    if (jvmti_->GetMethodName(method, name.out(), nullptr, nullptr) != JVMTI_ERROR_NONE) return PathSet::kGapStep;
    return paths_.StepOf(method, 0, [&] { return std::pair<std::string_view, std::string_view>(owner, name.c_str()); });
  }

  jvmtiEnv* const jvmti_;
  JNIEnv* const jni_;
  const NotedReferences& noted_;
  const Graph& graph_;
  Classes& classes_;
  PathSet& paths_;
};

// Whether the last object of the known chain is reached as it must be; nullopt: it is not reached.
std::optional<bool> FindsKnown(const Graph& graph, Classes* classes, uint32_t last, uint32_t first) {
  if (last == Graph::kNone || graph[last].parent == Graph::kNone) return std::nullopt;
  const uint32_t middle = graph[last].parent;
  if ((middle & Graph::kRootBit) != 0) return false;
  const Graph::Node& holder = graph[middle];
  return classes->NameOf(holder.class_tag) == "java/util/concurrent/atomic/AtomicReference" &&
         classes->FieldOf(holder.class_tag, graph[last].place) == "value" && holder.parent == first &&
         holder.place == kElement && first != Graph::kNone && (graph[first].parent & Graph::kRootBit) != 0;
}

// What is left of a pause for the references.
Result<uint64_t> PauseForReferences(const Jvm& jvm, uint64_t pause_ns) {
  if (jvm.rules.jdk > kLastJdkThatRestores) return pause_ns;
  // ZGC says how much was used at the last collection.
  const uint64_t heap_bytes = std::max(jvm.heap.Used(), jvm.heap.Committed());
  if (heap_bytes == 0) return Error{"the size of the heap is not known"};
  const uint64_t restoring_ns = (heap_bytes >> 20) * kRestoringNsPerMiB;
  if (restoring_ns < pause_ns) return pause_ns - restoring_ns;
  return Error{fmt::format("until JDK {} JVMTI restores the heap: needs paths.pause={}ms or more", kLastJdkThatRestores,
                           2 * restoring_ns / 1'000'000 + 1)};
}

}  // namespace

Status TestJvmtiSearch(const Jvm& jvm, JNIEnv* jni, const KnownChain& known, const JvmtiSearchLimits& limits) {
  if (const auto pause = PauseForReferences(jvm, limits.pause_ns); !pause.ok()) return pause.error();
  const auto environment = Environment::Make(jvm.vm);
  if (!environment.ok()) return environment.error();
  jvmtiEnv* const jvmti = (*environment)->get();
  const auto classes = Classes::Tag(jvmti, jni);
  if (!classes.ok()) return classes.error();
  const auto first_tag = static_cast<jlong>((*classes)->size() + 1), last_tag = first_tag + 1;
  if (jvmti->SetTag(known.first, first_tag) != JVMTI_ERROR_NONE ||
      jvmti->SetTag(known.last, last_tag) != JVMTI_ERROR_NONE) {
    return Error{"objects cannot be tagged"};
  }
  NotedReferences noted;
  Status done = noted.Map(**classes, 0, last_tag, /*from_object=*/true);
  if (done.ok()) done = noted.Follow(jvmti, known.first, UINT64_MAX / 2);
  if (!done.ok()) return done;
  const auto made = Graph::Make(noted, jvmti, classes->get(), 0, 0, UINT64_MAX);
  if (!made.ok()) return made.error();
  Graph& graph = **made;
  uint32_t first = Graph::kNone, last = Graph::kNone;
  for (const auto& tagged : noted.tagged()) {
    if (tagged.tag == first_tag) first = graph.Find(tagged.address);
    if (tagged.tag == last_tag) last = graph.Find(tagged.address);
  }
  if (first != Graph::kNone) graph.SearchFrom(first);
  if (!FindsKnown(graph, classes->get(), last, first).value_or(false))
    return Error{"JVMTI does not have addresses where they are expected"};
  return {};
}

Result<FoundPaths> SearchByJvmti(const Jvm& jvm, JNIEnv* jni, WeakRefTable& tracked, const KnownChain& known,
                                 const JvmtiSearchLimits& limits, bool* is_final) {
  const auto pause_ns = PauseForReferences(jvm, limits.pause_ns);
  if (!pause_ns.ok()) return pause_ns.error();
  const auto environment = Environment::Make(jvm.vm);
  if (!environment.ok()) return environment.error();
  jvmtiEnv* const jvmti = (*environment)->get();
  const auto classes = Classes::Tag(jvmti, jni);
  if (!classes.ok()) return classes.error();
  auto next_tag = static_cast<jlong>((*classes)->size() + 1);

  const jlong first_thread = next_tag;
  std::vector<ThreadIdentity> threads;
  jvm.ForEachThread(jni, [&](jthread alive) {
    jvm.thread_fields.Read(jni, alive, &threads.emplace_back());
    (void)jvmti->SetTag(alive, next_tag++);
  });
  ThreadIdentity own;
  jthread self = nullptr;
  if (jvmti->GetCurrentThread(&self) == JVMTI_ERROR_NONE) jvm.thread_fields.Read(jni, self, &own);
  jni->DeleteLocalRef(self);
  struct Wanted {
    jlong tag;
    uint64_t sample;
  };
  std::vector<Wanted> wanted;
  for (uint32_t index = 1; index <= tracked.count(); ++index) {
    const auto lock = tracked.KeepReferences();
    const WeakRefTable::View view = tracked.Look(static_cast<uint16_t>(index));
    if (view.state != WeakRefTable::State::kTracked) continue;
    jlong tag = 0;
    if (jvmti->GetTag(view.reference, &tag) != JVMTI_ERROR_NONE) continue;  // it is dead
    // A class or a thread has one.
    if (tag == 0 && jvmti->SetTag(view.reference, tag = next_tag++) != JVMTI_ERROR_NONE) continue;
    wanted.push_back({tag, view.sample});
  }
  const jlong first_tag = next_tag++, last_tag = next_tag++;
  if (jvmti->SetTag(known.first, first_tag) != JVMTI_ERROR_NONE ||
      jvmti->SetTag(known.last, last_tag) != JVMTI_ERROR_NONE) {
    return Error{"objects cannot be tagged"};
  }

  NotedReferences noted;
  Status done = noted.Map(**classes, limits.memory_bytes / kNotesShare, next_tag, /*from_object=*/false);
  if (done.ok()) done = noted.Follow(jvmti, nullptr, *pause_ns);
  if (!done.ok()) return done.error();
  if (noted.end() == WalkEnd::kFailed) {
    *is_final = true;
    return Error{"JVMTI does not have addresses where they are expected"};
  }

  const uint64_t give_up_ns = MonotonicNs() + std::max(kReadingNs, limits.pause_ns);
  const auto made = Graph::Make(noted, jvmti, classes->get(), own.java_tid, limits.memory_bytes, give_up_ns);
  if (!made.ok()) return made.error();
  Graph& graph = **made;
  graph.Search();
  const WalkEnd end = noted.end() == WalkEnd::kComplete ? graph.end() : noted.end();
  std::vector<uint32_t> node_of(static_cast<size_t>(next_tag), Graph::kNone);  // by tag
  for (const auto& tagged : noted.tagged()) node_of[static_cast<size_t>(tagged.tag)] = graph.Find(tagged.address);
  const auto of = [&node_of](jlong tag) { return node_of[static_cast<size_t>(tag)]; };
  if (!FindsKnown(graph, classes->get(), of(last_tag), of(first_tag)).value_or(end != WalkEnd::kComplete)) {
    *is_final = true;
    return Error{"an object of the agent's own was not found as it should be"};
  }

  auto paths = PathSet::Make();
  if (!paths.ok()) return paths.error();
  FoundPaths found{end, graph.size(), noted.paused_ns(), std::move(*paths), {}};
  PathReader reader(jvmti, jni, noted, graph, classes->get(), &found.paths);
  for (const auto& [tag, sample] : wanted) {
    const uint32_t node = of(tag);
    if (node == Graph::kNone || graph[node].parent == Graph::kNone) continue;
    if (!reader.Read(node, sample, threads, first_thread, give_up_ns)) {
      if (found.end == WalkEnd::kComplete) found.end = WalkEnd::kTime;
      break;
    }
  }
  return found;
}

}  // namespace heaprec::sources
