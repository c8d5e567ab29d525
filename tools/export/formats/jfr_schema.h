// The schema of our JFR files: types, fields in the order in which they are written, and how tools show them.
//
// The JDK's own types have exactly the fields of JDK 25, in its order: some readers access fields by position, and
// assume that an event ends with the last field that they know. Only events that all readers access by name have
// additional fields, at the end. All primitive types and jdk.types.ThreadState are declared because some readers ask
// for them by name. tests/interop checks this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heaprec::tools::jfr {

// Numbers of the file. 0 and 1 are defined by the format: metadata and constant pools.
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
  bool pooled = false;  // written as the key of a constant
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
  bool simple = false;      // has a single field, and is read as that field
  bool is_content = false;  // for annotations: it describes the meaning of a field's number
};

const std::vector<Type>& Types();

// The whole metadata event, the same in every chunk: the schema as a tree of elements with attributes.
const std::string& MetadataEvent();

}  // namespace heaprec::tools::jfr
