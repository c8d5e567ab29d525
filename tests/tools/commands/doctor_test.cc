// doctor from outside: recordings made bad in each way, and what it says of them.
#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/tools/small_recording.h"

namespace heaprec::tools::testing {
namespace {

using nlohmann::json;

class Patient {
 public:
  format::FileHeader header = SomeHeader();

  // Two samples, then what `harm` does, then an ending.
  json After(const std::function<void(RecordingFile&)>& harm) {
    std::remove((directory_ / "rec.bin").c_str());
    RecordingFile file(directory_ / "rec.bin", header);
    file.Add(At(kMs));
    file.Add(At(2 * kMs));
    harm(file);
    file.End("jvm exit", kSecond);
    return Look();
  }
  json Look() const {
    outcome_ = Heaprec("doctor --json " + path());
    INFO(outcome_.err);
    const json document = json::parse(outcome_.out);
    CHECK(outcome_.code == (document["trustworthy"] == true ? 0 : 1));
    return document["recordings"][0];
  }
  std::string path() const { return directory_ / "rec.bin"; }

 private:
  const Directory directory_;
  mutable Outcome outcome_;
};

json Inconsistency(const json& recording, const std::string& id) {
  for (const json& finding : recording["findings"]) {
    if (finding["id"] == id) return finding;
  }
  return {{"level", "not said"}, {"what", ""}, {"action", ""}, {"impact", ""}, {"value", nullptr}};
}

// One space for several: columns are as wide as what is in them.
std::string Squeezed(const std::string& text) {
  std::string squeezed;
  for (const char c : text) {
    if (c != ' ' || squeezed.empty() || squeezed.back() != ' ') squeezed += c;
  }
  return squeezed;
}

void Nothing(RecordingFile&) {}

std::function<void(RecordingFile&)> Lost(format::LossReason reason, double weight) {
  return [=](RecordingFile& file) {
    format::StreamCounters& counters = file.counters();
    counters.lost[static_cast<size_t>(reason)] = 1;
    counters.lost_weight[static_cast<size_t>(reason)] = weight;
    const bool is_point = reason != format::LossReason::kThreadLimit && reason != format::LossReason::kNoStack &&
                          reason != format::LossReason::kWriteFailed;
    if (is_point) ++counters.points;
  };
}

TEST_CASE_METHOD(Scratch, "The first line of doctor is the verdict, problems come first, and each has what to do") {
  WriteSmall(path);
  const Outcome well = Heaprec("doctor " + path);
  CHECK(well.code == 0);
  CHECK(well.out.find("trustworthy: yes") == 0);
  CHECK(Squeezed(well.out).find("\nok source hooks (symbols found)\n") != std::string::npos);
  CHECK(Heaprec("doctor -q " + path).out.find("\nok ") == std::string::npos);

  format::FileHeader header = SomeHeader();
  header.source = "imported";
  WriteSmall(directory / "bad.bin", header);
  const Outcome bad = Heaprec("doctor " + directory / "bad.bin");
  CHECK(bad.code == 1);
  CHECK(bad.out.find("trustworthy: no, 1 problem") == 0);
  const std::string findings = Squeezed(bad.out);
  CHECK(findings.find("\nproblem source imported from") < findings.find("\nnote "));
  CHECK(findings.find("\n action: record with heaprec;") != std::string::npos);

  const Outcome both = Heaprec("doctor " + path + " " + directory / "bad.bin");
  CHECK(both.code == 1);
  CHECK(both.out.find("trustworthy: yes") < both.out.find("trustworthy: no"));
  CHECK(Heaprec("doctor " + directory / "none.bin").code == 3);
}

TEST_CASE("doctor and summary agree") {
  Patient patient;
  const auto agree = [&](const std::function<void(RecordingFile&)>& harm, bool trusted) {
    const json doctor = patient.After(harm);
    const json summary = json::parse(Heaprec("summary --json " + patient.path()).out);
    INFO(doctor.dump(1));
    CHECK(doctor["trustworthy"] == trusted);
    CHECK(summary["trustworthy"] == trusted);
    for (const json& reason : summary["reasons"]) {
      CHECK(doctor.dump().find(reason.get<std::string>()) != std::string::npos);
    }
    for (const json& finding : doctor["findings"]) {
      INFO(finding);
      if (finding["level"] != "ok") CHECK_FALSE(finding["action"].get<std::string>().empty());
      if (finding["level"] != "ok") CHECK_FALSE(finding["impact"].get<std::string>().empty());
    }
  };
  agree(Nothing, true);
  agree([](RecordingFile& file) { file.counters().points += 100; }, false);
  agree([](RecordingFile& file) { file.counters().written += 1; }, false);
  agree(Lost(format::LossReason::kRingFull, 1000), false);
  agree(Lost(format::LossReason::kThreadLimit, 0), false);
  agree([](RecordingFile& file) { file.Add(format::Interval{0, 10, 90'000, 2, 2, 0}); }, false);
  patient.header.interval_cap = 1;
  agree(Nothing, false);
}

TEST_CASE("doctor says what to do about objects that the JVM allocates inline") {
  Patient patient;
  const auto uncounted = [](RecordingFile& file) { file.Add(format::Interval{0, 10, 90'000'000, 2, 2, 0}); };
  CHECK(Inconsistency(patient.After(uncounted), "total")["action"].get<std::string>().find("UseTLAB") ==
        std::string::npos);
  patient.header.Note(format::SourceFact::kAllocatesInline);
  const json total = Inconsistency(patient.After(uncounted), "total");
  CHECK(total["level"] == "problem");
  CHECK(total["action"].get<std::string>().find("-XX:-UseTLAB") != std::string::npos);
}

TEST_CASE("doctor lists each loss with its share") {
  Patient patient;
  for (size_t reason = 0; reason < format::kLosses; ++reason) {
    const auto loss = static_cast<format::LossReason>(reason);
    if (!format::IsLoss(loss) || loss == format::LossReason::kNoStack) continue;
    const json finding =
        Inconsistency(patient.After(Lost(loss, 480)), std::string("loss_") + format::LossReasonName(loss));
    INFO(format::LossReasonName(loss));
    CHECK(finding["level"] == "warning");
    CHECK(finding["value"] == Approx(480 / (4800 + 480.0)));
    CHECK(finding["action"] != "");
  }
  CHECK(Inconsistency(patient.After(Nothing), "losses")["level"] == "ok");
  CHECK(Inconsistency(patient.After(Lost(format::LossReason::kDroppedByJvm, 1)), "loss_missed")["level"] == "ok");
}

TEST_CASE("doctor shows which share of the samples has truncated stacks, unknown frames, no stack") {
  Patient patient;
  const auto with = [&](const std::vector<std::string>& stack, const char* id) {
    return Inconsistency(patient.After([&](RecordingFile& file) {
      Event event = At(3 * kMs);
      event.stack = stack;
      file.Add(event);
    }),
                         id);
  };
  CHECK(with({"p/A.a:1"}, "no_stack")["level"] == "ok");
  const json none = with({}, "no_stack");
  CHECK(none["level"] == "warning");
  CHECK(none["value"] == Approx(1.0 / 3));
  CHECK(none["action"] ==
        "none if native threads allocate through JNI without a Java method; else record with stacks=jvmti");
  CHECK(with({"p/A.a:1"}, "truncated")["level"] == "ok");
  CHECK(with({"[lost].[lost]:1"}, "unknown_frames")["level"] == "warning");
  const json lost = Inconsistency(patient.After([](RecordingFile& file) {
    Event event = At(3 * kMs);
    event.class_name = "[lost]";
    file.Add(event);
  }),
                                  "unknown_classes");
  CHECK(lost["level"] == "warning");
}

TEST_CASE("doctor shows the source of the samples and of the stacks") {
  Patient patient;
  CHECK(Inconsistency(patient.After(Nothing), "source")["level"] == "ok");
  CHECK(Inconsistency(patient.After(Nothing), "stacks")["level"] == "ok");
  CHECK(Inconsistency(patient.After([](RecordingFile& file) { file.counters().stack_mismatches = 3; }),
                      "stacks")["level"] == "note");
  patient.header.source = "jvmti";
  CHECK(Inconsistency(patient.After(Nothing), "source")["level"] == "note");
  patient.header.source = "imported";
  CHECK(Inconsistency(patient.After(Nothing), "source")["level"] == "problem");
}

TEST_CASE("doctor shows whether the rate was the limit, or was not used") {
  Patient patient;
  const json limited = Inconsistency(patient.After([](RecordingFile& file) {
    file.Add(format::Interval{0, 10, 4800, 2, 2, 0});
    file.Add(format::Interval{1, 10, 0, 0, 0, 7});
  }),
                                     "rate_limited");
  CHECK(limited["level"] == "note");
  CHECK(limited["value"] == Approx(0.5));
  const json used = Inconsistency(patient.Look(), "rate_used");
  CHECK(used["level"] == "note");
  CHECK(used["value"] == Approx(2.0 / 300));
}

TEST_CASE("doctor shows damage, a lost end, and a missing start") {
  Patient patient;
  patient.After([](RecordingFile& file) {
    file.StartChunk();
    file.Add(At(3 * kMs));
    file.Flush();
    file.StartChunk();
    file.Add(At(4 * kMs));
  });
  std::string bytes = Contents(patient.path());
  const size_t second_chunk = bytes.find("HRCHNK", bytes.find("HRCHNK") + 1);
  std::string damaged = bytes;
  damaged[second_chunk + 110] ^= 0x10;
  Overwrite(patient.path(), damaged);
  CHECK(Inconsistency(patient.Look(), "damage")["level"] == "problem");

  Overwrite(patient.path(), bytes.substr(0, bytes.rfind("HRCHNK") - 2));
  const json cut = patient.Look();
  CHECK(cut["trustworthy"] == true);
  CHECK(Inconsistency(cut, "end")["level"] == "note");
  CHECK(Inconsistency(cut, "ring")["what"] == "there was no shared ring");

  patient.header.start.begin_ns = 5 * kSecond;
  patient.header.start.next_interval[format::Stream::kAllocations] = 5;
  CHECK(Inconsistency(patient.After(Nothing), "missing_start")["what"].get<std::string>().find("5.000 s") !=
        std::string::npos);
}

TEST_CASE("doctor measures how far the wall clock has moved, on the machine of the recording only") {
  Patient patient;
  CHECK(Inconsistency(patient.After(Nothing), "clock")["value"].is_null());
  std::string boot = Contents("/proc/sys/kernel/random/boot_id");
  patient.header.boot_id = boot.substr(0, boot.find('\n'));
  // SomeHeader's clocks are not this machine's.
  const json moved = Inconsistency(patient.After(Nothing), "clock");
  CHECK(moved["level"] == "note");
  CHECK(moved["value"].is_number());
}

}  // namespace
}  // namespace heaprec::tools::testing
