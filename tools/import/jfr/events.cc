#include "tools/import/jfr/events.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace heaprec::tools::jfr {
namespace {

constexpr std::string_view kSample = "jdk.ObjectAllocationSample";
constexpr std::string_view kOwnSample = "heaprec.AllocationSample";
constexpr std::string_view kInNewTlab = "jdk.ObjectAllocationInNewTLAB";
constexpr std::string_view kOutsideTlab = "jdk.ObjectAllocationOutsideTLAB";

// More than any machine has: a JVM never wrote such a number, and sums of it are useless.
constexpr double kMaxBytes = 0x1p62;

using format::ProcessState;
using format::ProcessStateKind;

constexpr size_t kMaxCauseBytes = 256;  // docs/format/recording.md#states

// Files may contain any numbers: wraps around.
int64_t Plus(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }

uint64_t Positive(int64_t number) { return static_cast<uint64_t>(std::max<int64_t>(number, 0)); }

// Calls `visit(name, field, cursor)` for each field. Returns false if the event ends before its last field.
template <typename Visit>
bool ReadFields(const Event& event, const Visit& visit) {
  Cursor at = event.fields;
  ForEachField(*event.type, &at, [&](const Field& field, Cursor value) {
    if (!field.array) visit(field.name, field, value);
  });
  return at.ok();
}

// Returns the key of a field in the constant pool.
uint64_t KeyOf(const Field& field, Cursor value) { return field.pooled ? static_cast<uint64_t>(value.Long()) : 0; }

// Returns the key of the class of a jdk.types.OldObject.
uint64_t ClassOfObject(const Field& object, const Cursor& value, const Constants& constants) {
  const auto constant = constants.Find(*object.type, KeyOf(object, value));
  if (!constant) return 0;
  uint64_t key = 0;
  Cursor fields = *constant;
  ForEachField(*object.type, &fields, [&](const Field& field, const Cursor& part) {
    if (field.name == "type" && !field.array) key = KeyOf(field, part);
  });
  return key;
}

constexpr size_t kMaxReferences = 4096;              // the JDK writes 200 of a chain; damaged files may have loops
constexpr size_t kFirstSteps = 40, kLastSteps = 20;  // docs/format/recording.md#paths
constexpr size_t kMaxNameBytes = 4096;
constexpr std::string_view kClassOfClasses = "java/lang/Class", kClassNamed = "Class Name: ";
constexpr std::string_view kThreadNamed = "Thread Name: ", kMethodNamed = "Method: ";

std::string Bounded(std::string text) {
  text.resize(std::min(text.size(), kMaxNameBytes));
  return text;
}

std::string InternalName(std::string_view java_name) {
  std::string name(java_name);
  std::ranges::replace(name, '.', '/');
  return HotSpotName(name);
}

// Of "x 17", as heaprec describes the holder of a run of references.
int32_t RepeatsOf(std::string_view description) {
  int32_t repeats = 0;
  if (!description.starts_with("x ")) return 1;
  const char *const begin = description.data() + 2, *const end = description.data() + description.size();
  const auto [last, error] = std::from_chars(begin, end, repeats);
  return error == std::errc() && last == end && repeats > 1 ? repeats : 1;
}

// A jdk.types.OldObject and the reference to it.
struct LinkedObject {
  std::string class_name, description;
  // The reference: null if `holder_type` is.
  const Type* holder_type = nullptr;
  uint64_t holder = 0;
  std::string field;  // "[]": an element
  int64_t skipped = 0;
};

LinkedObject LinkedAt(const Type& type, uint64_t key, const Constants& constants) {
  LinkedObject read;
  auto constant = constants.Find(type, key);
  if (!constant) return read;
  std::optional<Cursor> reference;
  const Type* reference_type = nullptr;
  ForEachField(type, &*constant, [&](const Field& field, Cursor value) {
    if (field.name == "type") read.class_name = HotSpotName(Bounded(constants.TextOfPart(field, value, "name")));
    if (field.name == "description") read.description = Bounded(constants.TextOf(field, value));
    if (field.name != "referrer") return;
    reference_type = field.type;
    reference = constants.Find(*field.type, KeyOf(field, value));
  });
  if (!reference) return read;
  ForEachField(*reference_type, &*reference, [&](const Field& field, Cursor value) {
    if (field.name == "array" && constants.Find(*field.type, KeyOf(field, value))) read.field = format::kElementStep;
    if (field.name == "field" && read.field.empty()) read.field = Bounded(constants.TextOfPart(field, value, "name"));
    if (field.name == "skip") read.skipped = ReadInteger(*field.type, &value);
    if (field.name != "object" || !field.pooled) return;
    read.holder_type = field.type;
    read.holder = KeyOf(field, value);
  });
  return read;
}

void AddStep(ObjectPath::Step step, std::vector<ObjectPath::Step>* steps) {
  if (!steps->empty() && !step.is_gap) {
    ObjectPath::Step& last = steps->back();
    if (!last.is_gap && last.class_name == step.class_name && last.name == step.name) {
      last.bci += std::min(step.bci, std::numeric_limits<int32_t>::max() - last.bci);
      return;
    }
  }
  steps->push_back(std::move(step));
}

// The steps of the holders; the thread that the last of them is. A static field that ends the chain is the root.
ObjectPath HoldersOf(const Type& type, uint64_t key, const Constants& constants) {
  ObjectPath path;
  std::vector<ObjectPath::Step>& steps = path.steps;
  LinkedObject object = LinkedAt(type, key, constants);
  for (size_t i = 0; i < kMaxReferences && object.holder_type != nullptr; ++i) {
    LinkedObject holder = LinkedAt(*object.holder_type, object.holder, constants);
    if (holder.class_name.empty() || object.field.empty()) break;
    const int32_t repeats = RepeatsOf(holder.description);
    if (object.skipped > repeats - 1) steps.push_back({.class_name = {}, .name = {}, .bci = -1, .is_gap = true});
    ObjectPath::Step step{holder.class_name, object.field, repeats, false};
    if (holder.class_name == kClassOfClasses && holder.description.starts_with(kClassNamed)) {
      step.class_name = InternalName(std::string_view(holder.description).substr(kClassNamed.size()));
      // A step of its own, whatever comes before.
      if (holder.holder_type == nullptr) {
        step.bci = static_cast<int32_t>(format::RootKind::kStatic);
        step.is_static = true;
        steps.push_back(std::move(step));
        return path;
      }
    }
    AddStep(std::move(step), &steps);
    object = std::move(holder);
  }
  if (object.description.starts_with(kThreadNamed)) path.thread = object.description.substr(kThreadNamed.size());
  return path;
}

struct RootText {
  std::string description, system, type;
};

format::RootKind KindOf(const RootText& root) {
  using enum format::RootKind;
  if (root.type == "Stack Variable") return kLocal;
  if (root.type == "Local JNI Handle") return kJniLocal;
  if (root.type == "Global JNI Handle" || root.system.starts_with("JNI Global")) return kJniGlobal;
  if (root.system == "Thread OopStorage") return kThread;
  if (root.system == "Object Monitor") return kMonitor;
  return root.system.empty() || root.system == "<unknown>" ? kUnknown : kJvm;
}

// A chain that ends in a static field is held by its class, whatever holds that.
void AddRoot(const RootText& root, ObjectPath* path) {
  std::vector<ObjectPath::Step>& steps = path->steps;
  const bool is_static = !steps.empty() && steps.back().is_static;
  if (!is_static) {
    if (KindOf(root) != format::RootKind::kThread) path->thread.clear();
    ObjectPath::Step step{{}, {}, static_cast<int32_t>(KindOf(root)), false};
    std::string_view description = root.description;
    if (description.starts_with(kMethodNamed)) {
      description.remove_prefix(kMethodNamed.size());
      const size_t end = std::min(description.find(std::string(", ").append(kThreadNamed)), description.size());
      const std::string_view method = description.substr(0, end);
      const size_t dot = std::min(method.rfind('.'), method.size());
      step.class_name = InternalName(method.substr(0, dot));
      step.name = method.substr(std::min(dot + 1, method.size()));
      description.remove_prefix(std::min(end + 2, description.size()));
    }
    if (description.starts_with(kThreadNamed)) path->thread = description.substr(kThreadNamed.size());
    steps.push_back(std::move(step));
  }
  if (steps.size() <= kFirstSteps + 1 + kLastSteps) return;
  steps.erase(steps.begin() + kFirstSteps, steps.end() - kLastSteps);
  steps.insert(steps.begin() + kFirstSteps, ObjectPath::Step{.class_name = {}, .name = {}, .bci = -1, .is_gap = true});
}

uint64_t SinceStart(const ChunkHeader& header, int64_t ticks, int64_t start_ns) {
  return Positive(header.TimeOf(ticks) - start_ns);
}

}  // namespace

