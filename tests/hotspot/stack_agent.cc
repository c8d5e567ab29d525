// Runs inside a real JVM: compares every stack that the walker takes with JVMTI's GetStackTrace on the same allocation.
// Options: COUNT,FILE. COUNT stacks are compared (Stacks.java runs until then); FILE gets the verdict, one line.
#include <jvmti.h>
#include <xxhash.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "recorder/hotspot/jdk_rules.h"
#include "recorder/hotspot/metadata/jvmti_methods.h"
#include "recorder/hotspot/metadata/names.h"
#include "recorder/hotspot/stacks/stack_walker.h"
#include "recorder/hotspot/threads/current_thread.h"
#include "recorder/hotspot/vm_structs.h"

namespace {

using namespace heaprec::hotspot;  // NOLINT(google-build-using-namespace): one test program
using heaprec::format::StackKey;

constexpr size_t kMaxFrames = 1 << 16;  // deeper than a stack of 8 MiB
constexpr size_t kLeafSide = 500;       // of a stack too deep for the walker

struct State {
  jvmtiEnv* jvmti = nullptr;
  std::unique_ptr<JvmtiMethods> methods;
  std::optional<Names> names;
  std::optional<StackWalker> walker;
  std::optional<ThreadOfEnv> thread_of;
  uint64_t wanted = 0;
  std::string verdict_file;
  std::atomic<bool> started{false};  // the launcher's own stacks would use up a short run
  std::atomic<uint64_t> events{0}, compared{0}, unknown{0}, deep{0}, different{0}, frames{0}, other_ids{0};
  std::mutex mutex;
  std::string first_difference;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> seen;  // identity -> hash of the frames it stood for
  std::map<uint64_t, uint64_t> places;                     // the same of single frames
};

State* state = nullptr;

std::string Text(const VmMethod* method, int64_t bci) {
  Names::MethodView view;
  if (method == nullptr || !state->names->Method(method, &view)) return "?";
  return std::string(view.class_name) + "." + std::string(view.name) + std::string(view.descriptor) + "@" +
         std::to_string(bci);
}

struct Stack {
  std::unique_ptr<MethodFrame[]> room{new MethodFrame[kMaxFrames]};
  std::unique_ptr<jvmtiFrameInfo[]> jvmti{new jvmtiFrameInfo[kMaxFrames]};
};

Stack* TakeStack() {
  thread_local std::unique_ptr<Stack> stack = std::make_unique<Stack>();
  return stack.get();
}

// The same method and bci. After a redefinition JVMTI may name the newer of two versions with the same bytecodes.
bool Same(const MethodFrame& raw, const jvmtiFrameInfo& jvmti) {
  if (raw.bci != jvmti.location) return false;
  const VmMethod* const method = state->names->MethodOf(jvmti.method);
  if (raw.method == method) return true;
  ++state->other_ids;
  return Text(raw.method, raw.bci) == Text(method, raw.bci);
}

void Difference(const std::string& what) {
  ++state->different;
  const std::lock_guard lock(state->mutex);
  if (state->first_difference.empty()) state->first_difference = what;
}

std::string Describe(std::span<const MethodFrame> raw, const jvmtiFrameInfo* jvmti, size_t count) {
  std::string text = std::to_string(raw.size()) + " frames instead of " + std::to_string(count) + ":";
  for (size_t i = 0; i < std::max(raw.size(), count) && i < 40; ++i) {
    if (i < raw.size() && i < count && Same(raw[i], jvmti[i])) {
      text += " =" + Text(raw[i].method, raw[i].bci);
      continue;
    }
    text += " [walked " + (i < raw.size() ? Text(raw[i].method, raw[i].bci) : "nothing") + " jvmti " +
            (i < count ? Text(state->names->MethodOf(jvmti[i].method), jvmti[i].location) : "nothing") + "]";
  }
  return text;
}

// The same identity, and the same place, always stands for the same frames, by their names and lines, whatever was
// unloaded meanwhile.
void CheckIdentity(const StackKey& key, std::span<const MethodFrame> frames) {
  uint64_t hash = 0;
  bool same = true;
  for (const MethodFrame& frame : frames) {
    const std::string text = Text(frame.method, frame.bci) + ":" +
                             std::to_string(state->names->Line(frame.method, static_cast<int>(frame.bci)));
    hash = XXH3_64bits_withSeed(text.data(), text.size(), hash);
    if (frame.code_key == 0) continue;
    const uint64_t own = XXH3_64bits(text.data(), text.size());
    const std::lock_guard lock(state->mutex);
    same = same && state->places.emplace(frame.code_key, own).first->second == own;
  }
  if (!same) return Difference("one place, two frames");
  {
    const std::lock_guard lock(state->mutex);
    same = state->seen.emplace(std::pair(key.low, key.high), hash).first->second == hash;
  }
  if (!same) Difference("one identity, two stacks");
}

void JNICALL SampledObjectAlloc(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject, jclass, jlong) {
  State& s = *state;
  if (!s.walker || !s.started || s.compared >= s.wanted) return;
  ++s.events;
  const void* const thread = (*s.thread_of)(jni);
  Stack* const stack = TakeStack();
  FrameSelection selection({stack->room.get(), kMaxFrames});
  StackKey key{};
  const WalkResult identified = s.walker->Identify(thread, &key);
  const WalkResult walked = s.walker->Expand(thread, &selection);
  if (identified != walked) return Difference("Identify and Expand disagree");
  if (walked == WalkResult::kUnknown) {
    ++s.unknown;
    return;
  }
  jint count = 0;
  if (jvmti->GetStackTrace(nullptr, 0, kMaxFrames, stack->jvmti.get(), &count) != JVMTI_ERROR_NONE) return;
  std::span<const MethodFrame> frames = selection.Finish();
  bool same = frames.size() == static_cast<size_t>(count);
  if (walked == WalkResult::kDeep) {
    frames = s.walker->ExpandLeafSide(thread, {stack->room.get(), kLeafSide});
    same = frames.size() == kLeafSide && frames.size() < static_cast<size_t>(count);
    ++s.deep;
  }
  for (size_t i = 0; same && i < frames.size(); ++i) same = Same(frames[i], stack->jvmti[i]);
  if (!same) Difference(Describe(frames, stack->jvmti.get(), static_cast<size_t>(count)));
  CheckIdentity(key, frames);
  s.frames += frames.size();
  ++s.compared;
}

// Another constant in Stacks$Redefined.redefined: sipush 1234 <-> sipush 4321.
void JNICALL ClassFileLoadHook(jvmtiEnv* jvmti, JNIEnv*, jclass redefined, jobject, const char* name, jobject,
                               jint size, const unsigned char* bytes, jint* new_size, unsigned char** new_bytes) {
  if (redefined == nullptr || name == nullptr || std::strcmp(name, "Stacks$Redefined") != 0) return;
  static std::atomic<int> version{0};
  if (jvmti->Allocate(size, new_bytes) != JVMTI_ERROR_NONE) return;
  std::memcpy(*new_bytes, bytes, static_cast<size_t>(size));
  *new_size = size;
  if (++version % 3 == 0) return;  // the same bytecodes again
  for (jint i = 0; i + 2 < size; ++i) {
    unsigned char* const at = *new_bytes + i;
    if (at[0] == 0x11 && at[1] == 0x04 && at[2] == 0xd2) at[2] = static_cast<unsigned char>(0xd2 + version % 16);
  }
}

bool Start(JNIEnv* jni, jthread current) {
  State& s = *state;
  const auto structs = VmStructs::Load();
  if (!structs) return Difference(structs.error().message), false;
  const auto version = JdkMajorVersion(s.jvmti, *structs);
  if (!version) return Difference(version.error().message), false;
  const auto names = Names::Resolve(*structs, JdkRules::For(*version), 0, s.methods.get());
  if (!names) return Difference(names.error().message), false;
  const auto walker = StackWalker::Resolve(*structs, *names, JdkRules::For(*version));
  if (!walker) return Difference(walker.error().message), false;
  const auto thread_of = ThreadOfEnv::Resolve(jni, current);
  if (!thread_of) return Difference(thread_of.error().message), false;
  s.names = *names;
  s.thread_of = *thread_of;
  s.walker = *walker;
  return true;
}

void JNICALL VMInit(jvmtiEnv* jvmti, JNIEnv* jni, jthread current) {
  if (!Start(jni, current)) return;
  jvmti->SetHeapSamplingInterval(0);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, nullptr);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, nullptr);
}

