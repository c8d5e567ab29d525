#include "tools/import/jfr/constants.h"

#include <algorithm>
#include <cctype>

namespace heaprec::tools::jfr {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 30;
constexpr int kMaxLevels = 4;  // a class name is a constant of a symbol, which is a string

using format::Index;
using format::kNone;

constexpr size_t kMaxFrames = 8192;       // frames nearer to the root are cut off
constexpr size_t kMaxTextBytes = 65'535;  // maximum of a name in a class file
constexpr std::string_view kOurClass = "heaprec";
constexpr std::string_view kGap = "[truncated]";
constexpr Index kGapMethod = kNone - 1;  // no method: our export writes one for frames that were not recorded

std::string Bounded(std::string text) {
  text.resize(std::min(text.size(), kMaxTextBytes));
  return text;
}

bool IsAddress(std::string_view text) {
  return text.starts_with("0x") && text.size() > 2 &&
         std::ranges::all_of(text.substr(2), [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
}

// "key=value;...", as in our own export: inserts a zero byte before each.
std::string WithLabels(std::string name, std::string labels) {
  if (labels.empty()) return name;
  std::ranges::replace(labels, ';', '\0');
  return name + '\0' + labels;
}

}  // namespace

Status Constants::Add(std::string_view event) {
  bytes_ += event.size();
  if (bytes_ > kMaxBytes) return Error{"more than 1 GiB of constants in a chunk"};
  Cursor at(events_.emplace_back(event), compressed_);
  at.Long();  // start
  at.Long();  // duration
  at.Long();  // position of the previous one
  at.Byte();  // kind of checkpoint
  for (int32_t left = at.Int(); left > 0 && at.ok(); --left) {
    if (!AddPool(&at)) break;
  }
  if (!at.ok()) return Error{"the constants cannot be read"};
  return {};
}

bool Constants::AddPool(Cursor* at) {
  const Type* const type = metadata_.WithId(at->Long());
  const int32_t count = at->Int();
  if (type == nullptr || count < 0 || static_cast<size_t>(count) > at->left()) {
    at->Fail();
    return false;
  }
  auto& pool = pools_[type];
  for (int32_t left = count; left > 0 && at->ok(); --left) {
    const auto key = static_cast<uint64_t>(at->Long());
    const Cursor begin = *at;
    Skip(*type, at);
    if (at->ok()) pool.try_emplace(key, begin.Until(*at));
  }
  return at->ok();
}

std::optional<Cursor> Constants::Find(const Type& type, uint64_t key) const {
  const auto pool = pools_.find(&type);
  if (pool == pools_.end()) return std::nullopt;
  const auto constant = pool->second.find(key);
  if (constant == pool->second.end()) return std::nullopt;
  return Cursor(constant->second, compressed_);
}

std::string Constants::TextOf(const Type& type, uint64_t key) const {
  const std::optional<Cursor> constant = Find(type, key);
  return constant ? Text(type, /*pooled=*/false, *constant, 0) : std::string();
}

std::string Constants::TextOfPart(const Type& type, Cursor at, std::string_view name) const {
  std::string text;
  ForEachField(type, &at, [&](const Field& field, const Cursor& value) {
    if (field.name == name) text = TextOf(field, value);
  });
  return text;
}

std::string Constants::TextOfPart(const Field& field, Cursor at, std::string_view name) const {
  if (field.pooled) {
    const std::optional<Cursor> constant = Find(*field.type, static_cast<uint64_t>(at.Long()));
    if (!constant) return {};
    at = *constant;
  }
  return TextOfPart(*field.type, at, name);
}

std::string Constants::Text(const Type& type, bool pooled, Cursor at, int level) const {
  if (level > kMaxLevels) return {};
  if (pooled) {
    const std::optional<Cursor> constant = Find(type, static_cast<uint64_t>(at.Long()));
    return constant ? Text(type, /*pooled=*/false, *constant, level + 1) : std::string();
  }
  if (type.primitive == Primitive::kString) {
    TextOrKey text = ReadText(&at);
    if (!text.is_key) return std::move(text.text);
    const std::optional<Cursor> constant = Find(type, text.key);
    return constant ? Text(type, /*pooled=*/false, *constant, level + 1) : std::string();
  }
  if (type.fields.empty() || type.fields.front().array) return {};
  return Text(*type.fields.front().type, type.fields.front().pooled, at, level + 1);
}

std::string HotSpotName(std::string name) {
  const size_t mark = name.find("+0x");
  if (mark != std::string::npos) {
    const size_t hash = name.find('/', mark);
    if (hash != std::string::npos && IsAddress(std::string_view(name).substr(mark + 1, hash - mark - 1))) {
      name.resize(hash);
    }
    return name;
  }
  const size_t slash = name.rfind('/');
  if (slash != std::string::npos && IsAddress(std::string_view(name).substr(slash + 1))) name[slash] = '+';
  return name;
}

NamesOfChunk::NamesOfChunk(const Metadata& metadata, const Constants& constants, format::ChunkWriter* chunk)
    : constants_(constants),
      chunk_(*chunk),
      class_(metadata.Named("java.lang.Class")),
      thread_(metadata.Named("java.lang.Thread")),
      stack_(metadata.Named("jdk.types.StackTrace")),
      symbol_(metadata.Named("jdk.types.Symbol")) {}

Index NamesOfChunk::Class(uint64_t key) {
  if (key == 0 || class_ == nullptr) return kNone;
  const auto [at, is_new] = classes_.try_emplace(key, kNone);
  if (!is_new) return at->second;
  const auto constant = constants_.Find(*class_, key);
  if (!constant) return kNone;
  const std::string name = HotSpotName(Bounded(constants_.TextOfPart(*class_, *constant, "name")));
  bytes_ += name.size();
  return at->second = chunk_.InternClass(name);
}

Index NamesOfChunk::Thread(uint64_t key, uint64_t labels) {
  if (key == 0 || thread_ == nullptr) return kNone;
  const auto [at, is_new] = threads_.try_emplace({key, labels}, kNone);
  if (!is_new) return at->second;
  const auto constant = constants_.Find(*thread_, key);
  if (!constant) return kNone;
  format::Thread thread;
  std::string java_name, os_name;
  Cursor fields = *constant;
  ForEachField(*thread_, &fields, [&](const Field& field, Cursor value) {
    if (field.name == "javaName") java_name = constants_.TextOf(field, value);
    if (field.name == "osName") os_name = constants_.TextOf(field, value);
    if (field.name == "virtual") thread.is_virtual = ReadInteger(*field.type, &value) != 0;
    if (field.name == "osThreadId") thread.os_tid = static_cast<uint32_t>(ReadInteger(*field.type, &value));
    if (field.name == "javaThreadId") {
      thread.java_tid = static_cast<uint64_t>(std::max<int64_t>(ReadInteger(*field.type, &value), 0));
    }
  });
  const std::string text = labels == 0 || symbol_ == nullptr ? std::string() : constants_.TextOf(*symbol_, labels);
  thread.name = WithLabels(Bounded(java_name.empty() ? os_name : java_name), Bounded(text));
  bytes_ += thread.name.size();
  return at->second = chunk_.InternThread(thread);
}

Index NamesOfChunk::Method(const Field& field, Cursor at) {
  if (!field.pooled || field.array) return kNone;
  const auto key = static_cast<uint64_t>(at.Long());
  const auto [known, is_new] = methods_.try_emplace(key, kNone);
  if (!is_new) return known->second;
  const auto constant = constants_.Find(*field.type, key);
  if (!constant) return kNone;
  format::Method method;
  Cursor fields = *constant;
  ForEachField(*field.type, &fields, [&](const Field& part, const Cursor& value) {
    if (part.name == "type") method.class_name = HotSpotName(Bounded(constants_.TextOfPart(part, value, "name")));
    if (part.name == "name") method.name = Bounded(constants_.TextOf(part, value));
    if (part.name == "descriptor") method.descriptor = Bounded(constants_.TextOf(part, value));
  });
  if (method.name.empty() && method.class_name.empty()) return kNone;
  if (method.class_name == kOurClass) return known->second = method.name == kGap ? kGapMethod : kNone;
  bytes_ += method.class_name.size() + method.name.size() + method.descriptor.size();
  return known->second = chunk_.InternMethod(method);
}

// async-profiler distinguishes C1's code, and also has native frames.
format::FrameType NamesOfChunk::TypeOf(const Field& field, Cursor value) {
  const std::string name = constants_.TextOfPart(field, value, "description");
  using enum format::FrameType;
  if (name == "Interpreted") return kInterpreted;
  if (name == "JIT compiled" || name == "C1 compiled") return kCompiled;
  if (name == "Inlined") return kInlined;
  return name == "Native" ? kNative : kUnknown;
}

void NamesOfChunk::AddFrame(const Type& type, Cursor at, std::vector<format::StackFrame>* frames) {
  format::StackFrame frame;
  ForEachField(type, &at, [&](const Field& field, Cursor value) {
    if (field.name == "method") frame.method = Method(field, value);
    if (field.name == "lineNumber") frame.line = static_cast<int32_t>(ReadInteger(*field.type, &value));
    if (field.name == "bytecodeIndex") frame.bci = static_cast<int32_t>(ReadInteger(*field.type, &value));
    if (field.name == "type") frame.type = TypeOf(field, value);
  });
  frame.line = std::max(frame.line, -1);
  frame.bci = std::max(frame.bci, -1);
  if (frame.method == kGapMethod) frame = {kNone, -1, format::kGapLine};
  frames->push_back(frame);
}

bool NamesOfChunk::AddFrames(const Field& field, Cursor at, std::vector<format::StackFrame>* frames) {
  if (!field.array) return true;
  for (int32_t left = at.Int(); left > 0 && at.ok(); --left) {
    if (frames->size() == kMaxFrames) return false;
    if (field.pooled) {
      const auto constant = constants_.Find(*field.type, static_cast<uint64_t>(at.Long()));
      if (constant) AddFrame(*field.type, *constant, frames);
    } else {
      AddFrame(*field.type, at, frames);
      Skip(*field.type, &at);
    }
  }
  return true;
}

Index NamesOfChunk::Stack(uint64_t key) {
  if (key == 0 || stack_ == nullptr) return kNone;
  const auto [at, is_new] = stacks_.try_emplace(key, kNone);
  if (!is_new) return at->second;
  const auto constant = constants_.Find(*stack_, key);
  if (!constant) return kNone;
  std::vector<format::StackFrame> frames;
  bool truncated = false;
  Cursor fields = *constant;
  ForEachField(*stack_, &fields, [&](const Field& field, Cursor value) {
    if (field.name == "truncated") truncated |= ReadInteger(*field.type, &value) != 0;
    if (field.name == "frames") truncated |= !AddFrames(field, value, &frames);
  });
  if (frames.empty()) return kNone;
  // Our own export also marks gaps like that.
  if (std::ranges::any_of(frames, [](const auto& frame) { return frame.line == format::kGapLine; })) truncated = false;
  bytes_ += frames.size() * sizeof(format::StackNode);
  return at->second = chunk_.InternStack(frames, truncated);
}

Index NamesOfChunk::Path(const ObjectPath& path) {
  std::vector<format::StackFrame> frames;
  for (const ObjectPath::Step& step : path.steps) {
    const bool is_named = !step.class_name.empty() || !step.name.empty();
    frames.push_back({.method = is_named ? chunk_.InternMethod(step.class_name, step.name, "") : kNone,
                      .bci = step.bci,
                      .line = step.is_gap ? format::kGapLine : -1});
    bytes_ += sizeof(format::StackNode) + step.class_name.size() + step.name.size();
  }
  return chunk_.InternStack(frames, /*truncated=*/false);
}

}  // namespace heaprec::tools::jfr
