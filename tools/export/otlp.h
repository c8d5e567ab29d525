// OTLP profiles (a ProfilesData message), experimental as its definition is: opentelemetry.proto.profiles.v1development
// as of opentelemetry-proto 1.11.
//
// Format:
// https://github.com/open-telemetry/opentelemetry-proto/blob/v1.11.0/opentelemetry/proto/profiles/v1development/profiles.proto
#pragma once

#include <memory>

#include "tools/export/exporter.h"

namespace heaprec::tools {

// `output` must outlive it.
std::unique_ptr<Exporter> MakeOtlp(const ExportSettings& settings, Output* output);

}  // namespace heaprec::tools
