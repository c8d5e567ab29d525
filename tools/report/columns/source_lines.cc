#include "tools/report/columns/source_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "tools/text/text.h"

namespace heaprec::tools {
namespace {

constexpr std::uintmax_t kMostBytes = 16 << 20;  // of a file: no source is longer

std::string Trimmed(const std::string& line) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> LinesOf(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(ToUtf8(Trimmed(line)));
  return lines;
}

}  // namespace

std::string SourceLines::LineOf(const std::string& site) {
  const size_t colon = site.rfind(':');
  const size_t method = colon == std::string::npos ? colon : site.rfind('.', colon);
  size_t line = 0;
  ++asked_;
  if (method == std::string::npos ||
      std::from_chars(site.data() + colon + 1, site.data() + site.size(), line).ptr != site.data() + site.size() ||
      line == 0) {
    ++without_line_;
    return "";
  }
  std::string name;
  const Lines& lines = FileOf(site.substr(0, std::min(method, site.find('$'))), &name);
  if (name.empty()) return "";
  if (line > lines.size()) return fmt::format("({} has {}: another version)", name, CountOf(lines.size(), "line"));
  if (lines[line - 1].empty()) return fmt::format("({}:{} is blank: another version)", name, line);
  ++found_;
  return lines[line - 1];
}

const SourceLines::Lines& SourceLines::FileOf(const std::string& class_name, std::string* name) {
  const auto [at, is_new] = files_.try_emplace(class_name);
  auto& [file, lines] = at->second;
  if (is_new) {
    std::string path = class_name;
    std::ranges::replace(path, '.', '/');
    // Kotlin's functions outside of classes are in a class with this suffix.
    const std::string facade = path.ends_with("Kt") ? path.substr(0, path.size() - 2) : path;
    for (const std::string& folder : folders_) {
      for (const std::string& one : {path + ".java", path + ".kt", facade + ".kt", path + ".scala", path + ".groovy"}) {
        const std::string whole = folder + "/" + one;
        std::error_code error;
        if (!file.empty() || !std::filesystem::is_regular_file(whole, error)) continue;
        if (std::filesystem::file_size(whole, error) > kMostBytes || error) continue;
        file = one;
        lines = LinesOf(whole);
      }
    }
    if (file.empty() && missing_files_++ == 0) missing_ = path + ".java";
  }
  *name = file;
  return lines;
}

}  // namespace heaprec::tools
