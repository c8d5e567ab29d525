// The agent's options: "file=rec.hrec,rate=150,duration=30s". A key may be separated by ':' instead of '='.
//
// Context:  setup; "@my.conf" reads a file.
// Failure:  ParseOptions: an Error of one line that names the invalid part and lists the valid values.
// Format:   docs/reference/agent-options.md
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/model/census.h"
#include "recorder/agent/options/service_labels.h"
#include "recorder/sources/log.h"
#include "recorder/writer/retention.h"
#include "throttle/controller.h"

namespace heaprec::agent {

struct Option {
  std::string key, value;
  std::string where;  // "my.conf:3: "; empty: not from a file
};

// Splits option text (base/option_text.h): "rate=20,@my.conf,strict" becomes key and value of each; a file's
// options replace its name.
//
// A file has one key=value per line. Blank lines, lines that begin with '#', and spaces around key and value are
// ignored. Commas and backslashes in a file have no special meaning. A file cannot include another file.
//
// Failure:  a file that cannot be read, or does not contain options: the error names file and line.
Result<std::vector<Option>> SplitOptions(std::string_view text);

// "rate=20,source=jvmti,strict", in the form that SplitOptions reads.
std::string AsText(const std::vector<Option>& options);

enum class SourceChoice { kAuto, kHooks, kJvmti, kPortable };

struct Options {
  std::string file = "heaprec-%p.hrec";
  double rate_per_second = 150;
  // points to count, whether they become samples or not; at least as many as the samples need
  double points_per_second = 4000;
  bool max_points = false;  // use more, depending on the program's CPU time
  throttle::Rule rule = throttle::Rule::kAdaptive;
  uint64_t max_samples = 0;  // maximum for the recording; 0: no limit
  uint64_t duration_ns = 0;  // 0: until the JVM exits
  uint64_t delay_ns = 0;
  int stack_depth = 128;
  bool walk_stacks = true;  // if possible; otherwise uses JVMTI's GetStackTrace
  SourceChoice source = SourceChoice::kAuto;
  bool exceptions = false;  // also record thrown exceptions
  double exceptions_per_second = 100;
  bool native = false;  // also sample malloc and its family
  double native_per_second = 100;
  uint32_t maps_per_second = 1000;   // mmap calls, with `native`; 0: mappings are not recorded
  bool tracks = true;                // track sampled objects until they die (live=)
  uint32_t max_tracked_objects = 0;  // at a time; 0: derived from the rate
  bool paths = false;                // record what holds tracked objects
  uint64_t paths_every_ns = 0;       // 0: at the end, when a copy is made, and when the heap is full
  uint64_t paths_pause_ns = 50'000'000;
  uint64_t paths_retained_ns = 50'000'000;  // of the pause; 0: no retained sizes
  uint64_t paths_memory = 0;                // 0: half of what is left to the process
  // Time between snapshots of native memory (JVM and process); 0: every 10 s if the JVM has NMT on.
  uint64_t nmt_ns = 0;
  bool no_nmt = false;
  format::CensusMode census = format::CensusMode::kOff;
  double census_per_second = 0;  // for kDrawn: maximum walks per second
  std::string ring = "auto";     // "auto", "off", or a path
  std::string service;           // service name; empty: from OpenTelemetry's environment variables
  LabelChoice labels = LabelChoice::kOn;
  writer::SyncPolicy sync;
  writer::Limits limits;
  LogLevel log_level = LogLevel::kWarn;
  bool strict = false;
  // Patterns (*, ?) of main classes and jars of JVMs that are recorded (without `only`: all), or not recorded.
  std::vector<std::string> only, skip;
  // `main`: "com.x.Main", "module/com.x.Main" or "/opt/app.jar"; the part after the last '/' is sufficient for a match.
  bool Records(const std::string& main) const;
  std::string given;  // the given options as key=value,key=value, including those from files
};

Result<Options> ParseOptions(std::string_view text);
Result<Options> ParseOptions(const std::vector<Option>& given);

std::vector<std::string> OptionNames();

// Whether `text` has the option strict, even if the rest of it is invalid.
bool AsksForStrict(std::string_view text);

std::string_view SourceName(SourceChoice choice);

// HEAPREC_NATIVE_SAMPLED, the options of libheaprec.so in a program without a JVM:
// "file=rec-%p.hrec,rate=100,only=NAME". They are the agent's options that need no JVM, and `only`.
//
// Format:   docs/guide/native-memory.md#programs-without-a-jvm
struct ProgramOptions {
  Options options{};         // native, at native_per_second
  std::string only{};        // file name of the program; empty: any
  std::string reply_file{};  // as in agent::Command
};

Result<ProgramOptions> ParseProgramOptions(std::string_view text);

}  // namespace heaprec::agent
