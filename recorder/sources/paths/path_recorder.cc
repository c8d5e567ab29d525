#include "recorder/sources/paths/path_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "format/model/process_state.h"
#include "format/model/thread_name.h"
#include "recorder/hotspot/references/heap_walk.h"
#include "recorder/sources/log.h"

namespace heaprec::sources {

using format::PathStrength;
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
// The frames of a path that are kept beside the object and beside the root.
constexpr size_t kNear = 40, kFar = 20;
static_assert(kNear + kFar + 2 <= SampleWriter::kMaxEventFrames);
// The part of the pause in which the heap is searched; in the rest the paths are read.
constexpr double kSearchShare = 0.8;
// HotSpot stops and resumes its threads outside of what is measured here.
constexpr uint64_t kReserveNs = 1'000'000;
// The agent's test of itself may take as long, whatever paths.pause is.
constexpr uint64_t kTestNs = 50'000'000;
constexpr uint64_t kRootsBetweenLooks = 256;
constexpr size_t kMostRoots = 1 << 22, kMostSteps = 1 << 16, kMostFrames = 1 << 22, kTextBytes = 8 << 20;
constexpr size_t kMarks = 1 << 16, kStepsBeforeMarks = 128;
constexpr uint32_t kBetweenMarks = 64;
constexpr size_t kPathsAtOnce = 100;
constexpr uint64_t kWritingNs = 2'000'000'000;
constexpr timespec kRingPause{0, 10'000'000};
constexpr std::chrono::milliseconds kTick{100};

// A reference that JNI hands out points to the object's address.
uint64_t AddressIn(jobject reference) {
  return reference == nullptr ? 0 : Load<uint64_t>(reinterpret_cast<uintptr_t>(reference) & ~uintptr_t{7});
}

RootKind KindOf(jvmtiHeapReferenceKind kind) {
  switch (kind) {
    case JVMTI_HEAP_REFERENCE_JNI_GLOBAL:
      return RootKind::kJniGlobal;
    case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
      return RootKind::kJniLocal;
    case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
      return RootKind::kLocal;
    case JVMTI_HEAP_REFERENCE_THREAD:
      return RootKind::kThread;
    case JVMTI_HEAP_REFERENCE_MONITOR:
      return RootKind::kMonitor;
    default:
      return RootKind::kJvm;
  }
}

}  // namespace

// One search: what is known before the pause, and what was read in it. Everything that it uses was mapped before.
class PathRecorder::Pause {
 public:
  static Result<std::unique_ptr<Pause>> Make(const PathRecorder& recorder, bool is_test);

  // Has JVMTI stop the threads. Returns an Error if nothing of this may be believed.
  Status Run();

  bool is_jvm_over() const { return is_jvm_over_; }
  WalkEnd end() const { return end_; }
  uint64_t paused_ns() const { return end_ns_ - begin_ns_; }
  uint64_t objects() const { return objects_; }

  struct Step {
    const char* klass;
    uint32_t place;
    uint32_t class_at, class_bytes, name_at, name_bytes;
  };
  struct Frame {
    uint32_t step, repeats;  // kGapStep: frames were left out
  };
  static constexpr uint32_t kGapStep = UINT32_MAX;
  struct Path {
    uint64_t sample;
    uint32_t first, count;
    PathStrength strength;
    RootKind root;
    uint32_t root_step;  // the method of a local variable; kGapStep: none
    uint64_t thread;     // Java's id; 0: none
  };
  size_t paths() const { return path_count_; }
  const Path& path(size_t i) const { return paths_[i]; }
  std::span<const Frame> FramesOf(const Path& path) const { return {&frames_[path.first], path.count}; }
  hotspot::Names::MethodView NameOf(uint32_t step) const {
    const Step& of = steps_[step];
    return {{&text_[of.class_at], of.class_bytes}, {&text_[of.name_at], of.name_bytes}, {}};
  }

 private:
  struct Root {
    const char* klass;  // of kStatic
    jmethodID method;
    uint64_t thread;
    RootKind kind;
  };

