// Debian's libcapstone.a refers to every architecture it was built with: 5 MiB and 70,000 relocations at load. With
// these definitions linked before it, the linker omits the objects of other architectures, and capstone returns
// "unsupported" for them.
#include <capstone/capstone.h>

#include <cstddef>

#define HEAPREC_ABSENT(architecture)                                                                                \
  extern "C" __attribute__((visibility("hidden"))) cs_err architecture##_global_init(void*) { return CS_ERR_ARCH; } \
  extern "C" __attribute__((visibility("hidden"))) cs_err architecture##_option(void*, cs_opt_type, size_t) {       \
    return CS_ERR_ARCH;                                                                                             \
  }

HEAPREC_ABSENT(AArch64)
HEAPREC_ABSENT(ARM)
HEAPREC_ABSENT(EVM)
HEAPREC_ABSENT(M680X)
HEAPREC_ABSENT(M68K)
HEAPREC_ABSENT(Mips)
HEAPREC_ABSENT(PPC)
HEAPREC_ABSENT(Sparc)
HEAPREC_ABSENT(SystemZ)
HEAPREC_ABSENT(TMS320C64x)
HEAPREC_ABSENT(XCore)
