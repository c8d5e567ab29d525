#include "tests/writer/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>

namespace heaprec::writer::disk {
namespace {

constexpr size_t kPage = 4096;
constexpr int kFolder = -1;

struct State {
  bool logs = false;
  std::vector<Operation> operations;
  std::map<int, int> files;  // by descriptor; kFolder: a folder
  int last_file = 0;
  std::function<int(uint64_t)> fails;
  uint64_t calls = 0;
};

State& Now() {
  static State* const state = new State;
  return *state;
}

// The errno with which this call is to fail; 0: it is not.
int Fault() {
  State& now = Now();
  ++now.calls;
  return now.fails ? now.fails(now.calls) : 0;
}

bool Fails() {
  const int fault = Fault();
  if (fault <= 0) return false;
  errno = fault;
  return true;
}

int FileOf(int descriptor) {
  const auto found = Now().files.find(descriptor);
  return found == Now().files.end() ? 0 : found->second;
}

void Note(Operation operation) {
  if (Now().logs) Now().operations.push_back(std::move(operation));
}

// A file on the simulated disk.
struct Inode {
  Content content, durable;
  std::vector<Operation> unsynced;

  static void Apply(const Operation& operation, Content* to) {
    if (operation.kind == Operation::Kind::kTruncate) return to->resize(operation.offset);
    if (to->size() < operation.offset + operation.bytes.size()) to->resize(operation.offset + operation.bytes.size());
    std::copy(operation.bytes.begin(), operation.bytes.end(),
              to->begin() + static_cast<std::ptrdiff_t>(operation.offset));
  }
  void Do(const Operation& operation) {
    Apply(operation, &content);
    unsynced.push_back(operation);
  }
  void Sync() {
    durable = content;
    unsynced.clear();
  }

  Content AfterCut(std::mt19937_64* random) const {
    // The size is one that the file has had since; each page is as it was at some moment since, or was not written.
    std::vector<Content> states{durable};
    for (const Operation& operation : unsynced) {
      states.push_back(states.back());
      Apply(operation, &states.back());
    }
    const auto any = [&](size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(*random); };
    Content left(states[any(states.size())].size());
    for (size_t page = 0; page * kPage < left.size(); ++page) {
      const Content& from = states[any(states.size())];
      const size_t begin = page * kPage;
      const size_t end = std::min({begin + kPage, left.size(), from.size()});
      if (begin < end) std::copy(from.begin() + begin, from.begin() + end, left.begin() + begin);
    }
    return left;
  }
};

struct Disk {
  std::map<int, Inode> inodes;
  std::map<std::string, int> names, durable_names;
  std::vector<Operation> unsynced_names;

  static void ChangeName(const Operation& operation, std::map<std::string, int>* in) {
    if (operation.kind == Operation::Kind::kUnlink) {
      in->erase(operation.name);
    } else if (operation.kind == Operation::Kind::kCreate) {
      (*in)[operation.name] = operation.file;
    } else if (const auto from = in->find(operation.name); from != in->end()) {
      (*in)[operation.other] = from->second;
      in->erase(operation.name);
    }
  }

  void Do(const Operation& operation) {
    switch (operation.kind) {
      case Operation::Kind::kWrite:
      case Operation::Kind::kTruncate:
        return inodes[operation.file].Do(operation);
      case Operation::Kind::kSync:
        return inodes[operation.file].Sync();
      case Operation::Kind::kSyncFolder:
        durable_names = names;
        return unsynced_names.clear();
      case Operation::Kind::kCreate:
      case Operation::Kind::kRename:
      case Operation::Kind::kUnlink:
        ChangeName(operation, &names);
        unsynced_names.push_back(operation);
    }
  }

  static Disk After(const std::vector<Operation>& operations, size_t count) {
    Disk disk;
    for (size_t i = 0; i < count; ++i) disk.Do(operations[i]);
    return disk;
  }
};

}  // namespace

Log::Log() { Now().logs = true; }
Log::~Log() {
  Now().logs = false;
  Now().operations.clear();
}
const std::vector<Operation>& Log::operations() const { return Now().operations; }

Faults::Faults(std::function<int(uint64_t)> fails) {
  Now().calls = 0;
  Now().fails = std::move(fails);
}
Faults::~Faults() { Now().fails = nullptr; }
uint64_t Faults::calls() { return Now().calls; }

AfterCut Cut(const std::vector<Operation>& operations, size_t count, std::mt19937_64* random) {
  Disk disk = Disk::After(operations, count);
  const size_t kept = std::uniform_int_distribution<size_t>(0, disk.unsynced_names.size())(*random);
  for (size_t i = 0; i < kept; ++i) Disk::ChangeName(disk.unsynced_names[i], &disk.durable_names);
  AfterCut left;
  for (const auto& [name, file] : disk.durable_names) {
    left.files[name] = disk.inodes[file].AfterCut(random);
    left.synced[name] = disk.inodes[file].durable.size();
  }
  return left;
}

AfterCut OnlySynced(const std::vector<Operation>& operations, size_t count) {
  Disk disk = Disk::After(operations, count);
  AfterCut left;
  for (const auto& [name, file] : disk.durable_names) {
    left.files[name] = disk.inodes[file].durable;
    left.synced[name] = disk.inodes[file].durable.size();
  }
  return left;
}

}  // namespace heaprec::writer::disk

