// Tables of processes that are gone: their numbers are those of children that have ended.
#include "recorder/native_count/stale_tables.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/files.h"

namespace heaprec::native {
namespace {

pid_t Gone() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  return child;
}

// `age`: the higher, the older.
std::string Make(const std::string& path, int age) {
  std::ofstream(path) << "table";
  const timespec times[] = {{1'000'000 - age, 0}, {1'000'000 - age, 0}};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
  return path;
}

}  // namespace

TEST_CASE("Of the tables of dead processes the newest stay, and those of other processes all stay") {
  const testing::Folder folder;
  const std::string prefix = folder / "heaprec-native-";
  std::vector<std::string> stale;
  for (int age = 0; age < 6; ++age) stale.push_back(Make(prefix + std::to_string(Gone()), age));
  const std::string locked = Make(prefix + std::to_string(Gone()), 100),
                    own = Make(prefix + std::to_string(getpid()), 100), other = Make(prefix + "x", 100),
                    another = Make(folder / "native-1", 100);
  const int lock = open(locked.c_str(), O_RDWR);
  REQUIRE(flock(lock, LOCK_EX | LOCK_NB) == 0);
  CHECK(RemoveStaleTables(folder.path().c_str(), 4) == 2);
  for (size_t age = 0; age < stale.size(); ++age) CHECK(std::filesystem::exists(stale[age]) == (age < 4));
  for (const std::string& path : {locked, own, other, another}) CHECK(std::filesystem::exists(path));
  close(lock);
  CHECK(RemoveStaleTables((folder / "none").c_str(), 0) == 0);
  CHECK(RemoveStaleTables(folder.path().c_str(), 0) == 5);
}

}  // namespace heaprec::native
