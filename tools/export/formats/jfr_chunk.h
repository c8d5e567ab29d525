// One chunk of a JFR file: a header, the metadata, the events, and behind them the constants that they name.
//
// Units:    ns since the start of the recording, which are the chunk's ticks.
// Memory:   all of the chunk, until it is written: its header names places behind it, and a pipe does not go back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/reader/reader.h"
#include "tools/export/formats/jfr_constant_pools.h"
#include "tools/export/formats/jfr_schema.h"
#include "tools/text/output.h"

namespace heaprec::tools::jfr {

class Chunk {
 public:
  ConstantPools& constants() { return constants_; }
  // Calls `append_fields(Sink)` for what follows the time.
  template <typename Fields>
  void AddEvent(TypeId type, uint64_t time_ns, const Fields& append_fields) {
    rest_.clear();
    Sink sink(&rest_);
    sink.Long(static_cast<uint64_t>(type));
    sink.Long(time_ns);
    append_fields(sink);
    AppendSized(rest_, &events_);
  }
  size_t bytes() const { return events_.size() + constants_.bytes(); }

  // Writes the chunk, which lasts from `begin_ns` to `end_ns`, and empties it. `start_epoch_ns`: of the recording.
  void Write(uint64_t start_epoch_ns, uint64_t begin_ns, uint64_t end_ns, Output* output);

 private:
  ConstantPools constants_;
  std::string events_, rest_;
};

}  // namespace heaprec::tools::jfr
