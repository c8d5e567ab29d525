// Property: whatever a JVM or an agent in it replies, it is taken, or refused with a sentence.
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_target.h"
#include "tools/control/attach.h"

namespace heaprec::fuzz {
namespace {

std::vector<Input> Seeds() {
  return InputsOf({"0\nreturn code: 0\n", "0\nreturn code: 1\n", "101\nfailed\nagain\n", "100\n",
                   "0\nEnableDynamicAgentLoading", "ok\nrecording /x/rec.bin\n", "error\nwhy\n"});
}

void Check(const uint8_t* bytes, size_t size) {
  const std::string text(TextOf(bytes, size));
  const auto judged = tools::ParseJvmReply(text);
  const std::string& sentence = judged.ok() ? judged->sentence : judged.error().message;
  Require(!sentence.empty() && sentence.find('\n') == std::string::npos);
  if (const auto answer = tools::ParseAnswer(text)) {
    Require(answer->sentence.size() < text.size());
  }
}

const Registered kRegistered({.name = "replies", .seeds = Seeds, .check = Check});

}  // namespace
}  // namespace heaprec::fuzz
