// Events as the JDK reads them in a JFR file, and as heaprec reads them in a recording: in the same words, to be
// compared one by one.
//
// Units:    times in ns since 1970, sizes in bytes.
// Failure:  fails the running Catch2 test with what the program said.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/java_run.h"

namespace heaprec::testing {

struct JfrRow {
  std::string event{};  // its name in the JFR file; of a recording: empty
  uint64_t time_ns = 0;
  bool is_thrown = false;
  std::string class_name;
  uint64_t size = 0, tlab_size = 0;
  std::string thread;
  uint64_t java_tid = 0, os_tid = 0;
  std::string labels{};     // key=value;...
  std::string stack{};      // root;...;leaf as Class.method:line
  std::string bytecodes{};  // leaf first
  bool truncated = false;
  double weight = 0;
};
std::ostream& operator<<(std::ostream& out, const JfrRow& row);

// In order of time. By jdk.jfr.consumer of `home`: allocations and exceptions.
std::vector<JfrRow> ReadWithJdk(const std::string& jfr, const std::string& home = JavaHome());
// Likewise, by `heaprec print --json`.
std::vector<JfrRow> ReadWithHeaprec(const std::string& recording);

// As both are.
void Sort(std::vector<JfrRow>* rows);

// Every event in both, and weights no further apart than `slack`.
void RequireSame(const std::vector<JfrRow>& a, const std::vector<JfrRow>& b, double slack);

}  // namespace heaprec::testing
