// Files whose lock says that their owner lives: rings and native tables.
//
// A new file carries its owner's lock from the moment it has its name, so nobody can take it for an abandoned one. An
// abandoned file is removed only under its lock, and only while the name still leads to the file that is locked.
//
// Context:  setup or drain. Allocates nothing: native tables are made within malloc.
// Threads:  any number of processes at once. The lock is flock's: it ends with its owner, however that ends.
// Failure:  errno says why.
#pragma once

namespace heaprec::buffer {

// kUnnamed falls back to kTemporaryName where the file system has no O_TMPFILE, or linkat is forbidden.
enum class Creation { kUnnamed, kTemporaryName };

// Creates `path` (mode 0600), opens it for reading and writing and locks it. -1 with EEXIST: the name is taken, and
// what has it is untouched. Closing the descriptor gives the lock up.
int CreateLocked(const char* path, Creation creation = Creation::kUnnamed);

// Opens `name` in `folder` (AT_FDCWD: a path) for reading and locks it, if it is a regular file of this user that
// nobody holds; otherwise -1.
int OpenAbandoned(int folder, const char* name);

// Removes `name` if it leads to the file of `locked`, whose lock the caller holds.
bool RemoveLocked(int folder, const char* name, int locked);

// Removes `name` if OpenAbandoned can have it.
bool RemoveAbandoned(int folder, const char* name);

}  // namespace heaprec::buffer
