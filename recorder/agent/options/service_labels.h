// The labels of the service to which the process belongs, as the fleet and exports name them: from the option
// `service`, and from a short list of environment variables. Nothing else of the environment is read.
//
// Context:  setup.
// Failure:  none. Malformed labels are omitted.
// Format:   docs/format/recording.md#service-labels has the keys and the precedence of the sources.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "format/model/model.h"

namespace heaprec::agent {

// What is stored of the labels: their values, nothing, or hashes, which are the same on all hosts.
enum class LabelChoice { kOn, kOff, kRedact };

// Returns the value of a variable; empty if it is not set.
using Environment = std::function<std::string_view(const char* name)>;

std::vector<format::ServiceLabel> ParseServiceLabels(std::string_view service, const Environment& environment);

// The same with the variables of this process.
std::vector<format::ServiceLabel> ServiceLabels(std::string_view service, LabelChoice choice);

}  // namespace heaprec::agent
