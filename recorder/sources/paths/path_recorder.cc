#include "recorder/sources/paths/path_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "format/model/names.h"
#include "format/model/process_state.h"
#include "recorder/hotspot/references/heap_walk.h"
#include "recorder/sources/log.h"
#include "recorder/sources/paths/jvmti_search.h"

namespace heaprec::sources {

using format::ProcessStateKind;
using format::RootKind;
using format::WalkEnd;
using hotspot::HeapWalk;
using hotspot::Load;
using hotspot::Place;
using hotspot::ReferenceLayout;

namespace {

constexpr jlong kAnchorTag = 1, kOtherAnchorTag = 2;
// In HotSpot's CallbackWrapper the object's address is so far before its tag.
constexpr uintptr_t kAddressBeforeTag = 16;
// The part of the pause in which the heap is searched; in the rest the paths are read.
constexpr double kSearchShare = 0.8;
// Maximum pause of the agent's test of itself, whatever paths.pause is.
constexpr uint64_t kTestNs = 50'000'000;
constexpr uint64_t kRootsBetweenLooks = 256;
constexpr size_t kMostRoots = 1 << 22;
// The objects that hold most of what was found, at least this share, are searched around.
constexpr size_t kMostHolders = 16, kMostCandidates = 256;
constexpr float kLeastHeld = 0.02F;
constexpr size_t kPathsAtOnce = 100;
constexpr uint64_t kWritingNs = 2'000'000'000;
constexpr timespec kRingPause{0, 10'000'000};
constexpr std::chrono::milliseconds kTick{100};

// A reference that JNI hands out points to the object's address.
uint64_t AddressIn(jobject reference) {
  return reference == nullptr ? 0 : Load<uint64_t>(reinterpret_cast<uintptr_t>(reference) & ~uintptr_t{7});
}

}  // namespace

// One search: what is known before the pause, and what was read in it. Everything that it uses was mapped before.
class PathRecorder::Pause {
 public:
  static Result<std::unique_ptr<Pause>> Make(const PathRecorder& recorder, bool is_test);

  // Has JVMTI stop the threads. Returns an Error if nothing of this may be believed.
  Status Run();

  bool is_jvm_over() const { return is_jvm_over_; }
  // Call once, after Run.
  FoundPaths Take() {
    return {
        end_, objects_, end_ns_ - begin_ns_, std::move(paths_), {holders_.begin(), holders_.begin() + holder_count_}};
  }

 private:
  struct Root {
    const char* klass;  // of kStatic
    jmethodID method;
    uint64_t thread;
    RootKind kind;
  };

  Pause(const PathRecorder& recorder, HeapWalk walk, PathSet paths, bool is_test)
      : recorder_(recorder),
        layout_(*recorder.layout_),
        walk_(std::move(walk)),
        paths_(std::move(paths)),
        is_test_(is_test) {}
  static jint JNICALL OnReference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong class_tag,
                                  jlong referrer_class_tag, jlong size, jlong* tag, jlong* referrer_tag, jint length,
                                  void* self);
  void Begin();
  bool AddRoot(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, const jlong* tag);
  bool AddClasses();
  bool AddRoots(size_t listed);
  // Looks at the clock now and then. False: not all roots are known in time.
  bool MayGoOn();
  void Search();
  bool IsKnownClass(uint64_t object, std::string_view name) const;
  // Whether the object that only the anchor holds was found by the right path; nullopt: it was not found.
  std::optional<bool> FindsHeld() const;
  void ReadPaths();
  void SearchAroundHolders(size_t listed, uint64_t search_ns);
  // `marks`: the path is the next one of the set.
  std::optional<PathSet::Path> ReadPath(uint32_t at, uint64_t sample, bool marks);
  uint32_t StepOf(uint64_t holder, Place place);
  uint32_t ClassStep(const char* klass);
  uint32_t MethodStep(jmethodID method);

