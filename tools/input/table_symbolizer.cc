#include "tools/input/table_symbolizer.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace heaprec::tools {
namespace {

constexpr const char* kDebugFiles = "/usr/lib/debug/.build-id";

// "b" would be demangled, too: as the type bool.
std::string NameOf(const char* symbol) {
  if (std::strncmp(symbol, "_Z", 2) != 0) return symbol;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                         std::free);
  return status == 0 ? demangled.get() : symbol;
}

// A table or a ring names the file, so it may be anything: opening a device may act on it, and a pipe is waited for.
int OpenRegular(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return -1;
  return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

// An open ELF file.
class Object {
 public:
  explicit Object(const std::string& path) : descriptor_(OpenRegular(path)) {
    elf_version(EV_CURRENT);
    if (descriptor_ >= 0) elf_ = elf_begin(descriptor_, ELF_C_READ_MMAP, nullptr);
    if (elf_ != nullptr && elf_kind(elf_) != ELF_K_ELF) {
      elf_end(elf_);
      elf_ = nullptr;
    }
  }
  ~Object() {
    if (elf_ != nullptr) elf_end(elf_);
    if (descriptor_ >= 0) close(descriptor_);
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  // visit(section, header) for each section of the type.
  template <typename Visit>
  void ForEach(uint32_t type, const Visit& visit) const {
    if (elf_ == nullptr) return;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) != nullptr && header.sh_type == type) visit(section, header);
    }
  }

  std::string BuildId() const {
    std::string id;
    ForEach(SHT_NOTE, [&](Elf_Scn* section, const GElf_Shdr&) {
      Elf_Data* const data = elf_getdata(section, nullptr);
      GElf_Nhdr note;
      size_t name = 0, content = 0;
      for (size_t at = 0; data != nullptr && (at = gelf_getnote(data, at, &note, &name, &content)) > 0;) {
        const auto* const bytes = static_cast<const char*>(data->d_buf);
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || std::memcmp(bytes + name, "GNU", 4) != 0) continue;
        id.clear();
        for (size_t i = 0; i < note.n_descsz; ++i)
          id += fmt::format("{:02x}", static_cast<uint8_t>(bytes[content + i]));
      }
    });
    return id;
  }

  // visit(value, size, name) for each function of the tables of this type.
  template <typename Visit>
  void ForEachFunction(uint32_t type, const Visit& visit) const {
    ForEach(type, [&](Elf_Scn* section, const GElf_Shdr& header) {
      Elf_Data* const data = elf_getdata(section, nullptr);
      if (data == nullptr || header.sh_entsize == 0) return;
      for (size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
        GElf_Sym symbol;
        if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF) continue;
        const int kind = GELF_ST_TYPE(symbol.st_info);
        const char* const name = elf_strptr(elf_, header.sh_link, symbol.st_name);
        if ((kind == STT_FUNC || kind == STT_GNU_IFUNC) && name != nullptr)
          visit(symbol.st_value, symbol.st_size, name);
      }
    });
  }

 private:
  const int descriptor_;
  Elf* elf_ = nullptr;
};

std::string DebugFile(const std::string& build_id) {
  return build_id.size() < 3 ? ""
                             : fmt::format("{}/{}/{}.debug", kDebugFiles, build_id.substr(0, 2), build_id.substr(2));
}

}  // namespace

const LoadedModule* TableSymbolizer::ModuleOf(uint64_t pc, uint32_t replaced) const {
  const auto found = std::find_if(modules_.rbegin(), modules_.rend(),
                                  [=](const LoadedModule& module) { return module.Holds(pc, replaced); });
  return found == modules_.rend() ? nullptr : &*found;
}

const std::vector<TableSymbolizer::Symbol>& TableSymbolizer::SymbolsOf(const LoadedModule& module) {
  const auto [known, is_new] = symbols_.try_emplace(&module);
  std::vector<Symbol>& symbols = known->second;
  if (!is_new) return symbols;
  const auto add = [&symbols](uint64_t value, uint64_t size, const char* name) {
    symbols.push_back({value, value + std::max<uint64_t>(size, 1), name});
  };
  const Object file(module.path), debug(DebugFile(module.build_id));
  debug.ForEachFunction(SHT_SYMTAB, add);
  // By now there may be another one under its name.
  if (module.build_id.empty() || file.BuildId() == module.build_id) {
    file.ForEachFunction(SHT_SYMTAB, add);
    file.ForEachFunction(SHT_DYNSYM, add);
  }
  std::ranges::stable_sort(symbols, {}, &Symbol::begin);
  return symbols;
}

const TableSymbolizer::Function& TableSymbolizer::At(uint64_t pc, uint32_t replaced) {
  const LoadedModule* const module = ModuleOf(pc, replaced);
  const auto [known, is_new] = known_.try_emplace({module, pc});
  Function& function = known->second;
  if (!is_new) return function;
  if (module == nullptr) {
    function = {fmt::format("{:#x}", pc), "?", false};
    return function;
  }
  function.module = module->path.substr(module->path.rfind('/') + 1);
  const uint64_t address = pc - module->bias;
  // A call at the very end of a function returns behind it.
  const std::vector<Symbol>& symbols = SymbolsOf(*module);
  auto next = std::ranges::upper_bound(symbols, address - 1, {}, &Symbol::begin);
  while (next != symbols.begin()) {
    --next;
    if (address - 1 < next->end) {
      function.name = NameOf(next->name.c_str());
      function.is_known = true;
      function.symbol = std::ranges::lower_bound(symbols, next->begin, {}, &Symbol::begin)->name;
      function.offset = static_cast<uint32_t>(address - 1 - next->begin);
      return function;
    }
    if (next->begin + (1U << 20) < address) break;
  }
  function.name = fmt::format("{}+{:#x}", function.module, address);
  return function;
}

}  // namespace heaprec::tools
