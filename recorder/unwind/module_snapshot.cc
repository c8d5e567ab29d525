#include "recorder/unwind/module_snapshot.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/descriptors.h"

namespace heaprec::native {
namespace {

using Module = ModuleSnapshot::Module;
constexpr uintptr_t kPageBytes = 4096;

// Uses system calls by number, because libc's functions are cancellation points and malloc is not.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) syscall(SYS_close, number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_open() const { return number_ >= 0; }
  size_t Read(std::span<char> into) const {
    const auto got = syscall(SYS_read, number_, into.data(), into.size());
    return got > 0 ? static_cast<size_t>(got) : 0;
  }

 private:
  const int number_;
};

int Open(const char* path) { return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC)); }

// If the main thread has ended, /proc/self is empty; kernels before 3.17 have nothing else.
int OpenMaps() {
  const int own = Open("/proc/thread-self/maps");
  return own >= 0 ? own : Open("/proc/self/maps");
}

struct Line {
  uintptr_t begin = 0, end = 0;
  uint64_t offset = 0, file = 0;  // file: a hash of device and inode; 0: none
  std::span<const char> path;     // valid until the next line
};

// Lines of /proc/PID/maps: "begin-end rwxp offset major:minor inode   path".
class Maps {
 public:
  Maps() : descriptor_(OpenMaps()) {}

  bool Next(Line* line) {
    if (!descriptor_.is_open()) return false;
    line->begin = Number(16);
    line->end = Number(16);
    while (last_ = Get(), last_ != ' ' && last_ != kEnd) {
    }
    line->offset = Number(16);
    const uint64_t major = Number(16), minor = Number(16), inode = Number(10);
    line->file = inode == 0 ? 0 : (major << 20 ^ minor) << 32 ^ inode;
    line->path = Rest();
    return line->end > line->begin;
  }

 private:
  static constexpr int kEnd = -1;

  int Get() {
    if (at_ == filled_) {
      filled_ = descriptor_.Read(buffer_);
      at_ = 0;
      if (filled_ == 0) return kEnd;
    }
    return static_cast<unsigned char>(buffer_[at_++]);
  }

  // Also consumes the following character.
  uint64_t Number(unsigned base) {
    uint64_t number = 0;
    for (last_ = Get();; last_ = Get()) {
      const bool is_digit = last_ >= '0' && last_ <= '9', is_letter = last_ >= 'a' && last_ <= 'f';
      if (!is_digit && !is_letter) return number;
      number = number * base + static_cast<unsigned>(is_digit ? last_ - '0' : last_ - 'a' + 10);
    }
  }

  std::span<const char> Rest() {
    size_t length = 0;
    bool is_whole = true;
    for (; last_ != '\n' && last_ != kEnd; last_ = Get()) {
      if (length == 0 && last_ == ' ') continue;
      is_whole = is_whole && length < path_.size();
      if (is_whole) path_[length++] = static_cast<char>(last_);
    }
    return {path_.data(), is_whole ? length : 0};
  }

  const Descriptor descriptor_;
  std::array<char, kPageBytes> buffer_;  // the kernel returns this much at a time
  std::array<char, 512> path_;
  size_t at_ = 0, filled_ = 0;
  int last_ = 0;
};

bool IsVdso(const Line& line) {
  constexpr std::array<char, 6> kName{'[', 'v', 'd', 's', 'o', ']'};
  return std::ranges::equal(line.path, kName);
}

// The lines of one module, beginning with the one that maps the file's first byte.
class Run {
 public:
  void Take(const Line& line) {
    const bool is_first = IsVdso(line) || (line.file != 0 && line.offset == 0);
    // Zeroed data follows the data from the file.
    const bool is_data = line.file == 0 && line.path.empty() && line.begin == end_;
    if (is_first) {
      begin_ = line.begin;
      file_ = line.file;
    } else if (line.file != file_ && !is_data) {
      begin_ = file_ = 0;
    }
    end_ = line.end;
  }
  uintptr_t begin() const { return begin_; }  // 0: no module
  uint64_t file() const { return file_; }

 private:
  uintptr_t begin_ = 0, end_ = 0;
  uint64_t file_ = 0;
};