  const PathRecorder& recorder_;
  const ReferenceLayout& layout_;
  std::optional<HeapWalk> walk_;
  PathSet paths_;
  uint64_t objects_ = 0;
  const bool is_test_;
  uint64_t begin_ns_ = 0, end_ns_ = 0, deadline_ns_ = 0;
  bool matches_anchor_ = false, matches_other_ = false, differs_ = false, has_searched_ = false, is_believed_ = false,
       is_jvm_over_ = false;
  WalkEnd end_ = WalkEnd::kComplete;
  hotspot::MappedArray<Root> roots_;
  hotspot::MappedArray<uint64_t> root_addresses_;
  size_t root_count_ = 0, looks_ = 0;
  hotspot::MappedArray<uint64_t> samples_;      // by tracking index
  hotspot::MappedArray<uint32_t> wanted_;       // by path: its tracking index
  hotspot::MappedArray<uint8_t> found_around_;  // by tracking index: in which search it was found last
  std::array<PathSet::Path, kMostHolders> holders_;
  size_t holder_count_ = 0;
};

Result<std::unique_ptr<PathRecorder::Pause>> PathRecorder::Pause::Make(const PathRecorder& recorder, bool is_test) {
  auto walk = HeapWalk::Make(*recorder.layout_, is_test ? 1 << 20 : recorder.MemoryLimit());
  if (!walk.ok()) return walk.error();
  auto paths = PathSet::Make();
  if (!paths.ok()) return paths.error();
  std::unique_ptr<Pause> pause(new Pause(recorder, std::move(*walk), std::move(*paths), is_test));
  for (const Status& made : {pause->roots_.Map(kMostRoots), pause->root_addresses_.Map(kMostRoots),
                             pause->samples_.Map(HeapWalk::kMostWanted), pause->wanted_.Map(HeapWalk::kMostWanted),
                             pause->found_around_.Map(HeapWalk::kMostWanted)}) {
    if (!made.ok()) return made.error();
  }
  return pause;
}

Status PathRecorder::Pause::Run() {
  jvmtiHeapCallbacks callbacks{};
  callbacks.heap_reference_callback = OnReference;
  const jvmtiError error = recorder_.jvmti_->FollowReferences(0, nullptr, nullptr, &callbacks, this);
  // Its memory is not needed any more.
  objects_ = walk_->objects();
  walk_.reset();
  is_jvm_over_ = error == JVMTI_ERROR_WRONG_PHASE;
  if (error != JVMTI_ERROR_NONE) return Error{fmt::format("FollowReferences: JVMTI error {}", static_cast<int>(error))};
  if (differs_) return Error{"JVMTI does not have addresses where they are expected"};
  if (is_test_ && end_ == WalkEnd::kRoots) return Error{"the roots alone take longer than paths.pause"};
  if (!has_searched_ && end_ != WalkEnd::kRoots) return Error{"JVMTI lists the roots in another order"};
  if (has_searched_ && !is_believed_) return Error{"an object of the agent's own was not found as it should be"};
  return {};
}

jint JNICALL PathRecorder::Pause::OnReference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong,
                                              jlong, jlong, jlong* tag, jlong* referrer_tag, jint, void* self) {
  auto& pause = *static_cast<Pause*>(self);
  if (pause.begin_ns_ == 0) pause.Begin();
  if (referrer_tag != nullptr || pause.has_searched_) return 0;
  bool goes_on = true;
  if (kind == JVMTI_HEAP_REFERENCE_SYSTEM_CLASS) {
    pause.has_searched_ = true;
    pause.differs_ = pause.differs_ || !pause.matches_anchor_ || !pause.matches_other_;
    if (!pause.differs_) pause.Search();
    goes_on = false;
  } else {
    goes_on = pause.AddRoot(kind, info, tag);
  }
  pause.end_ns_ = MonotonicNs();
  return goes_on ? 0 : JVMTI_VISIT_ABORT;
}

void PathRecorder::Pause::Begin() {
  begin_ns_ = MonotonicNs();
  const uint64_t pause_ns = is_test_ ? std::max(recorder_.limits_.pause_ns, kTestNs) : recorder_.limits_.pause_ns;
  deadline_ns_ = DeadlineOf(begin_ns_, pause_ns);
}

