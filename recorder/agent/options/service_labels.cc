#include "recorder/agent/options/service_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

#include "format/bytes/layout.h"

namespace heaprec::agent {
namespace {

// A label, and its environment variable in addition to OTEL_RESOURCE_ATTRIBUTES.
struct LabelSource {
  std::string_view key;
  const char* variable = nullptr;
  bool is_variable_first = false;  // precedence, as OpenTelemetry defines it for the service name
};
constexpr std::string_view kServiceName = "service.name";
constexpr LabelSource kSources[] = {{kServiceName, "OTEL_SERVICE_NAME", true},
                                    {"service.namespace"},
                                    {"service.version"},
                                    {"service.instance.id"},
                                    {"deployment.environment.name"},
                                    {"deployment.environment"},
                                    {"host.name", "HOSTNAME"},
                                    {"k8s.namespace.name", "POD_NAMESPACE"},
                                    {"k8s.pod.name", "POD_NAME"}};
constexpr size_t kMaxValueBytes = 255;

std::string_view Trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// A '%' without two hexadecimal digits after it is an ordinary character.
std::string PercentDecoded(std::string_view text) {
  std::string decoded;
  for (size_t at = 0; at < text.size(); ++at) {
    uint8_t byte = 0;
    const char* const digits = text.data() + at + 1;
    const bool is_escape =
        text[at] == '%' && at + 2 < text.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    decoded += is_escape ? static_cast<char>(byte) : text[at];
    if (is_escape) at += 2;
  }
  return decoded;
}

// Cuts between characters of UTF-8.
std::string Shortened(std::string value) {
  if (value.size() <= kMaxValueBytes) return value;
  size_t end = kMaxValueBytes;
  while (end > 0 && (static_cast<uint8_t>(value[end]) & 0xc0) == 0x80) --end;
  value.resize(end);
  return value;
}

std::string AttributeOf(std::string_view attributes, std::string_view key) {
  std::string found;
  while (!attributes.empty()) {
    const std::string_view one = attributes.substr(0, attributes.find(','));
    attributes.remove_prefix(std::min(one.size() + 1, attributes.size()));
    const size_t mark = one.find('=');
    if (mark != std::string_view::npos && Trimmed(one.substr(0, mark)) == key) {
      found = PercentDecoded(Trimmed(one.substr(mark + 1)));
    }
  }
  return found;
}

std::string_view Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string ValueOf(const LabelSource& source, std::string_view attributes, const Environment& environment) {
  const std::string_view variable = source.variable != nullptr ? environment(source.variable) : "";
  if (source.is_variable_first && !variable.empty()) return std::string(variable);
  std::string value = AttributeOf(attributes, source.key);
  return value.empty() ? std::string(variable) : value;
}

std::string Hashed(std::string_view value) {
  return fmt::format("{:016x}", format::Hash(std::as_bytes(std::span(value))));
}

}  // namespace

std::vector<format::ServiceLabel> ParseServiceLabels(std::string_view service, const Environment& environment) {
  const std::string_view attributes = environment("OTEL_RESOURCE_ATTRIBUTES");
  std::vector<format::ServiceLabel> labels;
  for (const LabelSource& source : kSources) {
    std::string value = source.key == kServiceName && !service.empty() ? std::string(service)
                                                                       : ValueOf(source, attributes, environment);
    if (!value.empty()) labels.push_back({std::string(source.key), Shortened(std::move(value))});
  }
  return labels;
}

std::vector<format::ServiceLabel> ServiceLabels(std::string_view service, LabelChoice choice) {
  if (choice == LabelChoice::kOff) return {};
  std::vector<format::ServiceLabel> labels = ParseServiceLabels(service, Variable);
  if (choice == LabelChoice::kRedact) {
    for (format::ServiceLabel& label : labels) label.value = Hashed(label.value);
  }
  return labels;
}

}  // namespace heaprec::agent
