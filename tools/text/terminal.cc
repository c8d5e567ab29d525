#include "tools/text/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

namespace heaprec::tools {
namespace {

std::string_view Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool IsUtf8Locale() {
  std::string_view locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (locale.empty()) locale = Variable(name);
  }
  for (const char* charset : {"UTF-8", "utf-8", "UTF8", "utf8"}) {
    if (locale.find(charset) != std::string_view::npos) return true;
  }
  return false;
}

size_t Columns(int descriptor) {
  const int columns = std::atoi(std::string(Variable("COLUMNS")).c_str());
  if (columns > 0) return static_cast<size_t>(columns);
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Return the first, or the last, `count` characters.
std::string_view First(std::string_view text, size_t count) {
  size_t at = 0;
  while (at < text.size() && (count > 0 || IsContinuation(text[at]))) count -= !IsContinuation(text[at++]);
  return text.substr(0, at);
}

std::string_view Last(std::string_view text, size_t count) {
  return text.substr(First(text, WidthOf(text) - std::min(count, WidthOf(text))).size());
}

// The end of the packages: before the first segment that begins like a class, or before the last two ("Class.method").
std::vector<std::string_view> Packages(std::string_view name) {
  std::vector<std::string_view> packages;
  for (size_t dot = name.find('.'); dot != std::string_view::npos && dot > 0; dot = name.find('.')) {
    const std::string_view segment = name.substr(0, dot);
    if ((segment[0] >= 'A' && segment[0] <= 'Z') || segment.find_first_of(" (/") != std::string_view::npos) break;
    packages.push_back(segment);
    name.remove_prefix(dot + 1);
  }
  return packages;
}

constexpr std::array<std::string_view, 9> kAcross{" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::array<std::string_view, 9> kUp{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> kAsciiUp{" ", "_", "_", ".", "-", "-", "=", "*", "#"};

// In eighths of a column; at least one if the part is not 0.
size_t Eighths(double part, size_t columns) {
  const double clipped = std::clamp(std::isfinite(part) ? part : 0, 0.0, 1.0);
  const auto eighths = static_cast<size_t>(std::lround(clipped * static_cast<double>(8 * columns)));
  return clipped > 0 ? std::max<size_t>(eighths, 1) : 0;
}

}  // namespace

Terminal Terminal::Of(int descriptor) {
  const bool is_terminal = isatty(descriptor) == 1;
  Terminal terminal;
  terminal.width = Columns(descriptor);
  terminal.colour = is_terminal && Variable("NO_COLOR").empty() && Variable("TERM") != "dumb";
  terminal.unicode = IsUtf8Locale();
  return terminal;
}

std::string Terminal::In(std::string_view code, std::string_view text) const {
  if (!colour || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

size_t WidthOf(std::string_view utf8) {
  return static_cast<size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) { return !IsContinuation(c); }));
}

std::string Shortened(std::string_view name, size_t width, bool unicode) {
  if (width == 0 || WidthOf(name) <= width) return std::string(name);
  std::string initials;
  for (const std::string_view package : Packages(name)) {
    if (WidthOf(initials) + WidthOf(name) <= width) break;
    initials.append(First(package, 1)).append(".");
    name.remove_prefix(package.size() + 1);
  }
  std::string text = initials + std::string(name);
  if (WidthOf(text) <= width) return text;
  const std::string_view gap = unicode ? "…" : "~";
  const size_t kept = width - std::min(width, WidthOf(gap));
  return std::string(First(text, kept / 2)).append(gap).append(Last(text, kept - kept / 2));
}

std::string Bar(double part, size_t width, bool unicode) {
  size_t left = Eighths(part, width);
  std::string bar;
  for (size_t column = 0; column < width; ++column) {
    const size_t here = std::min<size_t>(left, 8);
    bar += unicode ? kAcross[here] : here > (column == 0 ? 0 : 4) ? "#" : " ";
    left -= here;
  }
  return bar;
}

std::string ChartLine(std::span<const double> values, double most, size_t row, size_t rows, bool unicode) {
  const size_t below = 8 * (rows - 1 - row);
  std::string line;
  for (const double value : values) {
    const size_t eighths = most > 0 ? Eighths(value / most, rows) : 0;
    const size_t here = std::min<size_t>(eighths - std::min(eighths, below), 8);
    line += unicode ? kUp[here] : kAsciiUp[here];
  }
  return line;
}

std::string Sparkline(std::span<const double> values, double most, bool unicode) {
  return ChartLine(values, most, 0, 1, unicode);
}

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
