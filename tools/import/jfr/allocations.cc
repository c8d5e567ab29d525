#include "tools/import/jfr/allocations.h"

#include <algorithm>
#include <cmath>

namespace heaprec::tools::jfr {
namespace {

constexpr std::string_view kSample = "jdk.ObjectAllocationSample";
constexpr std::string_view kOwnSample = "heaprec.AllocationSample";
constexpr std::string_view kInNewTlab = "jdk.ObjectAllocationInNewTLAB";
constexpr std::string_view kOutsideTlab = "jdk.ObjectAllocationOutsideTLAB";

// What no machine has: such a number was never written by a JVM, and sums of it are of no use.
constexpr double kMaxBytes = 0x1p62;

// The fields of all three kinds of events, as far as there are any.
struct Fields {
  Allocation read;
  std::optional<int64_t> weight, size, tlab_size;
};

void ReadField(const Field& field, Cursor at, Fields* into) {
  const auto key = [&] { return field.pooled ? static_cast<uint64_t>(at.Long()) : 0; };
  const auto number = [&] { return ReadInteger(*field.type, &at); };
  if (field.array) return;
  if (field.name == "startTime") into->read.ticks = number();
  if (field.name == "eventThread") into->read.thread = key();
  if (field.name == "stackTrace") into->read.stack = key();
  if (field.name == "objectClass") into->read.object_class = key();
  if (field.name == "labels") into->read.labels = key();
  if (field.name == "weight") into->weight = number();
  if (field.name == "allocationSize") into->size = number();
  if (field.name == "tlabSize") into->tlab_size = number();
}

uint64_t Positive(std::optional<int64_t> number) {
  return static_cast<uint64_t>(std::max<int64_t>(number.value_or(0), 0));
}

}  // namespace

std::optional<EventSet> EventSetOf(std::string_view event_name) {
  if (event_name == kSample) return EventSet::kSamples;
  if (event_name == kOwnSample) return EventSet::kOwnSamples;
  if (event_name == kInNewTlab || event_name == kOutsideTlab) return EventSet::kTlabs;
  return std::nullopt;
}

std::optional<Allocation> ReadAllocation(const Event& event) {
  Fields fields;
  Cursor at = event.fields;
  ForEachField(*event.type, &at, [&](const Field& field, const Cursor& value) { ReadField(field, value, &fields); });
  if (!at.ok()) return std::nullopt;
  Allocation read = fields.read;
  read.size = Positive(fields.size);
  read.tlab_size = Positive(fields.tlab_size);
  if (event.type->name == kSample || event.type->name == kOwnSample) {
    read.weight = static_cast<double>(Positive(fields.weight));
    // JFR's own does not say where the object lies.
    if (fields.tlab_size && read.tlab_size == 0) read.kind = format::Kind::kOutside;
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

}  // namespace heaprec::tools::jfr
