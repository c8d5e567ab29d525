// A class, or several rare ones together, of which a census knows how much there was: the samples of it are scaled to
// that.
//
// Units:    bytes and objects.
// Threads:  any; it is constant.
// Maths:    docs/sampler.md#post-stratification, name for name
#pragma once

namespace heaprec::tools {

struct Stratum {
  double bytes = 0;    // of all its samples, scaled
  double factor = 1;   // that scales one, its bytes and its objects
  double known = 0;    // k: 1 if everything was counted, 0 if the census says nothing
  double sampled = 0;  // variance of bytes by the first stage
  double counted = 0;  // of what the census says of bytes
  bool is_one_class = false;
  double objects = 0;  // counted; of one class if everything was
  bool is_exact() const { return known == 1; }
  // What the estimate by both has in common with itself, beyond the samples' part.
  double shared() const { return known * known * (sampled + counted); }
};

}  // namespace heaprec::tools
