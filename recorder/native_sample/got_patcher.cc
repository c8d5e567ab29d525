#include "recorder/native_sample/got_patcher.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "recorder/arch/code_patch.h"
#include "recorder/arch/machine.h"
#include "recorder/unwind/module_lookup.h"

namespace heaprec::native {
namespace {

// The imports of a loaded module. Addresses of this process.
struct Module {
  explicit Module(const dl_phdr_info& info)
      : path(info.dlpi_name != nullptr ? info.dlpi_name : ""), base(info.dlpi_addr) {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info.dlpi_phdr[i];
      const uintptr_t from = base + segment.p_vaddr;
      if (segment.p_type == PT_LOAD) {
        begin = std::min(begin, from);
        end = std::max(end, from + segment.p_memsz);
        if ((segment.p_flags & PF_W) != 0) {
          writable_begin = std::min(writable_begin, from);
          writable_end = std::max(writable_end, from + segment.p_memsz);
        }
      }
      if (segment.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(from);
      if (segment.p_type == PT_GNU_RELRO) {
        read_only_begin = from & ~(arch::PageSize() - 1);
        read_only_end = (from + segment.p_memsz) & ~(arch::PageSize() - 1);
      }
    }
    if (dynamic != nullptr) ReadDynamic();
  }

  bool Holds(uintptr_t address, size_t bytes) const {
    return begin <= address && address < end && bytes <= end - address;
  }
  // Slots elsewhere may not be written: the loader itself has changed that code (DT_TEXTREL).
  bool HoldsSlot(uintptr_t address) const {
    return address % sizeof(uintptr_t) == 0 && writable_begin <= address && address < writable_end &&
           sizeof(uintptr_t) <= writable_end - address;
  }
  bool DefinesFunction(const char* name) const {
    const ElfW(Sym)* const symbol = hashes != 0 ? FindHashed(name) : nullptr;
    return symbol != nullptr && symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
  }
  bool IsReadOnly(uintptr_t address) const { return read_only_begin <= address && address < read_only_end; }

  const std::string_view path;
  uintptr_t base, begin = UINTPTR_MAX, end = 0;
  uintptr_t writable_begin = UINTPTR_MAX, writable_end = 0;
  uintptr_t read_only_begin = 0, read_only_end = 0;
  const ElfW(Dyn) * dynamic = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  size_t string_bytes = 0;
  std::span<const ElfW(Rela)> calls, data;
  uintptr_t hashes = 0;  // DT_GNU_HASH

 private:
  // Searches the hash table: four words, 64-bit words of a filter, the first symbol of each bucket, and a hash per
  // symbol from `begin` on, whose lowest bit marks the end of its bucket.
  const ElfW(Sym) * FindHashed(const char* name) const {
    uint32_t hash = 5381;
    for (const char* at = name; *at != 0; ++at) hash = hash * 33 + static_cast<unsigned char>(*at);
    const auto* const table = reinterpret_cast<const uint32_t*>(hashes);
    const uint32_t bucket_count = table[0], begin = table[1];
    const uint32_t* const buckets = table + 4 + size_t{2} * table[2];
    if (bucket_count == 0) return nullptr;
    uint32_t index = buckets[hash % bucket_count];
    if (index < begin) return nullptr;
    for (const uint32_t* known = buckets + bucket_count + (index - begin);; ++known, ++index) {
      const ElfW(Sym)& symbol = symbols[index];
      const bool is_same = (*known | 1) == (hash | 1) && symbol.st_name < string_bytes;
      if (is_same && std::strcmp(strings + symbol.st_name, name) == 0) return &symbol;
      if ((*known & 1) != 0) return nullptr;
    }
  }

  // The loader has replaced most of these offsets by addresses, but not in every module (the vDSO).
  uintptr_t AddressOf(const ElfW(Dyn) & entry) const {
    return entry.d_un.d_ptr < base ? base + entry.d_un.d_ptr : entry.d_un.d_ptr;
  }

