"""Tests that start JVMs, and agents with something of the test's between their parts and libc."""

JVM_TAGS = [
    "jvm",
    "local",
]

PRODUCT = [
    "//recorder:libheaprec.so",
    "//tools:heaprec",
    "//tests/e2e:programs.jar",
]

SUPPORT = [
    "//tests/support:java_run",
    "//tests/support:recording_rows",
    "@catch2",
    "@json",
]

def jvm_tests(names, data = [], deps = []):
    """NAME_test.cc for each name, with the product, the programs and `data`."""
    for name in names:
        native.cc_test(
            name = name + "_test",
            size = "medium",
            srcs = [name + "_test.cc"],
            data = PRODUCT + data,
            tags = JVM_TAGS,
            deps = SUPPORT + deps,
        )

def wrapped_agent(name, src, wrapped, deps = []):
    """The agent as libNAME.so, with `src` in the place of what is `wrapped`."""
    native.cc_binary(
        name = "lib%s.so" % name,
        testonly = True,
        srcs = [src],
        linkopts = ["-Wl,--wrap=" + function for function in wrapped] + [
            "-Wl,--exclude-libs,ALL",
            "-Wl,-z,nodelete,-z,relro,-z,now,-z,defs",
        ],
        linkshared = True,
        linkstatic = True,
        deps = ["//recorder/agent"] + deps,
    )
