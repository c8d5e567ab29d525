#pragma once

#if defined(__aarch64__)
#include "recorder/arch/aarch64/relocations.h"
#else
#include "recorder/arch/x86_64/relocations.h"
#endif
