#include "recorder/sources/state/process_meter.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/files.h"

namespace heaprec::sources {
namespace {

using format::AccountItem;
using format::Amount;
using format::ProcessAccount;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kMb = 1 << 20;

// The files of a kernel.
struct FakeRoot : testing::Folder {
  void Write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((path() + file).substr(0, (path() + file).rfind('/')));
    std::ofstream(path() + file) << text;
  }
};

ProcessAccount Cgroup(const FakeRoot& root) {
  ProcessAccount account;
  CgroupMeter(root.path()).Read(kSecond, &account);
  return account;
}

void WriteVersion2(const FakeRoot& root, const std::string& own, const std::string& shown) {
  root.Write("/proc/self/cgroup", "0::" + own + "\n");
  root.Write("/proc/self/mountinfo", "23 1 0:20 / /proc rw - proc proc rw\n30 23 0:26 " + shown +
                                         " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
}

}  // namespace

TEST_CASE("Version 2: all of memory is of the cgroup with the smallest limit") {
  const FakeRoot root;
  WriteVersion2(root, "/pod/app", "/");
  const std::string pod = "/sys/fs/cgroup/pod", app = pod + "/app";
  root.Write(app + "/memory.max", "max\n");
  root.Write(app + "/memory.current", "1\n");
  root.Write(pod + "/memory.max", "268435456\n");
  root.Write(pod + "/memory.high", "max\n");
  root.Write(pod + "/memory.swap.max", "0\n");
  root.Write(pod + "/memory.current", "260000000\n");
  root.Write(pod + "/memory.swap.current", "0\n");
  root.Write(pod + "/memory.stat", "anon 200000000\nfile 50000000\nkernel 3000000\nshmem 4000\nfile_mapped 7\n");
  root.Write(pod + "/memory.events", "low 0\nhigh 5\nmax 17\noom 2\noom_kill 1\noom_group_kill 0\n");
  root.Write(app + "/pids.max", "32\n");
  root.Write(app + "/pids.current", "31\n");
  root.Write(pod + "/pids.max", "max\n");
  root.Write(app + "/cpu.max", "150000 100000\n");
  root.Write(app + "/cpu.stat", "usage_usec 9\nnr_throttled 2\nthrottled_usec 1500\n");
  const ProcessAccount account = Cgroup(root);
  CHECK(CgroupMeter(root.path()).version() == 2);
  CHECK(account[AccountItem::kCgroupMax] == Amount::Of(256 * kMb));
  CHECK(account[AccountItem::kCgroupHigh] == Amount::NoLimit());
  CHECK(account[AccountItem::kCgroupSwapMax] == Amount::Of(0));
  CHECK(account[AccountItem::kCgroupCurrent] == Amount::Of(260'000'000));
  CHECK(account[AccountItem::kCgroupAnon] == Amount::Of(200'000'000));
  CHECK(account[AccountItem::kCgroupFile] == Amount::Of(50'000'000));
  CHECK(account[AccountItem::kCgroupShmem] == Amount::Of(4000));
  CHECK(account[AccountItem::kCgroupKernel] == Amount::Of(3'000'000));
  CHECK(account[AccountItem::kCgroupSwap] == Amount::Of(0));
  CHECK(account[AccountItem::kCgroupMaxEvents] == Amount::Of(17));
  CHECK(account[AccountItem::kCgroupHighEvents] == Amount::Of(5));
  CHECK(account[AccountItem::kCgroupOomEvents] == Amount::Of(2));
  CHECK(account[AccountItem::kCgroupOomKills] == Amount::Of(1));
  CHECK(account[AccountItem::kCgroupPids] == Amount::Of(31));
  CHECK(account[AccountItem::kCgroupPidsMax] == Amount::Of(32));
  CHECK(account[AccountItem::kCgroupCpuQuota] == Amount::Of(1500));
  CHECK(account[AccountItem::kCgroupThrottledNs] == Amount::Of(1'500'000));
}

TEST_CASE("In a container the mount shows the container's cgroup alone, whatever its path is called") {
  for (const auto& [own, shown] : std::vector<std::pair<std::string, std::string>>{
           {"/", "/"}, {"/docker/4f", "/docker/4f"}, {"/../../other", "/"}, {"/not/there", "/"}}) {
    const FakeRoot root;
    WriteVersion2(root, own, shown);
    root.Write("/sys/fs/cgroup/memory.max", "1000000\n");
    INFO(own << " " << shown);
    CHECK(Cgroup(root)[AccountItem::kCgroupMax] == Amount::Of(1'000'000));
  }
}

TEST_CASE("Version 1: limits, use and kills, and no limit is not a number") {
  const FakeRoot root;
  root.Write("/proc/self/cgroup", "8:pids:/\n4:memory:/jobs/one\n1:cpu,cpuacct:/\n0::/\n");
  root.Write("/proc/self/mountinfo",
             "32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
             "35 31 0:32 / /cg/memory rw,relatime - cgroup cgroup rw,memory\n"
             "40 31 0:37 / /cg/pids rw - cgroup cgroup rw,pids\n"
             "41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw\n");
  const std::string one = "/cg/memory/jobs/one/memory.";
  for (const char* level : {"/cg/memory", "/cg/memory/jobs"})
    root.Write(std::string(level) + "/memory.limit_in_bytes", "9223372036854771712\n");
  root.Write(one + "limit_in_bytes", "272629760\n");
  root.Write(one + "memsw.limit_in_bytes", "300000000\n");
  root.Write(one + "usage_in_bytes", "272000000\n");
  root.Write(one + "kmem.usage_in_bytes", "2000000\n");
  root.Write(one + "failcnt", "12\n");
  root.Write(one + "stat", "rss 1\ncache 1\ntotal_cache 5000\ntotal_rss 260000000\ntotal_shmem 77\ntotal_swap 9\n");
  root.Write(one + "oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  root.Write("/cg/cpu/cpu.cfs_quota_us", "-1\n");
  root.Write("/cg/cpu/cpu.cfs_period_us", "100000\n");
  root.Write("/cg/cpu/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_time 123456\n");
  const ProcessAccount account = Cgroup(root);
  CHECK(CgroupMeter(root.path()).version() == 1);
  CHECK(account[AccountItem::kCgroupMax] == Amount::Of(272'629'760));
  CHECK(account[AccountItem::kCgroupSwapMax] == Amount::Of(300'000'000 - 272'629'760));
  CHECK(account[AccountItem::kCgroupCurrent] == Amount::Of(272'000'000));
  CHECK(account[AccountItem::kCgroupKernel] == Amount::Of(2'000'000));
  CHECK(account[AccountItem::kCgroupAnon] == Amount::Of(260'000'000));
  CHECK(account[AccountItem::kCgroupFile] == Amount::Of(5000));
  CHECK(account[AccountItem::kCgroupShmem] == Amount::Of(77));
  CHECK(account[AccountItem::kCgroupSwap] == Amount::Of(9));
  CHECK(account[AccountItem::kCgroupMaxEvents] == Amount::Of(12));
  CHECK(account[AccountItem::kCgroupOomKills] == Amount::Of(3));
  CHECK(account[AccountItem::kCgroupCpuQuota] == Amount::NoLimit());
  CHECK(account[AccountItem::kCgroupThrottledNs] == Amount::Of(123'456));
  CHECK_FALSE(account[AccountItem::kCgroupHigh].was_taken());
  CHECK_FALSE(account[AccountItem::kCgroupPids].was_taken());
}

TEST_CASE("Without cgroups nothing of them is taken, and a limit that changes is seen") {
  const FakeRoot empty;
  CHECK(Cgroup(empty).empty());
  CHECK(CgroupMeter(empty.path()).version() == 0);
  const FakeRoot root;
  WriteVersion2(root, "/", "/");
  root.Write("/sys/fs/cgroup/memory.max", "max\n");
  CgroupMeter meter(root.path());
  ProcessAccount account;
  meter.Read(kSecond, &account);
  CHECK(account[AccountItem::kCgroupMax] == Amount::NoLimit());
  root.Write("/sys/fs/cgroup/memory.max", "5000\n");
  meter.Read(2 * kSecond, &account);
  CHECK(account[AccountItem::kCgroupMax] == Amount::Of(5000));
}

TEST_CASE("The process and its host, and what the kernel hides is not known") {
  const FakeRoot root;
  root.Write("/proc/meminfo", "MemTotal:        1000 kB\nMemFree: 1 kB\nMemAvailable:    300 kB\n");
  root.Write("/proc/self/status",
             "Name:\tjava\nRssAnon:\t     10 kB\nRssFile:\t 20 kB\nVmSwap:\t 5 kB\nThreads:\t42\n");
  for (const char* name : {"0", "1", "2", "17"}) root.Write(std::string("/proc/self/fd/") + name, "");
  ProcessMeter meter(root.path());
  ProcessAccount account;
  meter.Read(kSecond, &account);
  CHECK(account[AccountItem::kHostTotal] == Amount::Of(1'024'000));
  CHECK(account[AccountItem::kHostAvailable] == Amount::Of(307'200));
  CHECK(account[AccountItem::kRssAnon] == Amount::Of(10'240));
  CHECK(account[AccountItem::kRssFile] == Amount::Of(20'480));
  CHECK(account[AccountItem::kRssShmem] == Amount::NotKnown());
  CHECK(account[AccountItem::kSwap] == Amount::Of(5120));
  CHECK(account[AccountItem::kThreads] == Amount::Of(42));
  CHECK(account[AccountItem::kDescriptors] == Amount::Of(4));
}

TEST_CASE("Resident memory by owner") {
  const FakeRoot root;
  const auto mapping = [](const std::string& line, int kilobytes) {
    return line + "\nSize: 4 kB\nRss:    " + std::to_string(kilobytes) + " kB\nPss: 1 kB\nVmFlags: rd\n";
  };
  root.Write("/proc/self/smaps",
             mapping("00400000-00500000 r-xp 00000000 08:01 7  /opt/jdk/bin/java", 1) +
                 mapping("01000000-01100000 rw-p 00000000 00:00 0  [heap]", 2) +
                 mapping("c0000000-c4000000 rw-p 00000000 00:00 0 ", 4) +
                 mapping("7f0000000000-7f0000100000 rw-p 00000000 00:00 0 ", 8) +
                 mapping("7f0000100000-7f0004000000 ---p 00000000 00:00 0 ", 0) +
                 mapping("7f0010000000-7f0010010000 rwxp 00000000 00:00 0 ", 16) +
                 mapping("7f0020000000-7f0020001000 ---p 00000000 00:00 0 ", 0) +
                 mapping("7f0020001000-7f0020101000 rw-p 00000000 00:00 0 ", 32) +
                 mapping("7f0030000000-7f0030100000 rw-p 00000000 08:01 9  /opt/jdk/lib/server/classes.jsa", 64) +
                 mapping("7f0040001000-7f0040100000 rw-p 00000000 00:00 0 ", 128));
  root.Write("/proc/self/task/10/syscall", "202 0x1 0x0 0x0 0x0 0x0 0x0 0x7f00200ff000 0x7f0000000001\n");
  root.Write("/proc/self/task/11/syscall", "running\n");
  MappingsMeter meter({0xc0000000, 0xc4000000}, {0x7f0010000000, 0x7f0018000000}, root.path());
  ProcessAccount account;
  meter.Read(&account);
  const auto is = [&](AccountItem item, uint64_t kilobytes) {
    INFO(format::kAccountItemNames[static_cast<size_t>(item)]);
    CHECK(account[item] == Amount::Of(kilobytes << 10));
  };
  is(AccountItem::kLibrariesResident, 1);
  is(AccountItem::kMallocResident, 2 + 8);
  is(AccountItem::kHeapResident, 4);
  is(AccountItem::kCodeResident, 16);
  is(AccountItem::kStacksResident, 32);
  is(AccountItem::kStacksReserved, 1024);
  is(AccountItem::kSharedDataResident, 64);
  CHECK(meter.rest() == 128 << 10);
  // A thread that runs now was found when it waited.
  root.Write("/proc/self/task/10/syscall", "running\n");
  meter.Read(&account);
  is(AccountItem::kStacksResident, 32);
}

}  // namespace heaprec::sources
