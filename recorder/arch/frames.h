#pragma once

#if defined(__aarch64__)
#include "recorder/arch/aarch64/frames.h"
#else
#include "recorder/arch/x86_64/frames.h"
#endif
