// Writes over code that other threads run.
//
// Context:  setup and drain; serialised by the caller.
// Failure:  Begin is an Error when the kernel or a security module refuses; nothing is changed then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "format/bytes/result.h"

namespace heaprec::arch {

// While one exists, the code at [site, site + size) is writable. Bytes written are seen by every thread after Publish.
class CodePatch {
 public:
  static format::Result<CodePatch> Begin(uintptr_t site, size_t size, int protection);
  CodePatch(CodePatch&& other) noexcept;
  CodePatch(const CodePatch&) = delete;
  CodePatch& operator=(const CodePatch&) = delete;
  CodePatch& operator=(CodePatch&&) = delete;
  ~CodePatch();

  void WriteByte(size_t index, uint8_t byte);
  // Of an address that is a multiple of four: a thread that fetches it meanwhile finds the old word or the new one.
  void WriteWord(size_t index, uint32_t word);
  // The bytes are in memory as code is fetched from it, and every thread of the process has drained its pipeline when
  // this returns: none runs bytes fetched before.
  void Publish();
  // Ends the patch: the old protection is back. False if the kernel refuses, the code then stays writable.
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
