// Files whose lock shows that their owner is alive: rings and native tables.
//
// A new file has its owner's lock before it gets its name, so it is never taken for an abandoned one. An abandoned
// file is removed only under its lock, and only while the name still refers to the locked file.
//
// Context:  setup or drain. Allocates nothing: native tables are made within malloc.
// Threads:  any number of processes at once. The lock is flock's: the kernel releases it when the owner exits or dies.
// Failure:  errno says why.
#pragma once

namespace heaprec {

// kUnnamed falls back to kTemporaryName if the file system has no O_TMPFILE, or linkat is forbidden.
enum class Creation { kUnnamed, kTemporaryName };

// Creates `path` (mode 0600), opens it for reading and writing, and locks it. -1 with EEXIST: the name is in use, and
// its file is untouched. Closing the descriptor releases the lock.
int CreateLocked(const char* path, Creation creation = Creation::kUnnamed);

// Opens `name` in `folder` (AT_FDCWD: a path) for reading and locks it, if it is an unlocked regular file of this
// user; otherwise -1. `name` refers to the file as long as the lock is held.
int OpenAbandoned(int folder, const char* name);

// Removes `name` if it refers to the file of `locked`, whose lock the caller holds.
bool RemoveLocked(int folder, const char* name, int locked);

// Removes `name` if OpenAbandoned can open it.
bool RemoveAbandoned(int folder, const char* name);

}  // namespace heaprec
