#include <algorithm>

#include "tools/report/estimates/reports.h"
#include "tools/text/text.h"

namespace heaprec::tools {

using namespace render;

namespace {

constexpr uint64_t kCompilingCalls = 10'000;  // fewer may not be sufficient for C2

// A method or, below it, a class, with its values in each mode.
struct EscapeRow {
  std::string name;
  std::vector<Value> bytes, objects;
};

double MeanBytes(const CallOutcome& outcome) {
  return static_cast<double>(outcome.bytes_of_all) / static_cast<double>(outcome.calls);
}

const std::vector<Column<AllocatedClass>>& ClassColumns() {
  static const auto* columns = new std::vector<Column<AllocatedClass>>{
      {"objects", "objects", Unit::kInteger, Detail::kAlways, &AllocatedClass::objects},
      {"bytes", "bytes", Unit::kBytes, Detail::kAlways, &AllocatedClass::bytes},
      {"class", "class", Unit::kText, Detail::kAlways, [](const AllocatedClass& of) { return ToUtf8(of.name); }}};
  return *columns;
}

Group ModeGroup(const EscapeMode& mode, const CallOutcome& outcome) {
  Group group{"modes[]", {}};
  group.Add(Hidden({{"mode", mode.name}, {"flags", mode.flags}}));
  if (!outcome.error.empty()) {
    group.Add(Hidden({{"error", ToUtf8(outcome.error)}}));
    return group;
  }
  group.Add(Hidden({{"calls_before", outcome.calls_before},
                    {"calls", outcome.calls},
                    {"typical_calls", outcome.typical},
                    {"mean_bytes", MeanBytes(outcome)},
                    {"whole", outcome.is_whole},
                    {"stable", outcome.is_stable},
                    {"bytes", outcome.Bytes()},
                    {"objects", outcome.Objects()}}));
  group.Add(HiddenTable("classes", ClassColumns(), outcome.classes));
  return group;
}

Group MethodGroup(const std::string& method, const std::vector<CallOutcomes>& modes) {
  Group group{"methods[]", {}};
  group.Add(Hidden({{"method", method}}));
  for (size_t i = 0; i < modes.size(); ++i) group.Add(ModeGroup(EscapeModes()[i], modes[i].at(method)));
  return group;
}

// The classes of all modes, each once, in order of occurrence.
std::vector<std::string> ClassesOf(const std::string& method, const std::vector<CallOutcomes>& modes) {
  std::vector<std::string> names;
  for (const CallOutcomes& mode : modes) {
    for (const AllocatedClass& one : mode.at(method).classes) {
      if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
    }
  }
  return names;
}

void AddRows(const std::string& method, const std::vector<CallOutcomes>& modes, std::vector<EscapeRow>* rows) {
  EscapeRow all{method, {}, {}};
  for (const CallOutcomes& mode : modes) {
    const CallOutcome& outcome = mode.at(method);
    all.bytes.push_back(outcome.error.empty() ? Value(outcome.Bytes()) : Value("-"));
    all.objects.push_back(outcome.error.empty() ? Value(outcome.Objects()) : Value("-"));
  }
  rows->push_back(std::move(all));
  for (const std::string& name : ClassesOf(method, modes)) {
    EscapeRow row{"  " + ToUtf8(name), {}, {}};
    for (const CallOutcomes& mode : modes) {
      const std::vector<AllocatedClass>& classes = mode.at(method).classes;
      const auto found = std::ranges::find(classes, name, &AllocatedClass::name);
      row.bytes.emplace_back(found == classes.end() ? uint64_t{0} : found->bytes);
      row.objects.emplace_back(found == classes.end() ? uint64_t{0} : found->objects);
    }
    rows->push_back(std::move(row));
  }
}

Table Modes(const std::vector<std::string>& methods, const std::vector<CallOutcomes>& modes) {
  std::vector<Column<EscapeRow>> columns;
  for (size_t i = 0; i < modes.size(); ++i) {
    columns.push_back({"", EscapeModes()[i].title, Unit::kInteger, Detail::kTextOnly,
                       [i](const EscapeRow& row) { return row.bytes[i]; }});
    columns.push_back(
        {"", "objects", Unit::kInteger, Detail::kWide, [i](const EscapeRow& row) { return row.objects[i]; }});
  }
  columns.push_back({"", "method, class", Unit::kText, Detail::kTextOnly, &EscapeRow::name});
  std::vector<EscapeRow> rows;
  for (const std::string& method : methods) AddRows(method, modes, &rows);
  Table table = MakeTable("", columns, rows);
  table.detail = Detail::kTextOnly;
  return table;
}

// Adds remarks about a method that are not in the table.
void AddRemarks(const std::string& method, const EscapeMode& mode, const CallOutcome& outcome, Report* report) {
  const auto add = [&](const std::string& text, std::vector<Field> fields = {}) {
    fields.insert(fields.begin(), {{"", method}, {"", mode.title}});
    report->Add(Note("{}, {}: " + text, std::move(fields)));
  };
  if (!outcome.error.empty()) return add("{}", {{"", ToUtf8(outcome.error)}});
  const Field before{"", outcome.calls_before, Unit::kInteger};
  if (!outcome.is_stable) {
    add("three consecutive rounds of probes never agreed; this is the last round, after {} call(s)", {before});
  }
  if (!outcome.is_whole) add("more objects than a probe lists; these are the first");
  if (mode.compiles && outcome.calls_before < kCompilingCalls) {
    add("only {} call(s) were possible in 20 s: it may not be compiled", {before});
  }
  if (10 * outcome.typical < 9 * outcome.calls) {
    add("{} of {} call(s) allocate this; {} on average", {{"", outcome.typical, Unit::kInteger},
                                                          {"", outcome.calls, Unit::kInteger},
                                                          {"", MeanBytes(outcome), Unit::kBytes}});
  }
}

}  // namespace

Report EscapeReport(const std::vector<std::string>& methods, const std::vector<CallOutcomes>& modes) {
  Report report("heaprec.escape/1");
  for (const std::string& method : methods) report.Add(MethodGroup(method, modes));
  report.Add(Sentence("bytes and objects that a call allocates"));
  report.Add(Modes(methods, modes));
  for (const std::string& method : methods) {
    const std::string& error = modes.front().at(method).error;
    if (!error.empty()) report.Add(Note("{}: {}", {{"", method}, {"", ToUtf8(error)}}));
    for (size_t i = 0; i < modes.size() && error.empty(); ++i) {
      AddRemarks(method, EscapeModes()[i], modes[i].at(method), &report);
    }
  }
  report.Add(Sentence("C2 without: -XX:-DoEscapeAnalysis; the difference to C2 is what escape analysis removes"));
  return report;
}

}  // namespace heaprec::tools
