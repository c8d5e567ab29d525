// What a symptom means for the estimates, and what to do: the words of `heaprec doctor`.
#pragma once

#include <string_view>

namespace heaprec::tools {

struct Advice {
  std::string_view impact, action;
};

// Of a symptom's id; empty texts if there is nothing to say.
Advice AdviceFor(std::string_view id);

}  // namespace heaprec::tools
