// Types of JFR files that several tests have, and a small file of them.
#pragma once

#include <string>
#include <vector>

#include "tests/tools/jfr_builder.h"

namespace heaprec::tools::testing {

enum : int {
  kString = 20,
  kInt,
  kLong,
  kBoolean,
  kFloat,
  kDouble,
  kChar,
  kShort,
  kByte,
  kSymbol,
  kClass,
  kThread,
  kMethod,
  kFrame,
  kStack,
  kPlace,
  kSample,
  kInTlab,
  kOutside,
  kWhen,
  kSpace,
  kCause,
  kSummary,
  kPause,
  kCollection,
  kObject,
  kOld,
  kReference,
  kArray,
  kField,
  kSystem,
  kRootType,
  kRoot
};

// The primitive types and `more`.
inline std::vector<JfrType> TypesWith(const std::vector<JfrType>& more) {
  std::vector<JfrType> types{
      {kString, "java.lang.String"}, {kInt, "int"},   {kLong, "long"},   {kBoolean, "boolean"}, {kFloat, "float"},
      {kDouble, "double"},           {kChar, "char"}, {kShort, "short"}, {kByte, "byte"}};
  types.insert(types.end(), more.begin(), more.end());
  return types;
}

// Also classes and samples without stacks.
inline std::vector<JfrType> PlainTypesWith(const std::vector<JfrType>& more) {
  std::vector<JfrType> types = TypesWith({{kSymbol, "jdk.types.Symbol", {{"string", kString}}},
                                          {kClass, "java.lang.Class", {{"name", kSymbol, true}}},
                                          {kSample,
                                           "jdk.ObjectAllocationSample",
                                           {{"startTime", kLong}, {"objectClass", kClass, true}, {"weight", kLong}},
                                           true}});
  types.insert(types.end(), more.begin(), more.end());
  return types;
}

// Of the three kinds of events that JDK 11 to 25 have, in the order in which they were allocated.
inline std::string TlabFile() {
  const std::vector<JfrType> types = PlainTypesWith(
      {{kInTlab,
        "jdk.ObjectAllocationInNewTLAB",
        {{"startTime", kLong}, {"objectClass", kClass, true}, {"allocationSize", kLong}, {"tlabSize", kLong}},
        true},
       {kOutside,
        "jdk.ObjectAllocationOutsideTLAB",
        {{"startTime", kLong}, {"objectClass", kClass, true}, {"allocationSize", kLong}},
        true}});
  JfrBuilder jfr(types, true);
  jfr.Constants(kSymbol, 1, jfr.Bytes().Long(1).Utf8("[B"));
  jfr.Constants(kClass, 1, jfr.Bytes().Long(1).Long(1));
  jfr.Event(kOutside, jfr.Bytes().Long(5640).Long(1).Long(1'000'000));
  jfr.Event(kInTlab, jfr.Bytes().Long(5128).Long(1).Long(24).Long(65536));
  jfr.Event(kSample, jfr.Bytes().Long(5128).Long(1).Long(7777));
  return jfr.File();
}

}  // namespace heaprec::tools::testing
