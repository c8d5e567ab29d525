#include "recorder/native_count/site_counters.h"

#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/memory.h"
#include "recorder/native_count/next_allocator.h"
#include "recorder/unwind/cfi_cache.h"
#include "recorder/unwind/module_lookup.h"

namespace heaprec::native {

std::atomic<SiteTable*> table{nullptr};
constinit ThreadRows empty_rows;
constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec"), visibility("hidden")));

namespace {

using format::NativeSiteCounters;

// Libraries whose functions allocate for their callers (strdup, operator new): the caller is the site.
constexpr std::array<std::string_view, 4> kWrapperModules{"libc.so.", "libstdc++.so.", "libgcc_s.so.",
                                                          "libheaprec-native.so"};

constinit AddressRange wrapper_ranges[2 * kWrapperModules.size()];
size_t wrapper_count = 0;

int NoteIfWrapper(dl_phdr_info* info, size_t, void*) {
  std::string_view name = info->dlpi_name != nullptr ? info->dlpi_name : "";
  name.remove_prefix(name.rfind('/') + 1);
  const bool is_one = std::ranges::any_of(kWrapperModules, [&](std::string_view one) { return name.starts_with(one); });
  if (!is_one || !HasReadableSegments(*info) || wrapper_count == std::size(wrapper_ranges)) return 0;
  wrapper_ranges[wrapper_count++] = MappedRange(*info);
  return 0;
}

bool IsAllocatorWrapper(uintptr_t pc) {
  return std::ranges::any_of(std::span(wrapper_ranges, wrapper_count),
                             [pc](const AddressRange& range) { return range.Has(pc); });
}

CfiCache rules;
pthread_key_t thread_end;
uint32_t deciding_frames = 1;
bool checks = false;

// Destructors of other keys may allocate after ours: such blocks are counted in the common rows.
void EndThread(void* rows) {
  thread_state.rows = &empty_rows;
  thread_state.has_none = true;
  static_cast<ThreadRows*>(rows)->Return();
}

size_t StackOf(Call call, std::span<uintptr_t> into) { return Unwind(&rules, {call.pc(), call.cfa, call.frame}, into); }

// Returns the first frame that belongs to the program itself.
size_t FirstOf(std::span<const uintptr_t> pcs) {
  size_t first = 0;
  while (first + 1 < pcs.size() && IsAllocatorWrapper(pcs[first])) ++first;
  return first;
}

uint64_t KeyFrom(std::span<const uintptr_t> pcs, size_t first) {
  return KeyOf(pcs.subspan(first, std::min<size_t>(deciding_frames, pcs.size() - first)));
}

uint32_t NewSite(SiteTable* of, ThreadRows* rows, Call call) {
  if (thread_state.is_inside) return kNoSite;
  const ReentrancyGuard inside;
  uintptr_t pcs[format::kMaxNativeFrames];
  const std::span<const uintptr_t> stack(pcs, StackOf(call, pcs));
  const size_t first = FirstOf(stack);
  const uint32_t site = of->SiteOf(KeyFrom(stack, first), stack, first);
  NativeSiteCounters* const row = deciding_frames == 1 && first == 0 && !checks ? rows->RowOf(site) : nullptr;
  rows->CallerAt(call.pc()) = {row != nullptr ? call.pc() : ThreadRows::AmbiguousPc(call.pc()), row,
                               HeaderWord::SitePrefix(site), site};
  return site;
}

// Returns the site of a call whose return address alone does not identify it.
uint32_t DeepSite(SiteTable* of, ThreadRows* rows, Call call) {
  constexpr size_t kMaxPassed = 4;
  uintptr_t pcs[format::kMaxNativeFrames];
  const size_t most = std::min<size_t>(deciding_frames + kMaxPassed, format::kMaxNativeFrames);
  const std::span<const uintptr_t> stack(pcs, StackOf(call, std::span(pcs).first(most)));
  const size_t first = FirstOf(stack);
  const uint64_t key = ThreadRows::AmbiguousPc(KeyFrom(stack, first));
  ThreadRows::Caller& known = rows->CallerAt(key);
  if (known.pc == key) return known.site;
  if (thread_state.is_inside) return kNoSite;
  const ReentrancyGuard inside;
  const uint32_t site = of->SiteOf(KeyFrom(stack, first), std::span(pcs).first(StackOf(call, pcs)), first);
  known = {key, nullptr, 0, site};
  return site;
}

}  // namespace

bool PrepareCounting(uint32_t depth, bool check) {
  deciding_frames = depth;
  checks = check;
  dl_iterate_phdr(NoteIfWrapper, nullptr);
  return InitForkGuard() && pthread_key_create(&thread_end, EndThread) == 0;
}

SiteTable* TableOfProcess() {
  SiteTable* const of = table.load(std::memory_order_acquire);
  if (of == nullptr || IsOriginalProcess()) return of;
  StopInChild();
  return nullptr;
}

void ForgetUnloaded() {
  SiteTable* const of = TableOfProcess();
  if (of == nullptr) return;
  const ReentrancyGuard inside;
  of->ForgetUnloaded([](uintptr_t begin, uintptr_t end) {
    rules.Forget();
    ThreadRows::ForgetCallers(begin, end);
  });
}

void StopInChild() {
  table.store(nullptr, std::memory_order_release);
  thread_state.rows = &empty_rows;
  thread_state.has_none = true;
}

ThreadRows* Rows(SiteTable* of) {
  if (thread_state.HasRows()) return thread_state.rows;
  if (thread_state.is_inside || thread_state.has_none) return ThreadRows::Common(of);
  ThreadRows* rows = nullptr;
  {
    const ReentrancyGuard inside;
    rows = ThreadRows::Lease(of);
    if (rows != ThreadRows::Common(of)) pthread_setspecific(thread_end, rows);
  }
  if (rows == ThreadRows::Common(of)) {
    thread_state.has_none = true;
  } else {
    thread_state.rows = rows;
  }
  return rows;
}

void* CountAllocationSlow(void* base, size_t offset, size_t size, Call call, bool may_check) {
  if (base == nullptr) return nullptr;
  SiteTable* const of = TableOfProcess();
  ThreadRows* const rows = of != nullptr ? Rows(of) : nullptr;
  if (rows == nullptr) {
    return Begin(base, {.size = size, .offset = offset, .is_counted = false, .is_early = NoteEarly(size)});
  }
  // Other threads also write the callers of the common rows.
  const bool is_own = rows == thread_state.rows;
  const ThreadRows::Caller& known = rows->CallerAt(call.pc());
  const uint32_t site = !is_own                                          ? kNoSite
                        : known.pc == call.pc()                          ? known.site
                        : known.pc == ThreadRows::AmbiguousPc(call.pc()) ? DeepSite(of, rows, call)
                                                                         : NewSite(of, rows, call);
  rows->Allocated(site, size);
  return Begin(base, {.size = size, .offset = offset, .site = site, .is_checked = checks && may_check});
}

void CountFreeSlow(const Header& header) {
  if (!header.is_counted) return;
  SiteTable* const of = TableOfProcess();
  if (of == nullptr) return;
  if (ThreadRows* const rows = Rows(of)) rows->Freed(header.site, header.size);
}

}  // namespace heaprec::native
