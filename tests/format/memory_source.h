// A recording in memory, to which more may be appended.
//
// Threads:  one.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "format/bytes/bytes.h"
#include "format/reader/reader.h"

namespace heaprec::format {

class MemoryByteSource : public ByteSource {
 public:
  explicit MemoryByteSource(Bytes bytes, std::string name = "memory")
      : bytes_(bytes.begin(), bytes.end()), name_(std::move(name)) {}

  Result<size_t> ReadAt(uint64_t offset, std::byte* into, size_t size) override {
    if (offset >= bytes_.size()) return size_t{0};
    const size_t read = std::min(size, bytes_.size() - static_cast<size_t>(offset));
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), read, into);
    return read;
  }
  const std::string& name() const override { return name_; }

  void Append(Bytes bytes) { ByteSink(&bytes_).Append(bytes); }

 private:
  ByteBuffer bytes_;
  std::string name_;
};

}  // namespace heaprec::format
