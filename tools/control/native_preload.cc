#include "tools/control/native_preload.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/option_text.h"
#include "base/output_path.h"
#include "tools/control/child.h"
#include "tools/input/open_elf.h"

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

namespace fs = std::filesystem;

// HotSpot's own functions allocate for others: one frame tells nothing apart.
constexpr int kDepth = 8;

// "/x/rec-%p.hrec": "/x/rec-native-%p.hnt"
std::string TableFor(const std::string& recording) {
  const fs::path path = fs::absolute(recording);
  std::string stem = path.stem().string();
  stem.erase(std::min(stem.find('%'), stem.size()));
  while (stem.ends_with('-')) stem.pop_back();
  return (path.parent_path() / fmt::format("{}native-%p.hnt", stem.empty() ? "" : stem + "-")).string();
}

Status CheckPreload(const std::string& library, const char* how) {
  if (library.find_first_of(" :") == std::string::npos) return {};
  return Error{
      fmt::format("--native={}: LD_PRELOAD cannot load {}: the path contains a space or a colon", how, library)};
}

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value != nullptr ? value : "";
}

// Before what is there already: of several the first is asked.
std::string Preloaded(const std::string& library) {
  const std::string before = Variable("LD_PRELOAD");
  return fmt::format("LD_PRELOAD={}{}{}", library, before.empty() ? "" : ":", before);
}

// As the process knows itself, as an option.
std::string NameOf(const std::string& program) {
  std::error_code error;
  const fs::path file = fs::canonical(program, error);
  return Escaped(error ? program : file.filename().string());
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

std::string NativePreload::TableOf(uint32_t pid) const {
  std::string path = table;
  path.replace(path.rfind("%p"), 2, std::to_string(pid));
  const std::string shared = fmt::format("/dev/shm/heaprec-native-{}", pid);
  std::error_code error;
  return fs::exists(path, error) ? path : fs::exists(shared, error) ? shared : "";
}

Result<NativePreload> PreloadNative(const std::string& agent, const std::string& recording,
                                    const std::string& program) {
  const std::string library = (fs::path(agent).parent_path() / "libheaprec-native.so").string();
  std::error_code error;
  if (!fs::exists(library, error))
    return Error{
        fmt::format("--native=exact: cannot find {}; build it with 'bazel build "
                    "//recorder:libheaprec-native.so'",
                    library)};
  if (const Status status = CheckPreload(library, "exact"); !status) return status.error();
  if (const Status status = CheckOutput(recording); !status) return status.error();
  NativePreload preload{{}, TableFor(recording)};
  preload.environment.push_back(Preloaded(library));
  preload.environment.push_back(
      fmt::format("HEAPREC_NATIVE_EXACT=file={},depth={},only={}", Escaped(preload.table), kDepth, NameOf(program)));
  return preload;
}

Result<NativePreload> PreloadSampler(const std::string& agent, const std::string& options, const std::string& program) {
  if (const Status status = CheckPreload(agent, "sampled"); !status) return status.error();
  const bool has_only = ("," + options).find(",only=") != std::string::npos;
  const std::string only = has_only ? "" : ",only=" + NameOf(program);
  return NativePreload{{Preloaded(agent), fmt::format("HEAPREC_NATIVE_SAMPLED={}{}", options, only)}, ""};
}

}  // namespace heaprec::tools
