#include "tools/export/formats/jfr_schema.h"

#include <utility>
#include <vector>

#include "tools/export/formats/jfr_constant_pools.h"
#include "tools/text/string_table.h"

namespace heaprec::tools::jfr {
namespace {

constexpr std::string_view kJavaApplication = "Java Application", kJavaVirtualMachine = "Java Virtual Machine",
                           kFlightRecorder = "Flight Recorder";

constexpr Field Pooled(std::string_view name, TypeId type, std::string_view label) {
  return {name, type, label, Unit::kNone, /*pooled=*/true};
}

constexpr Field kStartTime{"startTime", TypeId::kLong, "Start Time", Unit::kTicks};
constexpr Field kEventThread = Pooled("eventThread", TypeId::kThread, "Event Thread");
constexpr Field kStackTrace = Pooled("stackTrace", TypeId::kStackTrace, "Stack Trace");
constexpr Field kMessage{"message", TypeId::kString, "Message"};
constexpr Field kThrownClass = Pooled("thrownClass", TypeId::kClass, "Class");
constexpr Field kLabels = Pooled("labels", TypeId::kSymbol, "Labels");
constexpr Field kValue{"value", TypeId::kString};

Type Primitive(TypeId id, std::string_view name) { return {id, name, {}}; }
Type Simple(TypeId id, std::string_view name, const Field& field) {
  return {id, name, {field}, {}, {}, Super::kNone, /*simple=*/true};
}
Type Struct(TypeId id, std::string_view name, std::vector<Field> fields) { return {id, name, std::move(fields)}; }
// `rest`: the fields after the time.
Type Event(TypeId id, std::string_view name, std::string_view label, std::string_view category,
           std::vector<Field> rest) {
  rest.insert(rest.begin(), kStartTime);
  return {id, name, std::move(rest), label, category, Super::kEvent};
}
Type Annotation(TypeId id, std::string_view name, std::vector<Field> value) {
  return {id, name, std::move(value), {}, {}, Super::kAnnotation};
}
Type Content(TypeId id, std::string_view name) {
  return {id, name, {kValue}, {}, {}, Super::kAnnotation, /*simple=*/false, /*is_content=*/true};
}

std::vector<Type> Basics() {
  return {
      Primitive(TypeId::kBoolean, "boolean"),
      Primitive(TypeId::kByte, "byte"),
      Primitive(TypeId::kChar, "char"),
      Primitive(TypeId::kShort, "short"),
      Primitive(TypeId::kInt, "int"),
      Primitive(TypeId::kLong, "long"),
      Primitive(TypeId::kFloat, "float"),
      Primitive(TypeId::kDouble, "double"),
      Primitive(TypeId::kString, "java.lang.String"),
      Annotation(TypeId::kContentType, "jdk.jfr.ContentType", {}),
      Annotation(TypeId::kLabel, "jdk.jfr.Label", {kValue}),
      Annotation(TypeId::kDescription, "jdk.jfr.Description", {kValue}),
      Annotation(TypeId::kCategory, "jdk.jfr.Category",
                 {{"value", TypeId::kString, {}, Unit::kNone, /*pooled=*/false, /*array=*/true}}),
      Content(TypeId::kTimestamp, "jdk.jfr.Timestamp"),
      Content(TypeId::kTimespan, "jdk.jfr.Timespan"),
      Content(TypeId::kDataAmount, "jdk.jfr.DataAmount"),
  };
}

// Types to which events refer by key.
std::vector<Type> Constants() {
  return {
      Simple(TypeId::kSymbol, "jdk.types.Symbol", {"string", TypeId::kString, "String"}),
      Simple(TypeId::kFrameType, "jdk.types.FrameType", {"description", TypeId::kString, "Description"}),
      Simple(TypeId::kThreadState, "jdk.types.ThreadState", {"name", TypeId::kString, "Name"}),
      Struct(TypeId::kModule, "jdk.types.Module",
             {Pooled("name", TypeId::kSymbol, "Name"), Pooled("version", TypeId::kSymbol, "Version"),
              Pooled("location", TypeId::kSymbol, "Location"),
              Pooled("classLoader", TypeId::kClassLoader, "Class Loader")}),
      Struct(TypeId::kPackage, "jdk.types.Package",
             {Pooled("name", TypeId::kSymbol, "Name"),
              Pooled("module", TypeId::kModule, "Module"),
              {"exported", TypeId::kBoolean, "Exported"}}),
      Struct(TypeId::kClassLoader, "jdk.types.ClassLoader",
             {Pooled("type", TypeId::kClass, "Type"), Pooled("name", TypeId::kSymbol, "Name")}),
      Struct(TypeId::kClass, "java.lang.Class",
             {Pooled("classLoader", TypeId::kClassLoader, "Class Loader"),
              Pooled("name", TypeId::kSymbol, "Name"),
              Pooled("package", TypeId::kPackage, "Package"),
              {"modifiers", TypeId::kInt, "Access Modifiers"},
              {"hidden", TypeId::kBoolean, "Hidden"}}),
      Struct(TypeId::kThreadGroup, "jdk.types.ThreadGroup",
             {Pooled("parent", TypeId::kThreadGroup, "Parent"), {"name", TypeId::kString, "Name"}}),
      Struct(TypeId::kThread, "java.lang.Thread",
             {{"osName", TypeId::kString, "OS Thread Name"},
              {"osThreadId", TypeId::kLong, "OS Thread Id"},
              {"javaName", TypeId::kString, "Java Thread Name"},
              {"javaThreadId", TypeId::kLong, "Java Thread Id"},
              Pooled("group", TypeId::kThreadGroup, "Java Thread Group"),
              {"virtual", TypeId::kBoolean, "Virtual"}}),
      Struct(TypeId::kMethod, "jdk.types.Method",
             {Pooled("type", TypeId::kClass, "Type"),
              Pooled("name", TypeId::kSymbol, "Name"),
              Pooled("descriptor", TypeId::kSymbol, "Descriptor"),
              {"modifiers", TypeId::kInt, "Access Modifiers"},
              {"hidden", TypeId::kBoolean, "Hidden"}}),
      Struct(TypeId::kStackFrame, "jdk.types.StackFrame",
             {Pooled("method", TypeId::kMethod, "Java Method"),
              {"lineNumber", TypeId::kInt, "Line Number"},
              {"bytecodeIndex", TypeId::kInt, "Bytecode Index"},
              Pooled("type", TypeId::kFrameType, "Frame Type")}),
      Struct(TypeId::kStackTrace, "jdk.types.StackTrace",
             {{"truncated", TypeId::kBoolean, "Truncated"},
              {"frames", TypeId::kStackFrame, "Stack Frames", Unit::kNone, /*pooled=*/false, /*array=*/true}}),
  };
}

// The constants of jdk.OldObjectSample. Tools read all of them of an object.
std::vector<Type> OldObjects() {
  return {
      Struct(TypeId::kOldObject, "jdk.types.OldObject",
             {{"address", TypeId::kLong, "Memory Address"},
              Pooled("type", TypeId::kClass, "Java Class"),
              {"description", TypeId::kString, "Object Description"},
              Pooled("referrer", TypeId::kReference, "Referrer Object")}),
      Struct(TypeId::kReference, "jdk.types.Reference",
             {Pooled("array", TypeId::kOldObjectArray, "Array Information"),
              Pooled("field", TypeId::kOldObjectField, "Field Information"),
              Pooled("object", TypeId::kOldObject, "Object"),
              {"skip", TypeId::kInt, "Skip Value"}}),
      Struct(TypeId::kOldObjectArray, "jdk.types.OldObjectArray",
             {{"size", TypeId::kInt, "Array Size"}, {"index", TypeId::kInt, "Index"}}),
      Struct(TypeId::kOldObjectField, "jdk.types.OldObjectField",
             {{"name", TypeId::kString, "Field"}, {"modifiers", TypeId::kShort, "Field Modifiers"}}),
      Simple(TypeId::kOldObjectRootSystem, "jdk.types.OldObjectRootSystem", {"system", TypeId::kString, "System"}),
      Simple(TypeId::kOldObjectRootType, "jdk.types.OldObjectRootType", {"type", TypeId::kString, "Type"}),
      Struct(TypeId::kOldObjectGcRoot, "jdk.types.OldObjectGcRoot",
             {{"description", TypeId::kString, "Root Description"},
              Pooled("system", TypeId::kOldObjectRootSystem, "System"),
              Pooled("type", TypeId::kOldObjectRootType, "Type")}),
  };
}

std::vector<Type> Samples() {
  return {
      Event(TypeId::kHeaprecSample, "heaprec.AllocationSample", "heaprec Allocation Sample", kJavaApplication,
            {kEventThread,
             kStackTrace,
             Pooled("objectClass", TypeId::kClass, "Object Class"),
             {"weight", TypeId::kLong, "Weight As Sampled", Unit::kBytes},
             {"allocationSize", TypeId::kLong, "Allocation Size", Unit::kBytes},
             {"tlabSize", TypeId::kLong, "TLAB Size", Unit::kBytes},
             kLabels}),
      Event(TypeId::kAllocationSample, "jdk.ObjectAllocationSample", "Object Allocation Sample", kJavaApplication,
            {kEventThread,
             kStackTrace,
             Pooled("objectClass", TypeId::kClass, "Object Class"),
             {"weight", TypeId::kLong, "Sample Weight", Unit::kBytes}}),
      Event(TypeId::kOldObjectSample, "jdk.OldObjectSample", "Old Object Sample", kJavaVirtualMachine,
            {{"duration", TypeId::kLong, "Duration", Unit::kSpanOfTicks},
             kEventThread,
             kStackTrace,
             {"allocationTime", TypeId::kLong, "Allocation Time", Unit::kTicks},
             {"objectSize", TypeId::kLong, "Object Size", Unit::kBytes},
             {"objectAge", TypeId::kLong, "Object Age", Unit::kSpanOfTicks},
             {"lastKnownHeapUsage", TypeId::kLong, "Last Known Heap Usage", Unit::kBytes},
             Pooled("object", TypeId::kOldObject, "Object"),
             {"arrayElements", TypeId::kInt, "Array Elements"},
             Pooled("root", TypeId::kOldObjectGcRoot, "GC Root"),
             {"weight", TypeId::kLong, "Live Bytes That It Represents", Unit::kBytes},
             {"survivedCollections", TypeId::kLong, "Collections Survived"},
             kLabels}),
      Event(TypeId::kExceptionThrow, "jdk.JavaExceptionThrow", "Java Exception", kJavaApplication,
            {kEventThread,
             kStackTrace,
             kMessage,
             kThrownClass,
             {"weight", TypeId::kDouble, "Throws That It Represents"},
             kLabels}),
      // Never written, because the recording does not say which class is an Error. Tools request both kinds together.
      Event(TypeId::kErrorThrow, "jdk.JavaErrorThrow", "Java Error", kJavaApplication,
            {kEventThread, kStackTrace, kMessage, kThrownClass}),
      Event(TypeId::kExceptionStatistics, "jdk.ExceptionStatistics", "Exception Statistics", kJavaApplication,
            {{"throwables", TypeId::kLong, "Exceptions Created"}}),
  };
}

// Facts of the recording, written once.
std::vector<Type> Facts() {
  return {
      Event(TypeId::kActiveRecording, "jdk.ActiveRecording", "Flight Recording", kFlightRecorder,
            {{"id", TypeId::kLong, "Id"},
             {"name", TypeId::kString, "Name"},
             {"destination", TypeId::kString, "Destination"},
             {"disk", TypeId::kBoolean, "To Disk"},
             {"maxAge", TypeId::kLong, "Max Age", Unit::kSpanOfMs},
             {"flushInterval", TypeId::kLong, "Flush Interval", Unit::kSpanOfMs},
             {"maxSize", TypeId::kLong, "Max Size", Unit::kBytes},
             {"recordingStart", TypeId::kLong, "Start Time", Unit::kEpochMs},
             {"recordingDuration", TypeId::kLong, "Recording Duration", Unit::kSpanOfMs}}),
      Event(TypeId::kJvmInformation, "jdk.JVMInformation", "JVM Information", kJavaVirtualMachine,
            {{"jvmName", TypeId::kString, "JVM Name"},
             {"jvmVersion", TypeId::kString, "JVM Version"},
             {"jvmArguments", TypeId::kString, "JVM Command Line Arguments"},
             {"jvmFlags", TypeId::kString, "JVM Settings File Arguments"},
             {"javaArguments", TypeId::kString, "Java Application Arguments"},
             {"jvmStartTime", TypeId::kLong, "JVM Start Time", Unit::kEpochMs},
             {"pid", TypeId::kLong, "Process Identifier"}}),
      Event(TypeId::kHeaprecRecording, "heaprec.Recording", "heaprec Recording", kFlightRecorder,
            {{"recordingId", TypeId::kString, "Recording Id"},
             {"agentVersion", TypeId::kString, "Agent Version"},
             {"agentOptions", TypeId::kString, "Agent Options"},
             {"source", TypeId::kString, "Source"},
             {"sourceReason", TypeId::kString, "Why This Source"},
             {"weights", TypeId::kString, "Weights"}}),
      Event(TypeId::kHeaprecDoubt, "heaprec.Doubt", "Why the Numbers Are Not Trustworthy", kFlightRecorder,
            {{"reason", TypeId::kString, "Reason"}}),
  };
}

struct Element {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes{};
  std::vector<Element> children{};
};

std::string Number(TypeId id) { return std::to_string(static_cast<int>(id)); }

Element Annotation(TypeId id, std::string_view value, const char* attribute = "value") {
  return {"annotation", {{"class", Number(id)}, {attribute, std::string(value)}}};
}

void Annotate(Unit unit, Element* field) {
  const auto add = [field](TypeId id, const char* value) { field->children.push_back(Annotation(id, value)); };
  switch (unit) {
    case Unit::kNone:
      return;
    case Unit::kTicks:
      return add(TypeId::kTimestamp, "TICKS");
    case Unit::kSpanOfTicks:
      return add(TypeId::kTimespan, "TICKS");
    case Unit::kSpanOfMs:
      return add(TypeId::kTimespan, "MILLISECONDS");
    case Unit::kEpochMs:
      return add(TypeId::kTimestamp, "MILLISECONDS_SINCE_EPOCH");
    case Unit::kBytes:
      return add(TypeId::kDataAmount, "BYTES");
  }
}

Element FieldElement(const Field& field) {
  Element element{"field", {{"name", std::string(field.name)}, {"class", Number(field.type)}}};
  if (field.pooled) element.attributes.emplace_back("constantPool", "true");
  if (field.array) element.attributes.emplace_back("dimension", "1");
  Annotate(field.unit, &element);
  if (!field.label.empty()) element.children.push_back(Annotation(TypeId::kLabel, field.label));
  return element;
}

Element TypeElement(const Type& type) {
  Element element{"class", {{"name", std::string(type.name)}, {"id", Number(type.id)}}};
  if (type.super == Super::kEvent) element.attributes.emplace_back("superType", "jdk.jfr.Event");
  if (type.super == Super::kAnnotation) element.attributes.emplace_back("superType", "java.lang.annotation.Annotation");
  if (type.simple) element.attributes.emplace_back("simpleType", "true");
  for (const Field& field : type.fields) element.children.push_back(FieldElement(field));
  if (!type.label.empty()) element.children.push_back(Annotation(TypeId::kLabel, type.label));
  if (type.is_content) element.children.push_back({"annotation", {{"class", Number(TypeId::kContentType)}}});
  if (!type.category.empty()) element.children.push_back(Annotation(TypeId::kCategory, type.category, "value-0"));
  return element;
}

// All texts come first, each once; elements refer to them by index.
class TreeWriter {
 public:
  std::string Write(const Element& root) {
    Put(root);
    std::string all;
    Sink sink(&all);
    sink.Long(texts_.texts().size());
    for (const std::string& text : texts_.texts()) sink.String(text);
    return all + tree_;
  }

