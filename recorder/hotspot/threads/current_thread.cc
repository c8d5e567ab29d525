#include "recorder/hotspot/threads/current_thread.h"

#include <limits.h>

#include <algorithm>
#include <map>
#include <optional>

#include "recorder/hotspot/libjvm/safe_reader.h"

namespace heaprec::hotspot {
namespace {

// Most threads are of the class itself; the JVM's own that also run Java have classes derived from it. 0: unknown.
uintptr_t FunctionsOfMost(std::span<void* const> threads) {
  std::map<uintptr_t, size_t> counts;
  const SafeReader reader = SafeReader::Probe();
  for (const void* thread : threads) {
    if (const auto functions = reader.Word(thread)) ++counts[*functions];
  }
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  return most != counts.end() && 2 * most->second > threads.size() ? most->first : 0;
}

}  // namespace

format::Result<CurrentThread> CurrentThread::Resolve(const void* java_thread, std::span<void* const> all) {
  const uintptr_t functions = FunctionsOfMost(all);
  if (functions == 0) return format::Error{"the class of JavaThreads is not known"};
  std::optional<pthread_key_t> key;
  for (pthread_key_t candidate = 0; candidate < PTHREAD_KEYS_MAX; ++candidate) {
    if (pthread_getspecific(candidate) != java_thread) continue;
    if (key) return format::Error{"several keys have the JavaThread"};
    key = candidate;
  }
  if (!key) return format::Error{"no key has the JavaThread"};
  return CurrentThread(*key, functions);
}

}  // namespace heaprec::hotspot
