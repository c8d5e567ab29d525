"""Options of what uses HEAPREC_CALL (machine.h): it makes no frame, and leaves its caller's in the register."""

CALL_SITE_COPTS = ["-fomit-frame-pointer"] + select({
    "//third_party/aarch64:aarch64": ["-ffixed-x29"],
    "//conditions:default": ["-ffixed-rbp"],
})
