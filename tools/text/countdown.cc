#include "tools/text/countdown.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/text/bars.h"
#include "tools/text/terminal.h"

namespace heaprec::tools {
namespace {

constexpr size_t kBar = 30;

}  // namespace

Countdown::Countdown(std::string before, std::string after, double seconds, bool is_wanted)
    : before_(std::move(before)),
      after_(std::move(after)),
      seconds_(seconds),
      is_shown_(is_wanted && isatty(STDERR_FILENO) == 1) {}

Countdown::~Countdown() { Print("\r\x1b[K"); }

void Countdown::Tell() const {
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const double left = std::max(seconds_ - passed, 0.0);
  const bool unicode = Terminal::Of(STDERR_FILENO).unicode;
  Print(fmt::format("\r\x1b[K{} {} {:.0f} s left{}", before_,
                    Bar(seconds_ > 0 ? std::min(passed / seconds_, 1.0) : 1, kBar, unicode), std::ceil(left), after_));
}

void Countdown::Print(const std::string& text) const {
  if (!is_shown_) return;
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace heaprec::tools
