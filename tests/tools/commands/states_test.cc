// What the command makes of collections and looks at the heap.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/tools/small_recording.h"
#include "tools/input/recording.h"

namespace heaprec::tools::testing {
namespace {

using format::ProcessState;
using format::ProcessStateKind;
using nlohmann::json;

constexpr uint64_t kMb = 1 << 20;

ProcessState Look(uint64_t id, uint64_t time_ns, uint64_t rss) {
  ProcessState state;
  state.id = id;
  state.time_ns = time_ns;
  state.used = 30 * kMb;
  state.committed = 64 * kMb;
  state.threads = 7;
  state.rss = rss;
  return state;
}

ProcessState Begin(uint64_t id, uint64_t time_ns) {
  ProcessState state;
  state.id = id;
  state.time_ns = time_ns;
  state.kind = ProcessStateKind::kGcBegin;
  state.used = 50 * kMb;
  state.committed = 64 * kMb;
  return state;
}

ProcessState End(uint64_t id, uint64_t time_ns, uint64_t paused_ns, uint64_t used) {
  ProcessState state = Begin(id, time_ns);
  state.kind = ProcessStateKind::kGcEnd;
  state.used = used;
  state.pauses = 1;
  state.paused_ns = paused_ns;
  state.cause = "Allocation Failure";
  return state;
}

// Two looks, two collections, one that begins and never ends, and an allocation.
void WriteStates(const std::string& path) {
  RecordingFile file(path, SomeHeader());
  file.Add(Look(1, 0, 100 * kMb));
  file.Add(Begin(2, 400 * kMs));
  file.Add(End(3, 402 * kMs, 2 * kMs, 10 * kMb));
  file.Add(At(500 * kMs));
  file.Add(Look(4, kSecond, 120 * kMb));
  file.Add(Begin(5, 1400 * kMs));
  file.Add(End(6, 1403 * kMs, 3 * kMs, 12 * kMb));
  file.Add(Begin(7, 1600 * kMs));
  file.Flush();
}

}  // namespace

TEST_CASE_METHOD(Scratch, "print shows collections and looks only when asked for, in order of time") {
  WriteStates(path);
  const auto plain = Heaprec("print " + path);
  CHECK(plain.code == 0);
  CHECK(Count(plain.out, "heaprec.") == 1);
  const auto all = json::parse(Heaprec("print --json --kind gc,heap,tlab " + path).out)["events"];
  std::string kinds;
  for (const json& event : all) kinds += event["kind"].get<std::string>() + " ";
  CHECK(kinds == "heap gc tlab heap gc gc ");
  CHECK(all[1]["pause_ns"] == 2 * kMs);
  CHECK(all[1]["cause"] == "Allocation Failure");
  CHECK(all[1]["used_before"] == 50 * kMb);
  CHECK(all[1]["used_after"] == 10 * kMb);
  CHECK(all[3]["rss"] == 120 * kMb);
  CHECK(all[5]["unfinished"] == true);
  const auto text = Heaprec("print --kind gc " + path).out;
  CHECK(Count(text, "heaprec.GarbageCollection {") == 3);
  CHECK(Count(text, "pause = 2.000 ms") == 1);
  CHECK(Count(text, "pause = unfinished") == 1);
}

TEST_CASE_METHOD(Scratch, "what has no thread, class or stack passes no filter of them") {
  WriteStates(path);
  const auto out = json::parse(Heaprec("print --json --kind heap --thread main " + path).out);
  CHECK(out["events"].empty());
  const auto late = json::parse(Heaprec("print --json --kind heap --from 1s " + path).out);
  CHECK(late["events"].size() == 1);
}

TEST_CASE_METHOD(Scratch, "summary adds up the pauses, the heap after them and the largest process") {
  WriteStates(path);
  const json heap = json::parse(Heaprec("summary --json " + path).out)["heap"];
  CHECK(heap["pauses"] == 2);
  CHECK(heap["paused_ns"] == 5 * kMs);
  CHECK(heap["longest_pause_ns"] == 3 * kMs);
  CHECK(heap["causes"]["Allocation Failure"] == 2);
  CHECK(heap["used_after_first"] == 10 * kMb);
  CHECK(heap["used_after_max"] == 12 * kMb);
  CHECK(heap["rss_max"] == 120 * kMb);
  CHECK(heap["threads_max"] == 7);
  CHECK(heap["unfinished"] == true);
  const auto text = Heaprec("summary " + path).out;
  CHECK(Count(text, "; 2 GC pauses, 0.005 s in all\n") == 1);
}

TEST_CASE_METHOD(Scratch, "states that only the ring holds are salvaged, those that the file has are not taken twice") {
  format::FileHeader header = SomeHeader();
  header.ring_path = directory / "ring";
  RecordingFile file(path, header);
  file.Add(Look(1, 0, 100 * kMb));
  file.Add(Begin(3, 900 * kMs));  // 2 is still under way in another lane
  file.Flush();
  RingFile ring(header);
  ring.Add(0, Look(1, 0, 100 * kMb));
  ring.Add(1, Look(2, 800 * kMs, 110 * kMb));
  ring.Add(0, Begin(3, 900 * kMs));
  ring.Add(0, End(4, 905 * kMs, 5 * kMs, 20 * kMb));
  ring.WriteTo(header.ring_path);
  auto recording = Recording::Open(path);
  REQUIRE(recording.ok());
  std::vector<ProcessState> states;
  while (const auto block = (*recording)->Next()) {
    states.insert(states.end(), block->states.begin(), block->states.end());
  }
  REQUIRE(states.size() == 4);
  CHECK(states[2] == Look(2, 800 * kMs, 110 * kMb));
  CHECK(states[3] == End(4, 905 * kMs, 5 * kMs, 20 * kMb));
}

TEST_CASE("The time until the container is full is on every screen, and only if it grows") {
  const Scratch scratch;
  const std::string folder = scratch.directory / "fleet", grows = folder + "/grows.hrec",
                    steady = folder + "/steady.hrec";
  std::filesystem::create_directory(folder);
  constexpr uint64_t kSeconds = 1200, kLimit = 2000 * kMb;
  for (const std::string& to : {grows, steady}) {
    const bool is_growing = to == grows;
    RecordingFile file(to, HeaderOf(is_growing ? 21 : 22));
    file.Add(At(kSecond));
    for (uint64_t second = 0; second <= kSeconds; second += 5) {
      ProcessState look = Look(second / 5 + 1, second * kSecond, 100 * kMb);
      // 1 MiB/s from 200 MiB on; page cache that can be dropped makes it look full.
      const uint64_t used = (is_growing ? 200 + second : 1900) * kMb;
      using format::AccountItem;
      look.account.Set(AccountItem::kCgroupCurrent, format::Amount::Of(used + 50 * kMb));
      look.account.Set(AccountItem::kCgroupFile, format::Amount::Of(50 * kMb));
      look.account.Set(AccountItem::kCgroupMax, format::Amount::Of(kLimit));
      file.Add(look);
    }
    file.Flush({}, kSeconds * kSecond);
  }
  const auto of = [](const std::string& command) { return json::parse(Heaprec(command).out); };
  // 1,400 MiB at 1,200 s: 600 s.
  for (const char* const command : {"summary --json ", "why --json "}) {
    INFO(command);
    const json full = of(command + grows)["time_to_full"];
    CHECK(full["fills"] == "container");
    CHECK(full["used"] == 1400 * kMb);
    CHECK(full["limit"] == kLimit);
    CHECK(std::abs(full["seconds"]["value"].get<double>() - 600) < 10);
    CHECK(full["seconds"]["low"].get<double>() <= 600.5);
    CHECK(full["seconds"]["high"].get<double>() >= 599.5);
    CHECK(of(command + steady)["time_to_full"].is_null());
  }
  CHECK(Count(Heaprec("summary " + grows).out, "Container would have been full in ") == 1);
  CHECK(Count(Heaprec("why " + grows).out, "container would have been full in ") == 1);
  CHECK(Count(Heaprec("summary " + steady).out, "full in") == 0);
  const json rows = of("fleet outliers --json --by time-to-full --from-dir " + folder)["rows"];
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["fills"] == "container");
  CHECK(std::abs(rows[0]["full_in_seconds"]["value"].get<double>() - 600) < 10);
  CHECK(Heaprec("fleet top --by time-to-full --from-dir " + folder).code == 2);
}

