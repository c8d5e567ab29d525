// Property: whatever a JFR file holds, importing it ends, and what comes out is a whole recording with as many samples
// as were counted, in order, nothing of it damaged, and its rows and names consistent.
#include <string>

#include "tests/format/memory_source.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"
#include "tests/tools/jfr_builder.h"
#include "tools/import/jfr/importer.h"
#include "tools/input/recording.h"
#include "tools/text/output.h"

namespace heaprec::fuzz {
namespace {

using tools::testing::JfrBuilder;

enum : int {
  kString = 20,
  kInt,
  kLong,
  kBoolean,
  kSymbol,
  kClass,
  kThread,
  kMethod,
  kFrame,
  kStack,
  kSample,
  kObject,
  kReference,
  kField,
  kRoot,
  kOld
};

// One allocation with everything, and an old object with two references and a root.
Input Seed(bool compressed) {
  JfrBuilder jfr(
      {{kString, "java.lang.String"},
       {kInt, "int"},
       {kLong, "long"},
       {kBoolean, "boolean"},
       {kSymbol, "jdk.types.Symbol", {{"string", kString}}},
       {kClass, "java.lang.Class", {{"name", kSymbol, true}}},
       {kThread, "java.lang.Thread", {{"javaName", kString}, {"javaThreadId", kLong}}},
       {kMethod, "jdk.types.Method", {{"type", kClass, true}, {"name", kSymbol, true}}},
       {kFrame, "jdk.types.StackFrame", {{"method", kMethod, true}, {"lineNumber", kInt}}},
       {kStack, "jdk.types.StackTrace", {{"truncated", kBoolean}, {"frames", kFrame, false, true}}},
       {kSample,
        "jdk.ObjectAllocationSample",
        {{"startTime", kLong},
         {"eventThread", kThread, true},
         {"stackTrace", kStack, true},
         {"objectClass", kClass, true},
         {"weight", kLong}},
        true},
       {kObject,
        "jdk.types.OldObject",
        {{"type", kClass, true}, {"description", kString}, {"referrer", kReference, true}}},
       {kReference, "jdk.types.Reference", {{"field", kField, true}, {"object", kObject, true}, {"skip", kInt}}},
       {kField, "jdk.types.OldObjectField", {{"name", kString}}},
       {kRoot, "jdk.types.OldObjectGcRoot", {{"description", kString}, {"type", kString}}},
       {kOld,
        "jdk.OldObjectSample",
        {{"startTime", kLong}, {"allocationTime", kLong}, {"object", kObject, true}, {"root", kRoot, true}},
        true}},
      compressed);
  jfr.Event(kOld, jfr.Bytes().Long(7000).Long(5600).Long(1).Long(1));
  jfr.Constants(
      kObject, 3,
      jfr.Bytes().Long(1).Long(1).Utf8("").Long(1).Long(2).Long(1).Utf8("x 3").Long(2).Long(3).Long(1).Utf8("").Long(
          0));
  jfr.Constants(kReference, 2, jfr.Bytes().Long(1).Long(1).Long(2).Int(2).Long(2).Long(1).Long(3).Int(5));
  jfr.Constants(kField, 1, jfr.Bytes().Long(1).Utf8("next"));
  jfr.Constants(kRoot, 1, jfr.Bytes().Long(1).Utf8("Method: p.C.m, Thread Name: t").Utf8("Stack Variable"));
  jfr.Event(kSample, jfr.Bytes().Long(6000).Long(1).Long(1).Long(1).Long(4096));
  jfr.Event(kSample, jfr.Bytes().Long(5500).Long(1).Long(0).Long(2).Long(24));
  jfr.Constants(kSymbol, 2, jfr.Bytes().Long(1).Utf8("p/C+0x12/7").Long(2).Latin1("m"));
  jfr.Constants(kClass, 1, jfr.Bytes().Long(1).Long(1));
  jfr.Constants(kThread, 1, jfr.Bytes().Long(1).Chars(std::u16string_view(u"t\0", 2)).Long(1));
  jfr.Constants(kMethod, 1, jfr.Bytes().Long(1).Long(1).Long(2));
  jfr.Constants(kStack, 1, jfr.Bytes().Long(1).Byte(1).Int(2).Long(1).Int(7).Long(0).Int(-1));
  const std::string file = jfr.File();
  return {file.begin(), file.end()};
}

void RequireWhole(const std::string& path, uint64_t samples) {
  auto recording = tools::Recording::Open(path);
  Require(recording.ok());
  uint64_t read = 0;
  while (const auto block = (*recording)->Next()) {
    uint64_t last_ns = 0;
    for (const format::ProcessState& state : block->states)
      Require(state.stack == format::kNone || state.stack < block->dictionaries->stacks.size());
    for (const format::Sample& sample : block->samples) {
      Require(sample.weight > 0 && sample.time_ns >= last_ns);
      Require(sample.stack == format::kNone || sample.stack < block->dictionaries->stacks.size());
      last_ns = sample.time_ns;
      ++read;
    }
  }
  Require(read == samples && (*recording)->skipped().empty() && (*recording)->ending().has_value());
}

void Import(format::Bytes bytes, tools::jfr::EventSet set) {
  format::MemoryByteSource source(bytes);
  const tools::jfr::JfrScan scan = tools::jfr::ScanOf(&source);
  const MemoryFile file;
  tools::Output output(file.descriptor());
  const auto imported = tools::jfr::Import(&source, HeaderOf(scan, set), scan, set, &output);
  if (!imported.ok()) return;
  output.Flush();
  Require(!output.failed());
  const auto counted = scan.events.find(set);
  Require(imported->samples + imported->refused == (counted == scan.events.end() ? 0 : counted->second));
  RequireWhole(file.path(), imported->samples);
}

std::vector<Input> Seeds() { return {Seed(true), Seed(false)}; }

void Check(const uint8_t* bytes, size_t size) {
  const auto file = BytesOf(bytes, size);
  for (const auto set : {tools::jfr::EventSet::kSamples, tools::jfr::EventSet::kTlabs}) {
    Import(file, set);
  }
}

const Registered kRegistered({.name = "jfr", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz
