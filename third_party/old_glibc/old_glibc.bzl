"""How a product is linked so that it loads with glibc 2.17 and later: docs/building.md#old-glibc."""

_OFF = "//third_party/old_glibc:off"

OLD_GLIBC_INPUTS = ["//third_party/old_glibc:stubs"]

OLD_GLIBC_LINKOPTS = select({
    _OFF: [],
    "//conditions:default": [
        "-L$(BINDIR)/third_party/old_glibc",
        "-static-libgcc",
    ],
})

OLD_GLIBC_DEPS = select({
    _OFF: [],
    "//conditions:default": ["//third_party/old_glibc:compat"],
})

# reallocarray, for products that do not define it.
OLD_GLIBC_REALLOCARRAY = select({
    _OFF: [],
    "//conditions:default": ["//third_party/old_glibc:reallocarray"],
})

OLD_GLIBC_PROGRAM_LINKOPTS = OLD_GLIBC_LINKOPTS + select({
    _OFF: [],
    "//conditions:default": [
        "-Wl,--wrap=__libc_start_main",
        "-Wl,--gc-sections",
    ],
})

OLD_GLIBC_PROGRAM_DEPS = OLD_GLIBC_DEPS + OLD_GLIBC_REALLOCARRAY + select({
    _OFF: [],
    "//conditions:default": ["//third_party/old_glibc:start"],
})
