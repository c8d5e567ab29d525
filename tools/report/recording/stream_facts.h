// What the recorder counted of one stream: points, losses, its busiest interval.
//
// Context:  pure functions.
#pragma once

#include <vector>

#include "format/model/model.h"
#include "tools/analysis/totals/stream_totals.h"
#include "tools/input/recording.h"
#include "tools/input/stream_traits.h"
#include "tools/render/report.h"

namespace heaprec::tools {

// Lines of Detail::kWide.
std::vector<render::Line> StreamFacts(const Recording& recording, const StreamTraits& traits,
                                      const StreamTotals& totals);

}  // namespace heaprec::tools
