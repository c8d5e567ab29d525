// The bytes of a recording: a file that may still grow, or standard input kept in an unlinked temporary file.
//
// Failure:  Open returns path and reason. A file that shrinks is treated as ended there.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/reader/reader.h"

namespace heaprec::tools {

class FileSource final : public format::ByteSource {
 public:
  // `path` "-" is standard input, which is read to its end first, because salvage reads a recording twice.
  static Result<std::unique_ptr<FileSource>> Open(const std::string& path);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Result<size_t> ReadAt(uint64_t offset, std::byte* into, size_t size) override;
  const std::string& name() const override { return name_; }

  // Current size in bytes; 0 if it is unknown.
  uint64_t size() const;
  // Whether its name now refers to another file. False for standard input.
  bool IsReplaced() const;
  // Whether `other` (a path) is this file.
  bool IsSameFileAs(const std::string& other) const;
  // nullopt for standard input.
  std::optional<uid_t> owner() const;

 private:
  FileSource(int descriptor, const std::string& path)
      : descriptor_(descriptor), is_spool_(path == "-"), name_(is_spool_ ? "standard input" : path) {}
  const int descriptor_;
  const bool is_spool_;
  const std::string name_;
};

// The part of a file that contains one recording of several.
class SliceSource final : public format::ByteSource {
 public:
  // [begin, end) of `whole`, which must outlive this.
  SliceSource(format::ByteSource* whole, uint64_t begin, uint64_t end) : whole_(*whole), begin_(begin), end_(end) {}

  Result<size_t> ReadAt(uint64_t offset, std::byte* into, size_t size) override {
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

// Files that were joined into a temporary one: their names on the command line, and the name for display.
//
// Threads:  one writes, before others read.

void AddJoinedFile(const std::string& path, std::vector<std::string> files);
// Returns the joined files, or the path itself.
std::vector<std::string> FilesOf(const std::string& path);
// "app.hrec and 2 later parts", or the path itself.
std::string ShownName(const std::string& path);

}  // namespace heaprec::tools
