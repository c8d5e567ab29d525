#include "tools/text/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/text/terminal.h"

namespace heaprec::tools {
namespace {

constexpr std::chrono::milliseconds kPatience{1000}, kBetween{100};
constexpr size_t kBar = 30, kLongestName = 40;

void Print(const std::string& text) {
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Progress::Progress(std::string name, uint64_t total, StdoutUse stdout_use)
    : name_(std::move(name)), total_(total), is_shown_(total > 0 && isatty(STDERR_FILENO) == 1) {
  if (stdout_use == StdoutUse::kOutput && isatty(STDOUT_FILENO) == 1) is_shown_ = false;
  if (is_shown_) next_ = Clock::now() + kPatience;
}

void Progress::Show(uint64_t bytes) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kBetween;
  has_line_ = true;
  const bool unicode = Terminal::Of(STDERR_FILENO).unicode;
  const double part = std::min(1.0, static_cast<double>(bytes) / static_cast<double>(total_));
  Print(fmt::format("\r\x1b[K{} {} {:.0f} %", Shortened(name_, kLongestName, unicode), Bar(part, kBar, unicode),
                    100 * part));
}

Progress::~Progress() {
  if (has_line_) Print("\r\x1b[K");
}

Countdown::Countdown(std::string before, std::string after, double seconds, bool is_wanted)
    : before_(std::move(before)),
      after_(std::move(after)),
      seconds_(seconds),
      is_shown_(is_wanted && isatty(STDERR_FILENO) == 1) {}

Countdown::~Countdown() {
  if (is_shown_) Print("\r\x1b[K");
}

void Countdown::Tell() const {
  if (!is_shown_) return;
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const double left = std::max(seconds_ - passed, 0.0);
  const bool unicode = Terminal::Of(STDERR_FILENO).unicode;
  Print(fmt::format("\r\x1b[K{} {} {:.0f} s left{}", before_,
                    Bar(seconds_ > 0 ? std::min(passed / seconds_, 1.0) : 1, kBar, unicode), std::ceil(left), after_));
}

}  // namespace heaprec::tools
