#include "recorder/hotspot/libjvm.h"

#include <elf.h>
#include <link.h>

#include <cstdlib>

#include "base/elf_file.h"
#include "recorder/unwind/module_lookup.h"
#include "recorder/unwind/symbolizer.h"

namespace heaprec::hotspot {
namespace {

bool IsLibJvm(const char* path) {
  const std::string_view name(path != nullptr ? path : "");
  constexpr std::string_view kSuffix = "/libjvm.so";
  return name.size() > kSuffix.size() && name.substr(name.size() - kSuffix.size()) == kSuffix;
}

int Visit(dl_phdr_info* info, size_t /*size*/, void* out) {
  if (!IsLibJvm(info->dlpi_name)) return 0;
  LibJvm libjvm;
  libjvm.path = info->dlpi_name;
  libjvm.base = info->dlpi_addr;
  libjvm.build_id = BuildIdText(native::BuildIdOf(*info));
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && libjvm.text_begin == 0) {
      libjvm.text_begin = begin;
      libjvm.text_end = begin + segment.p_memsz;
    } else if (segment.p_type == PT_GNU_RELRO) {
      libjvm.constants_begin = begin;
      libjvm.constants_end = begin + segment.p_memsz;
    }
  }
  *static_cast<std::optional<LibJvm>*>(out) = libjvm;
  return 1;
}

std::string Environment(const char* name) {
  const char* const value = getenv(name);  // NOLINT(concurrency-mt-unsafe): setup
  return value != nullptr ? value : "";
}

// In elfutils' order: the variable, then the XDG cache, then the older default.
std::vector<std::string> DebuginfodFolders() {
  std::vector<std::string> folders;
  if (const std::string path = Environment("DEBUGINFOD_CACHE_PATH"); !path.empty()) folders.push_back(path);
  if (const std::string xdg = Environment("XDG_CACHE_HOME"); !xdg.empty())
    folders.push_back(xdg + "/debuginfod_client");
  if (const std::string home = Environment("HOME"); !home.empty()) {
    folders.push_back(home + "/.cache/debuginfod_client");
    folders.push_back(home + "/.debuginfod_client_cache");
  }
  return folders;
}

void AppendDebugLink(const LibJvm& libjvm, std::vector<std::string>* files) {
  const auto file = native::OpenElf(libjvm.path);
  if (!file) return;
  const std::string link = file->DebugLink();
  if (link.empty() || link.find('/') != std::string::npos) return;
  const std::string folder = libjvm.path.substr(0, libjvm.path.rfind('/'));
  files->push_back(folder + "/" + link);
  files->push_back(folder + "/.debug/" + link);
  files->push_back("/usr/lib/debug" + folder + "/" + link);
}

}  // namespace

Result<LibJvm> LibJvm::Locate() {
  std::optional<LibJvm> found;
  dl_iterate_phdr(Visit, &found);
  if (!found) return Error{"no libjvm.so is loaded in this process"};
  if (found->text_begin == 0) return Error{found->path + ": no executable segment"};
  return *found;
}

std::vector<std::string> SymbolFiles(const LibJvm& libjvm) {
  std::vector<std::string> files = {libjvm.path};
  const std::string& id = libjvm.build_id;
  if (id.size() > 2) {
    files.push_back(DebugFileOf(id));
    for (const std::string& folder : DebuginfodFolders())
      files.push_back(std::string(folder).append("/").append(id).append("/debuginfo"));
  }
  AppendDebugLink(libjvm, &files);
  return files;
}

bool SymbolTable::LoadFrom(const std::string& path, const LibJvm& libjvm, SymbolTable* table) {
  const auto file = native::OpenElf(path);
  // A file of another build (a JDK upgraded under a running JVM, an older debug package) would give addresses in the
  // middle of functions. Without a build id only libjvm's own file is used.
  if (!file || !file->HasSection(SHT_SYMTAB) || file->BuildId() != libjvm.build_id) return false;
  if (libjvm.build_id.empty() && path != libjvm.path) return false;
  const auto symbols = file->ReadSymbols(SHT_SYMTAB);
  if (!symbols) return false;
  for (const Elf64_Sym& symbol : symbols->entries) {
    if (symbol.st_shndx == SHN_UNDEF) continue;
    for (Match& match : table->matches_) {
      if (!symbols->StartsWith(symbol, match.prefix)) continue;
      // The unlikely part of a function that the compiler has moved elsewhere, and which only that function enters.
      if (symbols->Name(symbol).ends_with(".cold")) continue;
      const uintptr_t address = libjvm.base + symbol.st_value;
      if (match.count == 0 || match.address != address) ++match.count;
      match.address = address;
    }
  }
  table->origin_ = path;
  return true;
}

Result<SymbolTable> SymbolTable::Load(const LibJvm& libjvm, std::span<const std::string_view> prefixes) {
  SymbolTable table;
  for (const std::string_view prefix : prefixes) table.matches_.push_back({std::string(prefix)});
  for (const std::string& path : SymbolFiles(libjvm))
    if (LoadFrom(path, libjvm, &table)) return table;
  return Error{libjvm.path + ": no symbols: not in the file, nor in a debug file with build id " +
               (libjvm.build_id.empty() ? "(none)" : libjvm.build_id)};
}

Result<SymbolTable> SymbolTable::Load(const LibJvm& libjvm, std::span<const std::string> more) {
  std::vector<std::string_view> prefixes;
  for (const std::string_view name : kInNewTlab) prefixes.push_back(name);
  for (const std::string_view name : kOutsideTlab) prefixes.push_back(name);
  for (const std::string_view name : kAllocatorInitialize) prefixes.push_back(name);
  for (const std::string_view name : kRetireTlab) prefixes.push_back(name);
  prefixes.push_back(kFieldAccessCount);
  prefixes.push_back(kAllStacksOperation);
  prefixes.push_back(kDiagnosticCommand);
  prefixes.push_back(kNextGcId);
  for (const std::string_view name :
       {kMetaspaceUsed, kMetaspaceCommitted, kClassSpaceUsed, kClassSpaceCommitted, kCodeCacheMax, kCodeCacheFree,
        kStackOverflowErrors, kReportOutOfMemory, kSignalHandler})
    prefixes.push_back(name);
  for (const std::string_view name : kOutOfMemoryErrors) prefixes.push_back(name);
  prefixes.insert(prefixes.end(), more.begin(), more.end());
  return Load(libjvm, prefixes);
}

std::optional<uintptr_t> SymbolTable::FindByPrefix(std::string_view mangled_prefix) const {
  for (const Match& match : matches_)
    if (match.prefix == mangled_prefix && match.count == 1) return match.address;
  return std::nullopt;
}

std::optional<uintptr_t> SymbolTable::FindFirst(std::span<const std::string_view> spellings) const {
  for (const std::string_view spelling : spellings)
    if (const auto address = FindByPrefix(spelling)) return address;
  return std::nullopt;
}

}  // namespace heaprec::hotspot
