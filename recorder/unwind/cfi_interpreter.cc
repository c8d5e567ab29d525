#include <cstring>

#include "recorder/arch/machine.h"
#include "recorder/unwind/cfi_cache.h"

namespace heaprec::native {
namespace {

constexpr int kMaxRemembered = 8;

// Reads forward inside a range. Past its end it returns zeros, and ok() is false.
class Reader {
 public:
  Reader(uintptr_t at, uintptr_t end) : at_(at), end_(end) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ >= end_; }
  uintptr_t at() const { return at_; }

  template <typename T>
  T Take() {
    T value{};
    if (!ok_ || end_ - at_ < sizeof value || at_ > end_) {
      ok_ = false;
      at_ = end_;
      return value;
    }
    std::memcpy(&value, reinterpret_cast<const void*>(at_), sizeof value);  // NOLINT(performance-no-int-to-ptr)
    at_ += sizeof value;
    return value;
  }
  uint64_t Unsigned() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = Take<uint8_t>();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    ok_ = false;
    return 0;
  }
  int64_t Signed() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64;) {
      const auto byte = Take<uint8_t>();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
    ok_ = false;
    return 0;
  }
  void Skip(uint64_t bytes) {
    if (bytes > end_ - at_) {
      ok_ = false;
      at_ = end_;
      return;
    }
    at_ += bytes;
  }
  // Returns an address stored with `encoding`; 0 for encodings that current compilers do not use here.
  uintptr_t Pointer(uint8_t encoding) {
    const uintptr_t from = (encoding & 0x70) == 0x10 ? at_ : 0;
    switch (encoding & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c:
        return from + Take<uint64_t>();
      case 0x03:
        return from + Take<uint32_t>();
      case 0x0b:
        return from + static_cast<uintptr_t>(int64_t{Take<int32_t>()});
      default:
        ok_ = false;
        return 0;
    }
  }

 private:
  uintptr_t at_, end_;
  bool ok_ = true;
};

// The common information of several entries (CIE).
struct Common {
  uint64_t code_unit = 1;
  int64_t data_unit = 1;
  uint8_t pointer_encoding = 0;
  bool has_augmentation = false, is_signal = false;
  Reader program{0, 0};
  bool ok = false;
};

// Returns the bytes of the entry at `at`, after its length.
Reader Entry(ModuleRange module, uintptr_t at) {
  if (at < module.begin || at >= module.end) return {1, 0};
  Reader reader(at, module.end);
  const auto length = reader.Take<uint32_t>();
  if (!reader.ok() || length == 0 || length == UINT32_MAX || length > module.end - reader.at()) return {1, 0};
  return {reader.at(), reader.at() + length};
}

Common ReadCommon(ModuleRange module, uintptr_t at) {
  Common common;
  Reader entry = Entry(module, at);
  if (entry.AtEnd() || entry.Take<uint32_t>() != 0) return common;
  const auto version = entry.Take<uint8_t>();
  if (version != 1 && version != 3) return common;
  char augmentation[8] = {};
  for (size_t i = 0;; ++i) {
    const auto letter = entry.Take<uint8_t>();
    if (letter == 0) break;
    if (i + 1 == sizeof augmentation) return common;
    augmentation[i] = static_cast<char>(letter);
  }
  common.code_unit = entry.Unsigned();
  common.data_unit = entry.Signed();
  if ((version == 1 ? entry.Take<uint8_t>() : entry.Unsigned()) != arch::kDwarfReturnAddress) return common;
  if (augmentation[0] == 'z') {
    common.has_augmentation = true;
    const uint64_t bytes = entry.Unsigned();
    const uintptr_t program = entry.at() + bytes;
    for (const char* letter = augmentation + 1; *letter != 0; ++letter) {
      if (*letter == 'R') {
        common.pointer_encoding = entry.Take<uint8_t>();
      } else if (*letter == 'S') {
        common.is_signal = true;
      } else if (*letter == 'L') {
        (void)entry.Take<uint8_t>();
      } else if (*letter == 'P') {
        (void)entry.Pointer(entry.Take<uint8_t>());
      } else if (*letter != 'B') {
        return common;
      }
    }
    if (program < entry.at()) return common;
    entry.Skip(program - entry.at());
  } else if (augmentation[0] != 0) {
    return common;
  }
  common.program = entry;
  common.ok = entry.ok();
  return common;
}

