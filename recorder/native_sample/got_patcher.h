// Puts functions of ours in the place of what libraries import: in the slots through which they call it (GOT), and in
// their tables of function pointers. No code is changed, and calls inside a library do not come this way.
//
// Context:  any thread that may take the loader's locks and the heap; not the hooks.
// Threads:  one at a time. Others may call through the slots all the while: a slot is one word, written at once.
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
  // What is replaced: whoever has another function in its place keeps it.
  std::array<void*, 2> originals{};
};

class GotPatcher {
 public:
  // Not in the module that holds `own`, through which the replacements reach what they replace, and not in those that
  // have a function of that name themselves.
  GotPatcher(std::vector<Import> imports, const void* own);

  struct Outcome {
    size_t changed = 0, refused = 0;  // slots
    // Whose the latter are: names of files, that of the program is empty. And what the first of them was refused with.
    std::vector<std::string> refusing;
    int error = 0;
    // "calls of libjvm.so, libjava.so and 3 others are not seen: ... (Operation not permitted)"; empty: none was
    // refused.
    std::string Refusal() const;
  };
  // Grows with each library that comes or goes.
  using Changes = unsigned long long;  // NOLINT(google-runtime-int): as the loader has it
  // What is loaded: modules by their segments' table.
  struct Listed {
    Changes changes = 0, gone = 0;
    std::unordered_set<const void*> modules;
  };
  static Listed Loaded();
  // Waits for whoever loads just now, which may be as long as a library's constructors. What was listed before is whole
  // then.
  static void AwaitLoaders();
  // Of these; again after each dlopen; what has been replaced already stays. Nothing: libraries have gone since they
  // were listed, and nothing was done.
  std::optional<Outcome> Patch(const Listed& whole);
  // All of them back. A slot that somebody else has changed since is left to him.
  Outcome UndoAll();
  // Since the last pass libraries have come or gone.
  bool LibrariesChanged() const;
  // As of the last pass.
  Changes changes() const { return changes_; }

 private:
  class Pass;

  const std::vector<Import> imports_;
  const uintptr_t own_;
  Changes changes_ = 0;                                 // by the last pass
  Changes gone_ = 0;                                    // libraries, by then
  std::unordered_set<const void*> done_;                // modules, as Listed; none of them is gone
  std::unordered_map<uintptr_t, uintptr_t> originals_;  // what a slot held, by its address
};

}  // namespace heaprec::native
