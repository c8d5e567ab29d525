"""Debian's JUnit 5, to compile heaprec.junit: package junit5."""

JUNIT = ":".join(["/usr/share/java/%s.jar" % name for name in [
    "junit-jupiter-api",
    "junit-platform-commons",
    "apiguardian-api",
    "opentest4j",
]])
