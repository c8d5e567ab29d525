#include "recorder/native/frame_rules.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "recorder/native/frame_program.h"

namespace heaprec::native {
namespace {

// The end of a module's memory that holds both its code and its tables.
struct Module {
  uintptr_t pc = 0;
  const uint8_t* index = nullptr;  // .eh_frame_hdr
  size_t index_bytes = 0;
  uintptr_t begin = 0, end = 0;  // of what is mapped
};

int FindModule(dl_phdr_info* info, size_t, void* into) {
  auto* const module = static_cast<Module*>(into);
  Module found{.pc = module->pc, .begin = UINTPTR_MAX};
  bool is_inside = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr, end = begin + segment.p_memsz;
    if (segment.p_type == PT_LOAD) {
      found.begin = std::min(found.begin, begin);
      found.end = std::max(found.end, end);
      is_inside |= (segment.p_flags & PF_X) != 0 && begin <= found.pc && found.pc < end;
    }
    if (segment.p_type == PT_GNU_EH_FRAME) {
      found.index = reinterpret_cast<const uint8_t*>(begin);
      found.index_bytes = segment.p_memsz;
    }
  }
  if (!is_inside) return 0;
  *module = found;
  return 1;
}

// The table that every linker writes: version 1, pairs of 4-byte offsets from its begin, ascending.
constexpr uint8_t kIndexVersion = 1, kPcRelative4 = 0x1b, kCount4 = 0x03, kPairs4 = 0x3b;
constexpr size_t kIndexHeader = 12;

struct Pair {
  int32_t function, description;
};

// The description of the last function that begins at or before pc; 0: none.
uintptr_t Search(const Module& module) {
  const uint8_t* const index = module.index;
  if (index == nullptr || module.index_bytes < kIndexHeader || index[0] != kIndexVersion || index[1] != kPcRelative4 ||
      index[2] != kCount4 || index[3] != kPairs4) {
    return 0;
  }
  uint32_t count = 0;
  std::memcpy(&count, index + 8, sizeof count);
  if (count > (module.index_bytes - kIndexHeader) / sizeof(Pair)) return 0;
  const auto base = reinterpret_cast<uintptr_t>(index);
  const auto at = [&](size_t i) {
    Pair pair{};
    std::memcpy(&pair, index + kIndexHeader + i * sizeof pair, sizeof pair);
    return pair;
  };
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (base + static_cast<uintptr_t>(int64_t{at(middle).function}) <= module.pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? 0 : base + static_cast<uintptr_t>(int64_t{at(low - 1).description});
}

constexpr int kBaseBits = 2, kOffsetBits = 30;

uint64_t Word(const FrameRule& rule) {
  return static_cast<uint64_t>(rule.base) |
         (static_cast<uint64_t>(static_cast<uint32_t>(rule.cfa_offset)) & ((1U << kOffsetBits) - 1)) << kBaseBits |
         static_cast<uint64_t>(static_cast<uint32_t>(rule.bp_offset)) << 32;
}

FrameRule RuleOf(uint64_t word) {
  const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(word));
  return {static_cast<FrameRule::Base>(word & ((1 << kBaseBits) - 1)), shifted >> kBaseBits,
          static_cast<int32_t>(static_cast<uint32_t>(word >> 32))};
}

uintptr_t At(uintptr_t address) { return *std::bit_cast<const uintptr_t*>(address); }

}  // namespace

FrameRule RuleAt(uintptr_t pc) {
  Module module{.pc = pc};
  if (dl_iterate_phdr(FindModule, &module) != 1) return {};
  const uintptr_t description = Search(module);
  if (description == 0) return {};
  const FrameRule rule = RunFrameProgram({module.begin, module.end}, description, pc);
  // What the words of a slot have no room for is not followed.
  return RuleOf(Word(rule)) == rule ? rule : FrameRule{};
}

FrameRule FrameRules::At(uintptr_t pc) {
  Slot& slot = slots_[SlotOf(pc)];
  const uint64_t known = slot.rule.load(std::memory_order_relaxed);
  if ((slot.check.load(std::memory_order_relaxed) ^ known) == pc) return RuleOf(known);
  const FrameRule rule = RuleAt(pc);
  const uint64_t word = Word(rule);
  slot.rule.store(word, std::memory_order_relaxed);
  slot.check.store(pc ^ word, std::memory_order_relaxed);
  return rule;
}

void FrameRules::Forget() {
  for (Slot& slot : slots_) slot.check.store(0, std::memory_order_relaxed);
}

size_t Unwind(FrameRules* rules, Registers registers, std::span<uintptr_t> into) {
  size_t count = 0;
  while (count < into.size() && registers.pc != 0) {
    into[count++] = registers.pc;
    const FrameRule rule = rules->At(registers.pc - 1);
    if (rule.base != FrameRule::Base::kSp && rule.base != FrameRule::Base::kBp) break;
    const uintptr_t cfa = (rule.base == FrameRule::Base::kSp ? registers.sp : registers.bp) +
                          static_cast<uintptr_t>(int64_t{rule.cfa_offset});
    // Stacks grow down: anything else is no caller's.
    if (cfa <= registers.sp || cfa % sizeof(uintptr_t) != 0) break;
    if (rule.bp_offset != FrameRule::kSame) registers.bp = At(cfa + static_cast<uintptr_t>(int64_t{rule.bp_offset}));
    registers.pc = At(cfa - sizeof(uintptr_t));
    registers.sp = cfa;
  }
  return count;
}

}  // namespace heaprec::native
