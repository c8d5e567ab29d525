#include "tools/fleet/rows/recording_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <string_view>

#include "format/bytes/layout.h"
#include "tools/input/program_recording.h"

namespace heaprec::tools::fleet {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

std::string First(std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) {
    if (!text.empty()) return std::string(text);
  }
  return "";
}

uint64_t IdOf(const format::FileHeader& header) {
  const uint64_t id = format::Hash(std::as_bytes(std::span(header.recording_id)), header.start.part);
  return id != 0 ? id : 1;
}

}  // namespace

void RecordingInfo::SetTrust(const std::vector<std::string>& reasons) {
  trustworthy = reasons.empty();
  why_not = fmt::format("{}", fmt::join(reasons, "; "));
}

RecordingInfo InfoOf(const format::FileHeader& header, const GivenLabels& given) {
  RecordingInfo info;
  info.id = IdOf(header);
  info.process = format::Hash(std::as_bytes(std::span(header.recording_id)));
  info.service = First({given.service, ServiceLabelOf(header, "service.name"), "unknown"});
  info.version = First({given.version, ServiceLabelOf(header, "service.version")});
  info.environment = First({given.environment, ServiceLabelOf(header, "deployment.environment.name"),
                            ServiceLabelOf(header, "deployment.environment")});
  info.pod = First({given.pod, ServiceLabelOf(header, "k8s.pod.name")});
  info.host = First({given.host, ServiceLabelOf(header, "host.name"), ServiceLabelOf(header, "service.instance.id"),
                     info.pod, header.container_id, fmt::format("{:016x}", info.process)});
  info.jdk = header.jvm_version;
  info.gc = header.gc_name;
  info.labels = header.service_labels;
  info.started = static_cast<uint32_t>((header.start_epoch_ns + header.start.begin_ns) / kSecondNs);
  info.seen = info.started;
  info.per_second = header.rate_per_second;
  return info;
}

}  // namespace heaprec::tools::fleet
