// Which recordings, times, classes and sites a question is about.
//
// Units:    seconds since 1970.
// Failure:  Select returns the sentence for the user: a pattern that is none, or nothing that fits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "format/bytes/result.h"
#include "tools/fleet/answers/estimates.h"
#include "tools/fleet/source/source.h"
#include "tools/options/command.h"

namespace heaprec::tools::fleet {

// As given; empty: any. Names may have * and ?; classes and sites are patterns as in `heaprec top --class`.
struct SelectionOptions {
  std::string service, version, environment, host;
  std::string from, to;
  std::string class_name, site;

  // The options have a heading of their own in the help.
  void AddTo(Command& command);
};

struct Selection {
  std::vector<RecordingInfo> recordings;  // that have rows in the range
  TimeRange range;
  RowFilter filter;
  std::map<uint64_t, Totals> totals;  // by recording, in the range

  std::vector<uint64_t> ids() const;
  const RecordingInfo* Find(uint64_t recording) const;
};

// Whether `text` is what `pattern` says; an empty pattern takes all.
bool MatchesGlob(const std::string& pattern, const std::string& text);

format::Result<Selection> Select(Source* source, const SelectionOptions& options, uint32_t now);

// Names for rows: "char[]", "java.util.HashMap.resize", or both.
class RowNames {
 public:
  static format::Result<RowNames> Of(Source* source, const std::vector<RowKey>& keys);
  std::string Class(uint64_t id) const;
  std::string Site(uint64_t id) const;
  std::string Of(const RowKey& key) const;

 private:
  std::map<uint64_t, std::string> classes_, sites_;
};

}  // namespace heaprec::tools::fleet
