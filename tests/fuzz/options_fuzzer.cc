// Property: whatever the text of the agent's options, they are taken or refused with one line, and what was taken is
// within the bounds that docs/reference/agent-options.md gives.
#include <string>
#include <string_view>

#include "recorder/agent/options/command.h"
#include "recorder/agent/options/options.h"
#include "tests/fuzz/fuzz_target.h"

namespace heaprec::fuzz {
namespace {

std::vector<Input> Seeds() {
  return InputsOf(
      {"file=/x/rec-%p-%t.bin,rate=150/s,duration=30s,delay=1m,maxsamples=1000,strict", "rate:6/min,source:jvmti",
       "throttle=window,stackdepth=1024,stacks=jvmti,live=500,exceptions=on,exceptions.rate=10,"
       "ring=off,sync=none,loglevel=debug",
       "start:rate:20,reply=/x/%p", "stop,reply=/x", "file=a\\,b\\\\,@x\\,y", "stop", "status=/x", ",,=,:,rate="});
}

void Check(const uint8_t* bytes, size_t size) {
  std::string text(TextOf(bytes, size));
  for (char& c : text) c = c == '@' ? '_' : c;  // files are another test's business
  const auto options = agent::ParseOptions(text);
  if (options.ok()) {
    Require(options->rate_per_second > 0 && options->rate_per_second <= 200'000);
    Require(options->stack_depth >= 1 && options->stack_depth <= 1024);
    Require(options->exceptions_per_second > 0 && options->exceptions_per_second <= 200'000);
  } else {
    Require(!options.error().message.empty());
  }
  (void)agent::AsksForStrict(text);
  const auto command = agent::ParseCommand(text);
  if (command.ok()) Require(command->options.size() <= text.size() && command->reply_file.size() <= text.size());
}

const Registered kRegistered({.name = "options", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz
