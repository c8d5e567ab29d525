// A recording as `heaprec print` and `heaprec summary` tell it: what a user sees is what the tests judge.
//
// Units:    as format/model/model.h; times in ns since the start of the recording.
// Failure:  fails the running Catch2 test with what the command said.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/java_run.h"

namespace heaprec::testing {

struct Row {
  uint64_t time_ns = 0;
  std::string kind, class_name;
  uint64_t size = 0;
  double weight_bytes = 0, weight_objects = 0, probability = 0;
  std::string thread;
  uint64_t java_tid = 0, os_tid = 0;
  bool is_virtual = false;
  std::string stack;  // root;...;leaf as Class.method:line, like the exports
  bool truncated = false;
};

struct Rows {
  nlohmann::json summary;  // of `heaprec summary --json`
  std::vector<Row> rows;

  std::string source() const { return summary["recording"]["source"]; }
  uint64_t cap() const { return summary["recording"]["interval_cap"]; }
  uint64_t interval_ns() const { return summary["recording"]["interval_ns"]; }
  bool trustworthy() const { return summary["trustworthy"]; }
  std::string reasons() const { return summary["reasons"].dump() + summary["losses"].dump(); }
  uint64_t Lost(const std::string& reason) const { return summary["losses"]["lost"][reason]["points"]; }
  // A class's name, or a stack, as a recording has what Java says: up to JDK 14 Java adds the address of a lambda's
  // class.
  std::string AsRecorded(const std::string& java) const;
  std::vector<Row> Where(const std::function<bool(const Row&)>& keep) const;
  // Samples of each interval, the empty ones between included.
  std::vector<uint64_t> PerInterval() const;
};

// What a command prints, which must succeed.
std::string OutputOf(const Command& command);
void RequireHeaprec(std::vector<std::string> args);
nlohmann::json HeaprecJson(std::vector<std::string> args, const std::vector<std::string>& more = {});
// The row with this name; null: there is none.
nlohmann::json RowNamed(const nlohmann::json& rows, const std::string& name);

Rows ReadRows(const std::string& recording);
nlohmann::json ReadSummary(const std::string& recording);
void RequireVerified(const std::string& recording);

// Programs, which must succeed, and their recordings; `options` follow the file's name.
struct RecordedJava {
  std::string file;
  Outcome outcome;
};
struct JavaWithOptions {
  Java java;
  std::string options;
};
RecordedJava RecordJava(const Java& java, const std::string& options = "");
// As RunAll runs them.
std::vector<RecordedJava> RecordAll(std::vector<JavaWithOptions> all, size_t at_once);

// Of a recording that went on to the JVM's exit though its file could not be written for a while: it says so, and its
// counters add up.
void RequireWriteLossesCounted(const Rows& rows);

}  // namespace heaprec::testing
