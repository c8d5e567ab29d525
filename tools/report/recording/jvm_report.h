// `heaprec list` and `heaprec status` as reports: JVMs, and what is recorded in them.
//
// Threads:  one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/control/java_process.h"
#include "tools/control/live_recording.h"
#include "tools/render/report.h"

namespace heaprec::tools {

struct JvmState {
  JavaProcess java;
  std::optional<LiveRecording> live;
};

render::Report ListReport(const std::vector<JvmState>& jvms);
render::Report StatusReport(const JvmState& jvm);
// Those that are recorded, in Prometheus' text format.
std::string PrometheusText(const std::vector<JvmState>& jvms);

}  // namespace heaprec::tools
