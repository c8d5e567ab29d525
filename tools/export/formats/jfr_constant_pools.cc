#include "tools/export/formats/jfr_constant_pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "format/model/names.h"
#include "format/model/process_state.h"
#include "tools/input/dictionary_names.h"
#include "tools/text/text.h"

namespace heaprec::tools::jfr {
namespace {

using format::Index;

constexpr uint64_t kNotYet = UINT64_MAX;

// The class of methods for frames that are unknown or were not recorded.
constexpr const char* kNoClass = "heaprec";
constexpr const char* kNoParameters = "()V";

constexpr std::array<std::string_view, 5> kOfTheJdk{"java/", "javax/", "jdk/", "sun/", "com/sun/"};

// Keys of frame types, numbered as in the JDK: all are in every chunk. Some readers treat such a key as a single byte
// or an index: 6 is the highest that all of them know.
constexpr uint8_t kNativeKey = 3, kUnknownKey = 6;
constexpr std::pair<uint8_t, std::string_view> kFrameTypeConstants[] = {
    {0, "Interpreted"}, {1, "JIT compiled"}, {2, "Inlined"}, {kNativeKey, "Native"}, {kUnknownKey, "Java"}};

// The JDK's words for roots (objectSampleDescription.cpp, rootType.hpp, and the names of its sets of handles), the
// first for any other. import reads them.
struct RootWords {
  format::RootKind kind;
  const char *system, *type;
};
constexpr RootWords kRootWords[] = {
    {format::RootKind::kUnknown, "<unknown>", "<unknown>"},
    {format::RootKind::kStatic, "Class Loader Data", "<unknown>"},
    {format::RootKind::kLocal, "Threads", "Stack Variable"},
    {format::RootKind::kJniLocal, "Threads", "Local JNI Handle"},
    {format::RootKind::kJniGlobal, "JNI Global", "Global JNI Handle"},
    {format::RootKind::kThread, "Thread OopStorage", "Global Object Handle"},
    {format::RootKind::kMonitor, "Object Monitor", "<unknown>"},
    {format::RootKind::kJvm, "Universe", "<unknown>"},
};
const std::string kClassNamed = "Class Name: ", kThreadNamed = "Thread Name: ", kMethodNamed = "Method: ";
constexpr uint16_t kStaticModifier = 8;  // java.lang.reflect.Modifier.STATIC

struct ClassName {
  std::string name;
  bool hidden;
};

// The address of a hidden class follows a '/', as in the files of JDK 21 and newer.
ClassName SpelledFor(std::string_view name) {
  const std::string java = format::JavaClassName(name);
  const size_t mark = java.rfind('/');
  std::string spelled(name);
  const bool hidden = mark != std::string::npos && java.size() == name.size();
  if (hidden) spelled[mark] = '/';
  return {ToUtf8(spelled), hidden};
}

std::string LabelsOf(const format::Thread& thread) {
  std::string labels;
  format::ForEachLabel(thread.name, [&labels](std::string_view key, std::string_view value) {
    if (!labels.empty()) labels += ';';
    labels += ToUtf8(key) + '=' + ToUtf8(value);
  });
  return labels;
}

}  // namespace

void ConstantPools::Clear() {
  ++chunk_;
  for (Pool& pool : pools_) {
    pool.count = 0;
    pool.constants.clear();
  }
  dictionaries_ = nullptr;
}

void ConstantPools::Enter(const format::Block& block) {
  const format::Dictionaries& names = *block.dictionaries;
  if (dictionaries_ == nullptr || block.chunk != source_chunk_ || names.stacks.size() < stacks_.size()) {
    for (Keys* keys : {&classes_, &threads_, &labels_, &methods_, &stacks_}) keys->clear();
  }
  dictionaries_ = &names;
  source_chunk_ = block.chunk;
}

template <typename Make>
uint64_t ConstantPools::Cached(Keys* keys, size_t known, Index index, const Make& make) {
  if (index >= known) return 0;
  if (keys->size() < known) keys->resize(known, kNotYet);
  if ((*keys)[index] == kNotYet) {
    const uint64_t key = make();
    (*keys)[index] = key;
  }
  return (*keys)[index];
}

// The fields may need other constants, even of the same pool, so those are added first.
template <typename Fields>
uint64_t ConstantPools::Append(size_t pool, uint64_t key, const Fields& append_fields) {
  std::string fields;
  append_fields(Sink(&fields));
  Sink sink(&pools_[pool].constants);
  sink.Long(key);
  sink.Raw(fields);
  ++pools_[pool].count;
  return key;
}

template <typename Fields>
uint64_t ConstantPools::Intern(size_t pool, const std::string& identity, const Fields& append_fields) {
  Constant& constant = known_[pool][identity];
  if (constant.key == 0) constant.key = next_key_++;
  if (std::exchange(constant.chunk, chunk_) == chunk_) return constant.key;
  return Append(pool, constant.key, append_fields);
}

uint64_t ConstantPools::Symbol(std::string_view utf8) {
  return Intern(kSymbols, std::string(utf8), [utf8](Sink sink) { sink.Utf8(utf8); });
}

uint8_t ConstantPools::FrameType(const format::Frame& frame) {
  Pool& pool = pools_[kFrameTypes];
  if (pool.count == 0) {
    for (const auto& [key, name] : kFrameTypeConstants) Append(kFrameTypes, key, [&](Sink sink) { sink.Utf8(name); });
  }
  if (frame.bci < 0 && frame.method != format::kNone) return kNativeKey;
  switch (frame.type) {
    case format::FrameType::kInterpreted:
      return 0;
    case format::FrameType::kCompiled:
      return 1;
    case format::FrameType::kInlined:
      return 2;
    case format::FrameType::kNative:
      return kNativeKey;
    case format::FrameType::kUnknown:
      break;
  }
  return kUnknownKey;
}

uint64_t ConstantPools::Package(std::string_view class_name) {
  const size_t end = class_name.find_last_of('/', class_name.find("/0x") - 1);
  if (class_name.starts_with('[') || end == std::string_view::npos) return 0;
  const std::string name(class_name.substr(0, end));
  return Intern(kPackages, name, [&](Sink sink) {
    sink.Long(Symbol(name));
    sink.Long(0);         // module
    sink.Boolean(false);  // exported
  });
}

// Some readers fail on a frame without a method.
uint64_t ConstantPools::ClassLoader(std::string_view class_name) {
  if (class_name == kNoClass) return 0;
  const size_t dimensions = class_name.find_first_not_of('[');
  if (dimensions == std::string_view::npos) return 0;
  if (dimensions > 0 && class_name[dimensions] != 'L') return 0;  // an array of a primitive type
  class_name.remove_prefix(dimensions > 0 ? dimensions + 1 : 0);
  if (std::ranges::any_of(kOfTheJdk, [=](std::string_view prefix) { return class_name.starts_with(prefix); })) return 0;
  return Intern(kClassLoaders, "", [&](Sink sink) {
    sink.Long(0);  // type
    sink.Long(Symbol("unknown"));
  });
}

uint64_t ConstantPools::ClassNamed(std::string_view name) {
  const ClassName spelled = SpelledFor(name);
  return Intern(kClasses, spelled.name, [&](Sink sink) {
    sink.Long(ClassLoader(spelled.name));
    sink.Long(Symbol(spelled.name));
    sink.Long(Package(spelled.name));
    sink.Int(0);  // modifiers
    sink.Boolean(spelled.hidden);
  });
}

uint64_t ConstantPools::Class(Index index) {
  return Cached(&classes_, dictionaries_->classes.size(), index,
                [&] { return ClassNamed(dictionaries_->classes[index]); });
}

uint64_t ConstantPools::ObjectOf(uint64_t type, const std::string& description, uint64_t referrer) {
  return Intern(kObjects, fmt::format("{} {} {}", type, referrer, description), [&](Sink sink) {
    sink.Long(0);  // address
    sink.Long(type);
    sink.String(description);
    sink.Long(referrer);
  });
}

// An element of an array is a field, too, because its index is not recorded.
uint64_t ConstantPools::Reference(const std::string& field, uint16_t modifiers, uint64_t holder, uint64_t skip) {
  const uint64_t field_key = Intern(kFields, fmt::format("{} {}", modifiers, field), [&](Sink sink) {
    sink.String(field);
    sink.Long(modifiers);
  });
  return Intern(kReferences, fmt::format("{} {} {}", field_key, holder, skip), [&](Sink sink) {
    sink.Long(0);  // array
    sink.Long(field_key);
    sink.Long(holder);
    sink.Long(skip);
  });
}

std::vector<format::Frame> ConstantPools::FramesOf(Index path) const {
  const format::Dictionaries& names = *dictionaries_;
  std::vector<format::Frame> frames;
  // As in Stack.
  for (Index at = path; at < names.stacks.size();) {
    const format::StackNode& node = names.stacks[at];
    frames.push_back(node.frame < names.frames.size() ? names.frames[node.frame] : format::Frame{});
    at = node.parent < at ? node.parent : format::kNone;
  }
  return frames;
}

const format::Method* ConstantPools::KnownMethod(const format::Frame& frame) const {
  return frame.method < dictionaries_->methods.size() ? &dictionaries_->methods[frame.method] : nullptr;
}

// As the JDK writes them: a static field is one of an object of java.lang.Class, whose description names the class.
// References of a run are one whose holder's description is their number; `skip` counts the others, and one for a gap.
uint64_t ConstantPools::Object(Index class_id, Index path) {
  const std::vector<format::Frame> frames = FramesOf(path);
  uint64_t referrer = 0;
  for (size_t i = frames.size(); i-- > 0;) {
    const bool is_root = i + 1 == frames.size();
    const format::Method* const of = KnownMethod(frames[i]);
    if (of == nullptr || (is_root && frames[i].bci != static_cast<int32_t>(format::RootKind::kStatic))) continue;
    const uint64_t gap = i > 0 && frames[i - 1].IsGap() ? 1 : 0;
    const std::string field = ToUtf8(of->name);
    if (is_root) {
      const std::string description = kClassNamed + ToUtf8(format::JavaClassName(of->class_name));
      referrer = Reference(field, kStaticModifier, ObjectOf(ClassNamed("java/lang/Class"), description, 0), gap);
      continue;
    }
    const auto others = static_cast<uint64_t>(std::max(frames[i].bci, 1) - 1);
    const std::string description = others > 0 ? fmt::format("x {}", others + 1) : "";
    referrer = Reference(field, 0, ObjectOf(ClassNamed(of->class_name), description, referrer), others + gap);
  }
  return ObjectOf(Class(class_id), "", referrer);
}

uint64_t ConstantPools::Root(Index path, Index thread) {
  const std::vector<format::Frame> frames = FramesOf(path);
  if (frames.empty()) return 0;
  const auto kind = static_cast<format::RootKind>(frames.back().bci);
  const auto* const known = std::ranges::find(kRootWords, kind, &RootWords::kind);
  const RootWords& words = known == std::end(kRootWords) ? kRootWords[0] : *known;
  std::string description;
  const format::Method* const method = KnownMethod(frames.back());
  if (method != nullptr && kind != format::RootKind::kStatic)
    description = ToUtf8(fmt::format("{}{}.{}", kMethodNamed, format::JavaClassName(method->class_name), method->name));
  if (thread < dictionaries_->threads.size()) {
    const std::string name(format::NameOfThread(dictionaries_->threads[thread].name));
    description += (description.empty() ? "" : ", ") + ToUtf8(kThreadNamed + name);
  }
  const uint64_t system = Intern(kRootSystems, words.system, [&](Sink sink) { sink.String(words.system); });
  const uint64_t type = Intern(kRootTypes, words.type, [&](Sink sink) { sink.String(words.type); });
  return Intern(kRoots, fmt::format("{} {} {}", system, type, description), [&](Sink sink) {
    sink.String(description);
    sink.Long(system);
    sink.Long(type);
  });
}

uint64_t ConstantPools::Thread(Index index) {
  return Cached(&threads_, dictionaries_->threads.size(), index, [&] {
    const format::Thread& thread = dictionaries_->threads[index];
    const std::string name = ToUtf8(format::NameOfThread(thread.name));
    std::string fields;
    Sink sink(&fields);
    sink.String(name);
    sink.Long(thread.os_tid);
    sink.String(name);
    sink.Long(thread.java_tid);
    sink.Long(0);  // group
    sink.Boolean(thread.is_virtual);
    return Intern(kThreads, fields, [&fields](Sink constant) { constant.Raw(fields); });
  });
}

uint64_t ConstantPools::Labels(Index thread) {
  return Cached(&labels_, dictionaries_->threads.size(), thread, [&]() -> uint64_t {
    const std::string labels = LabelsOf(dictionaries_->threads[thread]);
    return labels.empty() ? 0 : Symbol(labels);
  });
}

uint64_t ConstantPools::MethodNamed(const std::string& class_name, const std::string& name,
                                    const std::string& descriptor) {
  return Intern(kMethods, class_name + '\0' + name + '\0' + descriptor, [&](Sink sink) {
    sink.Long(ClassNamed(class_name));
    sink.Long(Symbol(ToUtf8(name)));
    sink.Long(Symbol(ToUtf8(descriptor)));
    sink.Int(0);          // modifiers
    sink.Boolean(false);  // hidden
  });
}

uint64_t ConstantPools::Method(Index index) {
  return Cached(&methods_, dictionaries_->methods.size(), index, [&] {
    const format::Method& method = dictionaries_->methods[index];
    const bool has_parameters = method.descriptor.starts_with('(');
    return MethodNamed(method.class_name, method.name, has_parameters ? method.descriptor : kNoParameters);
  });
}

// Some readers fail on a frame without a method.
uint64_t ConstantPools::MethodOf(const format::Frame& frame) {
  if (frame.method < dictionaries_->methods.size()) return Method(frame.method);
  return MethodNamed(kNoClass, std::string(frame.IsGap() ? kTruncated : kUnknown), kNoParameters);
}

uint64_t ConstantPools::Stack(Index leaf) {
  const format::Dictionaries& names = *dictionaries_;
  return Cached(&stacks_, names.stacks.size(), leaf, [&] {
    std::string frames;
    Sink sink(&frames);
    uint64_t depth = 0;
    bool truncated = false;
    // A parent precedes its child; this also ends loops in damaged files.
    for (Index at = leaf; at < names.stacks.size();) {
      const format::StackNode& node = names.stacks[at];
      const format::Frame frame = node.frame < names.frames.size() ? names.frames[node.frame] : format::Frame{};
      sink.Long(MethodOf(frame));
      sink.Int(std::max(frame.line, -1));
      sink.Int(frame.bci);
      sink.Byte(FrameType(frame));
      ++depth;
      truncated |= node.truncated || frame.IsGap();
      at = node.parent < at ? node.parent : format::kNone;
    }
    return Append(kStacks, next_key_++, [&](Sink stack) {
      stack.Boolean(truncated);
      stack.Long(depth);
      stack.Raw(frames);
    });
  });
}

size_t ConstantPools::bytes() const {
  size_t bytes = 0;
  for (const Pool& pool : pools_) bytes += pool.constants.size();
  return bytes;
}

void ConstantPools::AppendEvent(uint64_t ticks, std::string* into) const {
  constexpr uint8_t kComplete = 1;  // no earlier event needs a constant that follows later
  std::string rest;
  Sink sink(&rest);
  sink.Long(static_cast<uint64_t>(TypeId::kConstantPools));
  sink.Long(ticks);
  sink.Long(0);  // duration
  sink.Long(0);  // position of the previous one: none
  sink.Byte(kComplete);
  sink.Long(static_cast<uint64_t>(std::ranges::count_if(pools_, [](const Pool& pool) { return pool.count > 0; })));
  for (const Pool& pool : pools_) {
    if (pool.count == 0) continue;
    sink.Long(static_cast<uint64_t>(pool.type));
    sink.Long(pool.count);
    sink.Raw(pool.constants);
  }
  AppendSized(rest, into);
}

}  // namespace heaprec::tools::jfr
