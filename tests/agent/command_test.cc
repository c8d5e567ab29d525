#include "recorder/agent/options/command.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <string>

#include "tests/support/files.h"

namespace heaprec::agent {
namespace {

Command Parsed(const std::string& text) {
  auto command = ParseCommand(text);
  INFO((command.ok() ? "" : command.error().message));
  REQUIRE(command.ok());
  return *command;
}

}  // namespace

TEST_CASE("Options without a command start a recording and are passed on unchanged") {
  const Command command = Parsed("file=a=b:c.bin,rate:20,strict");
  CHECK(command.kind == CommandKind::kStart);
  CHECK(command.options == "file=a=b:c.bin,rate:20,strict");
  CHECK(command.reply_file.empty());
  CHECK(Parsed("").options.empty());
}

TEST_CASE("A command's name comes first, the reply's file anywhere") {
  CHECK(Parsed("start,rate=20").options == "rate=20");
  const Command start = Parsed("rate=20,reply=/tmp/x,strict");
  CHECK(start.options == "rate=20,strict");
  CHECK(start.reply_file == "/tmp/x");
  const Command stop = Parsed("stop,reply:/tmp/y");
  CHECK(stop.kind == CommandKind::kStop);
  CHECK(stop.reply_file == "/tmp/y");
  const Command odd = Parsed("file=a\\,b\\\\,reply=/tmp/x\\,y,strict");
  CHECK(odd.options == "file=a\\,b\\\\,strict");  // as it was
  CHECK(odd.reply_file == "/tmp/x,y");
  CHECK(Parsed("flush,reply=/tmp/y").kind == CommandKind::kFlush);
  CHECK(Parsed("status").kind == CommandKind::kStatus);
  CHECK(Parsed("status=/tmp/z").reply_file == "/tmp/z");
  CHECK(Parsed("rate=20,stop").options == "rate=20,stop");  // an option of that name, which is then refused
}

TEST_CASE("stop, flush and status refuse options, and the error names the command") {
  for (const char* text : {"stop,rate=20", "flush,rate=20", "status,rate=20", "status=/tmp/z,rate=20"}) {
    const auto command = ParseCommand(text);
    REQUIRE_FALSE(command.ok());
    CHECK(command.error().message.find("rate=20") != std::string::npos);
  }
}

TEST_CASE("A reply is written to a new file that only its owner can read; an existing file is not touched") {
  const testing::Folder folder;
  WriteReply(folder / "reply-%p", ReplyStatus::kOk, "recording /tmp/rec.bin");
  const std::string path = folder / ("reply-" + std::to_string(getpid()));
  CHECK(testing::ContentOf(path) == "ok\nrecording /tmp/rec.bin\n");
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);

  WriteReply(path, ReplyStatus::kError, "other");
  CHECK(testing::ContentOf(path) == "ok\nrecording /tmp/rec.bin\n");
  std::filesystem::create_symlink(folder / "target", folder / "link");
  WriteReply(folder / "link", ReplyStatus::kError, "other");
  CHECK_FALSE(std::filesystem::exists(folder / "target"));
  WriteReply("", ReplyStatus::kOk, "to nobody");
}

TEST_CASE("If the file cannot have content, the reply is the target of a symbolic link") {
  const testing::Folder folder;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{0, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &none) == 0);
  WriteReply(folder / "reply", ReplyStatus::kError, "rec.bin: File too large");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(std::filesystem::read_symlink(folder / "reply") == "error\nrec.bin: File too large\n");
}

}  // namespace heaprec::agent
