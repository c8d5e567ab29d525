// How to get from a native frame to its caller's, from .eh_frame: for code without frame pointers.
//
// A rule says where the caller's stack pointer (CFA) is from sp or bp, and where the caller's bp and the return address
// were saved. What needs more than that (expressions, other registers) has none: a stack ends there. bp: the register
// of the frame pointer, rbp or x29.
//
// Units:    bytes; addresses of this process.
// Context:  any: no lock, no heap; where pcs and pages are known no call.
// Threads:  any number.
// Failure:  kUnknown. Tables that are not as they should be are not tracked out of their module. A rule that is wrong
//           (an assembler's author wrote it, or the library is not the one that it was) leads to a wrong stack, never
//           to memory that cannot be read.
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
  static constexpr int32_t kSame = INT32_MIN;  // bp is the caller's already
  static constexpr int32_t kPushed = -8;       // where a call pushes the return address

  Base base = Base::kUnknown;
  int32_t cfa_offset = 0;                              // from base
  int32_t bp_offset = kSame, return_offset = kPushed;  // from the CFA

  bool operator==(const CfiRow&) const = default;
};

// For a frame that stands at `pc`: a return address less one, so that a call at the very end of a function is its.
CfiRow FindCfiRow(uintptr_t pc);

// Rules that were asked for, and pages that could be read. A module that is unloaded leaves its own behind: Forget,
// after dlclose.
class CfiCache {
 public:
  CfiRow At(uintptr_t pc);
  // A word of a stack; false: there is none.
  bool Read(uintptr_t address, uintptr_t* into);
  void Forget();

 private:
  static constexpr size_t kSlots = 1 << 14, kPages = 1 << 8;
  static constexpr uintptr_t kPageBytes = 4096;
  // `check` is pc xor rule: who reads two words of different writers does not find his pc.
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

// Return addresses, the innermost first: registers.pc and its callers'. Answers how many.
size_t Unwind(CfiCache* rules, Registers registers, std::span<uintptr_t> into);

}  // namespace heaprec::native
