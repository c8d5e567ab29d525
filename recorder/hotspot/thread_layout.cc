#include "recorder/hotspot/thread_layout.h"

#include <string>

namespace heaprec::hotspot {

format::Result<ThreadLayout> ThreadLayout::Resolve(const VmStructs& structs, int jdk_major) {
  ThreadLayout layout;
  layout.reader_ = SafeReader::Probe();
  switch (jdk_major) {
    case 11:
      layout.rules_ = Rules::kJdk11;
      break;
    case 17:
    case 21:
      layout.rules_ = Rules::kJdk17;
      break;
    case 25:
      layout.rules_ = Rules::kJdk25;
      break;
    default:
      return format::Error{"no rules for the sampling threshold of JDK " + std::to_string(jdk_major)};
  }
  layout.has_tlabs_ = structs.BoolFlag("UseTLAB").value_or(true);
  constexpr const char* kTlab = "ThreadLocalAllocBuffer";
  const auto tlab = structs.Offset("Thread", "_tlab");
  const auto allocated = structs.Offset("Thread", "_allocated_bytes");
  const auto start = structs.Offset(kTlab, "_start");
  const auto top = structs.Offset(kTlab, "_top");
  const auto end = structs.Offset(kTlab, "_end");
  const auto desired = structs.Offset(kTlab, "_desired_size");
  const auto refills = structs.Offset(kTlab, "_number_of_refills");
  if (!tlab || !allocated || !start || !top || !end || !desired || !refills)
    return format::Error{"libjvm.so does not describe its TLABs"};
  // Between the described fields lie _allocation_end (behind _end) and, up to 21, _bytes_since_last_sample_point
  // (before _number_of_refills); the heap sampler follows _allocated_bytes.
  if (*desired != *end + 16 || *refills < *desired + 24)
    return format::Error{"the TLAB of this libjvm.so has an unknown layout"};
  layout.tlab_ = *tlab;
  layout.allocated_bytes_ = *allocated;
  layout.threshold_ = *allocated + 8;
  layout.start_ = *start;
  layout.top_ = *top;
  layout.end_ = *end;
  layout.allocation_end_ = *end + 8;
  layout.since_sample_ = *refills - 8;
  layout.prefetch_words_ = static_cast<const int*>(structs.Static(kTlab, "_reserve_for_allocation_prefetch"));
  const auto thread_id = structs.Offset("OSThread", "_thread_id");
  if (thread_id) {
    layout.thread_id_ = *thread_id;
    layout.os_thread_ = structs.Offset("Thread", "_osthread");
    if (!layout.os_thread_) layout.os_thread_ = structs.Offset("JavaThread", "_osthread");
  }
  return layout;
}

uint32_t ThreadLayout::OsTidOfOther(const void* java_thread) const {
  if (!os_thread_) return 0;
  const auto os_thread = reader_.Word(static_cast<const char*>(java_thread) + *os_thread_);
  if (!os_thread || *os_thread == 0) return 0;
  const auto id = reader_.Word(reinterpret_cast<const char*>(*os_thread) + thread_id_);  // NOLINT: the JVM's pointer
  return static_cast<uint32_t>(id.value_or(0));
}

std::optional<uint64_t> ThreadLayout::AllocatedBytesOfOther(const void* java_thread) const {
  const auto at = [this, java_thread](size_t offset) {
    return reader_.Word(static_cast<const char*>(java_thread) + offset);
  };
  // A thread changes its TLAB within nanoseconds: between two such changes lie many of these readings.
  constexpr int kAttempts = 10;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto retired = at(allocated_bytes_);
    const auto start = has_tlabs_ ? at(tlab_ + start_) : std::optional<uint64_t>(0);
    const auto top = at(tlab_ + top_);
    if (!retired || !start || !top) return std::nullopt;
    if (*top >= *start && (!has_tlabs_ || at(tlab_ + start_) == start) && at(allocated_bytes_) == retired)
      return *retired + (*start != 0 ? *top - *start : 0);
  }
  return std::nullopt;
}

}  // namespace heaprec::hotspot
