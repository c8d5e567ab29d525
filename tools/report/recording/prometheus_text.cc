// The state of recordings in Prometheus' text format. docs/guide/fleet.md#monitor-the-recorders
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <string_view>

#include "tools/input/recording_kind.h"
#include "tools/report/recording/reports.h"
#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : ToUtf8(std::string(text))) {
    if (c == '\\' || c == '"') escaped += '\\';
    c == '\n' ? escaped += "\\n" : escaped += c;
  }
  return escaped;
}

// Labels that are equal for all metrics of a JVM, so that they can be joined.
std::string LabelsOf(const JvmState& jvm) {
  const format::FileHeader& header = jvm.live->recording->header();
  return fmt::format(R"({{pid="{}",main="{}",service="{}",version="{}"}})", jvm.java.process.pid,
                     Escaped(jvm.java.main), Escaped(ServiceLabelOf(header, "service.name")),
                     Escaped(ServiceLabelOf(header, "service.version")));
}

struct Metric {
  const char *name, *type, *help;
  std::function<double(const LiveRecording&)> value;
};

// Infinity: nothing grows so that it will be full.
double SecondsToFull(const LiveRecording& of, double Estimate::*which) {
  return of.full ? of.full->seconds.*which : std::numeric_limits<double>::infinity();
}

const std::vector<Metric>& Metrics() {
  static const auto* metrics = new std::vector<Metric>{
      {"heaprec_allocated_bytes_total", "counter", "Bytes allocated since the recording began, counted exactly.",
       [](const LiveRecording& of) { return static_cast<double>(of.counters.candidate_bytes); }},
      {"heaprec_samples_total", "counter", "Samples written to the file.",
       [](const LiveRecording& of) { return static_cast<double>(of.counters.written); }},
      {"heaprec_samples_lost_total", "counter", "Samples that could not be written.",
       [](const LiveRecording& of) { return static_cast<double>(of.writing.lost_samples); }},
      {"heaprec_stacks_total", "counter", "Stacks that were walked, or came from JVMTI.",
       [](const LiveRecording& of) {
         return static_cast<double>(of.counters.stacks_walked + of.counters.stacks_from_jvmti);
       }},
      {"heaprec_stack_mismatches_total", "counter", "Walked stacks that differed from JVMTI's.",
       [](const LiveRecording& of) { return static_cast<double>(of.counters.stack_mismatches); }},
      {"heaprec_rate_limit", "gauge", "Maximum samples per second.",
       [](const LiveRecording& of) { return of.recording->header().rate_per_second; }},
      {"heaprec_file_bytes", "gauge", "Size of the recording.",
       [](const LiveRecording& of) { return static_cast<double>(of.bytes); }},
      {"heaprec_unwritten_seconds", "gauge", "Time since the last write, if writing fails; otherwise 0.",
       [](const LiveRecording& of) { return of.writing.silent_seconds; }},
      {"heaprec_full_seconds", "gauge", "Time until the old generation or the container is full; +Inf: no growth.",
       [](const LiveRecording& of) { return SecondsToFull(of, &Estimate::value); }},
      {"heaprec_full_seconds_low", "gauge", "The same, lower end of the 95 % interval.",
       [](const LiveRecording& of) { return SecondsToFull(of, &Estimate::low); }},
      {"heaprec_full_seconds_high", "gauge", "The same, upper end of the 95 % interval.",
       [](const LiveRecording& of) { return SecondsToFull(of, &Estimate::high); }},
      {"heaprec_start_time_seconds", "gauge", "Start of the recording, since 1970.",
       [](const LiveRecording& of) { return static_cast<double>(of.recording->header().start_epoch_ns) * 1e-9; }}};
  return *metrics;
}

}  // namespace

std::string PrometheusText(const std::vector<JvmState>& jvms) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "# HELP heaprec_recordings JVMs of this user that are being recorded.\n"
                 "# TYPE heaprec_recordings gauge\n");
  size_t recordings = 0;
  for (const JvmState& jvm : jvms) recordings += jvm.live ? 1 : 0;
  fmt::format_to(out, "heaprec_recordings {}\n", recordings);
  for (const Metric& metric : Metrics()) {
    if (recordings == 0) break;
    fmt::format_to(out, "# HELP {0} {1}\n# TYPE {0} {2}\n", metric.name, metric.help, metric.type);
    for (const JvmState& jvm : jvms) {
      if (!jvm.live) continue;
      const double value = metric.value(*jvm.live);
      fmt::format_to(out, "{}{} {}\n", metric.name, LabelsOf(jvm), std::isinf(value) ? "+Inf" : fmt::to_string(value));
    }
  }
  return text;
}

}  // namespace heaprec::tools
