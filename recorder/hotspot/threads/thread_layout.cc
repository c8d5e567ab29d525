#include "recorder/hotspot/threads/thread_layout.h"

namespace heaprec::hotspot {

// Replaces the words of a JavaThread whose layout is unknown, in the order of ThreadLayout.
struct ThreadWords {
  uint64_t allocated_bytes, threshold;
  uint64_t start, top, end, allocation_end, since_sample;
};

namespace {

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadWords own_words{};

}  // namespace

ThreadWords* OwnThreadWords() { return &own_words; }

ThreadLayout ThreadLayout::FromThreadWords() {
  ThreadLayout layout;
  layout.reader_ = SafeReader::Probe();
  layout.has_tlabs_ = false;
  layout.is_estimated_ = true;
  layout.allocated_bytes_ = offsetof(ThreadWords, allocated_bytes);
  layout.threshold_ = offsetof(ThreadWords, threshold);
  layout.tlab_ = offsetof(ThreadWords, start);
  const auto in_tlab = [&layout](size_t offset) { return offset - layout.tlab_; };
  layout.start_ = 0;
  layout.top_ = in_tlab(offsetof(ThreadWords, top));
  layout.end_ = in_tlab(offsetof(ThreadWords, end));
  layout.allocation_end_ = in_tlab(offsetof(ThreadWords, allocation_end));
  layout.since_sample_ = in_tlab(offsetof(ThreadWords, since_sample));
  return layout;
}

Result<ThreadLayout> ThreadLayout::Resolve(const VmStructs& structs, const JdkRules& rules) {
  ThreadLayout layout;
  layout.reader_ = SafeReader::Probe();
  layout.threshold_rule_ = rules.threshold;
  if (rules.threshold == ThresholdRule::kUnknown)
    return Error{"it is unknown how this JDK counts the bytes until a sample"};
  layout.has_tlabs_ = structs.BoolFlag("UseTLAB").value_or(true);
  constexpr const char* kTlab = "ThreadLocalAllocBuffer";
  const auto tlab = structs.Offset("Thread", "_tlab");
  const auto allocated = structs.Offset("Thread", "_allocated_bytes");
  const auto start = structs.Offset(kTlab, "_start");
  const auto top = structs.Offset(kTlab, "_top");
  const auto end = structs.Offset(kTlab, "_end");
  const auto desired = structs.Offset(kTlab, "_desired_size");
  const auto refills = structs.Offset(kTlab, {"_number_of_refills", "_num_refills"});
  if (!tlab || !allocated || !start || !top || !end || !desired || !refills)
    return Error{"libjvm.so does not describe its TLABs"};
  // Between the described fields are _allocation_end (after _end) and, up to 21, _bytes_since_last_sample_point (before
  // _number_of_refills); the heap sampler follows _allocated_bytes.
  if (*desired != *end + 16 || *refills < *desired + 24)
    return Error{"the TLAB of this libjvm.so has an unknown layout"};
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
  // A thread changes its TLAB within nanoseconds, and the interval between two changes is long enough for many of these
  // readings.
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

Result<ThreadList> ThreadList::Resolve(const VmStructs& structs) {
  ThreadList out;
  void* list = structs.Static("ThreadsSMRSupport", "_java_thread_list");
  const auto length = structs.Offset("ThreadsList", "_length");
  const auto threads = structs.Offset("ThreadsList", "_threads");
  if (list != nullptr && length && threads) {
    out.length_ = *length;
    out.threads_ = *threads;
  } else {
    list = structs.Static("Threads", "_thread_list");
    out.next_ = structs.Offset("JavaThread", "_next");
    if (list == nullptr || !out.next_) return Error{"libjvm.so does not describe its list of threads"};
  }
  out.list_ = static_cast<char* const volatile*>(list);
  return out;
}

}  // namespace heaprec::hotspot