TEST_CASE("why: what was live when the heap was full, by class and site") {
  const Scratch scratch;
  format::FileHeader header = HeaderOf(23);
  header.max_tracked_objects = 100;
  {
    RecordingFile file(scratch.path, header);
    Event first = At(kSecond);
    first.tracking_index = 1;
    file.Add(first);
    ProcessState mark = Look(1, 2 * kSecond, 0);
    mark.kind = ProcessStateKind::kHeapFull;
    mark.used = 180 * kMb, mark.committed = 200 * kMb;
    mark.cause = "Java heap space";
    file.Add(mark);
    file.Add(Event{.time_ns = 3 * kSecond, .class_name = "[B", .tracking_index = 2});
    file.Flush({}, 4 * kSecond);
  }
  const json full = json::parse(Heaprec("why --json " + scratch.path).out)["heap_full"];
  CHECK(full["time_ns"] == 2 * kSecond);
  CHECK(full["used"] == 180 * kMb);
  CHECK(full["limit"] == 200 * kMb);
  CHECK(full["reason"] == "Java heap space");
  REQUIRE(full["live"].size() == 1);
  CHECK(full["live"][0]["name"].get<std::string>().starts_with("java.lang.String at "));
}

TEST_CASE("why: one screen for a process that was killed with its memory full") {
  const Scratch scratch;
  format::FileHeader header = HeaderOf(9);
  header.settings = {{"MaxHeapSize", std::to_string(200 * kMb), format::Setting::Origin::kSet}};
  {
    RecordingFile file(scratch.path, header);
    for (uint64_t second = 0; second < 60; ++second) {
      ProcessState look = Look(second + 1, second * kSecond, (100 + 2 * second) * kMb);
      for (const auto item : {format::AccountItem::kMetaspaceUsed, format::AccountItem::kCodeUsed,
                              format::AccountItem::kStacksResident, format::AccountItem::kUnexplained,
                              format::AccountItem::kLibrariesResident, format::AccountItem::kSharedDataResident})
        look.account.Set(item, format::Amount::Of(10 * kMb));
      look.account.Set(format::AccountItem::kThreads, format::Amount::Of(20));
      look.account.Set(format::AccountItem::kDirectUsed, format::Amount::Of((10 + 2 * second) * kMb));
      look.account.Set(format::AccountItem::kDirectMax, format::Amount::NotKnown());
      look.account.Set(format::AccountItem::kCgroupCurrent, format::Amount::Of((102 + 2 * second) * kMb));
      look.account.Set(format::AccountItem::kCgroupMax, format::Amount::Of(221 * kMb));
      file.Add(look);
    }
    file.Flush();
  }
  const nlohmann::json why = Parsed("why --json " + scratch.path);
  CHECK(why["schema"] == "heaprec.why/1");
  CHECK(why["why"]["verdict"] == "oom_kill");
  CHECK(why["why"]["certainty"] == "probable");
  CHECK(why["end_marker"].is_null());
  const auto row_of = [&](const std::string& owner) {
    for (const nlohmann::json& row : why["account"]) {
      if (row["owner"] == owner) return row;
    }
    return nlohmann::json();
  };
  CHECK(row_of("direct_buffers")["used"] == 128 * kMb);
  CHECK(row_of("direct_buffers")["before"] == 116 * kMb);
  CHECK(row_of("direct_buffers")["limit"].is_null());
  CHECK(row_of("cgroup")["limit"] == 221 * kMb);
  CHECK(row_of("collector").is_null());
  REQUIRE(why["grew"].size() == 3);
  CHECK(why["grew"][0]["per_second"]["value"].get<double>() == Approx(2.0 * kMb).epsilon(0.01));

  const std::string screen = Shell("COLUMNS=80 $HEAPREC why " + scratch.path).out;
  size_t lines = 0;
  for (size_t at = 0; at < screen.size();) {
    const size_t end = screen.find('\n', at);
    lines += (end - at) / 81 + 1;
    at = end + 1;
  }
  CHECK(lines < 30);
  CHECK(screen.find("why:") != std::string::npos);
  CHECK(screen.find("direct buffers") != std::string::npos);
  CHECK(Heaprec("why --format markdown " + scratch.path).out.find("| 128 MiB |") != std::string::npos);
  CHECK(Heaprec("why /nowhere.hrec").code == 3);
  CHECK(why["settings"][0] == json{{"name", "MaxHeapSize"}, {"value", std::to_string(200 * kMb)}, {"origin", "set"}});
  CHECK(why["differs"]["rows"].empty());
}