struct State {
  bool is_known = false;  // whether the CFA is known
  bool is_end = false;    // the return address is undefined
  bool bp_is_known = true;
  // False until a function has saved it, on machines where calls do not push it.
  bool return_is_known = arch::kCallPushesReturnAddress;
  uint64_t base = arch::kDwarfStackPointer;
  int64_t cfa_offset = 0, bp_offset = CfiRow::kSame, return_offset = CfiRow::kPushed;
};

class Machine {
 public:
  explicit Machine(const Common& common) : common_(common) {}

  // Runs up to the first address after `pc`, or to the end. Returns false at an unsupported instruction.
  bool Run(Reader program, uintptr_t at, uintptr_t pc) {
    while (!program.AtEnd()) {
      const auto code = program.Take<uint8_t>();
      if (!program.ok()) return false;
      uint64_t advance = 0;
      if (!Step(code, &program, &advance)) return false;
      at += advance * common_.code_unit;
      if (at > pc) break;
    }
    return program.ok();
  }
  void Begin() { initial_ = state_; }
  const State& state() const { return state_; }

 private:
  // Modulo 2^64, because a damaged section may contain any number.
  int64_t InDataUnits(uint64_t number) const {
    return static_cast<int64_t>(number * static_cast<uint64_t>(common_.data_unit));
  }

  bool Step(uint8_t code, Reader* program, uint64_t* advance) {
    const uint8_t low = code & 0x3f;
    switch (code >> 6) {
      case 1:
        *advance = low;
        return true;
      case 2:
        Saved(low, InDataUnits(program->Unsigned()));
        return true;
      case 3:
        Restore(low);
        return true;
      default:
        return Extended(low, program, advance);
    }
  }

  bool Extended(uint8_t code, Reader* program, uint64_t* advance) {
    switch (code) {
      case 0x00:  // nop
        return true;
      case 0x02:
        *advance = program->Take<uint8_t>();
        return true;
      case 0x03:
        *advance = program->Take<uint16_t>();
        return true;
      case 0x04:
        *advance = program->Take<uint32_t>();
        return true;
      case 0x0a:  // remember
        if (remembered_ == kMaxRemembered) return false;
        stack_[remembered_++] = state_;
        return true;
      case 0x0b:  // restore what was remembered
        if (remembered_ == 0) return false;
        state_ = stack_[--remembered_];
        return true;
      case 0x0c: {
        const uint64_t base = program->Unsigned();
        return Cfa(base, static_cast<int64_t>(program->Unsigned()));
      }
      case 0x0d:
        return Cfa(program->Unsigned(), state_.cfa_offset);
      case 0x0e:
        return Cfa(state_.base, static_cast<int64_t>(program->Unsigned()));
      case 0x0f: {  // an expression
        program->Skip(program->Unsigned());
        state_.is_known = false;
        return true;
      }
      case 0x12: {
        const uint64_t base = program->Unsigned();
        return Cfa(base, InDataUnits(static_cast<uint64_t>(program->Signed())));
      }
      case 0x13:
        return Cfa(state_.base, InDataUnits(static_cast<uint64_t>(program->Signed())));
      case 0x2d:  // from here on the return address is signed, or is not
        return arch::kSignsReturnAddresses;
      case 0x2e:  // size of arguments
        (void)program->Unsigned();
        return true;
      default:
        return ExecuteRegisterRule(code, program);
    }
  }

