// libFuzzer's entry into the one target of its program (run.sh).
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  heaprec::fuzz::Targets().front().check(bytes, size);
  return 0;
}
