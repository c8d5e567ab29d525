#include "tools/query/allocations/escape_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "tools/input/dictionary_names.h"

namespace heaprec::tools {
namespace {

std::vector<std::string_view> Fields(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  for (size_t end = 0; end != std::string_view::npos; line.remove_prefix(end + 1)) {
    end = line.find(separator);
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) break;
  }
  return fields;
}

// Matches the suffix of all lambdas of a class after the first.
template <size_t kCount>
std::optional<std::array<uint64_t, kCount>> Numbers(std::span<const std::string_view> fields) {
  std::array<uint64_t, kCount> numbers{};
  if (fields.size() != kCount + 2) return std::nullopt;
  for (size_t i = 0; i < kCount; ++i) {
    const std::string_view field = fields[i + 2];
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), numbers[i]);
    if (error != std::errc() || end != field.data() + field.size()) return std::nullopt;
  }
  return numbers;
}

// Two lambdas of a class have the same name.
void AddClass(std::string name, uint64_t objects, uint64_t bytes, std::vector<AllocatedClass>* classes) {
  const auto known = std::ranges::find(*classes, name, &AllocatedClass::name);
  if (known == classes->end()) {
    classes->push_back({std::move(name), objects, bytes});
  } else {
    known->objects += objects;
    known->bytes += bytes;
  }
}

// `current`: the method to which the line belongs, or which it begins.
bool TakeLine(std::string_view line, CallOutcomes* outcomes, CallOutcome** current) {
  const std::vector<std::string_view> fields = Fields(line, '\t');
  if (fields[0] == "error" && fields.size() == 3) {
    (*outcomes)[std::string(fields[1])].error = fields[2];
    return true;
  }
  if (fields[0] == "unusable" && fields.size() >= 3) {
    CallOutcome& outcome = (*outcomes)[std::string(fields[1])];
    outcome.error = fields[2];
    outcome.is_unusable = true;
    for (size_t i = 3; i < fields.size(); ++i) outcome.usable.emplace_back(fields[i]);
    return true;
  }
  if (fields[0] == "method") {
    const auto numbers = Numbers<6>(fields);
    if (!numbers) return false;
    *current = &(*outcomes)[std::string(fields[1])];
    const auto [before, calls, typical, bytes, is_whole, is_stable] = *numbers;
    CallOutcome& outcome = **current;
    outcome.calls_before = before;
    outcome.calls = calls;
    outcome.typical = typical;
    outcome.bytes_of_all = bytes;
    outcome.is_whole = is_whole == 1;
    outcome.is_stable = is_stable == 1;
    return calls > 0;
  }
  const auto numbers = Numbers<2>(fields);
  if (fields[0] != "class" || !numbers || *current == nullptr) return false;
  AddClass(StripGeneratedSuffix(fields[1]), (*numbers)[0], (*numbers)[1], &(*current)->classes);
  return true;
}

}  // namespace

std::span<const EscapeMode> EscapeModes() {
  // Compiled synchronously, because otherwise the last calls may run before the compiler has finished.
  static const std::array<EscapeMode, 4> kModes{{
      {"interpreter", "interpreter", {"-Xint"}, false},
      {"c1", "C1", {"-XX:TieredStopAtLevel=1", "-Xbatch"}, true},
      {"c2_without", "C2 without", {"-XX:-TieredCompilation", "-Xbatch", "-XX:-DoEscapeAnalysis"}, true},
      {"c2", "C2", {"-XX:-TieredCompilation", "-Xbatch"}, true},
  }};
  return kModes;
}

uint64_t CallOutcome::Bytes() const {
  uint64_t bytes = 0;
  for (const AllocatedClass& one : classes) bytes += one.bytes;
  return bytes;
}

uint64_t CallOutcome::Objects() const {
  uint64_t objects = 0;
  for (const AllocatedClass& one : classes) objects += one.objects;
  return objects;
}

Result<CallOutcomes> ParseOutcomes(std::string_view text) {
  CallOutcomes outcomes;
  CallOutcome* current = nullptr;
  size_t number = 0;
  for (const std::string_view line : Fields(text, '\n')) {
    ++number;
    if (!line.empty() && !TakeLine(line, &outcomes, &current)) {
      return Error{fmt::format("line {} of the result cannot be read", number)};
    }
  }
  return outcomes;
}

}  // namespace heaprec::tools
