#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <string_view>

#include "tools/input/loss_summary.h"
#include "tools/input/stream_traits.h"
#include "tools/report/recording/reports.h"
#include "tools/text/text.h"

namespace heaprec::tools {

using namespace render;

namespace {

std::string OrUnknown(const std::string& text) { return text.empty() ? "?" : ToUtf8(text); }

std::string StateOf(const JvmState& jvm) {
  if (jvm.live) return "recording " + OrUnknown(jvm.live->path);
  if (jvm.java.process.is_waiting) return "waiting for its delay";
  return jvm.java.process.agent.empty() ? "" : "not recording";
}

// The header of the recording, and its current length.
Value RecordingOf(const JvmState& jvm) {
  if (!jvm.live) return nullptr;
  const LiveRecording& live = *jvm.live;
  const format::StreamCounters& counters = live.counters;
  Object object = HeaderValue(live.recording->header());
  const Object more{
      {"file", ToUtf8(live.path)},
      {"bytes", live.bytes},
      {"written", counters.written},
      {"committed", counters.committed},
      {"buffered", counters.committed - std::min(counters.committed, counters.written + counters.second_stage)},
      {"second_stage", counters.second_stage},
      {"stacks_walked", counters.stacks_walked},
      {"stacks_from_jvmti", counters.stacks_from_jvmti},
      {"stack_mismatches", counters.stack_mismatches},
      {"allocated_bytes", counters.candidate_bytes},
      {"lost_samples", live.writing.lost_samples},
      {"unwritten_seconds", live.writing.silent_seconds},
      {"write_error", live.writing.error},
      {"time_to_full", TimeToFullValue(live.full)}};
  object.insert(object.end(), more.begin(), more.end());
  return object;
}

const std::vector<Column<JvmState>>& Columns() {
  static const auto* columns = new std::vector<Column<JvmState>>{
      {"pid", "pid", Unit::kText, Detail::kAlways, [](const JvmState& of) { return of.java.process.pid; }},
      {"version", "jdk", Unit::kText, Detail::kAlways, [](const JvmState& of) { return OrUnknown(of.java.version); }},
      {"main", "main", Unit::kText, Detail::kAlways, [](const JvmState& of) { return OrUnknown(of.java.main); }},
      {"user", "", Unit::kText, Detail::kJsonOnly, [](const JvmState& of) { return UserName(of.java.process.uid); }},
      {"agent", "", Unit::kText, Detail::kJsonOnly, [](const JvmState& of) { return ToUtf8(of.java.process.agent); }},
      {"waiting", "", Unit::kText, Detail::kJsonOnly,
       [](const JvmState& of) { return !of.live && of.java.process.is_waiting; }},
      {"recording", "", Unit::kText, Detail::kJsonOnly, RecordingOf},
      {"", "heaprec", Unit::kText, Detail::kTextOnly, StateOf}};
  return *columns;
}

// Adds a separate line if writing fails.
void AddWriteStatus(const WriteStatus& writing, Report* report) {
  if (writing.silent_seconds > 0) {
    const std::string why = writing.error.empty() ? "" : ": " + ToUtf8(writing.error);
    report->Add(Fact("written", "nothing for {}" + why, {{"", writing.silent_seconds, Unit::kSeconds}}));
  }
  if (writing.lost_samples > 0) {
    report->Add(Fact("lost", "{} sample(s) could not be written", {{"", writing.lost_samples, Unit::kInteger}}));
  }
}

void AddRecording(const LiveRecording& live, Report* report) {
  const format::FileHeader& header = live.recording->header();
  const format::StreamCounters& counters = live.counters;
  const uint64_t under_way =
      counters.committed - std::min(counters.committed, counters.written + counters.second_stage);
  report->Add(Fact("start", {"", header.start_epoch_ns, Unit::kEpochNs}));
  report->Add(Fact("limit", "{} sample(s)/s", {{"", header.rate_per_second}}));
  report->Add(Fact("source", "{} ({})", {{"", OrUnknown(header.source)}, {"", OrUnknown(header.source_reason)}}));
  report->Add(Fact("samples", "{} written, {} buffered",
                   {{"", counters.written, Unit::kInteger}, {"", under_way, Unit::kInteger}}));
  report->Add(Fact("stacks", "{} walked, {} from JVMTI",
                   {{"", counters.stacks_walked, Unit::kInteger}, {"", counters.stacks_from_jvmti, Unit::kInteger}}));
  report->Add(Fact("allocated", {"", counters.candidate_bytes, Unit::kBytes}));
  report->Add(Fact("file", "{} bytes", {{"", live.bytes, Unit::kInteger}}));
  report->Add(Fact("options", {"", OrUnknown(header.agent_options)}));
  if (live.full) report->Add(Fact("memory", "{}", {{"", FullText(*live.full, true), Unit::kAlert}}));
  AddWriteStatus(live.writing, report);
}

}  // namespace

render::Value TimeToFullValue(const std::optional<TimeToFull::Answer>& full) {
  if (!full) return nullptr;
  return Object{
      {"fills", FillsName(full->fills)}, {"seconds", full->seconds}, {"used", full->used}, {"limit", full->limit}};
}

Report ListReport(const std::vector<JvmState>& jvms) {
  Report report("heaprec.list/1");
  Table table = MakeTable("jvms", Columns(), jvms);
  table.empty = "no JVMs of this user";
  report.Add(std::move(table));
  return report;
}

Report StatusReport(const JvmState& jvm) {
  Report report("heaprec.status/1");
  const std::string state = StateOf(jvm);
  report.Add(Fact("jvm", "{} {}, JDK {}",
                  {{"", jvm.java.process.pid}, {"", OrUnknown(jvm.java.main)}, {"", OrUnknown(jvm.java.version)}}));
  report.Add(Fact("heaprec", {"", state.empty() ? "not loaded" : state}));
  std::vector<Field> fields;
  for (const Column<JvmState>& column : Columns()) fields.push_back({column.name, column.get(jvm), column.unit});
  report.Add(Hidden(std::move(fields)));
  if (jvm.live) AddRecording(*jvm.live, &report);
  return report;
}

// The state of recordings in Prometheus' text format. docs/guide/fleet.md#monitor-the-recorders

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
