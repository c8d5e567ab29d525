// Entry points for other agents that sample through this one: heaprec_sample_allocations and heaprec_visit_traces of
// include/heaprec_sampling.h. Defines the members of Agent that serve them.
//
// Context:  any attached thread of the application, outside of allocations.
// Failure:  a result that the header names; if sampling cannot be started, the JVM is unchanged.
#pragma once

#include <cstdint>

#include "include/heaprec_sampling.h"

extern "C" {
int heaprec_sample_allocations(void* vm, const heaprec_sampling* how);
int64_t heaprec_visit_traces(void* jni, int which, heaprec_visit visit, void* user);
}
