// What is written comes out compressed, as gzip does.
//
// Threads:  one.
#pragma once

#include <zlib.h>

#include <string_view>

#include "tools/text/output.h"

namespace heaprec::tools {

class GzipStream {
 public:
  // `output` must outlive it.
  explicit GzipStream(Output* output);
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  void Write(std::string_view bytes) { Deflate(bytes, Z_NO_FLUSH); }
  // Nothing may be written after it.
  void Finish() { Deflate({}, Z_FINISH); }

 private:
  void Deflate(std::string_view bytes, int flush);

  Output& output_;
  z_stream stream_{};
};

}  // namespace heaprec::tools