std::optional<EventSet> EventSetOf(std::string_view event_name) {
  if (event_name == kSample) return EventSet::kSamples;
  if (event_name == kOwnSample) return EventSet::kOwnSamples;
  if (event_name == kInNewTlab || event_name == kOutsideTlab) return EventSet::kTlabs;
  return std::nullopt;
}

std::optional<Allocation> ReadAllocation(const Event& event) {
  Allocation read;
  int64_t weight = 0;
  bool has_tlab_size = false;
  const bool whole = ReadFields(event, [&](std::string_view name, const Field& field, Cursor value) {
    const auto number = [&] { return ReadInteger(*field.type, &value); };
    if (name == "startTime") read.ticks = number();
    if (name == "eventThread") read.thread = KeyOf(field, value);
    if (name == "stackTrace") read.stack = KeyOf(field, value);
    if (name == "objectClass") read.object_class = KeyOf(field, value);
    if (name == "labels") read.labels = KeyOf(field, value);
    if (name == "weight") weight = number();
    if (name == "allocationSize") read.size = Positive(number());
    if (name != "tlabSize") return;
    has_tlab_size = true;
    read.tlab_size = Positive(number());
  });
  if (!whole) return std::nullopt;
  if (event.type->name == kSample || event.type->name == kOwnSample) {
    read.weight = static_cast<double>(Positive(weight));
    // JFR's own event does not say whether the object is in a TLAB.
    if (has_tlab_size && read.tlab_size == 0) read.kind = format::Kind::kOutside;
  } else if (event.type->name == kInNewTlab) {
    read.weight = static_cast<double>(read.tlab_size);
  } else {
    read.weight = static_cast<double>(read.size);
    read.tlab_size = 0;
    read.kind = format::Kind::kOutside;
  }
  if (!(read.weight > 0) || read.weight > kMaxBytes) return std::nullopt;
  return read;
}