  void ReadDynamic() {
    using Tag = decltype(dynamic->d_tag);
    uintptr_t symbols_at = 0, strings_at = 0, calls_at = 0, data_at = 0;
    size_t calls_bytes = 0, calls_type = DT_RELA, data_bytes = 0;
    const std::pair<Tag, uintptr_t*> addresses[] = {{DT_SYMTAB, &symbols_at},
                                                    {DT_GNU_HASH, &hashes},
                                                    {DT_STRTAB, &strings_at},
                                                    {DT_JMPREL, &calls_at},
                                                    {DT_RELA, &data_at}};
    const std::pair<Tag, size_t*> numbers[] = {
        {DT_STRSZ, &string_bytes}, {DT_PLTRELSZ, &calls_bytes}, {DT_PLTREL, &calls_type}, {DT_RELASZ, &data_bytes}};
    for (const ElfW(Dyn)* entry = dynamic; entry->d_tag != DT_NULL; ++entry) {
      for (const auto& [tag, into] : addresses)
        if (tag == entry->d_tag) *into = AddressOf(*entry);
      for (const auto& [tag, into] : numbers)
        if (tag == entry->d_tag) *into = entry->d_un.d_val;
    }
    symbols = reinterpret_cast<const ElfW(Sym)*>(symbols_at);
    strings = reinterpret_cast<const char*>(strings_at);
    if (calls_type == DT_RELA) calls = Table(calls_at, calls_bytes);
    data = Table(data_at, data_bytes);
  }

  std::span<const ElfW(Rela)> Table(uintptr_t at, size_t bytes) const {
    if (at == 0 || !Holds(at, bytes)) return {};
    return {reinterpret_cast<const ElfW(Rela)*>(at), bytes / sizeof(ElfW(Rela))};
  }
};

bool IsSlot(const ElfW(Rela) & relocation) {
  const auto type = ELF64_R_TYPE(relocation.r_info);
  return type == arch::kRelocatedCall || type == arch::kRelocatedData ||
         (type == arch::kRelocatedWord && relocation.r_addend == 0);
}

// Makes a read-only page writable during its lifetime.
class Writable {
 public:
  Writable(const Module& module, uintptr_t address) : page_(address & ~(arch::PageSize() - 1)) {
    if (!module.IsReadOnly(address)) return;
    is_lifted_ = mprotect(reinterpret_cast<void*>(page_), arch::PageSize(), PROT_READ | PROT_WRITE) == 0;
    if (!is_lifted_) error_ = errno;
  }
  ~Writable() {
    if (is_lifted_) mprotect(reinterpret_cast<void*>(page_), arch::PageSize(), PROT_READ);
  }
  Writable(const Writable&) = delete;
  Writable& operator=(const Writable&) = delete;

  int error() const { return error_; }  // 0: the page is writable

 private:
  const uintptr_t page_;
  bool is_lifted_ = false;
  int error_ = 0;
};

std::string Listing(const std::vector<std::string>& modules) {
  constexpr size_t kNamed = 4;
  std::string text;
  for (size_t i = 0; i < std::min(modules.size(), kNamed); ++i) {
    text += (i == 0 ? "" : ", ") + (modules[i].empty() ? std::string("the program") : modules[i]);
  }
  if (modules.size() > kNamed) text += " and " + std::to_string(modules.size() - kNamed) + " others";
  return text;
}

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

// Returns null if the module itself does not define the function.
void* FindIn(const link_map* module, const char* name) {
  void* const handle = dlopen(module->l_name[0] != 0 ? module->l_name : nullptr, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const found = dlsym(handle, name);
  dlclose(handle);
  // dlsym on a handle also searches the libraries that it depends on.
  return found != nullptr && HolderOf(found) == module && !IsEntryOnly(found) ? found : nullptr;
}

// Searches in the loader's order.
void* FindFrom(const link_map* module, const char* name) {
  for (; module != nullptr; module = module->l_next) {
    if (void* const found = FindIn(module, name)) return found;
  }
  return nullptr;
}

}  // namespace

// One pass over the slots of all modules. The loader's list is locked, so no module is loaded or unloaded meanwhile.
class GotPatcher::Pass {
 public:
  Pass(GotPatcher* patcher, bool undoes) : patcher_(*patcher), undoes_(undoes) {}

  // Visits the modules in `listed`; null: all modules. Returns false if a library was unloaded after the list was made;
  // nothing was done then.
  bool Run(const Listed* listed) {
    listed_ = listed;
    has_begun_ = false;
    const int refused = dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* self) { return static_cast<Pass*>(self)->Visit(*info); }, this);
    if (refused != 0) return false;
    // Removes the originals of unloaded modules. If a module could not be read they may be its own, so they stay.
    if (is_full_ && !has_skipped_) patcher_.originals_.clear();
    for (const auto& [address, original] : seen_) patcher_.originals_.insert_or_assign(address, original);
    return true;
  }
  Outcome outcome() const { return outcome_; }

 private:
  int Visit(const dl_phdr_info& info) {
    if (listed_ != nullptr && listed_->gone != info.dlpi_subs) return 1;
    if (!std::exchange(has_begun_, true)) Begin(info);
    const bool is_asked_for = listed_ == nullptr || listed_->modules.contains(info.dlpi_phdr);
    if (!is_asked_for || patcher_.done_.contains(info.dlpi_phdr)) return 0;
    if (!HasReadableSegments(info)) {
      has_skipped_ = true;
      return 0;
    }
    Visit(Module(info));
    if (!undoes_) patcher_.done_.insert(info.dlpi_phdr);
    return 0;
  }

