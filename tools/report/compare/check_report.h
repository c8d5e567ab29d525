// What a check came to.
#pragma once

#include "tools/query/compare/budget_check.h"
#include "tools/render/report.h"

namespace heaprec::tools {

render::Report CheckReport(const CheckAnswer& answer);

}  // namespace heaprec::tools
