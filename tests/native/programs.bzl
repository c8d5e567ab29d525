"""Programs and libraries of C that tests record, or load."""

def c_program(name, source = None, copts = [], linkopts = [], **kwargs):
    """NAME, or libNAME.so, of NAME.c: each call of malloc stays one, and the functions that call it are on the stack."""
    is_library = name.endswith(".so")
    stem = name[len("lib"):-len(".so")] if is_library else name
    native.cc_binary(
        name = name,
        testonly = True,
        srcs = [source or stem + ".c"],
        copts = [
            "-fno-builtin",
            "-fno-optimize-sibling-calls",
        ] + copts,
        linkopts = [
            "-ldl",
            "-lpthread",
        ] + linkopts,
        linkshared = is_library,
        **kwargs
    )
