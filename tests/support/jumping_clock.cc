// LD_PRELOAD: the time of day jumps, a day ahead and a day back in turn, each time somebody looks at it. Elapsed time
// goes on as it does.
#include <dlfcn.h>

#include <atomic>
#include <ctime>

extern "C" int clock_gettime(clockid_t clock, timespec* time) {
  using Real = int (*)(clockid_t, timespec*);
  static const Real real = reinterpret_cast<Real>(dlsym(RTLD_NEXT, "clock_gettime"));
  static std::atomic<unsigned> looks{0};
  const int result = real(clock, time);
  constexpr time_t kDay = 86'400;
  if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += looks.fetch_add(1) % 2 == 0 ? kDay : -kDay;
  return result;
}
