// What a JFR file of ours holds: its types, their fields in the order in which they are written, and how tools show
// them.
//
// The JDK's own types have exactly the fields of JDK 25, in its order: some readers take fields by their place, and an
// event to end with the last one that they know. Only events that all read by name have fields of ours, behind. All
// primitive types and jdk.types.ThreadState are declared because some readers ask for them by name. tests/interop
// checks this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heaprec::tools::jfr {

// A file's own numbers. 0 and 1 are the format's: metadata and constant pools.
enum class TypeId : uint8_t {
  kMetadata = 0,
  kConstantPools = 1,
  kBoolean = 2,
  kByte,
  kChar,
  kShort,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kString,
  kContentType,
  kLabel,
  kDescription,
  kCategory,
  kTimestamp,
  kTimespan,
  kDataAmount,
  kSymbol,
  kFrameType,
  kThreadState,
  kModule,
  kPackage,
  kClassLoader,
  kClass,
  kThreadGroup,
  kThread,
  kMethod,
  kStackFrame,
  kStackTrace,
  kOldObject,
  kReference,
  kOldObjectArray,
  kOldObjectField,
  kOldObjectRootSystem,
  kOldObjectRootType,
  kOldObjectGcRoot,
  kAllocationSample,
  kOldObjectSample,
  kExceptionThrow,
  kErrorThrow,
  kExceptionStatistics,
  kActiveRecording,
  kJvmInformation,
  kHeaprecRecording,
  kHeaprecSample,
  kHeaprecDoubt,
};

enum class Unit : uint8_t { kNone, kTicks, kSpanOfTicks, kSpanOfMs, kEpochMs, kBytes };

struct Field {
  std::string_view name;
  TypeId type;
  std::string_view label{};
  Unit unit = Unit::kNone;
  bool pooled = false;  // the key of a constant stands for it
  bool array = false;
};

enum class Super : uint8_t { kNone, kEvent, kAnnotation };

struct Type {
  TypeId id;
  std::string_view name;
  std::vector<Field> fields;
  std::string_view label{};
  std::string_view category{};  // of events
  Super super = Super::kNone;
  bool simple = false;      // has one field, and reads as it
  bool is_content = false;  // of annotations: it tells what a field's number is
};

const std::vector<Type>& Types();

// The whole metadata event, the same in every chunk: the schema as a tree of elements with attributes.
const std::string& MetadataEvent();

}  // namespace heaprec::tools::jfr
