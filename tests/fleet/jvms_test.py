"""Five real JVMs of two versions, recorded, shipped while they run, and compared with what they say they allocated.

Usage: jvms_test.py HEAPREC GENERATE AGENT
"""

import os
import pathlib
import subprocess
import sys

from support import HEAPREC, ask, heaprec, local_shards, run, same, ship

AGENT = str(pathlib.Path(sys.argv[3]).resolve())
JVMS, ROUNDS = 5, 300
# Objects of 1,016 bytes (array of 1,000 and its header) and of 2,016; version 2 has three times as many of the latter.
APP = """
public class Shop {
  static Object kept;
  static void cart(int n) { for (int i = 0; i < n; i++) kept = new byte[1000]; }
  static void search(int n) { for (int i = 0; i < n; i++) kept = new long[250]; }
  public static void main(String[] a) throws Exception {
    int rounds = Integer.parseInt(a[0]), factor = Integer.parseInt(a[1]);
    for (int i = 0; i < rounds; i++) { cart(2000); search(500 * factor); Thread.sleep(5); }
  }
}
"""
CART, SEARCH = ROUNDS * 2000 * 1016, ROUNDS * 500 * 2016


def start(root, java, number):
    version = 1 if number < 3 else 2
    environment = {**os.environ, "OTEL_SERVICE_NAME": "shop", "HOSTNAME": f"jvm{number}", "POD_NAME": f"shop-{number}",
                   "OTEL_RESOURCE_ATTRIBUTES": f"service.version={version}.0,deployment.environment.name=test"}
    return subprocess.Popen([java / "java", f"-agentpath:{AGENT}=file={root}/recordings/{number}.hrec", "-Xmx64m",
                             "-cp", root, "Shop", str(ROUNDS), "1" if version == 1 else "3"], env=environment)


def holds(interval, truth):
    # Warm-up is recorded as well; the methods allocate nothing else. 1e-6 by a score interval: twice its sides.
    low = interval["value"] - 2.5 * (interval["value"] - interval["low"])
    high = interval["value"] + 2.5 * (interval["high"] - interval["value"])
    return low <= truth <= high


def test(root):
    java = pathlib.Path(os.environ.get("JAVA_HOME", "/usr/lib/jvm/default-java"), "bin")
    (root / "recordings").mkdir()
    (root / "Shop.java").write_text(APP)
    subprocess.run([java / "javac", "-d", root, root / "Shop.java"], check=True)
    with local_shards.Cluster(root / "one") as one:
        url = one.shards[0].url()
        heaprec("fleet", "init", "--server", url, "--slice", "1s")
        jvms = [start(root, java, number) for number in range(JVMS)]
        shipper = subprocess.Popen([HEAPREC, "ship", str(root / "recordings"), "--server", url, "--follow"],
                                   stdout=subprocess.DEVNULL)
        assert [jvm.wait(300) for jvm in jvms] == [0] * JVMS
        shipper.terminate()
        assert shipper.wait(60) == 0
        ship(root / "recordings", "--server", url)
        services = ask("services", "--server", url)
        assert {(row["service"], row["version"], row["environment"], row["hosts"]) for row in services["services"]} == {
            ("shop", "1.0", "test", 3), ("shop", "2.0", "test", 2)}, services
        for number in range(JVMS):
            rows = {row["name"]: row["bytes"] for row in ask("top", "--host", f"jvm{number}", "--server", url)["rows"]}
            factor = 1 if number < 3 else 3
            for site, truth in (("Shop.cart", CART), ("Shop.search", SEARCH * factor)):
                assert holds(rows[site], truth), f"jvm{number} {site}: {rows[site]}, true {truth}"
        # Of two hosts a side only few things are certain; per host and second versions may run at other speeds.
        changed = ask("diff", "1.0", "2.0", "--server", url)
        assert {row["name"] for row in changed["rows"]} >= {"Shop.cart", "Shop.search"}
        for question in (["services"], ["top", "--by", "class-site"], ["diff", "1.0", "2.0"], ["outliers"]):
            same(ask(*question, "--server", url), ask(*question, "--from-dir", root / "recordings", "--slice", "1s"),
                 str(question))


run(test)
