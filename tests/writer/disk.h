// Stands between the drain and the kernel (the linker's --wrap): fails calls, and writes down what reaches the disk, so
// that a power cut at any moment can be replayed.
//
// Threads:  one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace heaprec::writer::disk {

using Content = std::vector<std::byte>;

struct Operation {
  enum class Kind { kCreate, kWrite, kTruncate, kSync, kSyncFolder, kRename, kUnlink } kind;
  int file = 0;             // of all files created, from 1
  std::string name, other;  // kCreate, kRename (to `other`), kUnlink
  uint64_t offset = 0;      // kWrite; kTruncate: the size
  Content bytes;            // kWrite
};

// While it lives, calls that change files are written down.
class Log {
 public:
  Log();
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  const std::vector<Operation>& operations() const;
};

// While it lives, each call of the drain for which `fails` answers an errno fails with it; 0: it is let through;
// kShort: half of a pwrite is done. `call` counts from 1.
inline constexpr int kShort = -1;
class Faults {
 public:
  explicit Faults(std::function<int(uint64_t call)> fails);
  ~Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
  static uint64_t calls();
};

// What a power cut leaves after the first `operations`: what was synced, and of the rest what `random` has let reach
// the disk, in any order and by pages of 4,096 bytes. Names change in the order of their operations, as a journal has
// it.
struct AfterCut {
  std::map<std::string, Content> files;
  std::map<std::string, uint64_t> synced;  // bytes of each that were synced
};
AfterCut Cut(const std::vector<Operation>& operations, size_t count, std::mt19937_64* random);
// The same if nothing but what was synced reaches the disk.
AfterCut OnlySynced(const std::vector<Operation>& operations, size_t count);

}  // namespace heaprec::writer::disk
