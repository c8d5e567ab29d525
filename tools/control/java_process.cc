#include "tools/control/java_process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "tools/control/java_command.h"
#include "tools/input/confined_open.h"

namespace heaprec::tools {
namespace {

constexpr std::string_view kMagic("\xca\xfe\xc0\xc0", 4);
constexpr size_t kByteOrder = 4;  // 1: little-endian, as on this machine
constexpr size_t kMajor = 5;
constexpr size_t kEntryOffset = 24, kEntries = 28, kPrologue = 32;
// Layout of an entry: length, offset of the name, length of the vector, type, three bytes, offset of the data.
constexpr size_t kNameAt = 4, kVectorAt = 8, kTypeAt = 12, kDataAt = 16, kEntry = 20;

// Returns zero beyond the end.
uint32_t WordAt(std::string_view file, size_t at) {
  uint32_t word = 0;
  if (at <= file.size() && file.size() - at >= sizeof word) std::memcpy(&word, file.data() + at, sizeof word);
  return word;
}

// Returns the text up to its zero, or to the end.
std::string_view TextAt(std::string_view file, size_t at, size_t most) {
  if (at >= file.size()) return {};
  file = file.substr(at, most);
  return file.substr(0, file.find('\0'));
}

// How long to wait for `java` to load the JVM, which usually takes some milliseconds.
constexpr std::chrono::seconds kLaunchPatience{10};
constexpr std::chrono::milliseconds kLaunchPoll{20};

constexpr size_t kMaxPerfData = size_t{4} << 20;  // 32 KiB by default

// Reads a regular file of the process; empty if there is none.
std::string ReadFileOf(const Process& process, const std::string& path, size_t most) {
  const Descriptor file = OpenRegularBelow(process.root(), path);
  return file.is_open() ? ReadSmallFile(fmt::format("/proc/self/fd/{}", file.number()), most) : std::string();
}

std::map<std::string, std::string> PerfDataOf(const Process& process) {
  const std::string path = fmt::format("/tmp/hsperfdata_{}/{}", UserName(process.uid), process.inner_pid);
  return PerfDataStrings(ReadFileOf(process, path, kMaxPerfData));
}

// Returns "17.0.13" from the line JAVA_VERSION="17.0.13" in the release file above lib/server/libjvm.so.
std::string VersionInReleaseFile(const Process& process) {
  constexpr std::string_view kKey = "JAVA_VERSION=\"";
  const auto home = std::filesystem::path(process.libjvm).parent_path().parent_path().parent_path();
  const std::string text = ReadFileOf(process, (home / "release").string(), kMaxPerfData);
  const size_t at = text.find(kKey);
  if (at == std::string::npos) return {};
  return text.substr(at + kKey.size(), text.find('"', at + kKey.size()) - at - kKey.size());
}

// Returns the last part: "Main" of "com.example.Main", "app.jar" of "/opt/app.jar".
std::string_view LastPart(std::string_view main) {
  main = main.substr(main.rfind('/') + 1);
  return main.ends_with(".jar") ? main : main.substr(main.rfind('.') + 1);
}

}  // namespace

std::map<std::string, std::string> PerfDataStrings(std::string_view file) {
  std::map<std::string, std::string> strings;
  if (file.size() < kPrologue || !file.starts_with(kMagic) || file[kByteOrder] != 1 || file[kMajor] != 2) return {};
  size_t at = WordAt(file, kEntryOffset);
  for (uint32_t left = WordAt(file, kEntries); left > 0 && at < file.size() && file.size() - at >= kEntry; --left) {
    const std::string_view entry = file.substr(at);
    const size_t length = WordAt(entry, 0);
    if (length < kEntry) break;
    if (entry[kTypeAt] == 'B') {
      strings.emplace(TextAt(entry, WordAt(entry, kNameAt), length),
                      TextAt(entry, WordAt(entry, kDataAt), WordAt(entry, kVectorAt)));
    }
    at += length;
  }
  return strings;
}

int JavaProcess::feature_version() const {
  std::string_view text = version;
  if (text.starts_with("1.")) text.remove_prefix(2);
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string MainOfCommandLine(std::string_view arguments) {
  bool value_follows = false, jar = false, first = true;
  while (!arguments.empty()) {
    const std::string_view word = arguments.substr(0, arguments.find('\0'));
    arguments.remove_prefix(std::min(word.size() + 1, arguments.size()));
    if (first || value_follows) {
      if (jar && value_follows) return std::string(word);
      first = value_follows = false;
      continue;
    }
    if (!word.starts_with('-') && !word.starts_with('@')) return std::string(word);
    jar = word == "-jar" || word == "-m" || word == "--module";
    value_follows = jar || HasSeparateValue(word);
  }
  return {};
}

// The arguments preserve blanks in words, but may belong to another launcher: if the two differ, the JVM is right.
std::string MainOf(const std::string& java_command, std::string_view arguments) {
  std::string main = MainOfCommandLine(arguments);
  const bool agree = java_command.empty() || java_command == main || java_command.starts_with(main + " ");
  return agree && !main.empty() ? main : java_command.substr(0, java_command.find(' '));
}

JavaProcess Describe(Process process) {
  JavaProcess java;
  auto strings = PerfDataOf(process);
  java.main = MainOf(strings["sun.rt.javaCommand"], ReadSmallFile(fmt::format("/proc/{}/cmdline", process.pid)));
  java.version = strings["java.property.java.version"];
  if (java.version.empty()) java.version = VersionInReleaseFile(process);
  const std::string& capabilities = strings["sun.rt.jvmCapabilities"];
  java.can_attach = capabilities.empty() || capabilities.front() != '0';
  java.process = std::move(process);
  return java;
}

std::vector<JavaProcess> AllJavaProcesses() {
  std::vector<JavaProcess> all;
  for (const pid_t pid : OwnProcesses()) {
    auto process = LookAt(pid);
    if (process.ok() && process->is_jvm()) all.push_back(Describe(std::move(*process)));
  }
  return all;
}

Result<JavaProcess> Choose(const std::vector<JavaProcess>& all, const std::string& name) {
  const std::array<std::function<bool(const JavaProcess&)>, 3> fits{
      [&](const JavaProcess& java) { return java.main == name; },
      [&](const JavaProcess& java) { return LastPart(java.main) == name; },
      [&](const JavaProcess& java) { return java.main.find(name) != std::string::npos; },
  };
  for (const auto& fit : fits) {
    std::vector<const JavaProcess*> found;
    for (const JavaProcess& java : all) {
      if (fit(java)) found.push_back(&java);
    }
    if (found.size() == 1) return *found.front();
    if (found.empty()) continue;
    std::vector<std::string> names;
    for (const JavaProcess* java : found) names.push_back(fmt::format("{} {}", java->process.pid, java->main));
    return Error{fmt::format("'{}' matches {} JVMs; use a pid: {}", name, found.size(), fmt::join(names, ", "))};
  }
  return Error{fmt::format("'{}' matches no JVM that this user can access; 'heaprec list' shows them", name)};
}

Result<JavaProcess> Find(const std::string& pid_or_name) {
  pid_t pid = 0;
  const char* const end = pid_or_name.data() + pid_or_name.size();
  const auto parsed = std::from_chars(pid_or_name.data(), end, pid);
  if (parsed.ec != std::errc() || parsed.ptr != end) return Choose(AllJavaProcesses(), pid_or_name);
  auto process = LookAt(pid);
  const auto deadline = std::chrono::steady_clock::now() + kLaunchPatience;
  while (process.ok() && !process->is_jvm() && CommandName(pid) == "java" &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kLaunchPoll);
    process = LookAt(pid);
  }
  if (!process.ok()) return process.error();
  if (!process->is_jvm()) {
    return Error{fmt::format("PID {}: not a JVM: {} has not loaded libjvm.so", pid, CommandName(pid))};
  }
  return Describe(std::move(*process));
}

}  // namespace heaprec::tools