void JNICALL VMDeath(jvmtiEnv* jvmti, JNIEnv*) {
  State& s = *state;
  jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, nullptr);
  std::FILE* const file = std::fopen(s.verdict_file.c_str(), "w");
  if (file == nullptr) return;
  const std::lock_guard lock(s.mutex);
  std::fprintf(
      file, "compared=%lu different=%lu unknown=%lu deep=%lu frames=%lu identities=%zu places=%zu other_ids=%lu %s\n",
      s.compared.load(), s.different.load(), s.unknown.load(), s.deep.load(), s.frames.load(), s.seen.size(),
      s.places.size(), s.other_ids.load(), s.first_difference.c_str());
  std::fclose(file);
}

}  // namespace

extern "C" {

JNIEXPORT void JNICALL Java_Stacks_upcall(JNIEnv* jni, jclass, jobject runnable) {
  const jclass type = jni->GetObjectClass(runnable);
  jni->CallVoidMethod(runnable, jni->GetMethodID(type, "run", "()V"));
}

JNIEXPORT jboolean JNICALL Java_Stacks_enough(JNIEnv*, jclass) {
  state->started = true;
  return state->compared >= state->wanted || state->different > 100 ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT void JNICALL Java_Stacks_retransform(JNIEnv*, jclass, jclass type, jboolean now) {
  if (now == JNI_TRUE && state->jvmti->RetransformClasses(1, &type) != JVMTI_ERROR_NONE) Difference("no redefinition");
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  state = new State;
  const char* const comma = std::strchr(options, ',');
  if (comma == nullptr) return JNI_ERR;
  state->wanted = std::strtoull(options, nullptr, 10);
  state->verdict_file = comma + 1;
  if (vm->GetEnv(reinterpret_cast<void**>(&state->jvmti), JVMTI_VERSION_11) != JNI_OK) return JNI_ERR;
  state->methods = std::make_unique<JvmtiMethods>(vm, state->jvmti);
  jvmtiCapabilities wanted = {};
  wanted.can_retransform_classes = 1;
  wanted.can_generate_sampled_object_alloc_events = 1;
  if (state->jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) return JNI_ERR;
  jvmtiEventCallbacks callbacks = {};
  callbacks.VMInit = VMInit;
  callbacks.VMDeath = VMDeath;
  callbacks.SampledObjectAlloc = SampledObjectAlloc;
  callbacks.ClassFileLoadHook = ClassFileLoadHook;
  state->jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  state->jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr);
  state->jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr);
  return JNI_OK;
}
}
