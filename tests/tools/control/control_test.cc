// The parts of tools/control that need no JVM.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tools/control/agent_options.h"
#include "tools/control/java_command.h"
#include "tools/control/java_process.h"

namespace heaprec::tools {
namespace {

void PutWord(std::string* text, size_t at, uint32_t word) { std::memcpy(text->data() + at, &word, sizeof word); }

// An entry of an hsperfdata file: a name, a type and a value.
std::string Entry(const std::string& name, char type, const std::string& value) {
  std::string entry(20, '\0');
  PutWord(&entry, 4, 20);
  PutWord(&entry, 8, static_cast<uint32_t>(value.size()));
  entry[12] = type;
  entry += name + '\0';
  PutWord(&entry, 16, static_cast<uint32_t>(entry.size()));
  entry += value;
  PutWord(&entry, 0, static_cast<uint32_t>(entry.size()));
  return entry;
}

std::string PerfFile(const std::vector<std::string>& entries) {
  std::string file("\xca\xfe\xc0\xc0\x01\x02\x00\x01", 8);
  file.resize(32);
  PutWord(&file, 24, 32);
  PutWord(&file, 28, static_cast<uint32_t>(entries.size()));
  for (const std::string& entry : entries) file += entry;
  return file;
}

JavaProcess Jvm(pid_t pid, const std::string& main) {
  JavaProcess java;
  java.process.pid = pid;
  java.main = main;
  return java;
}

std::string Arguments(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  return text;
}

std::string FakeJdk() {
  std::string path = (std::filesystem::temp_directory_path() / "jdk-XXXXXX").string();
  REQUIRE(mkdtemp(path.data()) != nullptr);
  std::filesystem::create_directory(path + "/bin");
  for (const char* name : {"/release", "/bin/java", "/bin/javac"}) std::ofstream(path + name) << "x";
  return path;
}

}  // namespace

TEST_CASE("The strings of an hsperfdata file are found, and numbers skipped") {
  const auto strings =
      PerfDataStrings(PerfFile({Entry("sun.rt.javaCommand", 'B', std::string("e2e.Load 2 300\0\0", 16)),
                                Entry("sun.gc.x", 'J', "12345678"), Entry("empty", 'B', "")}));
  CHECK(strings.size() == 2);
  CHECK(strings.at("sun.rt.javaCommand") == "e2e.Load 2 300");
  CHECK(strings.at("empty").empty());
}

TEST_CASE("A damaged hsperfdata file gives less, and is never read beyond its end") {
  const std::string file = PerfFile({Entry("first", 'B', "one"), Entry("second", 'B', "two")});
  for (size_t size = 0; size < file.size(); ++size) {
    const auto strings = PerfDataStrings(std::string(file, 0, size));
    CHECK(strings.size() <= 2);
  }
  std::string wild = file;
  PutWord(&wild, 24, 0xffffff00);
  CHECK(PerfDataStrings(wild).empty());
  std::string endless = file;
  PutWord(&endless, 32, 0);  // an entry of no length
  CHECK(PerfDataStrings(endless).empty());
  CHECK(PerfDataStrings("not such a file, but longer than its header is").empty());
}

TEST_CASE("The main class or jar is found after the options of a command line") {
  CHECK(MainOfCommandLine(Arguments({"java", "-Xmx1g", "-cp", "a:b", "com.x.Main", "-cp"})) == "com.x.Main");
  CHECK(MainOfCommandLine(Arguments({"java", "-jar", "/opt/app.jar", "x"})) == "/opt/app.jar");
  CHECK(MainOfCommandLine(Arguments({"java", "--add-opens", "a/b=c", "-m", "mod/com.x.Main"})) == "mod/com.x.Main");
  CHECK(MainOfCommandLine(Arguments({"java", "@args", "Main"})) == "Main");
  CHECK(MainOfCommandLine(Arguments({"java", "-version"})).empty());
  CHECK(MainOfCommandLine("").empty());
}

TEST_CASE("Versions of JDK 8 are parsed as 8") {
  JavaProcess java;
  for (const auto& [version, feature] : {std::pair{"17.0.13", 17}, {"1.8.0_292", 8}, {"25", 25}, {"", 0}}) {
    java.version = version;
    CHECK(java.feature_version() == feature);
  }
}

TEST_CASE("A name matches completely, then by its last part, then by any part; several matches are listed") {
  const std::vector<JavaProcess> all{Jvm(1, "com.x.Main"), Jvm(2, "com.y.Main"), Jvm(3, "/opt/app.jar"),
                                     Jvm(4, "com.x.MainOther"), Jvm(5, "com.z.Domain")};
  CHECK(Choose(all, "com.x.Main")->process.pid == 1);
  CHECK(Choose(all, "app.jar")->process.pid == 3);
  CHECK(Choose(all, "Domain")->process.pid == 5);
  CHECK(Choose(all, "y.Ma")->process.pid == 2);
  const auto several = Choose(all, "Main");
  REQUIRE_FALSE(several.ok());
  CHECK(several.error().message.find("1 com.x.Main, 2 com.y.Main") != std::string::npos);
  CHECK(several.error().message.find("com.x.MainOther") == std::string::npos);
  CHECK_FALSE(Choose(all, "none").ok());
}

TEST_CASE("The agent is added before java's options, and as -J of other tools; other commands are refused") {
  const std::string jdk = FakeJdk(), agent = "-agentpath:/x/libheaprec.so=rate=20";
  using Words = std::vector<std::string>;
  CHECK(*WithAgent({"java", "-jar", "a b.jar"}, jdk + "/bin/java", agent) == Words{"java", agent, "-jar", "a b.jar"});
  CHECK(*WithAgent({"javac", "A.java"}, jdk + "/bin/javac", agent) == Words{"javac", "-J" + agent, "A.java"});
  std::filesystem::create_symlink(jdk + "/bin/java", jdk + "/run-it");
  CHECK(*WithAgent({"run-it", "A"}, jdk + "/run-it", agent) == Words{"run-it", agent, "A"});
  const auto other = WithAgent({"sh", "x.sh"}, "/bin/sh", agent);
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message.find("--child-jvms") != std::string::npos);
  std::filesystem::remove_all(jdk);
}

