// One recording's part of a file that holds several.
//
// Threads:  one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "format/reader/reader.h"

namespace heaprec::tools {

class SliceSource final : public format::ByteSource {
 public:
  // [begin, end) of `whole`, which outlives it.
  SliceSource(format::ByteSource* whole, uint64_t begin, uint64_t end) : whole_(*whole), begin_(begin), end_(end) {}

  format::Result<size_t> ReadAt(uint64_t offset, std::byte* into, size_t size) override {
    const uint64_t room = end_ - begin_;
    if (offset >= room) return size_t{0};
    return whole_.ReadAt(begin_ + offset, into, static_cast<size_t>(std::min<uint64_t>(size, room - offset)));
  }
  const std::string& name() const override { return whole_.name(); }
  uint64_t begin() const { return begin_; }

 private:
  format::ByteSource& whole_;
  const uint64_t begin_, end_;
};

}  // namespace heaprec::tools
