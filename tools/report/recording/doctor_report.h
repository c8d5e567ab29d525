// `heaprec doctor` as a report: a verdict, and the findings behind it, of each recording.
//
// Threads:  one.
#pragma once

#include <vector>

#include "tools/analysis/health/diagnosis.h"
#include "tools/input/recording.h"
#include "tools/render/report.h"

namespace heaprec::tools {

bool IsTrustworthy(const std::vector<Finding>& symptoms);

// Reports on one recording. `is_one_of_many`: names it. `with_ok`: includes checks that passed.
render::Group DoctorReport(const Recording& recording, const std::vector<Finding>& symptoms, bool is_one_of_many,
                           bool with_ok);

}  // namespace heaprec::tools
