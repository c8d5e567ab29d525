// The agent's options: "file=rec.bin,rate=150,duration=30s". A key may be separated by ':' instead of '='; "@my.conf"
// includes the options of a file (recorder/agent/options/option_list.h).
//
// Context:  setup.
// Failure:  Parse: an Error of one line that names the bad part and lists what is valid.
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
#include "recorder/writer/limits.h"
#include "throttle/controller.h"

namespace heaprec::agent {

enum class SourceChoice { kAuto, kHooks, kJvmti, kTlab, kPortable };
enum class LogLevel { kOff, kError, kWarn, kInfo, kDebug };

struct Options {
  std::string file = "heaprec-%p.hrec";
  double rate_per_second = 150;
  throttle::Rule rule = throttle::Rule::kAdaptive;
  uint64_t max_samples = 0;  // 0: no bound
  uint64_t duration_ns = 0;  // 0: until the JVM exits
  uint64_t delay_ns = 0;
  int stack_depth = 128;
  bool walk_stacks = true;  // where they can be; else JVMTI is asked
  SourceChoice source = SourceChoice::kAuto;
  bool exceptions = false;  // thrown ones are recorded too
  double exceptions_per_second = 100;
  bool native = false;  // what malloc and its family give is sampled too
  double native_per_second = 100;
  uint32_t maps_per_second = 1000;   // with `native`; 0: mappings are not recorded
  bool tracks = false;               // sampled objects, until they die
  uint32_t max_tracked_objects = 0;  // at most so many at a time; 0: as many as the rate asks for
  // How often the JVM's native memory and the process' are noted; 0: every 10 s, if the JVM tracks it.
  uint64_t nmt_ns = 0;
  bool no_nmt = false;
  format::CensusMode census = format::CensusMode::kOff;
  double census_per_second = 0;  // of kDrawn: most walks of a second
  std::string ring = "auto";     // "auto", "off", or a path
  std::string service;           // its name; empty: what OpenTelemetry's variables say
  LabelChoice labels = LabelChoice::kOn;
  writer::SyncPolicy sync;
  writer::Limits limits;
  LogLevel log_level = LogLevel::kWarn;
  bool strict = false;
  std::string given;  // as key=value,key=value: what was asked for, files included
};

format::Result<Options> ParseOptions(std::string_view text);
format::Result<Options> ParseOptions(const std::vector<Option>& given);

// Whether `text` asks for strict, even if the rest of it is wrong.
bool AsksForStrict(std::string_view text);

const char* SourceName(SourceChoice choice);

}  // namespace heaprec::agent
