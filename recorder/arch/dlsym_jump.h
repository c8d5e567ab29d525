#pragma once

#if defined(__aarch64__)
#include "recorder/arch/aarch64/dlsym_jump.h"
#else
#include "recorder/arch/x86_64/dlsym_jump.h"
#endif
