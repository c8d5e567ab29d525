#include "tools/query/allocations/rules.h"

#include <algorithm>
#include <array>

namespace heaprec::tools {
namespace {

struct RolesOfMethods {
  std::string_view pattern;  // "*" matches any text
  uint32_t roles;
  std::string_view descriptor = {};  // empty: any
};

constexpr uint32_t kLogger = kPassedOver | kLogs, kGrower = kPassedOver | kGrows | kGrowable;
constexpr std::string_view kOfCollection = "(Ljava/util/Collection;)V", kOfMap = "(Ljava/util/Map;)V";

constexpr auto kRoles = std::to_array<RolesOfMethods>({
    // Code that programs do not change.
    {"java.*", kPassedOver},
    {"javax.*", kPassedOver},
    {"jdk.*", kPassedOver},
    {"sun.*", kPassedOver},
    {"com.sun.jmx.*", kPassedOver},
    {"com.sun.jndi.*", kPassedOver},
    {"com.sun.net.*", kPassedOver},
    {"com.sun.org.*", kPassedOver},
    {"com.sun.proxy.*", kPassedOver},
    {"clojure.*", kPassedOver},
    {"groovy.*", kPassedOver},
    {"kotlin.*", kPassedOver},
    {"org.codehaus.groovy.*", kPassedOver},
    {"scala.*", kPassedOver},
    {"*$$Lambda*", kPassedOver},
    {"*$Proxy*", kPassedOver},
    {"*$$EnhancerBy*", kPassedOver},
    {"*$$FastClassBy*", kPassedOver},
    // Loggers.
    {"java.util.logging.*", kLogger},
    {"java.lang.System$Logger.*", kLogger},
    {"jdk.internal.logger.*", kLogger},
    {"sun.util.logging.*", kLogger},
    {"ch.qos.logback.*", kLogger},
    {"com.google.common.flogger.*", kLogger},
    {"io.netty.util.internal.logging.*", kLogger},
    {"org.apache.commons.logging.*", kLogger},
    {"org.apache.juli.*", kLogger},
    {"org.apache.log4j.*", kLogger},
    {"org.apache.logging.*", kLogger},
    {"org.jboss.logging.*", kLogger},
    {"org.slf4j.*", kLogger},
    {"*Logger.*", kLogger},
    {"*.getLogger", kSetsUpLogger},
    {"*.getLog", kSetsUpLogger},
    {"java.util.logging.LogManager.*", kSetsUpLogger},
    // Exceptions.
    {"java.lang.Throwable.*", kThrows},
    {"*Exception.<init>", kPassedOver},
    {"*Error.<init>", kPassedOver},
    // Boxes.
    {"java.lang.Byte.valueOf", kBoxes},
    {"java.lang.Character.valueOf", kBoxes},
    {"java.lang.Short.valueOf", kBoxes},
    {"java.lang.Integer.valueOf", kBoxes},
    {"java.lang.Long.valueOf", kBoxes},
    {"java.lang.Float.valueOf", kBoxes},
    {"java.lang.Double.valueOf", kBoxes},
    {"java.lang.*", kMayBox},
    {"java.util.*Map.*", kMayBox},
    {"*$$Lambda*", kMayBox},
    {"clojure.lang.Numbers*", kMayBox},
    {"kotlin.coroutines.jvm.internal.Boxing.*", kMayBox},
    {"scala.runtime.BoxesRunTime.*", kMayBox},
    // Iterators.
    {"*.iterator", kPassedOver | kIterates},
    {"*.listIterator", kPassedOver | kIterates},
    {"*.descendingIterator", kPassedOver | kIterates},
    // Growth, of the JDK's collections and of others.
    {"*.grow", kGrower},
    {"*.resize", kGrower},
    {"*.rehash", kGrower},
    {"*.ensureCapacity", kGrower},
    {"*.ensureCapacityInternal", kGrower},
    {"*.ensureCapacityHelper", kGrower},
    {"*.expandCapacity", kGrower},
    {"*.increaseCapacity", kGrower},
    {"*.doubleCapacity", kGrower},
    {"*.tryGrow", kGrower},
    {"java.util.concurrent.ConcurrentHashMap.transfer", kGrower},
    {"java.io.ByteArrayOutputStream.*", kGrowable},
    {"java.io.CharArrayWriter.*", kGrowable},
    {"java.io.StringWriter.*", kGrowable},
    {"java.lang.StringBuffer.*", kGrowable},
    {"java.lang.StringBuilder.*", kGrowable},
    {"java.util.ArrayDeque.*", kGrowable},
    {"java.util.ArrayList.*", kGrowable},
    {"java.util.HashMap.*", kGrowable},
    {"java.util.HashSet.*", kGrowable},
    {"java.util.Hashtable.*", kGrowable},
    {"java.util.IdentityHashMap.*", kGrowable},
    {"java.util.PriorityQueue.*", kGrowable},
    {"java.util.Vector.*", kGrowable},
    {"java.util.concurrent.ConcurrentHashMap.*", kGrowable},
    {"java.lang.AbstractStringBuilder.ensureCapacity", kReserves},
    {"java.util.ArrayList.addAll", kReserves},
    {"java.util.ArrayList.ensureCapacity", kReserves},
    {"java.util.Vector.addAll", kReserves},
    {"java.util.Vector.ensureCapacity", kReserves},
    {"java.util.HashMap.putMapEntries", kReserves},
    {"java.util.HashMap.putVal", kMayReserve},
    // Copies.
    {"java.lang.Object.clone", kCopies},
    {"*.clone", kPassedOver | kCopies},
    {"java.util.List.copyOf", kGivesCopy},
    {"java.util.Map.copyOf", kGivesCopy},
    {"java.util.Set.copyOf", kGivesCopy},
    {"java.util.*", kCopies, kOfCollection},
    {"java.util.*", kCopies, kOfMap},
    {"java.lang.Class.get*", kGivesCopy, "()[Ljava/lang/Class;"},
    {"java.lang.Class.get*", kGivesCopy, "()[Ljava/lang/Object;"},
    {"java.lang.Class.get*", kGivesCopy, "()[Ljava/lang/reflect/Method;"},
    {"java.lang.Class.get*", kGivesCopy, "()[Ljava/lang/reflect/Field;"},
    {"java.lang.Class.get*", kGivesCopy, "()[Ljava/lang/reflect/Constructor;"},
    {"java.lang.reflect.*", kGivesCopy, "()[Ljava/lang/Class;"},
    {"java.lang.String.toCharArray", kGivesCopy},
    // Buffers of streams.
    {"java.io.BufferedInputStream.*", kBuffers},
    {"java.io.BufferedOutputStream.<init>", kBuffers},
    {"java.io.BufferedReader.<init>", kBuffers},
    {"java.io.BufferedWriter.<init>", kBuffers},
    {"java.util.zip.DeflaterOutputStream.<init>", kBuffers},
    {"java.util.zip.InflaterInputStream.<init>", kBuffers},
    {"java.nio.file.Files.newBuffered*", kBuffers},
    // Concatenation. Code of Java 8 calls StringBuilder, which other code does, too.
    {"java.lang.StringConcatHelper*", kConcatenates},
    {"java.lang.String$$StringConcat*", kConcatenates},
    {"java.lang.String.concat", kConcatenates},
});

bool Fits(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  if (pattern.find('*') == std::string_view::npos) return text.ends_with(pattern);
  for (; !text.empty(); text.remove_prefix(1)) {
    if (Fits(pattern, text)) return true;
  }
  return false;
}

// The compiler writes it for an enum: values() of E returns a copy of an E[].
bool CopiesEnum(const format::Method& method) {
  std::string_view returned = method.descriptor;
  if (method.name != "values" || !returned.starts_with("()[L") || !returned.ends_with(';')) return false;
  returned.remove_prefix(4), returned.remove_suffix(1);
  return returned == method.class_name;
}

// Whether the method seems to have variable arguments. Recordings do not say that, so: its last parameter is an
// Object[], except for methods that usually get an array.
bool TakesArguments(const format::Method& method) {
  return method.descriptor.find("[Ljava/lang/Object;)") != std::string::npos && method.name != "toArray" &&
         method.name != "<init>";
}

// Sizes of empty arrays, and of those that an empty ArrayList or HashMap begins with, with compressed references.
constexpr double kEmptyArray = 16, kFirstElements = 80;
// From here on, arrays outside of TLABs are called large.
constexpr double kLarge = 64 * 1024;
// The compiler passes few arguments in an array: 16 with compressed references.
constexpr double kArguments = 80;
// A few large arrays may be kept for the whole run.
constexpr double kRepeated = 20;

bool IsText(std::string_view name) {
  return name == "byte[]" || name == "char[]" || name == "java.lang.String" || name == "java.lang.StringBuilder" ||
         name == "java.lang.StringBuffer";
}

bool IsBox(std::string_view name) {
  static constexpr auto kBoxClasses =
      std::to_array<std::string_view>({"java.lang.Byte", "java.lang.Character", "java.lang.Short", "java.lang.Integer",
                                       "java.lang.Long", "java.lang.Float", "java.lang.Double"});
  return std::ranges::find(kBoxClasses, name) != kBoxClasses.end();
}

// Others copy in order to change the copy.
bool IsGetterOrConstructor(std::string_view method) {
  const std::string_view name = method.substr(method.rfind('.') + 1);
  return name.starts_with("get") || name == "<init>";
}

constexpr auto kCollections = std::to_array<CollectionClass>({
    {"java.util.ArrayList", "java.lang.Object[]", kGrowable},
    {"java.util.HashMap", "java.util.HashMap$Node[]"},
    {"java.util.LinkedHashMap", "java.util.HashMap$Node[]"},
    {"java.util.LinkedList", "java.util.LinkedList$Node"},
    {"java.util.TreeMap", "java.util.TreeMap$Entry"},
    {"java.util.concurrent.ConcurrentHashMap", "java.util.concurrent.ConcurrentHashMap$Node[]"},
});

using Facts = AllocationFacts;

constexpr auto kRules = std::to_array<AdviceRule>({
    {"logging", "Build messages only for enabled levels.",
     [](const Facts& of) { return (of.roles & kLogs) != 0 ? (of.roles & kSetsUpLogger) == 0 : IsText(of.class_name); },
     [](const LineFacts& of) { return (of.calls & kLogs) != 0; }},
    {"exception", "Return a value, or omit the stack trace.",
     [](const Facts& of) {
       return (of.roles & kThrows) != 0 || of.class_name.ends_with("Exception") || of.class_name.ends_with("Error");
     },
     nullptr},
    {"boxing", "Use primitives: generics box each number.",
     [](const Facts& of) { return (of.roles & kBoxes) != 0 && (of.common & kMayBox) != 0 && IsBox(of.class_name); },
     nullptr},
    {"iterator", "Loop by index or with forEach.",
     [](const Facts& of) { return (of.outermost & kIterates) != 0 && !of.IsArray(); }, nullptr},
    {"empty-array", "Share one empty array.", [](const Facts& of) { return of.IsArray() && of.size == kEmptyArray; },
     nullptr},
    {"growth", "Create it with the capacity it reaches.",
     [](const Facts& of) {
       return of.IsArray() && (of.roles & kGrows) != 0 && (of.roles & kReserves) == 0 &&
              (of.outermost & kGrowable) != 0 && of.size > kFirstElements;
     },
     [](const LineFacts& of) { return of.sizes >= 3; }},
    {"buffer", "Reuse it, or choose a smaller buffer.",
     [](const Facts& of) { return of.IsArray() && (of.outermost & kBuffers) != 0; },
     [](const LineFacts& of) { return of.objects_low >= kRepeated; }},
    {"string-concat", "Append to a StringBuilder instead of +=.",
     [](const Facts& of) { return of.IsArray() && IsText(of.class_name) && (of.roles & kConcatenates) != 0; },
     [](const LineFacts& of) { return of.sizes >= 8 && of.largest >= 8 * of.smallest && of.mean_of_bytes >= 256; }},
    {"large-array", "Reuse it, or work in smaller pieces.",
     [](const Facts& of) { return of.IsArray() && of.is_outside && of.size >= kLarge; },
     [](const LineFacts& of) { return of.objects_low >= kRepeated && !of.stays; }},
    {"copy", "Share it, or give out a read-only view.",
     [](const Facts& of) {
       if ((of.outermost & kGivesCopy) != 0) return true;
       return IsGetterOrConstructor(of.method) && ((of.outermost & kCopies) != 0 || (of.frames == 0 && of.IsArray()));
     },
     [](const LineFacts& of) { return (of.calls & (kCopies | kGivesCopy)) != 0; }},
    {"varargs", "Add an overload without varargs.",
     [](const Facts& of) { return of.frames == 0 && of.class_name == "java.lang.Object[]" && of.size <= kArguments; },
     [](const LineFacts& of) { return (of.calls & kTakesArguments) != 0; }},
    {"empty-collection", "Create it with its first element.",
     [](const Facts& of) {
       return std::ranges::find(kCollections, of.class_name, &CollectionClass::name) != kCollections.end();
     },
     [](const LineFacts& of) { return of.objects_low > 2 * of.filled_high; }},
});

}  // namespace

uint32_t RolesOf(std::string_view shown, const format::Method& method) {
  uint32_t roles = CopiesEnum(method) ? kPassedOver | kGivesCopy : 0;
  if (TakesArguments(method)) roles |= kTakesArguments;
  for (const RolesOfMethods& one : kRoles) {
    if (one.pattern.front() != '*' && !shown.starts_with(one.pattern.front())) continue;
    if (Fits(one.pattern, shown) && (one.descriptor.empty() || one.descriptor == method.descriptor)) roles |= one.roles;
  }
  return (roles & kSetsUpLogger) != 0 ? roles & ~kLogs : roles;
}

std::span<const AdviceRule> AdviceRules() { return kRules; }
std::span<const CollectionClass> CollectionClasses() { return kCollections; }

}  // namespace heaprec::tools
