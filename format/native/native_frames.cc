#include "format/native/native_frames.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

namespace heaprec::format {
namespace {

constexpr size_t kMaxNameBytes = 512;

// The functions through which HotSpot maps memory for its callers.
bool MapsForCaller(std::string_view function) {
  constexpr std::array<std::string_view, 7> kPrefixes{"os::",
                                                      "anon_mmap",
                                                      "ReservedSpace::",
                                                      "reserve_memory",
                                                      "reserve_mmapped_memory",
                                                      "map_or_reserve_memory",
                                                      "commit_memory_impl"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return function.starts_with(prefix); });
}

// "f(int) const" -> "f", "operator()(int)" -> "operator()", "a<b(c)>::d(e)" -> "a<b(c)>::d".
std::string WithoutParameters(std::string name) {
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')' || name[i] == '>') ++depth;
    if (name[i] == '(' || name[i] == '<') --depth;
    if (name[i] != '(' || depth != 0) continue;
    const bool is_call_operator = i >= 8 && name.compare(i - 8, 8, "operator") == 0;
    if (i > 0 && !is_call_operator) name.resize(i);
    break;
  }
  return name;
}

}  // namespace

bool AllocatesForCaller(std::string_view module, std::string_view function, Kind kind) {
  constexpr std::array<std::string_view, 3> kModules{"libc.so.", "libstdc++.so.", "libgcc_s.so."};
  constexpr std::array<std::string_view, 9> kOfHotSpot{
      "os::malloc",   "os::realloc",    "os::strdup",          "os::strdup_check_oom",
      "AllocateHeap", "ReallocateHeap", "ChunkPool::allocate", "ChunkPool::allocate_chunk",
      "Arena::grow"};
  if (module == "libjvm.so" && kind == Kind::kMapping) return MapsForCaller(function);
  // A program may have the C++ library linked into it.
  if (function.starts_with("operator new")) return true;
  if (module == "libjvm.so") {
    return function.ends_with("::operator new") || function.ends_with("::operator new[]") ||
           std::ranges::find(kOfHotSpot, function) != kOfHotSpot.end();
  }
  return std::ranges::any_of(kModules, [&](std::string_view name) { return module.starts_with(name); });
}

// Without this check "b" would be demangled as the type bool.
std::string Demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         std::free);
  return status == 0 ? demangled.get() : symbol;
}

std::string DemangledFunction(const std::string& symbol) {
  std::string name = Demangled(symbol);
  if (name != symbol) name = WithoutParameters(name);
  if (name.size() > kMaxNameBytes) name.resize(kMaxNameBytes);
  return name;
}

}  // namespace heaprec::format
