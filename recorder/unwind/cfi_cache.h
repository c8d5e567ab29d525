// Finds the caller of a native frame from .eh_frame, for code without frame pointers.
//
// A rule gives the caller's stack pointer (CFA) relative to sp or bp, and where the caller's bp and the return address
// were saved. More complex cases (expressions, other registers) have no rule, and the stack ends there. bp is the frame
// pointer's register, rbp or x29.
//
// Units:    bytes; addresses of this process.
// Context:  any: no lock, no heap; no call if pcs and pages are known.
// Threads:  any number.
// Failure:  kUnknown. Invalid tables are not read beyond their module. A wrong rule (an error in assembly code, or
//           a library that was replaced) leads to a wrong stack, never to memory that cannot be read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heaprec::native {

struct CfiRow {
  enum class Base : uint8_t {
    kUnknown,  // no rule: not in a module, a signal's frame, an expression
    kEnd,      // the outermost frame
    kSp,
    kBp
  };
  static constexpr int32_t kSame = INT32_MIN;  // bp still has the caller's value
  static constexpr int32_t kPushed = -8;       // where a call pushes the return address

  Base base = Base::kUnknown;
  int32_t cfa_offset = 0;                              // from base
  int32_t bp_offset = kSame, return_offset = kPushed;  // from the CFA

  bool operator==(const CfiRow&) const = default;
};

struct ModuleRange {
  uintptr_t begin = 0, end = 0;
};

// Executes the call frame instructions of a function up to one of its addresses (DWARF 5, section 6.4; .eh_frame of the
// Linux Standard Base).
//
// Context:  any: no lock, no heap, no call.
// Failure:  CfiRow::Base::kUnknown for instructions that it does not support, and for tables that leave their module.
//
// `description`: the address of a function's description entry (FDE).
CfiRow ExecuteCfi(ModuleRange module, uintptr_t description, uintptr_t pc);

// For a frame at `pc`: the return address minus one, so that a call at the very end of a function belongs to it.
CfiRow FindCfiRow(uintptr_t pc);

// Caches rules and readable pages. Zero-initialized. Entries of an unloaded module stay, so call Forget after dlclose.
class CfiCache {
 public:
  CfiRow At(uintptr_t pc);
  // Reads a word of a stack; false if it cannot be read. `trusts_cache`: do not check again a page that was readable
  // once.
  bool Read(uintptr_t address, uintptr_t* into, bool trusts_cache);
  void Forget();

 private:
  static constexpr size_t kSlots = 1 << 14, kPages = 1 << 8;
  static constexpr uintptr_t kPageBytes = 4096;
  // `check` is pc xor rule: words of two different writers do not match any pc.
  struct Slot {
    std::atomic<uint64_t> check{0}, rule{0};
  };
  static size_t SlotOf(uintptr_t pc) { return (pc ^ pc >> 14) % kSlots; }

  Slot slots_[kSlots];
  std::atomic<uintptr_t> pages_[kPages]{};
};

struct Registers {
  uintptr_t pc = 0, sp = 0, bp = 0;
};

// Writes return addresses, innermost first: registers.pc and those of its callers. Returns their number.
size_t Unwind(CfiCache* rules, Registers registers, std::span<uintptr_t> into);

// Captures the native stack of the calling thread: return addresses, innermost first, starting with the one in the
// caller. Returns their number.
size_t UnwindFromHere(CfiCache* rules, std::span<uintptr_t> into);

}  // namespace heaprec::native
