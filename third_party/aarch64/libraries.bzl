"""Debian's static archives for arm64, as tests/e2e/fetch_trees.sh unpacks them: the repository @arm64."""

def _arm64_libraries(context):
    environment = context.os.environ
    trees = environment.get("HEAPREC_TREES") or environment["HOME"] + "/.cache/heaprec/trees"
    usr = context.path(trees + "/aarch64/usr")
    if not usr.get_child("lib").exists:
        fail("--config=aarch64 needs libraries in %s: run tests/e2e/fetch_trees.sh aarch64" % trees)
    for name in context.attr.names:
        context.symlink(usr.get_child("lib").get_child("aarch64-linux-gnu").get_child(name), name)
    context.symlink(usr.get_child("lib").get_child("libCatch2WithMain.a"), "libCatch2WithMain.a")
    context.symlink(usr.get_child("include").get_child("aarch64-linux-gnu").get_child("openssl"), "include/openssl")
    context.symlink(context.path(trees + "/aarch64/.packages"), "packages")
    context.file("BUILD", """
package(default_visibility = ["//visibility:public"])

exports_files(glob(["*.a"]) + ["packages"])

cc_library(
    name = "openssl_headers",
    hdrs = glob(["include/openssl/*.h"]),
    includes = ["include"],
)
""")

arm64_libraries = repository_rule(
    implementation = _arm64_libraries,
    attrs = {"names": attr.string_list(mandatory = True)},
    environ = [
        "HEAPREC_TREES",
        "HOME",
    ],
    local = True,
)
