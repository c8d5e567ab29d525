// The recordings, times, classes and sites of a query.
//
// Units:    seconds since 1970.
// Failure:  each returns an error message for the user: an invalid pattern or time, or no match.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tools/fleet/answers/estimates.h"
#include "tools/fleet/answers/source.h"
#include "tools/options/command.h"

namespace heaprec::tools::fleet {

// As given; empty: any. Names may have * and ?; classes and sites are patterns as in `heaprec top --class`.
struct SelectionOptions {
  std::string service, version, environment, host;
  std::string from, to;
  std::string class_name, site;

  // Adds the options under a separate heading of the help.
  void AddTo(Command& command);
};

struct Selection {
  std::vector<RecordingInfo> recordings;  // with rows in the range, by id
  TimeRange range;
  RowFilter filter;
  std::map<uint64_t, Totals> totals;  // by recording, in the range

  std::vector<uint64_t> ids() const;
  const RecordingInfo* Find(uint64_t recording) const;
};

// Whether `text` matches `pattern`; an empty pattern matches everything.
bool MatchesGlob(const std::string& pattern, const std::string& text);

// By recording.
Result<std::map<uint64_t, Totals>> TotalsIn(Source* source, const Selection& selection, const TimeRange& range);

Result<Selection> Select(Source* source, const SelectionOptions& options, uint32_t now);

// Returns the names for keys, in their order: "byte[] at java.util.Arrays.copyOf".
Result<std::vector<std::string>> NamesOfKeys(Source* source, const std::vector<RowKey>& keys);

// Sets the names of rows, which have a key.
template <typename Row>
Status NameRows(Source* source, std::vector<Row>* rows) {
  std::vector<RowKey> keys;
  for (const Row& row : *rows) keys.push_back(row.key);
  ASSIGN_OR_RETURN(auto names, NamesOfKeys(source, keys));
  for (size_t i = 0; i < rows->size(); ++i) (*rows)[i].name = std::move(names[i]);
  return {};
}

// Parses a duration before `now` ("2h") or a time in ISO 8601 ("2026-11-20T10:00Z"). Returns seconds since 1970.
Result<uint32_t> ParseFleetTime(std::string_view text, uint32_t now);
// "2026-11-20 16:40:00", UTC.
std::string TimeText(uint32_t time);

}  // namespace heaprec::tools::fleet