TEST_CASE("why: a folder of a crash loop, with a copy, a rotated recording and files that are none") {
  const Directory directory;
  const auto write = [&](const std::string& name, uint8_t id, uint64_t seconds, const std::string& reason) {
    format::FileHeader header = HeaderOf(id);
    header.start_epoch_ns += id * 100 * kSecond;
    RecordingFile file(directory / name, header);
    file.Add(Look(1, 0, 100 * kMb));
    if (reason == "jvm exit") {
      ProcessState exit;
      exit.id = 2;
      exit.time_ns = seconds * kSecond;
      exit.kind = ProcessStateKind::kExit;
      exit.used = 3 + 1;
      file.Add(exit);
    }
    file.Flush({}, seconds * kSecond);
    if (!reason.empty()) file.End(reason, seconds * kSecond);
  };
  write("a.hrec", 1, 20, "jvm exit");
  write("b.hrec", 2, 22, "jvm exit");
  write("c.hrec", 3, 40, "");
  write("copy-of-b.hrec", 2, 10, "dump");
  Overwrite(directory / "damaged.hrec", "this is no recording");
  const Outcome text = Shell("COLUMNS=80 $HEAPREC why " + directory / "");
  CHECK(text.code == 4);
  CHECK(text.err.find("damaged.hrec") != std::string::npos);
  CHECK(text.out.find("3 of 3 recorded processes") != std::string::npos);
  CHECK(text.out.find("System.exit(3)") != std::string::npos);
  CHECK(text.out.find("2 of 3") != std::string::npos);
  CHECK(text.out.find("1 file: damaged.hrec") != std::string::npos);
  const json all = json::parse(Heaprec("why --json " + directory / "").out);
  REQUIRE(all["ends"].size() == 3);
  CHECK(all["ends"][1]["lived_ns"] == 22 * kSecond);
  CHECK(all["ends"][2]["verdict"] == "killed");
  CHECK(all["common"]["cause"]["ends"] == 2);
  CHECK(all["unreadable"].size() == 1);
  const Directory empty;
  CHECK(Heaprec("why " + empty / "").code == 3);
}