  Pause(const PathRecorder& recorder, HeapWalk walk, bool is_test)
      : recorder_(recorder), layout_(recorder.layout_), walk_(std::move(walk)), is_test_(is_test) {}
  static jint JNICALL OnReference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong class_tag,
                                  jlong referrer_class_tag, jlong size, jlong* tag, jlong* referrer_tag, jint length,
                                  void* self);
  void Begin();
  bool AddRoot(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, const jlong* tag);
  bool AddClasses();
  // Looks at the clock now and then. False: not all roots are known in time.
  bool MayGoOn();
  void Search();
  bool IsKnownClass(uint64_t object, std::string_view name) const;
  // Whether the object that only the anchor holds was found by the right path; nullopt: it was not found.
  std::optional<bool> FindsHeld() const;
  void ReadPaths();
  class Frames;
  // Where a long path passes: another path that comes there goes on in the same way.
  struct Mark {
    uint32_t index, path;
    uint32_t frame, repeats;  // of the path's frames so far: their number (0: a free mark), and the last one's repeats
  };
  Mark* MarkAt(uint32_t index);
  bool ReadPath(const HeapWalk::Found& found);
  template <typename Read>
  uint32_t StepOf(const char* klass, Place place, const Read& name_of);
  uint32_t StepOf(uint64_t holder, Place place);
  uint32_t ClassStep(const char* klass);
  uint32_t MethodStep(jmethodID method);
  uint32_t AddText(std::string_view text);

  const PathRecorder& recorder_;
  const ReferenceLayout& layout_;
  std::optional<HeapWalk> walk_;
  uint64_t objects_ = 0;
  const bool is_test_;
  uint64_t begin_ns_ = 0, end_ns_ = 0, deadline_ns_ = 0;
  bool matches_anchor_ = false, matches_other_ = false, differs_ = false, has_searched_ = false, is_believed_ = false,
       is_jvm_over_ = false;
  WalkEnd end_ = WalkEnd::kComplete;
  hotspot::MappedArray<Root> roots_;
  hotspot::MappedArray<uint64_t> root_addresses_;
  size_t root_count_ = 0, looks_ = 0;
  hotspot::MappedArray<uint64_t> samples_;  // by tracking index
  hotspot::MappedArray<Step> steps_;        // by hash
  size_t step_count_ = 0;
  hotspot::MappedArray<Frame> frames_;
  size_t frame_count_ = 0;
  hotspot::MappedArray<Path> paths_;
  size_t path_count_ = 0;
  hotspot::MappedArray<Mark> marks_;
  size_t mark_count_ = 0;
  hotspot::MappedArray<char> text_;
  size_t text_bytes_ = 0;
};

Result<std::unique_ptr<PathRecorder::Pause>> PathRecorder::Pause::Make(const PathRecorder& recorder, bool is_test) {
  auto walk = HeapWalk::Make(recorder.layout_, is_test ? 1 << 20 : recorder.MemoryLimit());
  if (!walk.ok()) return walk.error();
  std::unique_ptr<Pause> pause(new Pause(recorder, std::move(*walk), is_test));
  for (const Status& made :
       {pause->roots_.Map(kMostRoots), pause->root_addresses_.Map(kMostRoots),
        pause->samples_.Map(HeapWalk::kMostWanted), pause->steps_.Map(2 * kMostSteps), pause->frames_.Map(kMostFrames),
        pause->paths_.Map(HeapWalk::kMostWanted), pause->marks_.Map(kMarks), pause->text_.Map(kTextBytes)}) {
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
  deadline_ns_ = begin_ns_ + pause_ns - std::min(pause_ns / 2, kReserveNs);
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
  root = {nullptr, nullptr, 0, KindOf(kind)};
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
    if (!AddClasses()) return void(is_believed_ = true);
    for (size_t i = 0; i < listed && MayGoOn(); ++i) {
      const uint32_t reference = layout_.ReferenceTo(root_addresses_[i]);
      if (reference != 0 && roots_[i].kind == RootKind::kThread)
        roots_[i].thread = layout_.IdOfThread(root_addresses_[i]);
      if (reference != 0 && !walk_->AddRoot(reference, static_cast<uint32_t>(i))) end_ = WalkEnd::kMemory;
    }
    if (end_ != WalkEnd::kComplete) return void(is_believed_ = true);
  }
  const auto spent = MonotonicNs() - begin_ns_;
  const auto left = static_cast<double>(deadline_ns_ - std::min(deadline_ns_, begin_ns_ + spent));
  switch (walk_->Run(begin_ns_ + spent + static_cast<uint64_t>(kSearchShare * left))) {
    case HeapWalk::End::kComplete:
      break;
    case HeapWalk::End::kTime:
      end_ = WalkEnd::kTime;
      break;
    case HeapWalk::End::kMemory:
      end_ = WalkEnd::kMemory;
      break;
  }
  // In a search that was cut short it need not be found.
  is_believed_ = FindsHeld().value_or(!is_test_ && end_ != WalkEnd::kComplete);
  if (is_believed_ && !is_test_) ReadPaths();
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
    if (MonotonicNs() >= deadline_ns_ || !ReadPath(found)) {
      if (end_ == WalkEnd::kComplete) end_ = WalkEnd::kTime;
      return;
    }
  }
}

