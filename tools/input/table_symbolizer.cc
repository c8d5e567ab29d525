#include "tools/input/table_symbolizer.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "tools/input/open_elf.h"

namespace heaprec::tools {
namespace {

// "b" would be demangled, too: as the type bool.
std::string NameOf(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         std::free);
  return status == 0 ? demangled.get() : symbol;
}

}  // namespace

const LoadedModule* TableSymbolizer::ModuleOf(uint64_t pc, uint32_t replaced) const {
  const auto found = std::find_if(modules_.rbegin(), modules_.rend(),
                                  [=](const LoadedModule& module) { return module.Holds(pc, replaced); });
  return found == modules_.rend() ? nullptr : &*found;
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
  // A call at the very end of a function returns behind it. By now there may be another file under the module's name.
  const ElfFunctions& functions = functions_.try_emplace(module, module->path, module->build_id, OpenElf).first->second;
  auto [symbol, offset] = functions.At(address - 1);
  function.is_known = !symbol.empty();
  function.name = function.is_known ? NameOf(symbol) : fmt::format("{}+{:#x}", function.module, address);
  function.symbol = std::move(symbol);
  function.offset = offset;
  return function;
}

}  // namespace heaprec::tools
