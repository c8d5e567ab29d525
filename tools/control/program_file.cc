#include "tools/control/program_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "tools/control/child.h"
#include "tools/input/confined_open.h"

namespace heaprec::tools {
namespace {

namespace fs = std::filesystem;

constexpr char kShell[] = "/bin/sh";
constexpr int kMaxInterpreters = 4;  // as the kernel
// Each has a malloc of its own, which has to come first.
constexpr std::array<std::string_view, 4> kSanitizers{"libasan.", "libtsan.", "libhwasan.", "libmsan."};
constexpr std::array<std::string_view, 4> kInsideSanitizers{"__asan_init", "__tsan_init", "__hwasan_init",
                                                            "__msan_init"};

std::string FirstLine(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line(256, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<size_t>(file.gcount()));
  line.erase(std::min(line.find('\n'), line.size()));
  return line;
}

// "#!/usr/bin/env python3": python3, where PATH has it.
std::string InterpreterOf(const std::string& line) {
  std::istringstream words(line.substr(2));
  std::string interpreter, argument;
  words >> interpreter;
  if (fs::path(interpreter).filename() != "env") return interpreter;
  while (words >> argument) {
    if (!argument.starts_with('-') && argument.find('=') == std::string::npos) return FindInPath(argument);
  }
  return interpreter;
}

bool HasSanitizer(const ElfFile& program) {
  for (const std::string& library : program.Needed()) {
    const auto is_named = [&](std::string_view one) { return library.starts_with(one); };
    if (std::ranges::any_of(kSanitizers, is_named)) return true;
  }
  const auto symbols = program.ReadSymbols(SHT_DYNSYM);
  return symbols && std::ranges::any_of(symbols->entries, [&](const Elf64_Sym& symbol) {
           return symbol.st_shndx != SHN_UNDEF &&
                  std::ranges::find(kInsideSanitizers, symbols->Name(symbol)) != kInsideSanitizers.end();
         });
}

// Why nothing can be preloaded; empty: nothing speaks against it.
std::string ObjectionTo(const std::string& path, const std::string& head) {
  constexpr const char* kForeign = "built for another machine";
  if (head.size() > EI_DATA && head[EI_CLASS] != ELFCLASS64) return kForeign;
  const auto program = OpenElf(path), own = OpenElf("/proc/self/exe");
  if (!program || !own) return "";
  // What is preloaded is built as this command is.
  if (program->machine() != own->machine()) return kForeign;
  if (!program->HasSegment(PT_INTERP)) return "statically linked: nothing can be preloaded into it";
  struct stat status {};
  const bool has_rights =
      stat(path.c_str(), &status) == 0 && (((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
                                           ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()));
  if (has_rights) return "set-user-ID or set-group-ID program: the loader preloads nothing into it";
  return HasSanitizer(*program) ? "built with a sanitizer, whose malloc must come first" : "";
}

}  // namespace

Result<std::string> PreloadableProgram(const std::string& path) {
  std::error_code error;
  fs::path file = fs::canonical(path, error);
  for (int i = 0; i < kMaxInterpreters && !error; ++i) {
    const std::string line = FirstLine(file);
    if (line.starts_with("\x7f"
                         "ELF")) {
      const std::string objection = ObjectionTo(file, line);
      if (objection.empty()) return file.string();
      return Error{fmt::format("{}: {}", file.string(), objection)};
    }
    if (line.empty()) break;
    // What the kernel does not know is the shell's.
    file = fs::canonical(line.starts_with("#!") ? InterpreterOf(line) : kShell, error);
  }
  return error ? path : file.string();
}

}  // namespace heaprec::tools