// Only remembers the address: nobody has confirmed yet that it is one.
bool PathRecorder::Pause::AddRoot(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, const jlong* tag) {
  const auto address = Load<uint64_t>(reinterpret_cast<uintptr_t>(tag) - kAddressBeforeTag);
  if (*tag == kAnchorTag) matches_anchor_ = address == AddressIn(recorder_.anchor_);
  if (*tag == kOtherAnchorTag) matches_other_ = address == AddressIn(recorder_.other_anchor_);
  if (*tag != 0 && !(*tag == kAnchorTag ? matches_anchor_ : matches_other_)) differs_ = true;
  if (root_count_ == kMostRoots) end_ = WalkEnd::kRoots;
  if (differs_ || !MayGoOn()) return false;
  Root& root = roots_[root_count_];
  root = {nullptr, nullptr, 0, RootKindOf(kind)};
  if (kind == JVMTI_HEAP_REFERENCE_STACK_LOCAL && info != nullptr) {
    root.method = info->stack_local.method;
    root.thread = static_cast<uint64_t>(info->stack_local.thread_id);
  }
  if (kind == JVMTI_HEAP_REFERENCE_JNI_LOCAL && info != nullptr) {
    // The constants of compiled Java code, which are held elsewhere, too.
    const hotspot::VmMethod* const method = recorder_.jvm_.names.MethodOf(info->jni_local.method);
    if (method != nullptr && !recorder_.jvm_.names.IsNative(method)) return true;
    root.method = info->jni_local.method;
    root.thread = static_cast<uint64_t>(info->jni_local.thread_id);
  }
  root_addresses_[root_count_++] = address;
  return true;
}

// The classes that are never unloaded come first, because "static field of X" says most. False: the time is over.
bool PathRecorder::Pause::AddClasses() {
  layout_.ForEachPermanentClass([&](const char* klass) {
    if (!MayGoOn() || klass == nullptr) return end_ == WalkEnd::kComplete;
    if (root_count_ == kMostRoots) end_ = WalkEnd::kRoots;
    const uint32_t mirror = end_ == WalkEnd::kComplete ? layout_.MirrorOf(klass) : 0;
    if (mirror == 0) return end_ == WalkEnd::kComplete;
    roots_[root_count_] = {klass, nullptr, 0, RootKind::kStatic};
    if (!walk_->AddRoot(mirror, static_cast<uint32_t>(root_count_++))) end_ = WalkEnd::kMemory;
    return end_ == WalkEnd::kComplete;
  });
  return end_ == WalkEnd::kComplete;
}

// `listed`: how many JVMTI has listed. False: not all of them are known in time.
bool PathRecorder::Pause::AddRoots(size_t listed) {
  root_count_ = listed;
  if (!AddClasses()) return false;
  for (size_t i = 0; i < listed && MayGoOn(); ++i) {
    const uint32_t reference = layout_.ReferenceTo(root_addresses_[i]);
    if (reference != 0 && roots_[i].kind == RootKind::kThread)
      roots_[i].thread = layout_.IdOfThread(root_addresses_[i]);
    if (reference != 0 && !walk_->AddRoot(reference, static_cast<uint32_t>(i))) end_ = WalkEnd::kMemory;
  }
  return end_ == WalkEnd::kComplete;
}

bool PathRecorder::Pause::MayGoOn() {
  if (++looks_ % kRootsBetweenLooks == 0 && MonotonicNs() >= deadline_ns_) end_ = WalkEnd::kRoots;
  return end_ == WalkEnd::kComplete;
}

bool PathRecorder::Pause::IsKnownClass(uint64_t object, std::string_view name) const {
  const char* const klass = layout_.objects().ClassOf(layout_.objects().ClassWordOf(object));
  return recorder_.jvm_.names.IsReadable(klass) && recorder_.jvm_.names.KlassName(klass) == name;
}

