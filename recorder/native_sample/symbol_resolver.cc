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

const link_map* HolderOf(const void* function) {
  Dl_info info;
  link_map* holder = nullptr;
  return dladdr1(function, &info, reinterpret_cast<void**>(&holder), RTLD_DL_LINKMAP) != 0 ? holder : nullptr;
}

// Null: the module itself does not define it.
void* FindIn(const link_map* module, const char* name) {
  void* const handle = dlopen(module->l_name[0] != 0 ? module->l_name : nullptr, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const found = dlsym(handle, name);
  dlclose(handle);
  // A handle answers for what its library needs, too.
  return found != nullptr && HolderOf(found) == module && !IsEntryOnly(found) ? found : nullptr;
}

// In the loader's order.
void* FindFrom(const link_map* module, const char* name) {
  for (; module != nullptr; module = module->l_next) {
    if (void* const found = FindIn(module, name)) return found;
  }
  return nullptr;
}

}  // namespace

void* ResolveSymbol(const char* name) {
  void* const meant = dlsym(RTLD_DEFAULT, name);
  if (meant == nullptr || !IsEntryOnly(meant)) return meant;
  void* const found = FindFrom(HolderOf(meant), name);
  return found != nullptr ? found : meant;
}

void* ResolveNext(const char* name, const void* caller) {
  const link_map* const module = HolderOf(caller);
  return module != nullptr ? FindFrom(module->l_next, name) : nullptr;
}

bool IsDefinedBeside(void* function, const char* name) {
  const link_map* const module = HolderOf(function);
  return module != nullptr && FindIn(module, name) != nullptr;
}

}  // namespace heaprec::native