// Joins equal steps that follow each other, and keeps the frames beside the object and those beside the root.
class PathRecorder::Pause::Frames {
 public:
  void Add(const Frame& frame) {
    if (count_ > 0 && frame.repeats > 0 && last_.step == frame.step) {
      last_.repeats += frame.repeats;
      return;
    }
    if (count_ > 0) Place(last_);
    ++count_;
    last_ = frame;
  }
  // The number of frames, and the last one so far.
  size_t count() const { return count_; }
  const Frame& last() const { return last_; }
  // Returns how many were written; at most kNear + kFar + 1.
  size_t WriteTo(Frame* into) {
    if (count_ > 0) Place(last_);
    Frame* to = std::copy_n(near_.begin(), std::min(placed_, kNear), into);
    const size_t rest = placed_ - std::min(placed_, kNear);
    if (rest > kFar) *to++ = {kGapStep, 0};
    for (size_t i = rest - std::min(rest, kFar); i < rest; ++i) *to++ = far_[i % kFar];
    return static_cast<size_t>(to - into);
  }

 private:
  void Place(const Frame& frame) {
    (placed_ < kNear ? near_[placed_] : far_[(placed_ - kNear) % kFar]) = frame;
    ++placed_;
  }

  std::array<Frame, kNear> near_;
  std::array<Frame, kFar> far_;  // the last ones, in a circle
  Frame last_{kGapStep, 0};
  size_t count_ = 0, placed_ = 0;
};

PathRecorder::Pause::Mark* PathRecorder::Pause::MarkAt(uint32_t index) {
  size_t at = index * 0x9E3779B1U >> 7 & (kMarks - 1);
  while (marks_[at].frame != 0 && marks_[at].index != index) at = (at + 1) % kMarks;
  return &marks_[at];
}

bool PathRecorder::Pause::ReadPath(const HeapWalk::Found& found) {
  if (frame_count_ + kNear + kFar + 1 > kMostFrames) return false;
  Frames frames;
  const Mark* met = nullptr;
  size_t steps = 0;
  bool ends_in_class = false;
  const auto climbed = walk_->Climb(found.at, deadline_ns_, [&](uint32_t index, uint64_t holder, Place place) {
    frames.Add({StepOf(holder, place), 1});
    ends_in_class = place.is_static() || place == Place::Constants();
    if (++steps < kStepsBeforeMarks || index % kBetweenMarks != 0) return true;
    Mark* const mark = MarkAt(index);
    if (mark->frame != 0) {
      met = mark;
      return false;
    }
    if (frames.count() >= kNear || mark_count_ == kMarks / 2) return true;
    ++mark_count_;
    *mark = {index, static_cast<uint32_t>(path_count_), static_cast<uint32_t>(frames.count()), frames.last().repeats};
    return true;
  });
  if (!climbed && met == nullptr) return false;
  Path& path = paths_[path_count_];
  path = {samples_[found.id],
          static_cast<uint32_t>(frame_count_),
          0,
          static_cast<PathStrength>(walk_->StrengthOf(found.at)),
          RootKind::kUnknown,
          kGapStep,
          0};
  if (met != nullptr) {
    const Path& other = paths_[met->path];
    path.root = other.root;
    path.root_step = other.root_step;
    path.thread = other.thread;
    const std::span<const Frame> rest = FramesOf(other).subspan(met->frame - 1);
    if (const uint32_t left = rest.front().repeats - met->repeats; left > 0) frames.Add({rest.front().step, left});
    for (const Frame& frame : rest.subspan(1)) frames.Add(frame);
  } else {
    const Root& root = roots_[*climbed];
    path.root = root.kind;
    path.thread = root.thread;
    if (root.method != nullptr) path.root_step = MethodStep(root.method);
    // Otherwise the last frame says what of the class it is.
    if (root.kind == RootKind::kStatic && !ends_in_class) path.root_step = ClassStep(root.klass);
  }
  path.count = static_cast<uint32_t>(frames.WriteTo(&frames_[frame_count_]));
  frame_count_ += path.count;
  ++path_count_;
  return true;
}

