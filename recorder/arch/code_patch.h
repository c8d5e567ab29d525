// Changes code that other threads execute.
//
// Context:  setup and drain; serialised by the caller.
// Failure:  Begin returns an Error if the kernel or a security module refuses; then nothing is changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace heaprec::arch {

// While a CodePatch exists, the code at [site, site + size) is writable. After Publish all threads see the
// written bytes.
class CodePatch {
 public:
  static format::Result<CodePatch> Begin(uintptr_t site, size_t size, int protection);
  CodePatch(CodePatch&& other) noexcept;
  CodePatch(const CodePatch&) = delete;
  CodePatch& operator=(const CodePatch&) = delete;
  CodePatch& operator=(CodePatch&&) = delete;
  ~CodePatch();

  void WriteByte(size_t index, uint8_t byte);
  // Its address is a multiple of four: a thread that fetches it meanwhile gets the old word or the new one.
  void WriteWord(size_t index, uint32_t word);
  // Makes the bytes visible to instruction fetches. When it returns, every thread of the process has drained its
  // pipeline: none executes bytes that it fetched before.
  void Publish();
  // Restores the old protection. False if the kernel refuses; the code then stays writable.
  bool End();

 private:
  CodePatch(uintptr_t site, size_t size, int protection);
  bool Protect(int protection) const;

  uintptr_t site_;
  size_t size_;
  int protection_;
  bool open_ = true;
};

}  // namespace heaprec::arch
