// Where other agents come in that sample through us: heaprec_sample_allocations and heaprec_visit_traces of
// include/heaprec_sampling.h. The members of Agent that serve them are defined here.
//
// Context:  any attached thread of the application, outside of allocations.
// Failure:  a number that the header names; what could not be started leaves the JVM as it was.
#pragma once

#include <cstdint>

#include "include/heaprec_sampling.h"

extern "C" {
int heaprec_sample_allocations(void* vm, const heaprec_sampling* how);
int64_t heaprec_visit_traces(void* jni, int which, heaprec_visit visit, void* user);
}
