// Text on its way to a descriptor, gathered in memory and written in big pieces.
//
// Failure:  a closed pipe and a failed write both end it: failed() from then on, and what comes is dropped. status()
//           says which of the two it was.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/text/exit_code.h"

namespace heaprec::tools {

class Output {
 public:
  // Does not own the descriptor.
  explicit Output(int descriptor) : descriptor_(descriptor) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  fmt::memory_buffer& text() { return text_; }
  void Append(std::string_view text) { text_.append(text.data(), text.data() + text.size()); }
  void Append(const std::vector<std::byte>& bytes) {
    Append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    Tick();
  }
  // Call after each event: writes when enough has gathered.
  void Tick() {
    if (text_.size() >= kPiece) Flush();
  }
  void Flush();

  bool failed() const { return error_ != 0; }
  // kOk also for a closed pipe: who closed it has seen enough.
  ExitCode status() const;
  // Says on stderr why writing to `name` failed, unless it did not.
  ExitCode Report(const std::string& name) const;

 private:
  static constexpr size_t kPiece = 1 << 17;
  const int descriptor_;
  int error_ = 0;
  fmt::memory_buffer text_;
};

}  // namespace heaprec::tools
