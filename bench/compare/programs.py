"""What bench/compare runs: the applications of bench/cost, and a program whose site can be made to allocate more."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cost"))
import applications  # noqa: E402  (bench/cost)

HERE = pathlib.Path(__file__).resolve().parent


class Injected:
    """bench/compare/Injected.java: fifteen sites, one of which has 5 % of the bytes, times `factor`."""

    def __init__(self, factor, seconds):
        self.factor, self.seconds = factor, seconds

    def prepare(self, jdk, folder):
        subprocess.run([jdk / "bin/javac", "-d", folder, HERE / "Injected.java"], check=True)

    def command(self, jdk, options, folder):
        return [jdk / "bin/java", "-Xmx256m", *options, "-cp", folder, "Injected", str(self.seconds), str(self.factor)]


def all_of(seconds):
    found = {name.lower(): application for name, application in applications.APPLICATIONS.items() if name != "Clojure"}
    for percent in (0, 5, 10, 20):
        found[f"injected-{percent}"] = Injected(1 + percent / 100, seconds)
    return found
