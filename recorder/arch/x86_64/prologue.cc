#include "recorder/arch/x86_64/prologue.h"

#include <capstone/capstone.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

namespace heaprec::arch {
namespace {

// How far a function is searched for branches back to its start. HotSpot's two tracers are 274 bytes.
constexpr size_t kSearched = 512;

// One decoder and one instruction buffer.
class Decoder {
 public:
  explicit Decoder(std::span<const uint8_t> code, uintptr_t address)
      : next_(code.data()), left_(code.size()), address_(address) {
    open_ = cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) == CS_ERR_OK;
    if (!open_) return;
    cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
    instruction_ = cs_malloc(handle_);
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() {
    if (instruction_ != nullptr) cs_free(instruction_, 1);
    if (open_) cs_close(&handle_);
  }

  // Returns null at the end, and at bytes that are not an instruction.
  const cs_insn* Next() {
    if (instruction_ == nullptr || !cs_disasm_iter(handle_, &next_, &left_, &address_, instruction_)) return nullptr;
    return instruction_;
  }
  bool In(const cs_insn& instruction, unsigned group) const { return cs_insn_group(handle_, &instruction, group); }

 private:
  csh handle_ = 0;
  bool open_ = false;
  cs_insn* instruction_ = nullptr;
  const uint8_t* next_;
  size_t left_;
  uint64_t address_;
};

std::string Text(const cs_insn& instruction) { return std::string(instruction.mnemonic) + " " + instruction.op_str; }

bool LeavesTheLine(const Decoder& decoder, const cs_insn& instruction) {
  for (const unsigned group :
       {CS_GRP_JUMP, CS_GRP_CALL, CS_GRP_RET, CS_GRP_INT, CS_GRP_IRET, CS_GRP_PRIVILEGE, CS_GRP_BRANCH_RELATIVE})
    if (decoder.In(instruction, group)) return true;
  switch (instruction.id) {
    case X86_INS_UD2:
    case X86_INS_SYSCALL:
    case X86_INS_SYSENTER:
    case X86_INS_XBEGIN:
    case X86_INS_XABORT:
      return true;
    default:
      return false;
  }
}

// Whether an operand is relative to the instruction pointer. EIP occurs only with an address size prefix, which
// compilers do not emit.
bool Uses(const cs_insn& instruction, x86_reg base) {
  const cs_x86& x86 = instruction.detail->x86;
  return std::any_of(x86.operands, x86.operands + x86.op_count, [base](const cs_x86_op& operand) {
    return operand.type == X86_OP_MEM && operand.mem.base == base;
  });
}

// Appends the instruction as it must be encoded `shift` bytes further up. Returns an empty string, or the obstacle.
std::string Append(const cs_insn& instruction, int64_t shift, std::vector<uint8_t>* out) {
  const size_t at = out->size();
  out->insert(out->end(), instruction.bytes, instruction.bytes + instruction.size);
  if (Uses(instruction, X86_REG_EIP)) return "relative to eip";
  if (!Uses(instruction, X86_REG_RIP)) return {};
  const cs_x86_encoding& encoding = instruction.detail->x86.encoding;
  if (encoding.disp_size != 4 || encoding.disp_offset == 0 || encoding.disp_offset + 4U > instruction.size)
    return "its displacement was not found";
  int32_t displacement = 0;
  std::memcpy(&displacement, instruction.bytes + encoding.disp_offset, sizeof displacement);
  const int64_t moved = int64_t{displacement} - shift;
  if (moved < std::numeric_limits<int32_t>::min() || moved > std::numeric_limits<int32_t>::max())
    return "its operand is too far from the thunk";
  displacement = static_cast<int32_t>(moved);
  std::memcpy(out->data() + at + encoding.disp_offset, &displacement, sizeof displacement);
  return {};
}

// A branch to the very first byte is allowed: it reaches the jump.
bool BranchesInto(std::span<const uint8_t> source, uintptr_t address, size_t moved) {
  Decoder decoder(source.subspan(0, std::min(source.size(), kSearched)), address);
  while (const cs_insn* const instruction = decoder.Next()) {
    const cs_x86& x86 = instruction->detail->x86;
    if (!decoder.In(*instruction, CS_GRP_JUMP) || x86.op_count != 1 || x86.operands[0].type != X86_OP_IMM) continue;
    const auto to = static_cast<uintptr_t>(x86.operands[0].imm);
    if (to > address && to < address + moved) return true;
  }
  return false;
}

}  // namespace

size_t EndbrSize(std::span<const uint8_t> source) {
  constexpr uint8_t kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  const bool there =
      source.size() >= sizeof kEndbr64 && std::equal(kEndbr64, kEndbr64 + sizeof kEndbr64, source.data());
  return there ? sizeof kEndbr64 : 0;
}

Result<Prologue> MovePrologue(std::span<const uint8_t> source, uintptr_t source_address, uintptr_t new_address,
                              size_t at_least) {
  const auto shift = static_cast<int64_t>(new_address - source_address);
  Decoder decoder(source, source_address);
  Prologue prologue;
  while (prologue.size < at_least) {
    const cs_insn* const instruction = decoder.Next();
    if (instruction == nullptr) return Error{"the function's first bytes are not understood"};
    if (LeavesTheLine(decoder, *instruction))
      return Error{"the function starts with `" + Text(*instruction) + "`, which cannot be moved"};
    const std::string obstacle = Append(*instruction, shift, &prologue.code);
    if (!obstacle.empty()) return Error{"`" + Text(*instruction) + "` cannot be moved: " + obstacle};
    prologue.size += instruction->size;
  }
  if (BranchesInto(source, source_address, prologue.size))
    return Error{"the function branches back into its first " + std::to_string(prologue.size) + " bytes"};
  return prologue;
}

}  // namespace heaprec::arch
