// Replaces functions that libraries import: in their GOT slots and in their tables of function pointers. No code is
// changed; calls inside a library are not redirected.
//
// Context:  any thread that may take the loader's locks and the heap; not the hooks.
// Threads:  one at a time. Other threads may call through the slots meanwhile: a slot is one word, stored atomically.
// Failure:  a slot that cannot be written (memory protection) is counted and not changed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace heaprec::native {

struct Import {
  const char* name;
  void* replacement;
  // The functions to replace; slots with other functions are not changed.
  std::array<void*, 2> originals{};
};

class GotPatcher {
 public:
  // Skips the module that contains `own`, through which the replacements call the originals, and allocators: modules
  // that define malloc themselves. So no replacement runs within an allocator, whose locks may be held. If the loader
  // has bound an import of a module to another function, that module's unbound slots are not changed either.
  GotPatcher(std::vector<Import> imports, const void* own);

  struct Outcome {
    size_t changed = 0, refused = 0;  // numbers of slots
    // The modules of the refused slots: file names, empty for the program. `error` is that of the first of them.
    std::vector<std::string> refusing;
    int error = 0;
    // Allocators whose calls do not reach the replacements: file names, empty for the program.
    std::vector<std::string> unseen{};
    // "calls of libjvm.so, libjava.so and 3 others are not seen: ... (Operation not permitted)"; empty: none
    // was refused.
    std::string Refusal() const;
    // "calls of the allocator within the program, libfoo.so are not seen"; empty: none.
    std::string Unseen() const;
  };
  // The loader's counter of loaded and unloaded libraries.
  using Changes = unsigned long long;  // NOLINT(google-runtime-int): as the loader has it
  // The loaded modules, by their segments' table.
  struct Listed {
    Changes changes = 0, gone = 0;
    std::unordered_set<const void*> modules;
  };
  static Listed Loaded();
  // Waits for threads that are loading libraries, which may last as long as a library's constructors. All libraries
  // listed before are complete afterwards.
  static void AwaitLoaders();
  // Patches these modules; call it after each dlopen. Patched slots stay patched. Returns nullopt if libraries were
  // unloaded since they were listed; nothing was done then.
  std::optional<Outcome> Patch(const Listed& whole);
  // Returns null if no import of this name is replaced. Context: any.
  const Import* ImportNamed(const char* name) const;
  // Restores all slots, except those that other code has changed since.
  Outcome UndoAll();
  // Whether libraries were loaded or unloaded since the last pass.
  bool LibrariesChanged() const;
  // The loader's count at the last pass.
  Changes changes() const { return changes_; }

 private:
  class Pass;

  const std::vector<Import> imports_;
  const uintptr_t own_;
  Changes changes_ = 0;                                 // at the last pass
  Changes gone_ = 0;                                    // libraries unloaded until the last pass
  std::unordered_set<const void*> done_;                // patched modules, as in Listed; none of them was unloaded
  std::unordered_set<std::string> unseen_;              // as in Outcome, over all passes
  std::unordered_map<uintptr_t, uintptr_t> originals_;  // original contents of slots, by the slot's address
};

// Returns the real address of a function that the program's libraries share.
//
// Its name is not enough. A program that is not position independent has an entry of its own for each function whose
// address it takes. In all libraries the name refers to that entry, which jumps through the program's slot.
//
// Context:  setup, and calls of dlsym (it calls the loader).
// Failure:  none: if the function is not found, the result is the address of its name.
void* ResolveSymbol(const char* name);
// Returns the result of dlsym(RTLD_NEXT, name) for code at `caller`; null if it is not found.
void* ResolveNext(const char* name, const void* caller);
// Whether the module of `function` also defines a function with this name.
bool IsDefinedBeside(void* function, const char* name);

}  // namespace heaprec::native