  // Unless a library was unloaded, the modules of earlier passes are at the same addresses.
  void Begin(const dl_phdr_info& info) {
    is_full_ = undoes_ || info.dlpi_subs != patcher_.gone_;
    if (is_full_) patcher_.done_.clear();
    if (undoes_) patcher_.unseen_.clear();
    patcher_.changes_ = listed_ != nullptr ? listed_->changes : info.dlpi_adds + info.dlpi_subs;
    patcher_.gone_ = info.dlpi_subs;
  }

  // A slot of an import.
  struct Found {
    uintptr_t address;
    const ElfW(Rela) & relocation;
    const Import& import;
    uintptr_t own;  // the module's own function with this name; 0: none
    bool IsLazy() const { return ELF64_R_TYPE(relocation.r_info) == arch::kRelocatedCall; }
    bool IsPointer() const { return ELF64_R_TYPE(relocation.r_info) == arch::kRelocatedWord; }
  };

  void Visit(const Module& module) {
    if (module.symbols == nullptr || module.strings == nullptr || module.Holds(patcher_.own_, 1)) return;
    if (module.DefinesFunction("malloc")) return VisitAllocator(module);
    std::vector<Found> found;
    for (const ElfW(Rela) & relocation : module.calls) Find(module, relocation, &found);
    for (const ElfW(Rela) & relocation : module.data) Find(module, relocation, &found);
    const bool may_bind =
        undoes_ || std::ranges::none_of(found, [&](const Found& slot) { return IsBoundElsewhere(module, slot); });
    for (const Found& slot : found) {
      const uintptr_t bound = Slot(slot.address).load(std::memory_order_acquire);
      // The slot points to a function of another module, which comes first or must stay.
      const auto original = reinterpret_cast<uintptr_t>(slot.import.originals[0]);
      if (slot.own != 0 && (bound == slot.own || module.Holds(original, 1))) continue;
      Change(module, slot.address, may_bind && slot.IsLazy(), slot.import);
    }
  }

  // Redirects calls of the replaced allocator, except those from its own module: a program that was linked with the
  // allocator.
  void VisitAllocator(const Module& module) {
    const bool is_libc = module.DefinesFunction("__libc_start_main") || module.DefinesFunction("__tls_get_addr");
    const Import* const replaced = patcher_.ImportNamed("malloc");
    const bool is_replaced =
        replaced != nullptr && module.Holds(reinterpret_cast<uintptr_t>(replaced->originals[0]), 1);
    if (undoes_ || is_libc || (is_replaced && !module.path.empty())) return;
    const std::string name(module.path.substr(module.path.rfind('/') + 1));
    if (patcher_.unseen_.insert(name).second) outcome_.unseen.push_back(name);
  }

  void Find(const Module& module, const ElfW(Rela) & relocation, std::vector<Found>* found) const {
    const auto index = ELF64_R_SYM(relocation.r_info);
    if (index == 0 || !IsSlot(relocation)) return;
    const ElfW(Sym)& symbol = module.symbols[index];
    if (symbol.st_name >= module.string_bytes) return;
    const char* const name = module.strings + symbol.st_name;
    const uintptr_t address = module.base + relocation.r_offset;
    const Import* const import = patcher_.ImportNamed(name);
    if (import == nullptr || !module.HoldsSlot(address)) return;
    const uintptr_t own = symbol.st_shndx != SHN_UNDEF ? module.base + symbol.st_value : 0;
    found->push_back({address, relocation, *import, own});
  }

  // Whether the loader has bound an import to another function than ours or the original: the module has another malloc
  // in its scope (RTLD_DEEPBIND). It is then unknown how lazy slots will be bound, and a block of one malloc must not
  // get to the other's free. Writable pointers are ignored, because the program may have set them.
  static bool IsBoundElsewhere(const Module& module, const Found& slot) {
    if (slot.own != 0 || (slot.IsPointer() && !module.IsReadOnly(slot.address))) return false;
    const uintptr_t bound = Slot(slot.address).load(std::memory_order_acquire);
    if (bound == 0 || (slot.IsLazy() && module.Holds(bound, 1))) return false;
    return bound != reinterpret_cast<uintptr_t>(slot.import.replacement) && !IsOriginal(bound, slot.import);
  }

  static std::atomic_ref<uintptr_t> Slot(uintptr_t address) {
    return std::atomic_ref<uintptr_t>(*reinterpret_cast<uintptr_t*>(address));
  }

