"""What bench/compare runs: the applications of bench/cost, Tomcat, and a program whose site can be made to allocate more."""
import functools
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


class Tomcat:
    """bench/compare/Requests.java: Tomcat answers so many requests of four clients in the same JVM."""

    JARS = ("tomcat9-catalina", "tomcat9-coyote", "tomcat9-servlet-api", "tomcat9-util", "tomcat9-util-scan", "tomcat9-juli",
            "tomcat9-api", "tomcat9-annotations-api", "tomcat9-jni", "tomcat9-jaspic-api")
    REQUESTS, CLIENTS = 60000, 4

    def prepare(self, jdk, folder):
        subprocess.run([jdk / "bin/javac", "-cp", applications.class_path(*self.JARS), "-d", folder, HERE / "Requests.java"],
                       check=True)

    def command(self, jdk, options, folder):
        path = f"{folder}:{applications.class_path(*self.JARS)}"
        return applications.java(jdk, options, "-cp", path, "Requests", str(self.REQUESTS), str(self.CLIENTS), folder)


def longer(prepare, run, **size):
    return applications.Application(functools.partial(prepare, **size), run)


def all_of(seconds):
    """The applications have more work than in bench/cost: about 8 s on two cores that are free."""
    module = {"module": "jdk.compiler"}
    found = {
        "javac": applications.Application(functools.partial(applications.prepare_javac, **module),
                                          functools.partial(applications.run_javac, **module)),
        "h2": longer(applications.prepare_h2, applications.run_h2, rounds=6),
        "fop": longer(applications.prepare_fop, applications.run_fop, length=250),
        "saxon": longer(applications.prepare_saxon, applications.run_saxon, length=160000),
        "tomcat": Tomcat(),
    }
    for percent in (0, 5, 10, 20):
        found[f"injected-{percent}"] = Injected(1 + percent / 100, seconds)
    return found
