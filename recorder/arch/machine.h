// Calls of malloc's family, the layout of frames, counters of one thread, and relocations on this machine.
#pragma once

#if defined(__aarch64__)
#include "recorder/arch/aarch64/machine.h"
#else
#include "recorder/arch/x86_64/machine.h"
#endif
