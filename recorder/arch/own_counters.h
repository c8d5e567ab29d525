#pragma once

#if defined(__aarch64__)
#include "recorder/arch/aarch64/own_counters.h"
#else
#include "recorder/arch/x86_64/own_counters.h"
#endif