  bool ExecuteRegisterRule(uint8_t code, Reader* program) {
    const uint64_t number = program->Unsigned();
    switch (code) {
      case 0x05: {  // saved
        Saved(number, InDataUnits(program->Unsigned()));
        return true;
      }
      case 0x11:
        Saved(number, InDataUnits(static_cast<uint64_t>(program->Signed())));
        return true;
      case 0x06:
        Restore(number);
        return true;
      case 0x07:  // undefined
        if (number == arch::kDwarfReturnAddress) state_.is_end = true;
        if (number == arch::kDwarfFramePointer) state_.bp_is_known = false;
        return true;
      case 0x08:  // the same
        if (number == arch::kDwarfFramePointer) Forget();
        return number != arch::kDwarfReturnAddress;
      case 0x09:  // in another register
      case 0x14:  // values
      case 0x15:
        (void)program->Unsigned();
        Lose(number);
        return true;
      case 0x10:  // expressions
      case 0x16:
        program->Skip(program->Unsigned());
        Lose(number);
        return true;
      default:
        return false;
    }
  }

  bool Cfa(uint64_t base, int64_t offset) {
    state_.is_known = base == arch::kDwarfStackPointer || base == arch::kDwarfFramePointer;
    state_.base = base;
    state_.cfa_offset = offset;
    return true;
  }
  void Saved(uint64_t number, int64_t offset) {
    if (number == arch::kDwarfFramePointer) {
      state_.bp_offset = offset;
      state_.bp_is_known = true;
    }
    if (number == arch::kDwarfReturnAddress) {
      state_.return_offset = offset;
      state_.return_is_known = !arch::kCallPushesReturnAddress || offset == CfiRow::kPushed;
    }
  }
  void Restore(uint64_t number) {
    if (number == arch::kDwarfFramePointer) {
      state_.bp_offset = initial_.bp_offset;
      state_.bp_is_known = initial_.bp_is_known;
    }
    if (number == arch::kDwarfReturnAddress) {
      state_.return_is_known = initial_.return_is_known;
      state_.return_offset = initial_.return_offset;
      state_.is_end = initial_.is_end;
    }
  }
  void Forget() {
    state_.bp_offset = CfiRow::kSame;
    state_.bp_is_known = true;
  }
  void Lose(uint64_t number) {
    if (number == arch::kDwarfFramePointer) state_.bp_is_known = false;
    if (number == arch::kDwarfReturnAddress) state_.return_is_known = false;
  }

  const Common& common_;
  State state_, initial_;
  State stack_[kMaxRemembered];
  int remembered_ = 0;
};

CfiRow RuleOf(const State& state) {
  CfiRow rule;
  if (state.is_end) {
    rule.base = CfiRow::Base::kEnd;
    return rule;
  }
  const bool fits = state.cfa_offset == static_cast<int32_t>(state.cfa_offset) &&
                    state.bp_offset == static_cast<int32_t>(state.bp_offset) &&
                    state.return_offset == static_cast<int32_t>(state.return_offset);
  // If bp is lost, the callers' rules cannot use it either.
  if (!state.is_known || !state.return_is_known || !state.bp_is_known || !fits) return rule;
  rule.base = state.base == arch::kDwarfStackPointer ? CfiRow::Base::kSp : CfiRow::Base::kBp;
  rule.cfa_offset = static_cast<int32_t>(state.cfa_offset);
  rule.bp_offset = static_cast<int32_t>(state.bp_offset);
  rule.return_offset = static_cast<int32_t>(state.return_offset);
  return rule;
}

}  // namespace

CfiRow ExecuteCfi(ModuleRange module, uintptr_t description, uintptr_t pc) {
  Reader entry = Entry(module, description);
  if (entry.AtEnd()) return {};
  const uintptr_t here = entry.at();
  const Common common = ReadCommon(module, here - entry.Take<uint32_t>());
  if (!common.ok) return {};
  const uintptr_t begin = entry.Pointer(common.pointer_encoding);
  const uintptr_t bytes = entry.Pointer(common.pointer_encoding & 0x0f);
  if (!entry.ok() || pc < begin || pc - begin >= bytes || common.is_signal) return {};
  if (common.has_augmentation) entry.Skip(entry.Unsigned());
  Machine machine(common);
  if (!machine.Run(common.program, begin, UINTPTR_MAX)) return {};
  machine.Begin();
  if (!machine.Run(entry, begin, pc)) return {};
  return RuleOf(machine.state());
}

}  // namespace heaprec::native
