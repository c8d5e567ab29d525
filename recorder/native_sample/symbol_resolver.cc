#include "recorder/native_sample/symbol_resolver.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

namespace heaprec::native {
namespace {

bool IsEntryOnly(void* function) {
  Dl_info info;
  const ElfW(Sym)* symbol = nullptr;
  return dladdr1(function, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)), RTLD_DL_SYMENT) != 0 &&
         symbol != nullptr && info.dli_saddr == function && symbol->st_shndx == SHN_UNDEF;
}

const link_map* HolderOf(void* function) {
  Dl_info info;
  link_map* holder = nullptr;
  return dladdr1(function, &info, reinterpret_cast<void**>(&holder), RTLD_DL_LINKMAP) != 0 ? holder : nullptr;
}

}  // namespace

// In the loader's order, after the program.
void* ResolveSymbol(const char* name) {
  void* const meant = dlsym(RTLD_DEFAULT, name);
  if (meant == nullptr || !IsEntryOnly(meant)) return meant;
  for (const link_map* library = HolderOf(meant); library != nullptr; library = library->l_next) {
    void* const handle = library->l_name[0] != 0 ? dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (handle == nullptr) continue;
    void* const found = dlsym(handle, name);
    dlclose(handle);
    // A handle answers for what its library needs, too.
    if (found != nullptr && HolderOf(found) == library) return found;
  }
  return meant;
}

}  // namespace heaprec::native
