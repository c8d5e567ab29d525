#include "tools/control/program_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "tools/control/child.h"

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

class Program {
 public:
  explicit Program(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    if (descriptor_ >= 0) elf_ = elf_begin(descriptor_, ELF_C_READ_MMAP, nullptr);
  }
  ~Program() {
    elf_end(elf_);
    if (descriptor_ >= 0) close(descriptor_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Why nothing can be preloaded; empty: nothing speaks against it.
  std::string Objection() const {
    GElf_Ehdr header;
    if (gelf_getehdr(elf_, &header) == nullptr) return "";
    // What is preloaded is built as this command is.
    GElf_Ehdr own;
    if (gelf_getehdr(Program("/proc/self/exe").elf_, &own) == nullptr) return "";
    if (header.e_machine != own.e_machine || gelf_getclass(elf_) != ELFCLASS64) return "built for another machine";
    if (!HasInterpreter()) return "statically linked: nothing can be preloaded into it";
    struct stat status {};
    const bool has_rights =
        fstat(descriptor_, &status) == 0 && (((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
                                             ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()));
    if (has_rights) return "set-user-ID or set-group-ID program: the loader preloads nothing into it";
    if (HasSanitizer()) return "built with a sanitizer, whose malloc must come first";
    return "";
  }

 private:
  bool HasInterpreter() const {
    size_t count = 0;
    GElf_Phdr segment;
    (void)elf_getphdrnum(elf_, &count);
    for (size_t i = 0; i < count; ++i) {
      if (gelf_getphdr(elf_, static_cast<int>(i), &segment) != nullptr && segment.p_type == PT_INTERP) return true;
    }
    return false;
  }

  bool HasSanitizer() const {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0) continue;
      if (header.sh_type == SHT_DYNAMIC && NeedsOne(section, header)) return true;
      if (header.sh_type == SHT_DYNSYM && DefinesOne(section, header)) return true;
    }
    return false;
  }

  bool NeedsOne(Elf_Scn* section, const GElf_Shdr& header) const {
    Elf_Data* const data = elf_getdata(section, nullptr);
    for (size_t i = 0; data != nullptr && i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Dyn entry;
      if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr || entry.d_tag != DT_NEEDED) continue;
      const char* const name = elf_strptr(elf_, header.sh_link, entry.d_un.d_val);
      const auto is_named = [name](std::string_view one) { return std::string_view(name).starts_with(one); };
      if (name != nullptr && std::ranges::any_of(kSanitizers, is_named)) return true;
    }
    return false;
  }

  bool DefinesOne(Elf_Scn* section, const GElf_Shdr& header) const {
    Elf_Data* const data = elf_getdata(section, nullptr);
    for (size_t i = 0; data != nullptr && i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF) continue;
      const char* const name = elf_strptr(elf_, header.sh_link, symbol.st_name);
      if (name != nullptr && std::ranges::find(kInsideSanitizers, name) != kInsideSanitizers.end()) return true;
    }
    return false;
  }

  const int descriptor_;
  Elf* elf_ = nullptr;
};

}  // namespace

format::Result<std::string> PreloadableProgram(const std::string& path) {
  std::error_code error;
  fs::path file = fs::canonical(path, error);
  for (int i = 0; i < kMaxInterpreters && !error; ++i) {
    const std::string line = FirstLine(file);
    if (line.starts_with("\x7f"
                         "ELF")) {
      const std::string objection = Program(file).Objection();
      if (objection.empty()) return file.string();
      return format::Error{fmt::format("{}: {}", file.string(), objection)};
    }
    if (line.empty()) break;
    // What the kernel does not know is the shell's.
    file = fs::canonical(line.starts_with("#!") ? InterpreterOf(line) : kShell, error);
  }
  return error ? path : file.string();
}

}  // namespace heaprec::tools