  void Change(const Module& module, uintptr_t address, bool may_be_unbound, const Import& import) {
    const std::atomic_ref<uintptr_t> slot = Slot(address);
    const auto ours = reinterpret_cast<uintptr_t>(import.replacement);
    const uintptr_t before = slot.load(std::memory_order_acquire);
    const auto known = patcher_.originals_.find(address);
    const bool is_ours = before == ours && known != patcher_.originals_.end();
    if (!undoes_ && !is_ours && !MayReplace(module, before, may_be_unbound, import)) return;
    if (is_ours != undoes_) {
      if (is_ours) seen_[address] = known->second;
      return;
    }
    const Writable writable(module, address);
    if (writable.error() != 0) {
      Refused(module, writable.error());
      if (is_ours) seen_[address] = known->second;
      return;
    }
    slot.store(undoes_ ? known->second : ours, std::memory_order_release);
    if (!undoes_) seen_[address] = before;
    ++outcome_.changed;
  }

  // Counts refused slots. Calls for one module must be consecutive.
  void Refused(const Module& module, int error) {
    const std::string_view name = module.path.substr(module.path.rfind('/') + 1);
    if (outcome_.refused++ == 0) outcome_.error = error;
    if (outcome_.refusing.empty() || outcome_.refusing.back() != name) outcome_.refusing.emplace_back(name);
  }

  // Whether the slot still has the value of the loader: the original function or, if it is lazy and not bound yet, an
  // address in its own module. Any other value was stored by the program after loading, and stays.
  static bool MayReplace(const Module& module, uintptr_t before, bool may_be_unbound, const Import& import) {
    return (may_be_unbound && module.Holds(before, 1)) || IsOriginal(before, import);
  }

  static bool IsOriginal(uintptr_t function, const Import& import) {
    return std::ranges::any_of(import.originals, [function](const void* original) {
      return original != nullptr && reinterpret_cast<uintptr_t>(original) == function;
    });
  }

  GotPatcher& patcher_;
  const bool undoes_;
  bool has_begun_ = false, is_full_ = false, has_skipped_ = false;
  const Listed* listed_ = nullptr;
  Outcome outcome_;
  std::unordered_map<uintptr_t, uintptr_t> seen_;
};

std::string GotPatcher::Outcome::Refusal() const {
  if (refused == 0) return {};
  return "calls of " + Listing(refusing) + " are not seen: their slots cannot be written to (" +
         std::generic_category().message(error) + ")";
}

std::string GotPatcher::Outcome::Unseen() const {
  return unseen.empty() ? "" : "calls of the allocator within " + Listing(unseen) + " are not seen";
}

const Import* GotPatcher::ImportNamed(const char* name) const {
  const auto found =
      std::ranges::find_if(imports_, [name](const Import& it) { return std::strcmp(it.name, name) == 0; });
  return found != imports_.end() ? &*found : nullptr;
}

GotPatcher::GotPatcher(std::vector<Import> imports, const void* own)
    : imports_(std::move(imports)), own_(reinterpret_cast<uintptr_t>(own)) {}

GotPatcher::Listed GotPatcher::Loaded() {
  Listed listed;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        auto* const listed = static_cast<Listed*>(into);
        listed->changes = info->dlpi_adds + info->dlpi_subs;
        listed->gone = info->dlpi_subs;
        listed->modules.insert(info->dlpi_phdr);
        return 0;
      },
      &listed);
  return listed;
}

// The loader lists a library before it has filled the library's slots and made them read-only; a store into a slot
// would interfere with that. A loading thread holds the loader's other lock until it has finished. dlopen of the
// program itself, which is already loaded, waits for that lock.
void GotPatcher::AwaitLoaders() {
  if (void* const program = dlopen(nullptr, RTLD_LAZY)) dlclose(program);
}

bool GotPatcher::LibrariesChanged() const {
  Changes changes = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        *static_cast<Changes*>(into) = info->dlpi_adds + info->dlpi_subs;
        return 1;
      },
      &changes);
  return changes != changes_;
}

std::optional<GotPatcher::Outcome> GotPatcher::Patch(const Listed& whole) {
  // All data that the replacements read is stored before this fence.
  if (!arch::FenceThreads()) return Outcome{.refused = 1, .refusing = {""}, .error = errno};
  Pass pass(this, /*undoes=*/false);
  if (!pass.Run(&whole)) return std::nullopt;
  return pass.outcome();
}

// Needs no fence: the originals were complete before the slots were patched.
GotPatcher::Outcome GotPatcher::UndoAll() {
  Pass pass(this, /*undoes=*/true);
  (void)pass.Run(nullptr);
  return pass.outcome();
}

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