void PathRecorder::Pause::Search() {
  const uint64_t anchor = AddressIn(recorder_.anchor_);
  const uint32_t anchor_reference = layout_.ReferenceTo(anchor);
  if (anchor_reference == 0 || !IsKnownClass(anchor, "[Ljava/lang/Object;")) return;
  // 0 is no tracking index.
  walk_->Want(AddressIn(recorder_.held_), 0);
  const size_t listed = root_count_;
  if (is_test_) {
    for (size_t i = 0; i < listed; ++i) {
      if (root_addresses_[i] == anchor) (void)walk_->AddRoot(anchor_reference, static_cast<uint32_t>(i));
    }
  } else {
    for (uint32_t index = 1; index <= recorder_.tracked_.count() && MayGoOn(); ++index) {
      const WeakRefTable::View view = recorder_.tracked_.Look(static_cast<uint16_t>(index));
      if (view.state != WeakRefTable::State::kTracked) continue;
      samples_[index] = view.sample;
      walk_->Want(AddressIn(view.reference), index);
    }
    if (!AddRoots(listed)) return void(is_believed_ = true);
  }
  const uint64_t now_ns = MonotonicNs();
  const auto left = static_cast<double>(deadline_ns_ - std::min(deadline_ns_, now_ns));
  end_ = walk_->Run(now_ns + static_cast<uint64_t>(kSearchShare * left));
  // In a search that was cut short it need not be found.
  is_believed_ = FindsHeld().value_or(!is_test_ && end_ != WalkEnd::kComplete);
  if (!is_believed_ || is_test_) return;
  const uint64_t search_ns = MonotonicNs() - now_ns;
  ReadPaths();
  if (end_ == WalkEnd::kComplete) SearchAroundHolders(listed, search_ns);
}

// Object[1] -> AtomicReference.value -> the object.
std::optional<bool> PathRecorder::Pause::FindsHeld() const {
  for (const HeapWalk::Found& found : walk_->found()) {
    if (found.id != 0) continue;
    int steps = 0;
    bool is_right = true;
    const auto root = walk_->Climb(found.at, UINT64_MAX, [&](uint32_t, uint64_t holder, Place place) {
      const char* const klass = layout_.objects().ClassOf(layout_.objects().ClassWordOf(holder));
      const auto& names = recorder_.jvm_.names;
      if (steps == 0) {
        is_right = is_right && names.KlassName(klass) == "java/util/concurrent/atomic/AtomicReference" &&
                   !place.is_static() && names.FieldName(klass, place.offset(), false) == "value";
      } else {
        is_right = is_right && holder == AddressIn(recorder_.anchor_) && place == Place::Element();
      }
      return ++steps <= 2;
    });
    return is_right && steps == 2 && root && roots_[*root].kind == RootKind::kJniGlobal;
  }
  return std::nullopt;
}

void PathRecorder::Pause::ReadPaths() {
  for (const HeapWalk::Found& found : walk_->found()) {
    if (found.id == 0) continue;
    // What is not read now counts as not reached.
    std::optional<PathSet::Path> path;
    if (MonotonicNs() < deadline_ns_) path = ReadPath(found.at, samples_[found.id], /*marks=*/true);
    if (!path) {
      if (end_ == WalkEnd::kComplete) end_ = WalkEnd::kTime;
      return;
    }
    wanted_[paths_.size()] = found.id;
    paths_.Add(*path);
  }
}

