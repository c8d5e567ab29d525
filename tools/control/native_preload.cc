#include "tools/control/native_preload.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/option_text.h"
#include "base/output_path.h"

namespace heaprec::tools {
namespace {

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

std::optional<Error> WhyNotPreloadable(const std::string& library, const char* how) {
  if (library.find_first_of(" :") == std::string::npos) return std::nullopt;
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
  if (const auto why = WhyNotPreloadable(library, "exact")) return *why;
  if (const Status status = CheckOutput(recording); !status) return status.error();
  NativePreload preload{{}, TableFor(recording)};
  preload.environment.push_back(Preloaded(library));
  preload.environment.push_back(
      fmt::format("HEAPREC_NATIVE_EXACT=file={},depth={},only={}", Escaped(preload.table), kDepth, NameOf(program)));
  return preload;
}

Result<NativePreload> PreloadSampler(const std::string& agent, const std::string& options, const std::string& program) {
  if (const auto why = WhyNotPreloadable(agent, "sampled")) return *why;
  const bool has_only = ("," + options).find(",only=") != std::string::npos;
  const std::string only = has_only ? "" : ",only=" + NameOf(program);
  return NativePreload{{Preloaded(agent), fmt::format("HEAPREC_NATIVE_SAMPLED={}{}", options, only)}, ""};
}

}  // namespace heaprec::tools