uint32_t PathRecorder::Pause::AddText(std::string_view text) {
  text = text.substr(0, kTextBytes - text_bytes_);
  if (!text.empty()) std::memcpy(&text_[text_bytes_], text.data(), text.size());
  text_bytes_ += text.size();
  return static_cast<uint32_t>(text_bytes_ - text.size());
}

// Names are read and copied once for each class and place. `name_of` returns both.
template <typename Read>
uint32_t PathRecorder::Pause::StepOf(const char* klass, Place place, const Read& name_of) {
  if (klass == nullptr) return kGapStep;
  size_t at = (reinterpret_cast<uintptr_t>(klass) / 8 * 31 + place.value()) * 0x9E3779B97F4A7C15U >> 40;
  at &= 2 * kMostSteps - 1;
  while (steps_[at].klass != nullptr && (steps_[at].klass != klass || steps_[at].place != place.value())) {
    at = (at + 1) % (2 * kMostSteps);
  }
  if (steps_[at].klass != nullptr) return static_cast<uint32_t>(at);
  const auto [class_name, name] = name_of();
  if (step_count_ == kMostSteps || text_bytes_ + class_name.size() + name.size() > kTextBytes) return kGapStep;
  ++step_count_;
  steps_[at] = {klass,
                place.value(),
                AddText(class_name),
                static_cast<uint32_t>(class_name.size()),
                AddText(name),
                static_cast<uint32_t>(name.size())};
  return static_cast<uint32_t>(at);
}