TEST_CASE("why: a rotated recording is one, and the accounts of the last two minutes are all there") {
  const Directory directory;
  format::FileHeader header = HeaderOf(9);
  for (const uint32_t part : {0U, 1U}) {
    header.start.part = part;
    header.start.begin_ns = part * 5000 * kSecond;
    RecordingFile file(directory / (part == 0 ? "app.hrec" : "app.1.hrec"), header);
    for (uint64_t second = 0; second < 5000; ++second) {
      // In the last five seconds the process takes 100 MiB each.
      const uint64_t late = part == 1 && second >= 4995 ? second - 4994 : 0;
      ProcessState look = Look(part * 5000 + second + 1, (part * 5000 + second) * kSecond, (100 + 100 * late) * kMb);
      look.account.Set(format::AccountItem::kCgroupCurrent, format::Amount::Of(look.rss));
      look.account.Set(format::AccountItem::kCgroupMax, format::Amount::Of(640 * kMb));
      file.Add(look);
    }
    file.Flush({}, (part + 1) * 5000 * kSecond);
    if (part == 0) file.End("rotated", 5000 * kSecond);
  }
  const json why = Parsed("why --json " + directory / "");
  CHECK(why["why"]["verdict"] == "oom_kill");
  REQUIRE(why["differs"]["rows"].size() == 1);
  CHECK(why["differs"]["rows"][0]["id"] == "rss");
  CHECK(Parsed("why --json " + directory / "app.hrec")["why"]["verdict"] == "continues");
}

}  // namespace heaprec::tools::testing
