#include "tools/export/gzip_stream.h"

#include <array>
#include <new>

namespace heaprec::tools {
namespace {

constexpr int kGzip = 16 + MAX_WBITS;  // a gzip header instead of zlib's
constexpr int kMemory = 8;             // zlib's own default

}  // namespace

GzipStream::GzipStream(Output* output) : output_(*output) {
  if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
}

GzipStream::~GzipStream() { deflateEnd(&stream_); }

void GzipStream::Deflate(std::string_view bytes, int flush) {
  std::array<char, 1 << 14> out;
  // zlib does not write to its input; its type is older than const.
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream_.avail_in = static_cast<uInt>(bytes.size());
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = out.size();
    deflate(&stream_, flush);
    output_.Append({out.data(), out.size() - stream_.avail_out});
    output_.Tick();
  } while (stream_.avail_out == 0);
}

}  // namespace heaprec::tools