uint32_t PathRecorder::Pause::StepOf(uint64_t holder, Place place) {
  const bool is_of_mirror = place.is_static() || place == Place::Constants();
  const char* const klass =
      is_of_mirror ? layout_.ClassOfMirror(holder) : layout_.objects().ClassOf(layout_.objects().ClassWordOf(holder));
  return StepOf(klass, place, [&]() -> std::pair<std::string_view, std::string_view> {
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
  return StepOf(klass, Place::ClassOfObject(), [&]() -> std::pair<std::string_view, std::string_view> {
    return {recorder_.jvm_.names.KlassName(klass), format::kClassStep};
  });
}

uint32_t PathRecorder::Pause::MethodStep(jmethodID method) {
  hotspot::Names::MethodView view;
  if (!recorder_.jvm_.names.Method(method, &view)) return kGapStep;
  return StepOf(reinterpret_cast<const char*>(method), Place::Element(),
                [&] { return std::pair(view.class_name, view.name); });
}

PathRecorder::PathRecorder(const Jvm& jvm, SampleWriter& writer, HeapStateRecorder& states, const WeakRefTable& tracked,
                           const PathLimits& limits, const ReferenceLayout& layout)
    : jvm_(jvm),
      writer_(writer),
      states_(states),
      tracked_(tracked),
      limits_(limits),
      layout_(layout),
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

Result<std::unique_ptr<PathRecorder>> PathRecorder::Make(const Jvm& jvm, JNIEnv* jni, SampleWriter& writer,
                                                         HeapStateRecorder& states, const WeakRefTable& tracked,
                                                         const PathLimits& limits) {
  const std::string gc = jvm.GcName();
  if (gc != "G1" && gc != "Parallel" && gc != "Serial") return Error{fmt::format("not with the {} collector", gc)};
  if (!jvm.names.ids_lead_to_methods()) return Error{"not on this JDK: jmethodIDs do not lead to methods"};
  const auto objects = jvm.Objects();
  if (!objects.ok()) return objects.error();
  const auto layout = ReferenceLayout::Resolve(jvm.structs, *objects, jvm.names, jni);
  if (!layout.ok()) return layout.error();
  std::unique_ptr<PathRecorder> made(new PathRecorder(jvm, writer, states, tracked, limits, *layout));
  Status usable = made->MakeAnchors(jni);
  if (usable.ok()) usable = made->SearchOnce(jni, /*is_test=*/true);
  if (!usable.ok()) return usable.error();
  return made;
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
  return less(available / 2, layout_.heap_bytes() / 64);
}

Status PathRecorder::SearchOnce(JNIEnv* jni, bool is_test) {
  auto pause = Pause::Make(*this, is_test);
  if (!pause.ok()) return pause.error();
  const Status ran = (*pause)->Run();
  is_over_ = (*pause)->is_jvm_over();
  if (!ran.ok()) {
    has_failed_ = true;
    return ran.error();
  }
  if (!is_test) Write(jni, **pause);
  return {};
}

void PathRecorder::Search(JNIEnv* jni) {
  const std::lock_guard lock(mutex_);
  if (has_failed_ || is_over_ || is_stopped_) return;
  ++searches_;
  give_up_ns_ = MonotonicNs() + kWritingNs;
  const Status searched = SearchOnce(jni, /*is_test=*/false);
  if (searched.ok() || is_over_) return;
  const std::string& why = searched.error().message;
  // Without memory the next search may succeed.
  Log(LogLevel::kWarn, "paths: {}{}", why, has_failed_ ? "; the heap is not searched again" : "");
  WriteEvent({.kind = format::ProcessStateKind::kPathWalk,
              .committed = static_cast<uint64_t>(WalkEnd::kFailed) + format::kWalkNumber * searches_,
              .text = why});
}

void PathRecorder::Write(JNIEnv* jni, const Pause& pause) {
  if (!WriteEvent({.kind = format::ProcessStateKind::kPathWalk,
                   .used = pause.objects(),
                   .committed = static_cast<uint64_t>(pause.end()) + format::kWalkNumber * searches_,
                   .pauses = pause.paths(),
                   .paused_ns = pause.paused_ns()})) {
    return;
  }
  std::vector<ThreadIdentity> threads;
  jint count = 0;
  jthread* alive = nullptr;
  if (jvmti_->GetAllThreads(&count, &alive) == JVMTI_ERROR_NONE) {
    for (jint i = 0; i < count; ++i) {
      ThreadIdentity& thread = threads.emplace_back();
      jvm_.thread_fields.Read(jni, alive[i], &thread);
      // The labels are those of the calling thread.
      thread.name_bytes = format::NameOfThread(thread.Name()).size();
      jni->DeleteLocalRef(alive[i]);
    }
    jvmti_->Deallocate(reinterpret_cast<unsigned char*>(alive));
  }
  for (size_t path = 0; path < pause.paths(); ++path) {
    if (!WritePath(pause, path, threads)) return;
    // Otherwise the ring would have no room for samples.
    if (path % kPathsAtOnce == kPathsAtOnce - 1) nanosleep(&kRingPause, nullptr);
  }
}

bool PathRecorder::WritePath(const Pause& pause, size_t index, const std::vector<ThreadIdentity>& threads) {
  const Pause::Path& path = pause.path(index);
  std::array<format::RingFrame, SampleWriter::kMaxEventFrames> frames;
  size_t count = 0;
  const auto add = [&](uint32_t step, int32_t bci) {
    format::RingFrame& frame = frames[count++];
    frame = {0, bci, -1, format::FrameType::kUnknown};
    if (step == Pause::kGapStep) return true;
    std::optional<uint64_t> key;
    while (!(key = writer_.DefineName(pause.NameOf(step), 0))) {
      if (MonotonicNs() >= give_up_ns_) return false;
      nanosleep(&kRingPause, nullptr);
    }
    frame.method = *key;
    return true;
  };
  const std::span<const Pause::Frame> steps = pause.FramesOf(path);
  // The last frame is a static field, or what else belongs to a class: the root's frame.
  const bool ends_in_field = path.root == RootKind::kStatic && path.root_step == Pause::kGapStep && !steps.empty();
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
  return WriteEvent({.kind = format::ProcessStateKind::kPath,
                     .used = path.sample,
                     .committed = static_cast<uint64_t>(path.strength) + format::kWalkNumber * searches_,
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