using heaprec::writer::disk::Fails;
using heaprec::writer::disk::Fault;
using heaprec::writer::disk::FileOf;
using heaprec::writer::disk::Note;
using heaprec::writer::disk::Now;
using heaprec::writer::disk::Operation;

extern "C" {

int __real_open(const char* path, int flags, ...);
ssize_t __real_pwrite(int descriptor, const void* bytes, size_t size, off_t offset);
ssize_t __real_pread(int descriptor, void* bytes, size_t size, off_t offset);
int __real_ftruncate(int descriptor, off_t size);
int __real_fdatasync(int descriptor);
int __real_fsync(int descriptor);
int __real_rename(const char* from, const char* to);
int __real_unlink(const char* path);
int __real_close(int descriptor);
int __real_dup3(int from, int to, int flags);
int __real_fcntl(int descriptor, int command, ...);
int __real_fstat(int descriptor, struct stat* status);
int __real_stat(const char* path, struct stat* status);

int __wrap_open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (Fails()) return -1;
  const int descriptor = __real_open(path, flags, mode);
  if (descriptor < 0) return descriptor;
  if ((flags & O_DIRECTORY) != 0) {
    Now().files[descriptor] = heaprec::writer::disk::kFolder;
  } else if ((flags & O_CREAT) != 0) {
    Now().files[descriptor] = ++Now().last_file;
    Note({Operation::Kind::kCreate, Now().last_file, path, "", 0, {}});
  }
  return descriptor;
}

ssize_t __wrap_pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  const int fault = Fault();
  if (fault > 0) {
    errno = fault;
    return -1;
  }
  if (fault == heaprec::writer::disk::kShort) size = (size + 1) / 2;
  const ssize_t done = __real_pwrite(descriptor, bytes, size, offset);
  if (done > 0 && FileOf(descriptor) > 0) {
    const auto* from = static_cast<const std::byte*>(bytes);
    Note({Operation::Kind::kWrite, FileOf(descriptor), "", "", static_cast<uint64_t>(offset), {from, from + done}});
  }
  return done;
}

ssize_t __wrap_pread(int descriptor, void* bytes, size_t size, off_t offset) {
  return Fails() ? -1 : __real_pread(descriptor, bytes, size, offset);
}

int __wrap_ftruncate(int descriptor, off_t size) {
  if (Fails()) return -1;
  if (FileOf(descriptor) > 0) {
    Note({Operation::Kind::kTruncate, FileOf(descriptor), "", "", static_cast<uint64_t>(size), {}});
  }
  return __real_ftruncate(descriptor, size);
}

int __wrap_fdatasync(int descriptor) {
  if (Fails()) return -1;
  if (FileOf(descriptor) > 0) Note({Operation::Kind::kSync, FileOf(descriptor), "", "", 0, {}});
  return 0;  // the disk is simulated
}

int __wrap_fsync(int descriptor) {
  if (Fails()) return -1;
  if (FileOf(descriptor) == heaprec::writer::disk::kFolder) Note({Operation::Kind::kSyncFolder, 0, "", "", 0, {}});
  return 0;
}

int __wrap_rename(const char* from, const char* to) {
  if (Fails()) return -1;
  Note({Operation::Kind::kRename, 0, from, to, 0, {}});
  return __real_rename(from, to);
}

int __wrap_unlink(const char* path) {
  if (Fails()) return -1;
  Note({Operation::Kind::kUnlink, 0, path, "", 0, {}});
  return __real_unlink(path);
}

int __wrap_close(int descriptor) {
  Now().files.erase(descriptor);
  return __real_close(descriptor);
}

int __wrap_dup3(int from, int to, int flags) {
  if (Fails()) return -1;
  const int descriptor = __real_dup3(from, to, flags);
  if (descriptor >= 0) Now().files[descriptor] = FileOf(from);
  return descriptor;
}

int __wrap_fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const long argument = va_arg(arguments, long);  // NOLINT(google-runtime-int): as the system has it
  va_end(arguments);
  if (Fails()) return -1;
  const int result = __real_fcntl(descriptor, command, argument);
  if (result >= 0 && command == F_DUPFD_CLOEXEC) Now().files[result] = FileOf(descriptor);
  return result;
}

int __wrap_fstat(int descriptor, struct stat* status) { return Fails() ? -1 : __real_fstat(descriptor, status); }
int __wrap_stat(const char* path, struct stat* status) { return Fails() ? -1 : __real_stat(path, status); }

}  // extern "C"
