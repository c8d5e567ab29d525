#include "recorder/unwind/symbolizer.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/descriptors.h"
#include "base/memory.h"
#include "recorder/unwind/module_lookup.h"

namespace heaprec::native {
namespace {

// Limits the cache for programs with an unlimited number of call sites; it is then filled again.
constexpr size_t kMaxKnown = 1 << 17;

std::string HexOf(uint64_t number) {
  std::array<char, 20> text{};
  snprintf(text.data(), text.size(), "%#llx", static_cast<unsigned long long>(number));  // NOLINT(google-runtime-int)
  return text.data();
}

// Reads the link of this thread: a main thread that ended by pthread_exit no longer has one.
std::string ProgramPath() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/thread-self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<size_t>(length)) : std::string();
}

uint64_t ChangesOf(const dl_phdr_info& any) { return any.dlpi_adds + any.dlpi_subs; }

}  // namespace

bool Symbolizer::IsCurrent() const {
  std::optional<uint64_t> changes;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        *static_cast<std::optional<uint64_t>*>(into) = ChangesOf(*info);
        return 1;  // all entries have the same counters
      },
      &changes);
  return changes && changes == changes_;
}

void Symbolizer::Refresh() {
  before_ = std::move(libraries_);
  libraries_.clear();
  known_.clear();
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* self) {
        auto* const symbolizer = static_cast<Symbolizer*>(self);
        symbolizer->changes_ = ChangesOf(*info);
        if (!HasReadableSegments(*info)) return 0;
        const auto [begin, end] = MappedRange(*info);
        Library library{begin, end, info->dlpi_addr, info->dlpi_name != nullptr ? info->dlpi_name : "",
                        BuildIdText(BuildIdOf(*info))};
        if (library.path.empty()) library.path = ProgramPath();
        symbolizer->libraries_.push_back(std::move(library));
        return 0;
      },
      this);
}

void Symbolizer::PublishTo(format::RingModules* modules) const {
  // The sequence is odd from before the first change until after the last one: a reader that finds it odd uses no
  // entry.
  const uint32_t sequence = modules->sequence.load(std::memory_order_relaxed);
  modules->sequence.store(sequence + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  uint32_t count = 0;
  for (const Library& library : libraries_) {
    if (count == format::kMaxRingModules) break;
    format::RingModule& module = modules->modules[count];
    // A truncated path would name another file.
    if (library.path.size() >= sizeof(module.path) || library.build_id.size() >= sizeof(module.build_id)) continue;
    module.begin = library.begin;
    module.end = library.end;
    module.bias = library.bias;
    std::memcpy(module.build_id, library.build_id.c_str(), library.build_id.size() + 1);
    std::memcpy(module.path, library.path.c_str(), library.path.size() + 1);
    ++count;
  }
  modules->count = count;
  modules->sequence.store(sequence + 2, std::memory_order_release);
}

const Symbolizer::Library* Symbolizer::LibraryOf(uintptr_t pc) const {
  for (const std::vector<Library>* libraries : {&libraries_, &before_}) {
    const auto found = std::ranges::find_if(
        *libraries, [pc](const Library& library) { return library.begin <= pc && pc < library.end; });
    if (found != libraries->end()) return &*found;
  }
  return nullptr;
}

const CodeLocation& Symbolizer::At(uintptr_t return_address) {
  if (known_.size() >= kMaxKnown) known_.clear();
  const auto [known, is_new] = known_.try_emplace(return_address);
  if (is_new) known->second = Find(return_address);
  return known->second;
}

CodeLocation Symbolizer::Find(uintptr_t return_address) {
  // A call at the very end of a function returns to the address after it.
  const uintptr_t pc = return_address - 1;
  const Library* const library = LibraryOf(pc);
  if (library == nullptr) return {};
  const ElfFunctions& table =
      tables_.try_emplace(library->path + '\0' + library->build_id, library->path, library->build_id, OpenElf)
          .first->second;
  const uint64_t address = pc - library->bias;
  const ElfFunctions::Function function = table.At(address);
  CodeLocation place{library->path.substr(library->path.rfind('/') + 1), format::DemangledFunction(function.symbol),
                     library->build_id, function.offset};
  if (function.symbol.empty()) place.function = HexOf(address);
  return place;
}

Result<ElfFile> OpenElf(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a fifo must not block us
  if (descriptor < 0) return Error{path + ": " + strerror(errno)};
  const auto file = std::make_shared<GuardedFd>(descriptor);
  struct stat status {};
  if (fstat(file->number(), &status) != 0 || !S_ISREG(status.st_mode)) return Error{path + ": not a regular file"};
  return ElfFile::Open(path, [path, file](uint64_t offset, void* out, size_t size) {
    if (!file->Reopen(path, O_RDONLY)) return false;
    return ReadAt(file->number(), {static_cast<std::byte*>(out), size}, offset);
  });
}

}  // namespace heaprec::native