// What a search that does not enter an object no longer finds is held by that object alone: it is what would become
// garbage with it.
void PathRecorder::Pause::SearchAroundHolders(size_t listed, uint64_t search_ns) {
  const uint64_t needs_ns = search_ns + search_ns / 4;
  const uint64_t until_ns = std::min(deadline_ns_, begin_ns_ + recorder_.limits_.retained_ns);
  if (MonotonicNs() + needs_ns >= until_ns) return;
  struct Candidate {
    uint32_t at, reference;
    float share;
    PathSet::Path path;
  };
  std::array<Candidate, kMostCandidates> candidates;
  size_t count = 0;
  walk_->ForEachHolder(
      kLeastHeld, [this](uint32_t root) { return roots_[root].kind == RootKind::kStatic; },
      [&](uint32_t at, float share) {
        candidates[count++] = {at, walk_->ReferenceAt(at), share, {}};
        return count < candidates.size();
      });
  std::sort(candidates.begin(), candidates.begin() + count, [](const Candidate& a, const Candidate& b) {
    return a.share > b.share || (a.share == b.share && a.at < b.at);
  });
  count = std::min(count, kMostHolders);
  for (size_t i = 0; i < count; ++i) {
    const auto path = ReadPath(candidates[i].at, /*sample=*/0, /*marks=*/false);
    if (!path) return;
    candidates[i].path = *path;
  }
  for (size_t i = 0; i < count && MonotonicNs() + needs_ns < until_ns; ++i) {
    walk_->Restart(candidates[i].reference);
    const bool is_complete = AddRoots(listed) && walk_->Run(until_ns) == WalkEnd::kComplete;
    end_ = WalkEnd::kComplete;  // of the search that found the paths
    if (!is_complete) return;
    const auto around = static_cast<uint8_t>(i + 1);
    for (const HeapWalk::Found& found : walk_->found()) found_around_[found.id] = around;
    for (size_t path = 0; path < paths_.size(); ++path) {
      if (found_around_[wanted_[path]] != around) paths_.SetHolder(path, holder_count_);
    }
    holders_[holder_count_] = candidates[i].path;
    holders_[holder_count_].holders = uint64_t{1} << holder_count_;
    ++holder_count_;
  }
}

std::optional<PathSet::Path> PathRecorder::Pause::ReadPath(uint32_t at, uint64_t sample, bool marks) {
  if (!paths_.has_room()) return std::nullopt;
  PathSet::Frames frames;
  const PathSet::Mark* met = nullptr;
  size_t steps = 0;
  bool ends_in_class = false;
  const auto climbed = walk_->Climb(at, deadline_ns_, [&](uint32_t index, uint64_t holder, Place place) {
    frames.Add({StepOf(holder, place), 1});
    ends_in_class = place.is_static() || place == Place::Constants();
    met = paths_.Pass(index, ++steps, frames, marks);
    return met == nullptr;
  });
  if (!climbed && met == nullptr) return std::nullopt;
  PathSet::Path path{};
  path.sample = sample;
  path.strength = walk_->StrengthOf(at);
  path.root_step = PathSet::kGapStep;
  if (met != nullptr) {
    paths_.GoOn(*met, &frames, &path);
  } else {
    const Root& root = roots_[*climbed];
    path.root = root.kind;
    path.thread = root.thread;
    if (root.method != nullptr) path.root_step = MethodStep(root.method);
    // Otherwise the last frame says what of the class it is.
    if (root.kind == RootKind::kStatic && !ends_in_class) path.root_step = ClassStep(root.klass);
  }
  paths_.Keep(frames, &path);
  return path;
}

uint32_t PathRecorder::Pause::StepOf(uint64_t holder, Place place) {
  const bool is_of_mirror = place.is_static() || place == Place::Constants();
  const char* const klass =
      is_of_mirror ? layout_.ClassOfMirror(holder) : layout_.objects().ClassOf(layout_.objects().ClassWordOf(holder));
  if (klass == nullptr) return PathSet::kGapStep;
  return paths_.StepOf(klass, place.value(), [&]() -> std::pair<std::string_view, std::string_view> {
    const auto& names = recorder_.jvm_.names;
    const std::string_view class_name = names.KlassName(klass);
    if (place == Place::Element()) return {class_name, format::kElementStep};
    if (place == Place::ClassOfObject()) return {class_name, format::kClassStep};
    if (place == Place::Constants()) return {class_name, format::kConstantsStep};
    const std::string_view field = names.FieldName(klass, place.offset(), place.is_static());
    return {class_name, field.empty() ? format::kHiddenStep : field};
  });
}

uint32_t PathRecorder::Pause::ClassStep(const char* klass) {
  return paths_.StepOf(klass, Place::ClassOfObject().value(), [&]() -> std::pair<std::string_view, std::string_view> {
    return {recorder_.jvm_.names.KlassName(klass), format::kClassStep};
  });
}

uint32_t PathRecorder::Pause::MethodStep(jmethodID method) {
  hotspot::Names::MethodView view;
  if (!recorder_.jvm_.names.Method(method, &view)) return PathSet::kGapStep;
  return paths_.StepOf(method, 0, [&] { return std::pair(view.class_name, view.name); });
}

