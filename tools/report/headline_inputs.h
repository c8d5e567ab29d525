// What the headlines of a recording are made of, from what `summary` adds up.
//
// Threads:  one.
// Failure:  none: what is not known is left out.
#pragma once

#include "tools/analysis/health/trust.h"
#include "tools/input/recording.h"
#include "tools/query/headlines.h"
#include "tools/query/summary_query.h"

namespace heaprec::tools {

// All but the largest site and class. `facts` must outlive it.
HeadlineInputs HeadlineInputsOf(const Recording& recording, const Facts& facts, const TrustReport& trust);

}  // namespace heaprec::tools