bool IsOldObject(std::string_view event_name) { return event_name == "jdk.OldObjectSample"; }

std::optional<OldObject> ReadOldObject(const Event& event, const Constants& constants) {
  OldObject object;
  int64_t size = 0, weight = 0;
  const bool whole = ReadFields(event, [&](std::string_view name, const Field& field, Cursor value) {
    const auto number = [&] { return ReadInteger(*field.type, &value); };
    if (name == "startTime") object.seen_ticks = number();
    if (name == "allocationTime") object.born_ticks = number();
    if (name == "eventThread") object.thread = KeyOf(field, value);
    if (name == "stackTrace") object.stack = KeyOf(field, value);
    if (name == "object") object.object_class = ClassOfObject(field, value, constants);
    if (name == "labels") object.labels = KeyOf(field, value);
    if (name == "root") object.has_root = constants.Find(*field.type, KeyOf(field, value)).has_value();
    if (name == "objectSize") size = number();
    if (name == "weight") weight = number();
  });
  if (!whole) return std::nullopt;
  object.size = Positive(size);
  if (weight > 0) object.weight = static_cast<double>(std::max(Positive(weight), object.size));
  return object;
}

ObjectPath ReadPath(const Event& event, const Constants& constants) {
  ObjectPath path;
  RootText root;
  ReadFields(event, [&](std::string_view name, const Field& field, Cursor value) {
    if (name == "object" && field.pooled) path = HoldersOf(*field.type, KeyOf(field, value), constants);
    if (name == "root") {
      root.description = constants.TextOfPart(field, value, "description");
      root.system = constants.TextOfPart(field, value, "system");
      root.type = constants.TextOfPart(field, value, "type");
    }
  });
  AddRoot(root, &path);
  return path;
}

