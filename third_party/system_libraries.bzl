"""Debian's C++ libraries as Bazel repositories: headers by glob, archives linked statically."""

load("//third_party/aarch64:libraries.bzl", "arm64_libraries")

def _system_library(name, files, build):
    native.new_local_repository(
        name = name,
        path = files,
        build_file = "//third_party:%s.BUILD" % build,
    )

def system_libraries():
    """Declares @fmt, @zstd, @xxhash, @catch2, @cli11, @json, @capstone, @crypto, @ssl, @sqlite, @zlib, @protozero, @re2, @ncurses, @dygraphs @jvmti and @arm64."""
    for library in ["fmt", "zstd", "xxhash", "catch2", "cli11", "json", "capstone", "crypto", "ssl", "sqlite", "zlib", "protozero", "re2", "ncurses"]:
        _system_library(library, "/usr", library)
    _system_library("dygraphs", "/usr/share/javascript/dygraphs", "dygraphs")
    _system_library("jvmti", "/usr/lib/jvm/java-17-openjdk-amd64", "jvmti")
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
