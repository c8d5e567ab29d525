// Programs and JVMs whose native memory is recorded, and what the command says of it. Estimates may be off by six
// standard deviations of theirs: chance alone does that once in 500 million times.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/java_run.h"

namespace heaprec::testing {

using nlohmann::json;

// Of tests/native.
inline std::string Built(const std::string& name) { return RunfilePath("tests/native/" + name); }
inline std::string ExactLibrary() { return RunfilePath("recorder/libheaprec-native.so"); }

inline Outcome RunHeaprec(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), HeaprecPath());
  return Run(Command{std::move(arguments)});
}

// What the command prints with --json.
inline json Read(std::vector<std::string> arguments) {
  const Outcome outcome = RunHeaprec(std::move(arguments));
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  return json::parse(outcome.out);
}

inline void CheckVerified(const std::string& recording) {
  const Outcome verified = RunHeaprec({"verify", recording});
  INFO(verified.out << verified.err);
  CHECK(verified.exit_code == 0);
}

inline json RowOf(const json& document, const std::string& name) {
  for (const json& row : document["rows"]) {
    if (row["name"] == name) return row;
  }
  FAIL("no row " << name);
  return {};
}

// A program that was started without standard error has a file of its own under the number 2: no message goes there. As
// a control, `message` is in the file that is standard error from the start. `record`: prepares the command.
inline void CheckNoMessageInOwnFile(const std::function<void(Command* command, const std::string& folder)>& record,
                                    const std::string& message) {
  const auto run = [&](const std::string& redirection) {
    const std::string folder = FreshFolder();
    Command command{
        {"/bin/sh", "-c", "exec \"$0\" 'owns 2' \"$1\"/own " + redirection, Built("odd_program_pie"), folder}};
    record(&command, folder);
    Process process(command);
    const Outcome outcome = process.Finish();
    RemoveRingsOf(process.pid());
    std::filesystem::remove("/dev/shm/heaprec-native-" + std::to_string(process.pid()));
    CHECK(outcome.err == "");
    return std::pair(outcome.exit_code, folder);
  };
  const auto [open_code, open_folder] = run("2>\"$1\"/errors");
  CHECK(open_code == 2);
  CHECK(ReadFile(open_folder + "/errors").find(message) != std::string::npos);
  const auto [code, folder] = run("2>&-");
  CHECK(code == 3);
  CHECK(ReadFile(folder + "/own") == "the program's own\n");
}

// The sum of estimates, each with an interval of 95 %.
class EstimatedSum {
 public:
  void Add(const json& estimate) {
    const double value = estimate["value"], low = estimate["low"], high = estimate["high"];
    value_ += value;
    below_ += (value - low) * (value - low);
    above_ += (high - value) * (high - value);
  }
  void CheckIsAbout(double truth) const {
    const double sigma = std::sqrt(truth > value_ ? above_ : below_) / 1.96;
    CAPTURE(value_, sigma, truth);
    CHECK(std::abs(value_ - truth) <= 6 * sigma + 1);
  }

 private:
  double value_ = 0, below_ = 0, above_ = 0;  // the squares of the distances to its bounds
};

inline void CheckIsAbout(const json& estimate, double truth) {
  EstimatedSum sum;
  sum.Add(estimate);
  sum.CheckIsAbout(truth);
}

}  // namespace heaprec::testing
