#include "recorder/unwind/cfi_cache.h"

#include <bit>
#include <cstring>

#include "base/memory.h"
#include "recorder/arch/machine.h"
#include "recorder/unwind/module_lookup.h"

namespace heaprec::native {
namespace {

// The table that every linker writes: version 1, ascending pairs of 4-byte offsets from its beginning.
constexpr uint8_t kIndexVersion = 1, kPcRelative4 = 0x1b, kCount4 = 0x03, kPairs4 = 0x3b;
constexpr size_t kIndexHeader = 12;

struct Pair {
  int32_t function, description;
};

// Returns the description of the last function that begins at or before pc; 0: none.
uintptr_t Search(const ModuleUnwindInfo& module, uintptr_t pc) {
  const uint8_t* const index = module.index;
  const auto base = reinterpret_cast<uintptr_t>(index);
  if (base < module.begin || base >= module.end || module.end - base < kIndexHeader || index[0] != kIndexVersion ||
      index[1] != kPcRelative4 || index[2] != kCount4 || index[3] != kPairs4) {
    return 0;
  }
  uint32_t count = 0;
  std::memcpy(&count, index + 8, sizeof count);
  if (count > (module.end - base - kIndexHeader) / sizeof(Pair)) return 0;
  const auto at = [&](size_t i) {
    Pair pair{};
    std::memcpy(&pair, index + kIndexHeader + i * sizeof pair, sizeof pair);
    return pair;
  };
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (base + static_cast<uintptr_t>(int64_t{at(middle).function}) <= pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? 0 : base + static_cast<uintptr_t>(int64_t{at(low - 1).description});
}

constexpr int kBaseBits = 2, kOffsetBits = 30, kHalfBits = 16;

// If calls push the return address, its location is fixed; otherwise both offsets are stored in halves of a word, in
// units of words.
constexpr int32_t kUnit = sizeof(uintptr_t);
uint32_t Half(int32_t offset) { return static_cast<uint16_t>(offset == CfiRow::kSame ? INT16_MIN : offset / kUnit); }
int32_t FromHalf(uint32_t half) {
  const auto units = static_cast<int16_t>(half);
  return units == INT16_MIN ? CfiRow::kSame : units * kUnit;
}
uint32_t Saved(const CfiRow& rule) {
  if constexpr (arch::kCallPushesReturnAddress) return static_cast<uint32_t>(rule.bp_offset);
  return Half(rule.bp_offset) | Half(rule.return_offset) << kHalfBits;
}

uint64_t Word(const CfiRow& rule) {
  return static_cast<uint64_t>(rule.base) |
         (static_cast<uint64_t>(static_cast<uint32_t>(rule.cfa_offset)) & ((1U << kOffsetBits) - 1)) << kBaseBits |
         uint64_t{Saved(rule)} << 32;
}

CfiRow RuleOf(uint64_t word) {
  const auto shifted = static_cast<int32_t>(static_cast<uint32_t>(word));
  const auto saved = static_cast<uint32_t>(word >> 32);
  CfiRow rule{static_cast<CfiRow::Base>(word & ((1 << kBaseBits) - 1)), shifted >> kBaseBits};
  if constexpr (arch::kCallPushesReturnAddress) {
    rule.bp_offset = static_cast<int32_t>(saved);
  } else {
    rule.bp_offset = FromHalf(saved);
    rule.return_offset = FromHalf(saved >> kHalfBits);
  }
  return rule;
}

}  // namespace

CfiRow FindCfiRow(uintptr_t pc) {
  ModuleUnwindInfo module;
  if (!LookUpModule(pc, &module)) return {};
  const uintptr_t description = Search(module, pc);
  if (description == 0) return {};
  const CfiRow rule = ExecuteCfi({module.begin, module.end}, description, pc);
  // Offsets that the slot's words cannot represent are not supported.
  return RuleOf(Word(rule)) == rule ? rule : CfiRow{};
}

CfiRow CfiCache::At(uintptr_t pc) {
  Slot& slot = slots_[SlotOf(pc)];
  const uint64_t known = slot.rule.load(std::memory_order_relaxed);
  if ((slot.check.load(std::memory_order_relaxed) ^ known) == pc) return RuleOf(known);
  const CfiRow rule = FindCfiRow(pc);
  const uint64_t word = Word(rule);
  slot.rule.store(word, std::memory_order_relaxed);
  slot.check.store(pc ^ word, std::memory_order_relaxed);
  return rule;
}

void CfiCache::Forget() {
  RenewModules();
  for (Slot& slot : slots_) slot.check.store(0, std::memory_order_relaxed);
  for (std::atomic<uintptr_t>& page : pages_) page.store(0, std::memory_order_relaxed);
}

bool CfiCache::Read(uintptr_t address, uintptr_t* into, bool trusts_cache) {
  const uintptr_t page = address / kPageBytes;
  std::atomic<uintptr_t>& known = pages_[page % kPages];
  if (address % sizeof(uintptr_t) != 0) return false;
  if (!trusts_cache || known.load(std::memory_order_relaxed) != page) {
    if (!IsReadable(address)) return false;
    known.store(page, std::memory_order_relaxed);
  }
  *into = *std::bit_cast<const uintptr_t*>(address);
  return true;
}

size_t Unwind(CfiCache* rules, Registers registers, std::span<uintptr_t> into) {
  // A larger step may lead out of the stack, into memory that was unmapped since its pages were checked.
  constexpr uintptr_t kMaxTrustedStep = 64 << 10;
  bool trusts_pages = true;
  size_t count = 0;
  while (count < into.size() && registers.pc != 0) {
    into[count++] = registers.pc;
    const CfiRow rule = rules->At(registers.pc - 1);
    if (rule.base != CfiRow::Base::kSp && rule.base != CfiRow::Base::kBp) break;
    const uintptr_t cfa = (rule.base == CfiRow::Base::kSp ? registers.sp : registers.bp) +
                          static_cast<uintptr_t>(int64_t{rule.cfa_offset});
    // Stacks grow down: any other address is not a caller's.
    if (cfa <= registers.sp) break;
    trusts_pages = trusts_pages && cfa - registers.sp <= kMaxTrustedStep;
    const auto read = [&](int32_t offset, uintptr_t* into) {
      return rules->Read(cfa + static_cast<uintptr_t>(int64_t{offset}), into, trusts_pages);
    };
    if (!read(rule.return_offset, &registers.pc)) break;
    registers.pc = arch::WithoutSignature(registers.pc);
    const bool saves_bp = rule.bp_offset != CfiRow::kSame;
    if (saves_bp && !read(rule.bp_offset, &registers.bp)) break;
    registers.sp = cfa;
  }
  return count;
}

}  // namespace heaprec::native