PathRecorder::PathRecorder(const Jvm& jvm, SampleWriter& writer, HeapStateRecorder& states, WeakRefTable& tracked,
                           const PathLimits& limits)
    : jvm_(jvm),
      writer_(writer),
      states_(states),
      tracked_(tracked),
      limits_(limits),
      vm_(jvm.vm),
      thread_("heaprec-paths", [this] { SearchAtTimes(); }) {}

PathRecorder::~PathRecorder() {
  JNIEnv* const jni = EnvOf(vm_);
  if (jni == nullptr) return;
  jni->DeleteGlobalRef(anchor_);
  jni->DeleteGlobalRef(other_anchor_);
  if (held_ != nullptr) jni->DeleteWeakGlobalRef(held_);
  if (jvmti_ != nullptr) jvmti_->DisposeEnvironment();
}

namespace {

// An Error says why the agent does not read this heap itself.
Result<ReferenceLayout> LayoutOf(const Jvm& jvm, JNIEnv* jni) {
  const std::string gc = jvm.GcName();
  if (gc != "G1" && gc != "Parallel" && gc != "Serial") return Error{fmt::format("the {} collector", gc)};
  if (!jvm.names.ids_lead_to_methods()) return Error{"jmethodIDs do not lead to methods"};
  const auto objects = jvm.Objects();
  if (!objects.ok()) return objects.error();
  return ReferenceLayout::Resolve(jvm.structs, *objects, jvm.names, jni);
}

}  // namespace

Result<std::unique_ptr<PathRecorder>> PathRecorder::Make(const Jvm& jvm, JNIEnv* jni, SampleWriter& writer,
                                                         HeapStateRecorder& states, WeakRefTable& tracked,
                                                         const PathLimits& limits) {
  if (!jvm.internals.ok()) return Error{"the JVM's memory is not read"};
  std::unique_ptr<PathRecorder> made(new PathRecorder(jvm, writer, states, tracked, limits));
  Status usable = made->MakeAnchors(jni);
  if (!usable.ok()) return usable.error();
  auto layout = LayoutOf(jvm, jni);
  if (layout.ok()) {
    made->layout_ = *layout;
  } else {
    made->why_by_jvmti_ = layout.error().message;
  }
  usable = made->SearchOnce(jni, /*is_test=*/true);
  if (usable.ok()) return made;
  return layout.ok() ? usable.error() : Error{fmt::format("{}; {}", layout.error().message, usable.error().message)};
}

Status PathRecorder::MakeAnchors(JNIEnv* jni) {
  void* environment = nullptr;
  if (vm_->GetEnv(&environment, JVMTI_VERSION_1_2) != JNI_OK) return Error{"no JVMTI environment"};
  jvmti_ = static_cast<jvmtiEnv*>(environment);
  jvmtiCapabilities tags{};
  tags.can_tag_objects = 1;
  if (jvmti_->AddCapabilities(&tags) != JVMTI_ERROR_NONE) return Error{"objects cannot be tagged"};
  const bool has_frame = jni->PushLocalFrame(8) == JNI_OK;
  const jclass object = has_frame ? jni->FindClass("java/lang/Object") : nullptr;
  const jclass holder = object != nullptr ? jni->FindClass("java/util/concurrent/atomic/AtomicReference") : nullptr;
  const jmethodID make = holder != nullptr ? jni->GetMethodID(holder, "<init>", "(Ljava/lang/Object;)V") : nullptr;
  const jobject held = make != nullptr ? jni->NewByteArray(16) : nullptr;
  const jobject middle = held != nullptr ? jni->NewObject(holder, make, held) : nullptr;
  const jobjectArray anchor = middle != nullptr ? jni->NewObjectArray(1, object, middle) : nullptr;
  const jobject other = anchor != nullptr ? jni->NewObjectArray(1, object, nullptr) : nullptr;
  if (other != nullptr) {
    anchor_ = jni->NewGlobalRef(anchor);
    other_anchor_ = jni->NewGlobalRef(other);
    held_ = jni->NewWeakGlobalRef(held);
  }
  jni->ExceptionClear();
  if (has_frame) jni->PopLocalFrame(nullptr);
  if (anchor_ == nullptr || other_anchor_ == nullptr || held_ == nullptr) return Error{"out of memory"};
  if (jvmti_->SetTag(anchor_, kAnchorTag) != JVMTI_ERROR_NONE ||
      jvmti_->SetTag(other_anchor_, kOtherAnchorTag) != JVMTI_ERROR_NONE) {
    return Error{"objects cannot be tagged"};
  }
  return {};
}

