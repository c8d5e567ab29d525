// Replaces names by keyed hashes: the same name has the same hash with the same key.
//
// A class becomes `pHHHHHHHH/CHHHHHHHHHHHHHHHH` (package and class); a method, a thread or a label becomes a letter and
// 16 hexadecimal digits of HMAC-SHA256. Arrays stay arrays, <init> and <clinit> stay unchanged, and a hidden class
// keeps its address.
//
// Failure:  Parse returns an error message for the user.
// Memory:   one entry per replaced name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/model/model.h"
#include "tools/query/filter/name_pattern.h"
#include "tools/rewrite/recording_editor.h"
#include "tools/text/output.h"

namespace heaprec::tools {

class Redaction final : public NameMapper {
 public:
  // `key_file` empty: a random key. `patterns`: as given with --pattern.
  static Result<Redaction> Parse(const std::string& key_file, const std::vector<std::string>& patterns);
  // Without patterns replaces everything except java.* and jdk.* classes and their methods; of those it replaces the
  // methods of dynamic proxies and other code that the JDK generates for interfaces and scripts of the program. With
  // patterns replaces the names in which one of them is found (class names and Class.method in Java's spelling, thread
  // names, key=value of labels).
  Redaction(std::string key, std::vector<NamePattern> patterns);

  std::string Class(const std::string& name) override;
  format::Method Method(const format::Method& method) override;
  format::Thread Thread(const format::Thread& thread) override;
  // Messages of errors may quote anything.
  std::string Message(const std::string& text) override;
  // Options, ring, libraries and the ids of machine and container.
  format::FileHeader Header(format::FileHeader header) const;

  // The replaced names: kind ("class", "method", "thread", "label"), name in Java's spelling, and its hash.
  // AppendMapping writes them as lines of three columns.
  void AppendMapping(Output* output) const;

 private:
  std::string Hex(std::string_view kind, std::string_view name, size_t digits) const;
  std::string ClassAlone(const std::string& name);
  std::string Descriptor(const std::string& descriptor);
  bool Matches(const std::string& text) const;

  const std::string key_;
  const std::vector<NamePattern> patterns_;
  std::map<std::pair<std::string, std::string>, std::string> mapping_;
};

}  // namespace heaprec::tools
