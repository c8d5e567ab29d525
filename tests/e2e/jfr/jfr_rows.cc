#include "tests/e2e/jfr/jfr_rows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "tests/support/recording_rows.h"

namespace heaprec::testing {
namespace {

using nlohmann::json;

auto Tie(const JfrRow& row) {
  return std::tie(row.time_ns, row.is_thrown, row.class_name, row.size, row.tlab_size, row.thread, row.java_tid,
                  row.os_tid, row.labels, row.stack, row.bytecodes, row.truncated);
}

bool Before(const JfrRow& a, const JfrRow& b) { return Tie(a) < Tie(b); }

JfrRow RowFromJdk(const json& event) {
  return {.event = event["event"],
          .time_ns = event["time_ns"],
          .is_thrown = event["event"] == "jdk.JavaExceptionThrow",
          .class_name = event["class"],
          .size = event["size"].is_null() ? 0 : event["size"].get<uint64_t>(),
          .tlab_size = event["tlab_size"],
          .thread = event["thread"],
          .java_tid = event["java_tid"],
          .os_tid = event["os_tid"],
          .labels = event["labels"],
          .stack = event["stack"],
          .bytecodes = event["bytecodes"],
          .truncated = event["truncated"],
          .weight = event["weight"]};
}

void AddStack(const json& stack, JfrRow* row) {
  for (const json& frame : stack["frames"]) {
    std::string text = frame["method"];
    std::ranges::replace(text, ';', ',');
    if (frame["line"] >= 0) text += ":" + std::to_string(frame["line"].get<int>());
    row->stack = row->stack.empty() ? text : text + ';' + row->stack;
    row->bytecodes += std::to_string(frame["bci"].get<int>()) + ' ';
  }
  row->truncated = stack["truncated"];
}

JfrRow RowFromHeaprec(const json& event) {
  const bool is_thrown = event["kind"] == "exception";
  JfrRow row{.time_ns = event["time_ns"],
             .is_thrown = is_thrown,
             .class_name = event["class"],
             .size = event["size"].is_null() ? 0 : event["size"].get<uint64_t>(),
             .tlab_size = event["tlab_size"],
             .thread = "[unknown]",
             .weight = event[is_thrown ? "weight_objects" : "weight_bytes"]};
  if (const json& thread = event["thread"]; thread.is_object()) {
    row.thread = thread["name"];
    row.java_tid = thread["java_tid"];
    row.os_tid = thread["os_tid"];
    const json labels = thread.value("labels", json::object());
    for (const auto& [key, value] : labels.items()) {
      row.labels += (row.labels.empty() ? "" : ";") + key + '=' + value.get<std::string>();
    }
  }
  if (event["stack"].is_object()) AddStack(event["stack"], &row);
  return row;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const JfrRow& row) {
  return out << row.time_ns << ' ' << row.class_name << ' ' << row.size << '/' << row.tlab_size << " weight "
             << row.weight << " \"" << row.thread << "\" " << row.java_tid << ' ' << row.os_tid << " [" << row.labels
             << "] " << row.stack << " @ " << row.bytecodes << (row.truncated ? " truncated" : "");
}

std::vector<JfrRow> ReadWithJdk(const std::string& jfr, const std::string& home) {
  std::istringstream lines(OutputOf(CommandOf(Java{.main = "e2e.JfrEvents", .args = {jfr}, .home = home})));
  std::vector<JfrRow> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(RowFromJdk(json::parse(line)));
  Sort(&rows);
  return rows;
}

std::vector<JfrRow> ReadWithHeaprec(const std::string& recording) {
  const json printed = HeaprecJson({"print", "--json", "--stack-depth", "0", recording});
  std::vector<JfrRow> rows;
  for (const json& event : printed["events"]) rows.push_back(RowFromHeaprec(event));
  Sort(&rows);
  return rows;
}

void Sort(std::vector<JfrRow>* rows) { std::ranges::sort(*rows, Before); }

void RequireSame(const std::vector<JfrRow>& a, const std::vector<JfrRow>& b, double slack) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    INFO(i << " of " << a.size() << " and " << b.size() << "\n" << a[i] << "\n" << b[i]);
    REQUIRE(Tie(a[i]) == Tie(b[i]));
    REQUIRE(std::abs(a[i].weight - b[i].weight) <= slack);
  }
  REQUIRE(a.size() == b.size());
}

}  // namespace heaprec::testing
