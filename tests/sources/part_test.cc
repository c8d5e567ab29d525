#include "recorder/sources/part.h"

#include <catch2/catch.hpp>
#include <string>

namespace heaprec::sources {
namespace {

// Notes what it hears, behind its name.
class Noted final : public Part {
 public:
  Noted(std::string name, std::string* heard, bool fails = false)
      : name_(std::move(name)), heard_(*heard), fails_(fails) {}
  void Connect(writer::DrainCallbacks*) override { heard_ += name_ + "connect "; }
  Status Activate() override {
    heard_ += name_ + "activate ";
    if (fails_) return Error{"no thread"};
    return {};
  }
  void OnTick(uint64_t now_ns) override { heard_ += name_ + "tick" + std::to_string(now_ns) + " "; }
  void NewEpoch() override { heard_ += name_ + "chunk "; }
  void MarkStackEmitted(const format::StackKey& key) override {
    heard_ += name_ + "stack" + std::to_string(key.low) + " ";
  }
  void Stop() override { heard_ += name_ + "stop "; }
  bool TryJoin() override { return has_left; }

  bool has_left = true;

 private:
  const std::string name_;
  std::string& heard_;
  const bool fails_;
};

}  // namespace

TEST_CASE("All parts are told about the recording, in their order") {
  std::string heard;
  Parts parts;
  parts.Add(std::make_unique<Noted>("a.", &heard));
  parts.Add(std::make_unique<Noted>("b.", &heard));
  writer::DrainCallbacks callbacks;
  parts.Connect(&callbacks);
  CHECK(parts.Activate().ok());
  parts.OnTick(7);
  callbacks.on_new_chunk();
  callbacks.on_stack({3, 0});
  parts.Stop();
  CHECK(heard ==
        "a.connect b.connect a.activate b.activate a.tick7 b.tick7 a.chunk b.chunk a.stack3 b.stack3 a.stop b.stop ");
}

TEST_CASE("If a part cannot begin, no later one does") {
  std::string heard;
  Parts parts;
  parts.Add(std::make_unique<Noted>("a.", &heard));
  parts.Add(std::make_unique<Noted>("b.", &heard, /*fails=*/true));
  parts.Add(std::make_unique<Noted>("c.", &heard));
  const auto active = parts.Activate();
  REQUIRE_FALSE(active.ok());
  CHECK(active.error().message == "no thread");
  CHECK(heard == "a.activate b.activate ");
}

TEST_CASE("The parts have ended when each of them has") {
  std::string heard;
  Parts parts;
  CHECK(parts.TryJoin());
  Noted& first = parts.Add(std::make_unique<Noted>("a.", &heard));
  parts.Add(std::make_unique<Noted>("b.", &heard));
  CHECK(parts.TryJoin());
  first.has_left = false;
  CHECK_FALSE(parts.TryJoin());
}

}  // namespace heaprec::sources
