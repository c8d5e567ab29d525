"""The system's C++ libraries as Bazel repositories: headers by glob, archives linked statically."""

load("//third_party/aarch64:libraries.bzl", "arm64_libraries")

def _run(context, *command):
    result = context.execute(list(command))
    if result.return_code != 0:
        fail("@%s: %s: %s" % (context.name, " ".join(command), result.stderr))
    return result.stdout.strip()

def _system_library(context):
    context.symlink(context.attr.overlay, "BUILD")

    # Not /usr/include itself: a compiler that runs outside of Bazel's sandbox would take the link for that folder, and no
    # longer look there after libstdc++'s.
    for pattern in context.attr.headers:
        for path in _run(context, "sh", "-c", "ls -d /usr/include/" + pattern).split("\n"):
            context.symlink(path, "include/" + path.split("/")[-1])
    names = list(context.attr.archives)
    if context.attr.pkg_config:
        options = _run(context, "pkg-config", "--static", "--libs-only-l", context.attr.pkg_config).split(" ")
        names += ["lib%s.a" % option[2:] for option in options if option.startswith("-l")]

    # gcc repeats the name of what it does not find.
    asked = {name: _run(context, "gcc", "-print-file-name=" + name) for name in names}
    found = [path for path in asked.values() if path.startswith("/")]
    if names and not found:
        fail("@%s: there is no %s here; ./setup.sh installs it" % (context.name, " or ".join(names)))

    # One archive of them all: they name each other in an order that Bazel does not keep.
    script = ["CREATE lib/%s.a" % context.name] + ["ADDLIB " + path for path in found] + ["SAVE", "END", ""]
    context.file("lib/merge.mri", "\n".join(script))
    if found:
        _run(context, "sh", "-c", "ar -M < lib/merge.mri")

_library = repository_rule(
    implementation = _system_library,
    attrs = {
        "archives": attr.string_list(doc = "those of them that there are"),
        "headers": attr.string_list(doc = "files and folders of /usr/include, as patterns of the shell"),
        "overlay": attr.label(mandatory = True),
        "pkg_config": attr.string(doc = "a module: with the archives of it and of all that it needs"),
    },
    local = True,
)

def _jdk(context):
    """The JDK of $JAVA_HOME, else the system's."""
    home = context.os.environ.get("JAVA_HOME") or "/usr/lib/jvm/default-java"
    context.symlink(home + "/include", "include")
    context.symlink(context.attr.overlay, "BUILD")

_jvmti = repository_rule(
    implementation = _jdk,
    attrs = {"overlay": attr.label(mandatory = True)},
    environ = ["JAVA_HOME"],
    local = True,
)

# Name: headers, archives. The headers of ncurses and of Boost lie where the compiler looks.
LIBRARIES = {
    "capstone": (["capstone"], ["libcapstone.a"]),
    "catch2": (["catch2"], [
        "libCatch2WithMain.a",  # Debian 12
        "libCatch2Main.a",  # 13
        "libCatch2.a",
    ]),
    "cli11": (["CLI"], []),
    "crypto": (["openssl"], ["libcrypto.a"]),
    "fmt": (["fmt"], []),
    "json": (["nlohmann"], []),
    "ncurses": ([], [
        "libncursesw.a",
        "libtinfo.a",
    ]),
    "protozero": (["protozero"], []),
    "sqlite": (["sqlite3.h"], ["libsqlite3.a"]),
    "ssl": (["openssl"], ["libssl.a"]),
    "xxhash": (["xxh*.h"], ["libxxhash.a"]),
    "zlib": (["zlib.h", "zconf.h"], ["libz.a"]),
    "zstd": (["zstd*.h"], ["libzstd.a"]),
}

def system_libraries():
    """Declares a repository for each of LIBRARIES, @re2, @dygraphs, @jvmti and @arm64."""
    for name, (headers, archives) in LIBRARIES.items():
        _library(name = name, headers = headers, archives = archives, overlay = "//third_party:%s.BUILD" % name)

    # In Debian 13 RE2 needs Abseil's archives: it is asked of pkg-config.
    _library(name = "re2", headers = ["re2"], overlay = "//third_party:re2.BUILD", pkg_config = "re2")
    _jvmti(name = "jvmti", overlay = "//third_party:jvmti.BUILD")
    native.new_local_repository(
        name = "dygraphs",
        path = "/usr/share/javascript/dygraphs",
        build_file = "//third_party:dygraphs.BUILD",
    )
    arm64_libraries(
        name = "arm64",
        names = [
            "libcrypto.a",
            "libncursesw.a",
            "libre2.a",
            "libsqlite3.a",
            "libssl.a",
            "libtinfo.a",
            "libxxhash.a",
            "libz.a",
            "libzstd.a",
        ],
    )
