#include "tools/import/jfr/events.h"

#include <algorithm>
#include <cmath>

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
    if (name == "objectSize") size = number();
    if (name == "weight") weight = number();
  });
  if (!whole) return std::nullopt;
  object.size = Positive(size);
  if (weight > 0) object.weight = static_cast<double>(std::max(Positive(weight), object.size));
  return object;
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
