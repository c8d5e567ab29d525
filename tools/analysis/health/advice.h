// What a symptom means for the estimates, and what to do: the words of `heaprec doctor`.
#pragma once

#include <string_view>

namespace heaprec::tools {

struct Advice {
  std::string_view impact, action;
};

// Returns the advice for a symptom's id; empty texts if there is none.
Advice AdviceFor(std::string_view id);

}  // namespace heaprec::tools
