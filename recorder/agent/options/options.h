// The agent's options: "file=rec.hrec,rate=150,duration=30s". A key may be separated by ':' instead of '='; "@my.conf"
// includes the options of a file (recorder/agent/options/option_list.h).
//
// Context:  setup.
// Failure:  ParseOptions: an Error of one line that names the invalid part and lists the valid values.
// Format:   docs/reference/agent-options.md
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/bytes/result.h"
#include "format/model/census.h"
#include "recorder/agent/options/option_list.h"
#include "recorder/agent/options/service_labels.h"
#include "recorder/sources/log.h"
#include "recorder/writer/limits.h"
#include "throttle/controller.h"

namespace heaprec::agent {

enum class SourceChoice { kAuto, kHooks, kJvmti, kPortable };

struct Options {
  std::string file = "heaprec-%p.hrec";
  double rate_per_second = 150;
  double points_per_second = 4000;  // counted, as samples or not; less than what the samples need: only these
  bool max_points = false;          // more, as the program's CPU time allows
  throttle::Rule rule = throttle::Rule::kAdaptive;
  uint64_t max_samples = 0;  // of the recording; 0: no limit
  uint64_t duration_ns = 0;  // 0: until the JVM exits
  uint64_t delay_ns = 0;
  int stack_depth = 128;
  bool walk_stacks = true;  // where possible; otherwise JVMTI's GetStackTrace
  SourceChoice source = SourceChoice::kAuto;
  bool exceptions = false;  // also record thrown exceptions
  double exceptions_per_second = 100;
  bool native = false;  // also sample malloc and its family
  double native_per_second = 100;
  uint32_t maps_per_second = 1000;   // mmap calls, with `native`; 0: mappings are not recorded
  bool tracks = true;                // track sampled objects until they die (live=)
  uint32_t max_tracked_objects = 0;  // at a time; 0: derived from the rate
  // Time between snapshots of native memory (JVM and process); 0: every 10 s if the JVM has NMT on.
  uint64_t nmt_ns = 0;
  bool no_nmt = false;
  format::CensusMode census = format::CensusMode::kOff;
  double census_per_second = 0;  // of kDrawn: maximum walks per second
  std::string ring = "auto";     // "auto", "off", or a path
  std::string service;           // service name; empty: from OpenTelemetry's environment variables
  LabelChoice labels = LabelChoice::kOn;
  writer::SyncPolicy sync;
  writer::Limits limits;
  LogLevel log_level = LogLevel::kWarn;
  bool strict = false;
  // Patterns (*, ?) of main classes and jars of JVMs to record, or not to. Without `only`: all.
  std::vector<std::string> only, skip;
  // `main`: "com.x.Main", "module/com.x.Main", "/opt/app.jar"; the part behind the last '/' is enough to match.
  bool Records(const std::string& main) const;
  std::string given;  // the given options as key=value,key=value, including those from files
};

format::Result<Options> ParseOptions(std::string_view text);
format::Result<Options> ParseOptions(const std::vector<Option>& given);

std::vector<std::string> OptionNames();

// Whether `text` has the option strict, even if the rest of it is invalid.
bool AsksForStrict(std::string_view text);

const char* SourceName(SourceChoice choice);

}  // namespace heaprec::agent
