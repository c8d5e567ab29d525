#include "recorder/native_count/preload_options.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/option_text.h"
#include "base/writes.h"
#include "format/native/native_table.h"

namespace heaprec::native {
namespace {

// Writes a line on stderr in one write. Drops it if that would block.
template <typename... Pieces>
void Print(Pieces... pieces) {
  const std::string_view texts[] = {"heaprec: ", pieces..., "\n"};
  iovec parts[sizeof...(Pieces) + 2];
  for (size_t i = 0; i < std::size(texts); ++i) {
    parts[i] = {const_cast<char*>(texts[i].data()), texts[i].size()};
  }
  if (!IsStandardError(STDERR_FILENO) || WouldWait(STDERR_FILENO)) return;
  const WriteSignals blocked;
  [[maybe_unused]] const ssize_t ignored = writev(STDERR_FILENO, parts, static_cast<int>(std::size(parts)));
}

bool Copy(std::string_view value, std::span<char> into) {
  if (value.empty() || value.size() >= into.size()) return false;
  char* end = into.data();
  for (size_t at = 0; at < value.size(); ++at) *end++ = IsEscape(value, at) ? value[++at] : value[at];
  *end = 0;
  return true;
}

bool ParseDepth(std::string_view value, uint32_t* into) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *into);
  return error == std::errc() && end == value.data() + value.size() && *into >= 1 && *into <= format::kMaxNativeFrames;
}

bool Set(std::string_view key, std::string_view value, ExactOptions* into) {
  bool ok = false;
  const char* valid = "";
  if (key == "file") {
    ok = Copy(value, into->file);
    valid = "a path of at most 511 bytes; %p is the process id";
  } else if (key == "depth") {
    ok = ParseDepth(value, &into->depth);
    valid = "1 to 29";
  } else if (key == "only") {
    ok = Copy(value, into->only);
    valid = "the name of a program's file";
  } else if (key == "check") {
    into->check = ok = value == "on" || value.empty();
    valid = "on";
  } else {
    Print("HEAPREC_NATIVE_EXACT: no option `", key,
          "`; options: check, depth, file, only; native memory is not recorded");
    return false;
  }
  if (!ok) Print("HEAPREC_NATIVE_EXACT: ", key, "=", value, ": ", valid, "; native memory is not recorded");
  return ok;
}

size_t AppendNumber(uint32_t number, std::span<char> into) {
  const auto [end, error] = std::to_chars(into.data(), into.data() + into.size(), number);
  return error == std::errc() ? static_cast<size_t>(end - into.data()) : 0;
}

}  // namespace

bool ParseExactOptions(const char* text, ExactOptions* into) {
  std::string_view rest = text != nullptr ? text : "";
  while (!rest.empty()) {
    const std::string_view option = TakePart(&rest);
    if (option.empty()) continue;
    const size_t equals = std::min(option.find('='), option.size());
    std::string_view value = option;
    value.remove_prefix(std::min(equals + 1, option.size()));
    if (!Set({option.data(), equals}, value, into)) return false;
  }
  return true;
}

bool IsChosen(const ExactOptions& options) {
  if (options.only[0] == 0) return true;
  char path[kMaxPath];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  std::string_view program(path, static_cast<size_t>(std::max<ssize_t>(length, 0)));
  program.remove_prefix(program.rfind('/') + 1);
  return program == options.only;
}

void ExpandPath(const char* pattern, std::span<char, kMaxPath> into) {
  size_t at = 0;
  const auto room = [&] { return into.subspan(at, into.size() - 1 - at); };
  for (; *pattern != 0 && !room().empty(); ++pattern) {
    if (*pattern == '%' && pattern[1] == 'p') {
      at += AppendNumber(static_cast<uint32_t>(getpid()), room());
      ++pattern;
    } else {
      into[at++] = *pattern;
    }
  }
  into[at] = 0;
}

void TablePath(std::span<char, kMaxPath> into) { ExpandPath("/dev/shm/heaprec-native-%p", into); }

void ReportNotRecorded(const char* path, const char* why) {
  Print(std::string_view(path), ": ", std::string_view(why), "; native memory is not recorded");
}

void ReportTableLocation(const char* path, const char* why, const char* table) {
  Print(std::string_view(path), ": ", std::string_view(why), "; the table of native memory is ",
        std::string_view(table));
}

void ReportOverrun(size_t size, const char* path) {
  char digits[24];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), size).ptr;
  Print("a block of ", std::string_view(digits, static_cast<size_t>(end - digits)),
        " bytes was written past its end; 'heaprec native' shows who allocated it: ", std::string_view(path));
}

}  // namespace heaprec::native
