// What can be made of a block where it is decoded, on a thread ahead of whoever takes it.
//
// Threads:  a Preparer has one, and sees all blocks of a chunk, in their order.
#pragma once

#include <functional>
#include <memory>

#include "format/reader/reader.h"

namespace heaprec::tools {

struct Prepared {
  virtual ~Prepared() = default;
};

class Preparer {
 public:
  virtual ~Preparer() = default;
  // `block` is valid during the call only.
  virtual std::unique_ptr<Prepared> Of(const format::Block& block) = 0;
};

// Makes one for each thread that reads. Any thread calls it; empty: nothing is prepared.
using PreparerMaker = std::function<std::unique_ptr<Preparer>()>;

}  // namespace heaprec::tools