void Collections::Add(const Event& event, const Constants& constants) {
  const std::string_view name = event.type->name;
  const bool is_pause = name == "jdk.GCPhasePause", is_summary = name == "jdk.GCHeapSummary";
  if (!is_pause && !is_summary && name != "jdk.GarbageCollection") return;
  uint64_t id = 0;
  Span span;
  Summary summary;
  std::string cause;
  const bool whole = ReadFields(event, [&](std::string_view field_name, const Field& field, Cursor value) {
    const auto number = [&] { return ReadInteger(*field.type, &value); };
    if (field_name == "gcId") id = static_cast<uint32_t>(number());
    if (field_name == "startTime") span.begin = summary.ticks = number();
    if (field_name == "duration") span.length = std::max<int64_t>(number(), 0);
    if (field_name == "sumOfPauses") span.paused = Positive(number());
    if (field_name == "cause") cause = constants.TextOf(field, value);
    if (field_name == "heapUsed") summary.used = Positive(number());
    if (field_name == "when") summary.is_after = constants.TextOf(field, value) == "After GC";
    if (field_name != "heapSpace" || field.pooled) return;
    ForEachField(*field.type, &value, [&](const Field& part, Cursor bytes) {
      if (part.name == "committedSize") summary.committed = Positive(ReadInteger(*part.type, &bytes));
    });
  });
  if (!whole) return;
  Collection& collection = collections_[id];
  if (is_summary) {
    collection.summaries.push_back(summary);
  } else if (is_pause) {
    span.paused = Positive(span.length);
    collection.pauses.push_back(span);
  } else {
    cause.resize(std::min(cause.size(), kMaxCauseBytes));
    collection.cause = cause;
    collection.whole.push_back(span);
  }
}

void Collections::AddStates(uint64_t number, const Collection& collection, const ChunkHeader& header, int64_t start_ns,
                            std::vector<ProcessState>* states) {
  const std::vector<Span>& pauses = collection.pauses.empty() ? collection.whole : collection.pauses;
  // A collection counts from its beginning.
  const auto state = [&](ProcessStateKind kind, int64_t ticks) {
    ProcessState made;
    made.kind = kind;
    made.time_ns = SinceStart(header, ticks, start_ns);
    made.collections = number;
    return made;
  };
  const size_t first = states->size();
  for (const Span& pause : pauses) {
    ProcessState begin = state(ProcessStateKind::kGcBegin, pause.begin),
                 end = state(ProcessStateKind::kGcEnd, Plus(pause.begin, pause.length));
    begin.cause = end.cause = collection.cause;
    end.pauses = 1;
    end.paused_ns = SinceStart(header, Plus(header.start_ticks, static_cast<int64_t>(pause.paused)), header.start_ns);
    states->push_back(std::move(begin));
    states->push_back(std::move(end));
  }
  for (const Summary& summary : collection.summaries) {
    ProcessState look = state(ProcessStateKind::kSnapshot, summary.ticks);
    ProcessState& at = pauses.size() == 1 ? (*states)[first + (summary.is_after ? 1 : 0)] : look;
    at.used = summary.used;
    at.committed = summary.committed;
    if (pauses.size() != 1) states->push_back(std::move(look));
  }
}

std::optional<uint64_t> Collections::FirstId() const {
  return collections_.empty() ? std::nullopt : std::optional(collections_.begin()->first);
}

std::vector<ProcessState> Collections::States(const ChunkHeader& header, int64_t start_ns, uint64_t first_id) const {
  std::vector<ProcessState> states;
  for (const auto& [id, collection] : collections_) {
    AddStates(id - std::min(id, first_id) + 1, collection, header, start_ns, &states);
  }
  std::ranges::stable_sort(states, {}, &ProcessState::time_ns);
  return states;
}

}  // namespace heaprec::tools::jfr