uint64_t PathRecorder::MemoryLimit() const {
  if (limits_.memory_bytes > 0) return limits_.memory_bytes;
  std::ifstream host("/proc/meminfo");
  uint64_t available = 0;
  for (std::string line; available == 0 && std::getline(host, line);) {
    if (line.starts_with("MemAvailable:"))
      available = std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10) << 10;
  }
  // A reader of its own: the recorder's belongs to the drain.
  format::ProcessAccount account;
  CgroupMeter cgroup;
  cgroup.Read(MonotonicNs(), &account);
  using format::AccountItem;
  // The kernel gives up cached files.
  const auto less = [](uint64_t from, uint64_t by) { return from - std::min(from, by); };
  const uint64_t cached =
      less(account[AccountItem::kCgroupFile].ValueOr(0), account[AccountItem::kCgroupShmem].ValueOr(0));
  const uint64_t used = less(account[AccountItem::kCgroupCurrent].ValueOr(0), cached);
  for (const AccountItem item : {AccountItem::kCgroupMax, AccountItem::kCgroupHigh}) {
    if (account[item].is_known()) available = std::min(available, less(account[item].value(), used));
  }
  return less(available / 2, layout_ ? layout_->heap_bytes() / 64 : 0);
}

Status PathRecorder::SearchOnce(JNIEnv* jni, bool is_test) {
  if (!layout_) {
    const KnownChain known{anchor_, held_};
    const JvmtiSearchLimits limits{limits_.pause_ns, MemoryLimit()};
    if (is_test) return TestJvmtiSearch(jvm_, jni, known, limits);
    const auto found = SearchByJvmti(jvm_, jni, tracked_, known, limits, &has_failed_);
    jvmtiPhase phase = JVMTI_PHASE_LIVE;
    is_over_ = jvmti_->GetPhase(&phase) == JVMTI_ERROR_NONE && phase != JVMTI_PHASE_LIVE;
    if (!found.ok()) return found.error();
    Write(jni, *found);
    return {};
  }
  auto pause = Pause::Make(*this, is_test);
  if (!pause.ok()) return pause.error();
  const Status ran = (*pause)->Run();
  is_over_ = (*pause)->is_jvm_over();
  if (!ran.ok()) {
    has_failed_ = true;
    return ran.error();
  }
  if (!is_test) Write(jni, (*pause)->Take());
  return {};
}

void PathRecorder::Search(JNIEnv* jni) {
  const std::lock_guard lock(mutex_);
  if (has_failed_ || is_over_ || is_stopped_) return;
  ++searches_;
  Status searched;
  try {
    searched = SearchOnce(jni, /*is_test=*/false);
  } catch (const std::bad_alloc&) {
    searched = Error{"out of memory"};
  }
  if (searched.ok() || is_over_) return;
  give_up_ns_ = MonotonicNs() + kWritingNs;
  const std::string& why = searched.error().message;
  // Without memory the next search may succeed.
  Log(LogLevel::kWarn, "paths: {}{}", why, has_failed_ ? "; the heap is not searched again" : "");
  WriteEvent({.kind = ProcessStateKind::kPathWalk,
              .committed = static_cast<uint64_t>(WalkEnd::kFailed) + format::kWalkNumber * searches_,
              .text = why});
}

