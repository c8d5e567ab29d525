// The labels of the service that the process is a part of, as exports name it: from the option `service` and from
// OpenTelemetry's environment variables. Nothing else of the environment is read.
//
// Context:  setup.
// Failure:  none. What is malformed is left out.
// Format:   docs/format/recording.md#service-labels has the keys and which source comes first.
#pragma once

#include <string_view>
#include <vector>

#include "format/model.h"

namespace heaprec::agent {

// Of the three texts; an empty one is not there. `resource_attributes`: key=value,..., percent-encoded.
std::vector<format::ServiceLabel> ParseServiceLabels(std::string_view service, std::string_view service_name,
                                                     std::string_view resource_attributes);

// The same with the variables OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES of this process.
std::vector<format::ServiceLabel> ServiceLabels(std::string_view service);

}  // namespace heaprec::agent
