#pragma once

#if defined(__aarch64__)
#include "recorder/arch/aarch64/call_site.h"
#else
#include "recorder/arch/x86_64/call_site.h"
#endif
