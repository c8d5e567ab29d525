// A class, or several rare ones together, of which a census knows how much there was: the samples of it are scaled to
// that.
//
// Units:    bytes and objects.
// Threads:  any; it is constant.
// Maths:    docs/estimates.md#post-stratification, name for name
#pragma once

#include <cstdint>

namespace heaprec::tools {

struct Stratum {
  uint32_t index = 0;         // among those of the recording
  double bytes = 0;           // T f: of all its samples, scaled
  double factor = 1;          // f: scales the bytes and objects of one
  double known = 0;           // k: 1 if everything was counted, 0 if the census says nothing
  double sampled = 0;         // F: variance of bytes by the first stage
  double counted = 0;         // W: of what the census says of bytes
  bool is_one_class = false;  // by its name as the JVM has it
  double objects = 0;         // counted; of one class if everything was
  bool is_exact() const { return known == 1; }
  double shared() const { return known * known * (sampled + counted); }  // G
};

}  // namespace heaprec::tools