TEST_CASE("The name of a jar may contain blanks") {
  const std::string blank = "My App/app one.jar";
  CHECK(MainOf(blank + " x", Arguments({"java", "-jar", blank, "x"})) == blank);
  CHECK(MainOf("", Arguments({"java", "-jar", blank, "x"})) == blank);
  CHECK(MainOf("com.x.Main a b", Arguments({"java", "@args"})) == "com.x.Main");
  CHECK(MainOf("com.x.Main a", Arguments({"server", "com.x.Ma"})) == "com.x.Main");
  CHECK(MainOf("com.x.Main", Arguments({"java", "-version"})) == "com.x.Main");
}

TEST_CASE("JAVA_TOOL_OPTIONS keeps its content, and the agent's option is quoted") {
  unsetenv("JAVA_TOOL_OPTIONS");  // NOLINT(concurrency-mt-unsafe): one thread
  CHECK(ToolOptions("-agentpath:/x/l.so") == "JAVA_TOOL_OPTIONS=-agentpath:/x/l.so");
  setenv("JAVA_TOOL_OPTIONS", "-Da=b", 1);  // NOLINT(concurrency-mt-unsafe): one thread
  CHECK(ToolOptions("-agentpath:/a b/l.so") == "JAVA_TOOL_OPTIONS=-Da=b \"-agentpath:/a b/l.so\"");
  setenv("JAVA_TOOL_OPTIONS", "", 1);  // NOLINT(concurrency-mt-unsafe): one thread
  CHECK(ToolOptions("-a:it's") == "JAVA_TOOL_OPTIONS=\"-a:it's\"");
  CHECK(ToolOptions("-a:x\ty\nz") == "JAVA_TOOL_OPTIONS=\"-a:x\ty\nz\"");
  CHECK(ToolOptions("-a:'\"") == "JAVA_TOOL_OPTIONS=\"-a:'\"'\"'\"\"");
}

TEST_CASE("The command's options become the agent's; those of a file come first, --set last") {
  AgentOptions options;
  options.output = "rec.bin";
  options.rate = "20";
  options.file = "my.conf";
  options.more = {"ring=off", "strict"};
  CHECK(options.Text(true) == "@my.conf,file=rec.bin,rate=20,ring=off,strict");
  const std::string here = std::filesystem::current_path();
  options.more.clear();
  CHECK(options.Text(false) == "@" + here + "/my.conf,file=" + here + "/rec.bin,rate=20");
  options.more = {"native=on,native.rate=300", "strict"};
  CHECK(options.Text(true).ends_with(",native=on,native.rate=300,strict"));
  options.output = "a,b";
  CHECK(options.Text(true).find("file=a\\,b,") != std::string::npos);
  CHECK_FALSE(AgentArgument("/a=b/l.so", "x").ok());
  CHECK(*AgentArgument("/a,b/l.so", "file=x=y") == "-agentpath:/a,b/l.so=file=x=y");
}

TEST_CASE("A jar is added to java's class path, wherever that is set") {
  using Words = std::vector<std::string>;
  unsetenv("CLASSPATH");  // NOLINT(concurrency-mt-unsafe): one thread
  CHECK(*WithClasses({"java"}, "/h.jar") == Words{"java", "-cp", ".:/h.jar"});
  CHECK(*WithClasses({"/jdk/bin/java", "-Xmx1g", "-cp", "a:b", "-ea"}, "/h.jar") ==
        Words{"/jdk/bin/java", "-Xmx1g", "-cp", "a:b:/h.jar", "-ea"});
  CHECK(*WithClasses({"java", "--class-path=a", "--add-opens", "x/y=ALL-UNNAMED"}, "/h.jar") ==
        Words{"java", "--class-path=a:/h.jar", "--add-opens", "x/y=ALL-UNNAMED"});
  setenv("CLASSPATH", "z", 1);  // NOLINT(concurrency-mt-unsafe): one thread
  CHECK(*WithClasses({"java"}, "/h.jar") == Words{"java", "-cp", "z:/h.jar"});
  for (const Words& wrong : {Words{"javac"}, Words{"java", "Main"}, Words{"java", "-cp", "x", "Main", "-y"},
                             Words{"java", "-jar", "x"}, Words{"java", "-m", "x"}, Words{"java", "-cp"}}) {
    CHECK_FALSE(WithClasses(wrong, "/h.jar").ok());
  }
}

}  // namespace heaprec::tools
