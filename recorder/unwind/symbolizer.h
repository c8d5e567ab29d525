// Names code addresses of this process: library, function, and offset in the function.
//
// Context:  drain (it allocates, takes the loader's lock and reads files).
// Failure:  a function without a symbol is named by its address in the file; an address in no library has no name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/elf_file.h"
#include "base/result.h"
#include "format/native/native_frames.h"
#include "format/ring/ring_layout.h"

namespace heaprec::native {

using format::CodeLocation;

class Symbolizer {
 public:
  // Returns false if libraries were loaded or unloaded since Refresh, or it was never called.
  [[nodiscard]] bool IsCurrent() const;
  // Reads the list of loaded libraries. Libraries unloaded since the last call are still found until the next one.
  void Refresh();
  // Publishes the libraries, for a reader of the ring after a kill.
  void PublishTo(format::RingModules* modules) const;
  // Looks up a return address. The result is valid until the next Refresh.
  const CodeLocation& At(uintptr_t return_address);

 private:
  struct Library {
    uintptr_t begin, end, bias;
    std::string path, build_id;
    bool operator==(const Library&) const = default;
  };
  const Library* LibraryOf(uintptr_t pc) const;
  CodeLocation Find(uintptr_t return_address);

  std::vector<Library> libraries_, before_;
  std::optional<uint64_t> changes_;             // the loader's counter when libraries_ was read
  std::map<std::string, ElfFunctions> tables_;  // by path and build id
  std::unordered_map<uintptr_t, CodeLocation> known_;
};

// Opens an ELF file in a process whose program may close descriptors that it did not open.
//
// Context:  setup, drain (it allocates).
// Failure:  an Error with the path and the reason.
Result<ElfFile> OpenElf(const std::string& path);

}  // namespace heaprec::native
