// Location of libjvm.so in this process, and its symbols.
//
// Units:    addresses of this process; text = the executable segment, [text_begin, text_end).
// Context:  setup.
// Failure:  an Error if no libjvm.so is loaded, or its program headers do not name a text segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heaprec::hotspot {

struct LibJvm {
  std::string path;
  uintptr_t base = 0;  // load bias: runtime address = base + address in the file
  uintptr_t text_begin = 0;
  uintptr_t text_end = 0;
  // relocated, then read-only: contains the vtables; both 0 if libjvm has no such segment
  uintptr_t constants_begin = 0;
  uintptr_t constants_end = 0;
  std::string build_id;  // lower-case hex; empty: none

  static Result<LibJvm> Locate();
};

// Local symbols of libjvm by prefix of their mangled name, from the first of these that has them:
// libjvm.so's own .symtab, /usr/lib/debug/.build-id, the debuginfod cache, .gnu_debuglink.
//
// Units:    runtime addresses.
// Context:  setup.
// Threads:  Load: one; afterwards any number of readers.
// Failure:  Load is an Error when no file with symbols and libjvm's build id is found; a single prefix that is absent
//           or ambiguous is nullopt. A file of another build is never used.
//
// The functions whose slow paths are the candidates, JDK 11 and 17-25. The first one that is present is used.
inline constexpr std::string_view kInNewTlab[] = {
    "_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassPP12HeapWordImplmmP10JavaThread",
    "_ZN11AllocTracer27send_allocation_in_new_tlabEP5KlassP8HeapWordmmP6Thread"};
inline constexpr std::string_view kOutsideTlab[] = {
    "_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassPP12HeapWordImplmP10JavaThread",
    "_ZN11AllocTracer28send_allocation_outside_tlabEP5KlassP8HeapWordmP6Thread"};

// MemAllocator::initialize of every allocator that overrides it, all JDKs. The first kAllocatorsEverywhere of them are
// in each libjvm.
inline constexpr std::string_view kAllocatorInitialize[] = {
    "_ZNK12ObjAllocator10initializeE",       "_ZNK17ObjArrayAllocator10initializeE",
    "_ZNK14ClassAllocator10initializeE",     "_ZNK18ZObjArrayAllocator10initializeE",
    "_ZNK18XObjArrayAllocator10initializeE", "_ZNK19StackChunkAllocator10initializeE",
};
inline constexpr size_t kAllocatorsEverywhere = 3;

// JDK 11, with parameters (retire, zap).
inline constexpr std::string_view kMakeParsable = "_ZN22ThreadLocalAllocBuffer13make_parsableEb";

// Functions that are the last to see a TLAB [start, top) complete, JDK 11 and 17-25. All that are present are used.
inline constexpr std::string_view kRetireTlab[] = {
    "_ZN22ThreadLocalAllocBuffer24retire_before_allocationE", "_ZN22ThreadLocalAllocBuffer6retireE",
    "_ZN22ThreadLocalAllocBuffer23clear_before_allocationE",  // 11
    kMakeParsable,                                            // 11
};

// int: number of fields that JVMTI agents watch for reads.
inline constexpr std::string_view kFieldAccessCount = "_ZN11JvmtiExport19_field_access_countE";

// unsigned int: the number of the next collection in the JVM's log, for every collector.
inline constexpr std::string_view kNextGcId = "_ZN4GCId8_next_idE";

// Functions of the JVM's memory accounting that only load: size_t(), words of metaspace. JDK 17 and later.
inline constexpr std::string_view kMetaspaceUsed = "_ZN9metaspace15RunningCounters10used_wordsEv";
inline constexpr std::string_view kMetaspaceCommitted = "_ZN9metaspace15RunningCounters15committed_wordsEv";
inline constexpr std::string_view kClassSpaceUsed = "_ZN9metaspace15RunningCounters16used_words_classEv";
inline constexpr std::string_view kClassSpaceCommitted = "_ZN9metaspace15RunningCounters21committed_words_classEv";
// Likewise, bytes of the code cache.
inline constexpr std::string_view kCodeCacheMax = "_ZN9CodeCache12max_capacityEv";
inline constexpr std::string_view kCodeCacheFree = "_ZN9CodeCache20unallocated_capacityEv";

// int: errors that the JVM has thrown.
inline constexpr std::string_view kOutOfMemoryErrors[] = {
    "_ZN10Exceptions37_out_of_memory_error_java_heap_errorsE",
    "_ZN10Exceptions37_out_of_memory_error_metaspace_errorsE",
    "_ZN10Exceptions43_out_of_memory_error_class_metaspace_errorsE"};
inline constexpr std::string_view kStackOverflowErrors = "_ZN10Exceptions22_stack_overflow_errorsE";

// void(const char* message): an OutOfMemoryError is about to be thrown by the JVM itself, or to end it.
inline constexpr std::string_view kReportOutOfMemory = "_Z25report_java_out_of_memoryPKc";
// void(int signal, siginfo_t*, void* context): the handler of the signals that Java code may handle.
inline constexpr std::string_view kSignalHandler = "_ZL11UserHandleri";

// A cheap safepoint operation: the one behind GetAllStackTraces.
inline constexpr std::string_view kAllStacksOperation = "_ZN20VM_GetAllStackTraces4doitEv";

// The function with which the management interface runs diagnostic commands: jstring(JNIEnv*, jstring).
inline constexpr std::string_view kDiagnosticCommand = "jmm_ExecuteDiagnosticCommand";

class SymbolTable {
 public:
  // Searches for all of `prefixes` in one pass over the symbols; other symbols are not found later.
  static Result<SymbolTable> Load(const LibJvm& libjvm, std::span<const std::string_view> prefixes);
  // Loads the names above, and `more`.
  static Result<SymbolTable> Load(const LibJvm& libjvm, std::span<const std::string> more = {});

  // Returns nullopt if absent, ambiguous, or not among the prefixes passed to Load.
  std::optional<uintptr_t> FindByPrefix(std::string_view mangled_prefix) const;
  // Returns the address of the first spelling that is present.
  std::optional<uintptr_t> FindFirst(std::span<const std::string_view> spellings) const;
  // The file with the symbols.
  const std::string& origin() const { return origin_; }

 private:
  struct Match {
    std::string prefix;
    uintptr_t address = 0;
    int count = 0;  // number of different addresses
  };

  static bool LoadFrom(const std::string& path, const LibJvm& libjvm, SymbolTable* table);

  std::vector<Match> matches_;
  std::string origin_;
};

// Returns the files that may contain libjvm's symbols, in the order in which they are tried. Exposed for tests.
std::vector<std::string> SymbolFiles(const LibJvm& libjvm);

}  // namespace heaprec::hotspot
