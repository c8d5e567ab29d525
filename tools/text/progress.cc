#include "tools/text/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "tools/text/bars.h"
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

}  // namespace heaprec::tools