// Copies the readable part of a page. If another thread unmaps it meanwhile, the kernel returns an error.
size_t CopyPage(uintptr_t from, std::span<char> into) {
  std::array<int, 2> ends{-1, -1};
  if (syscall(SYS_pipe2, ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return 0;
  const Descriptor out(ends[0]), in(ends[1]);
  const auto written = syscall(SYS_write, ends[1], from, into.size());
  return written > 0 ? out.Read(into.first(static_cast<size_t>(written))) : 0;
}

// Reads the ELF header of the module at `begin`.
bool Measure(uintptr_t begin, Module* module) {
  std::array<char, kPageBytes> page;
  const size_t bytes = CopyPage(begin, page);
  ElfW(Ehdr) header;
  if (bytes < sizeof header) return false;
  std::memcpy(&header, page.data(), sizeof header);
  const size_t segments = size_t{header.e_phnum} * sizeof(ElfW(Phdr));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)) ||
      header.e_phoff > bytes || segments > bytes - header.e_phoff) {
    return false;
  }
  uintptr_t first = UINTPTR_MAX, end = 0, index = 0;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    std::memcpy(&segment, page.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type == PT_GNU_EH_FRAME) index = segment.p_vaddr;
    if (segment.p_type != PT_LOAD) continue;
    first = std::min<uintptr_t>(first, segment.p_vaddr);
    end = std::max<uintptr_t>(end, segment.p_vaddr + segment.p_memsz);
  }
  if (end == 0) return false;
  module->begin = begin;
  module->bias = begin - first / kPageBytes * kPageBytes;
  module->end = module->bias + end;
  module->index = index == 0 ? 0 : module->bias + index;
  return true;
}

}  // namespace

bool ModuleSnapshot::Slot::Read(Module* into) const {
  const uint32_t before = version.load(std::memory_order_acquire);
  *into = {begin.load(std::memory_order_relaxed), end.load(std::memory_order_relaxed),
           bias.load(std::memory_order_relaxed), index.load(std::memory_order_relaxed),
           file.load(std::memory_order_relaxed)};
  std::atomic_thread_fence(std::memory_order_acquire);
  return before % 2 == 0 && version.load(std::memory_order_relaxed) == before;
}

// Returns false if another thread is changing the slot, or has already changed it.
bool ModuleSnapshot::Slot::Replace(const Module& before, const Module& by) {
  uint32_t even = version.load(std::memory_order_relaxed);
  if (even % 2 != 0 || !version.compare_exchange_strong(even, even + 1, std::memory_order_acquire)) return false;
  std::atomic_thread_fence(std::memory_order_release);
  const bool is_same = begin.load(std::memory_order_relaxed) == before.begin &&
                       end.load(std::memory_order_relaxed) == before.end &&
                       file.load(std::memory_order_relaxed) == before.file;
  if (is_same) {
    begin.store(by.begin, std::memory_order_relaxed);
    end.store(by.end, std::memory_order_relaxed);
    bias.store(by.bias, std::memory_order_relaxed);
    index.store(by.index, std::memory_order_relaxed);
    file.store(by.file, std::memory_order_relaxed);
  }
  version.store(even + 2, std::memory_order_release);
  return is_same;
}

bool ModuleSnapshot::FindKnown(uintptr_t address, Module* into) const {
  return std::ranges::any_of(slots_, [&](const Slot& slot) {
    if (address < slot.begin.load(std::memory_order_relaxed) || address >= slot.end.load(std::memory_order_relaxed)) {
      return false;
    }
    return slot.Read(into) && into->begin <= address && address < into->end;
  });
}

void ModuleSnapshot::Keep(const Module& module) {
  for (Slot& slot : slots_) {
    if (slot.end.load(std::memory_order_relaxed) == 0 && slot.Replace({}, module)) return;
  }
  Slot& oldest = slots_[next_.fetch_add(1, std::memory_order_relaxed) % kSlots];
  Module before;
  if (oldest.Read(&before)) (void)oldest.Replace(before, module);
}

bool ModuleSnapshot::Find(uintptr_t address, Module* into) {
  if (FindKnown(address, into)) return true;
  const KeptErrno kept;
  Maps maps;
  Run run;
  for (Line line; maps.Next(&line) && line.begin <= address;) {
    run.Take(line);
    if (address >= line.end) continue;
    if (run.begin() == 0 || !Measure(run.begin(), into) || address >= into->end) return false;
    into->file = run.file();
    Keep(*into);
    return true;
  }
  return false;
}

void ModuleSnapshot::Renew() {
  const KeptErrno kept;
  std::array<bool, kSlots> is_there{};
  Maps maps;
  for (Line line; maps.Next(&line);) {
    if (line.offset != 0) continue;
    for (size_t i = 0; i < kSlots; ++i) {
      const bool is_here = slots_[i].begin.load(std::memory_order_relaxed) == line.begin;
      is_there[i] = is_there[i] || (is_here && slots_[i].file.load(std::memory_order_relaxed) == line.file);
    }
  }
  for (size_t i = 0; i < kSlots; ++i) {
    Module module;
    if (!is_there[i] && slots_[i].Read(&module) && module.end != 0) (void)slots_[i].Replace(module, {});
  }
}

void MappedFileAt(uintptr_t address, std::span<char> into) {
  const KeptErrno kept;
  into.front() = 0;
  Maps maps;
  for (Line line; maps.Next(&line) && line.begin <= address;) {
    if (address >= line.end || line.path.size() >= into.size()) continue;
    *std::ranges::copy(line.path, into.begin()).out = 0;
  }
}

}  // namespace heaprec::native