void PathRecorder::Write(JNIEnv* jni, const FoundPaths& found) {
  give_up_ns_ = MonotonicNs() + kWritingNs;
  if (!WriteEvent({.kind = ProcessStateKind::kPathWalk,
                   .used = found.objects,
                   .committed = static_cast<uint64_t>(found.end) + format::kWalkNumber * searches_,
                   .pauses = found.paths.size(),
                   .paused_ns = found.paused_ns})) {
    return;
  }
  std::vector<ThreadIdentity> threads;
  jvm_.ForEachThread(jni, [&](jthread alive) {
    ThreadIdentity& thread = threads.emplace_back();
    jvm_.thread_fields.Read(jni, alive, &thread);
    // The labels are those of the calling thread.
    thread.name_bytes = format::NameOfThread(thread.Name()).size();
  });
  const PathSet& paths = found.paths;
  for (const PathSet::Path& holder : found.holders) {
    if (!WritePath(paths, holder, threads)) return;
  }
  for (size_t path = 0; path < paths.size(); ++path) {
    if (!WritePath(paths, paths[path], threads)) return;
    // Otherwise the ring would have no room for samples.
    if (path % kPathsAtOnce == kPathsAtOnce - 1) nanosleep(&kRingPause, nullptr);
  }
}

bool PathRecorder::WritePath(const PathSet& paths, const PathSet::Path& path,
                             const std::vector<ThreadIdentity>& threads) {
  std::array<format::RingFrame, SampleWriter::kMaxEventFrames> frames;
  size_t count = 0;
  const auto add = [&](uint32_t step, int32_t bci) {
    format::RingFrame& frame = frames[count++];
    frame = {0, bci, -1, format::FrameType::kUnknown};
    if (step == PathSet::kGapStep) return true;
    std::optional<uint64_t> key;
    while (!(key = writer_.DefineName(paths.NameOf(step), 0))) {
      if (MonotonicNs() >= give_up_ns_) return false;
      nanosleep(&kRingPause, nullptr);
    }
    frame.method = *key;
    return true;
  };
  const std::span<const PathSet::Frame> steps = paths.FramesOf(path);
  // The last frame is a static field, or what else belongs to a class: the root's frame.
  const bool ends_in_field = path.root == RootKind::kStatic && path.root_step == PathSet::kGapStep && !steps.empty();
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool is_root = ends_in_field && i + 1 == steps.size();
    if (steps[i].repeats == 0) {
      frames[count++] = format::kGapFrame;
    } else if (!add(steps[i].step,
                    is_root ? static_cast<int32_t>(path.root) : static_cast<int32_t>(steps[i].repeats))) {
      return false;
    }
  }
  if (!ends_in_field && !add(path.root_step, static_cast<int32_t>(path.root))) {
    return false;
  }
  const auto thread = std::ranges::find(threads, path.thread, &ThreadIdentity::java_tid);
  return WriteEvent({.kind = ProcessStateKind::kPath,
                     .used = path.sample,
                     .committed = static_cast<uint64_t>(path.strength) + format::kWalkNumber * searches_,
                     .pauses = path.holders,
                     .thread = path.thread != 0 && thread != threads.end() ? &*thread : nullptr,
                     .frames = std::span(frames).first(count)});
}

// Waits for room in the ring, which the drain makes every 20 ms.
bool PathRecorder::WriteEvent(const SampleWriter::Event& event) {
  while (!writer_.CommitEvent(event, states_.ids())) {
    if (MonotonicNs() >= give_up_ns_) return false;
    nanosleep(&kRingPause, nullptr);
  }
  return true;
}

void PathRecorder::SearchAtTimes() {
  const AttachedScope attached(vm_, "heaprec-paths");
  constexpr uint64_t kNever = UINT64_MAX;
  const auto next_time = [this] { return limits_.every_ns > 0 ? MonotonicNs() + limits_.every_ns : kNever; };
  uint64_t next_ns = next_time(), last_ns = limits_.last_ns > 0 ? limits_.last_ns : kNever;
  uint64_t full_ns = states_.marked_ns();
  while (!thread_.SleepOrStop(kTick)) {
    const uint64_t now_ns = MonotonicNs(), marked_ns = states_.marked_ns();
    if (attached.jni() == nullptr || (now_ns < next_ns && now_ns < last_ns && marked_ns == full_ns)) continue;
    Search(attached.jni());
    full_ns = marked_ns;
    if (now_ns >= last_ns) last_ns = kNever;
    next_ns = next_time();
  }
}

}  // namespace heaprec::sources
