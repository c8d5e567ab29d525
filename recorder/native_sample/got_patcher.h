// Replaces functions that libraries import: in the slots through which they call them (GOT), and in their tables of
// function pointers. No code is changed; calls inside a library are not redirected.
//
// Context:  any thread that may take the loader's locks and the heap; not the hooks.
// Threads:  one at a time. Others may call through the slots meanwhile: a slot is one word, written at once.
// Failure:  a slot that cannot be written (memory protection) is counted and left as it is.
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
  // What is replaced; a slot with any other function is left as it is.
  std::array<void*, 2> originals{};
};

class GotPatcher {
 public:
  // Skips the module that contains `own`, through which the replacements call the originals, and allocators: modules
  // that define malloc themselves. So no replacement runs within an allocator, whose locks may be held. In a module
  // with an import that the loader has bound to another function, slots that are not bound yet are left as they are,
  // too.
  GotPatcher(std::vector<Import> imports, const void* own);

  struct Outcome {
    size_t changed = 0, refused = 0;  // slots
    // The modules of the refused slots: names of files, empty for the program; and the error of the first of them.
    std::vector<std::string> refusing;
    int error = 0;
    // Allocators whose calls do not come to the replacements: names of files, empty for the program.
    std::vector<std::string> unseen{};
    // "calls of libjvm.so, libjava.so and 3 others are not seen: ... (Operation not permitted)"; empty: none
    // was refused.
    std::string Refusal() const;
    // "calls of the allocator within the program, libfoo.so are not seen"; empty: there are none.
    std::string Unseen() const;
  };
  // Grows with each library that comes or goes.
  using Changes = unsigned long long;  // NOLINT(google-runtime-int): as the loader has it
  // The loaded modules, by their segments' table.
  struct Listed {
    Changes changes = 0, gone = 0;
    std::unordered_set<const void*> modules;
  };
  static Listed Loaded();
  // Waits for threads that are loading libraries, which may take as long as a library's constructors. What was listed
  // before is then complete.
  static void AwaitLoaders();
  // Patches these modules; call again after each dlopen. Slots that are already patched stay. nullopt: libraries were
  // unloaded since they were listed, and nothing was done.
  std::optional<Outcome> Patch(const Listed& whole);
  // Null: no import of this name is replaced. Any context.
  const Import* ImportNamed(const char* name) const;
  // Restores all slots. A slot that something else has changed since is left as it is.
  Outcome UndoAll();
  // Whether libraries were loaded or unloaded since the last pass.
  bool LibrariesChanged() const;
  // The loader's count at the last pass.
  Changes changes() const { return changes_; }

 private:
  class Pass;

  const std::vector<Import> imports_;
  const uintptr_t own_;
  Changes changes_ = 0;                                 // by the last pass
  Changes gone_ = 0;                                    // libraries unloaded by then
  std::unordered_set<const void*> done_;                // modules, as Listed; none of them is gone
  std::unordered_set<std::string> unseen_;              // as Outcome, of all passes
  std::unordered_map<uintptr_t, uintptr_t> originals_;  // what a slot held, by its address
};

// The real address of a function that the program's libraries share.
//
// Its name is not enough. A program that is not position independent has an entry of its own for each function whose
// address it takes. In all libraries the name refers to that entry, which jumps through the program's slot.
//
// Context:  setup, and calls of dlsym (it calls the loader).
// Failure:  none: if the function is not found, the result is the address of its name.
void* ResolveSymbol(const char* name);
// What dlsym(RTLD_NEXT, name) means for code at `caller`; null if it is not found.
void* ResolveNext(const char* name, const void* caller);
// Whether the module of `function` defines a function of this name, too.
bool IsDefinedBeside(void* function, const char* name);

}  // namespace heaprec::native