 private:
  void Put(const Element& element) {
    Put(element.name);
    Sink(&tree_).Long(element.attributes.size());
    for (const auto& [name, value] : element.attributes) {
      Put(name);
      Put(value);
    }
    Sink(&tree_).Long(element.children.size());
    for (const Element& child : element.children) Put(child);
  }
  void Put(const std::string& text) { Sink(&tree_).Long(texts_.NumberOf(text)); }

  StringTable texts_;
  std::string tree_;
};

std::string Encode() {
  Element metadata{"metadata"};
  for (const Type& type : Types()) metadata.children.push_back(TypeElement(type));
  const Element region{"region", {{"locale", "en"}, {"gmtOffset", "0"}, {"dst", "0"}}};
  std::string rest;
  Sink sink(&rest);
  sink.Long(static_cast<uint64_t>(TypeId::kMetadata));
  sink.Long(0);  // start
  sink.Long(0);  // duration
  sink.Long(1);  // version: chunks with the same version have the same types
  sink.Raw(TreeWriter().Write({"root", {}, {std::move(metadata), region}}));
  std::string event;
  AppendSized(rest, &event);
  return event;
}

}  // namespace

const std::vector<Type>& Types() {
  static const auto* types = [] {
    auto* all = new std::vector<Type>;
    for (const auto& part : {Basics(), Constants(), OldObjects(), Samples(), Facts()})
      all->insert(all->end(), part.begin(), part.end());
    return all;
  }();
  return *types;
}

const std::string& MetadataEvent() {
  static const auto* event = new std::string(Encode());
  return *event;
}

}  // namespace heaprec::tools::jfr
