// The source lines of sites, from folders with sources in their packages' folders.
//
//   SourceLines sources({"src/main/java"});
//   sources.LineOf("com.acme.Order$Item.price:137");   // src/main/java/com/acme/Order.java
//
// The file is named like the outermost class, with the suffix of Java, Kotlin, Scala or Groovy.
//
// Failure:  an empty line: no folder has the file, or the site has no line number. A file that is too short, or has a
//           blank line there, is not the source that was compiled; the text says so.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heaprec::tools {

class SourceLines {
 public:
  explicit SourceLines(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  // `site`: as shown with --lines. Blanks at both ends are removed, and what is not text.
  std::string LineOf(const std::string& site);
  size_t asked() const { return asked_; }
  size_t found() const { return found_; }
  size_t without_line() const { return without_line_; }  // of the asked sites: native methods, gaps
  // The files that no folder has: the first, and their number.
  const std::string& missing() const { return missing_; }
  size_t missing_files() const { return missing_files_; }

 private:
  using Lines = std::vector<std::string>;
  const Lines& FileOf(const std::string& class_name, std::string* name);

  const std::vector<std::string> folders_;
  std::map<std::string, std::pair<std::string, Lines>> files_;  // by outermost class: file and lines
  std::string missing_;
  size_t asked_ = 0, found_ = 0, without_line_ = 0, missing_files_ = 0;
};

}  // namespace heaprec::tools
