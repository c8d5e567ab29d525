"""A unit: one concept, with its header, its source and its target under one name."""

def unit(name, parts = [], **attributes):
    """A library of NAME.h and NAME.cc, or of what there is of them.

    Args:
      name: of the target and its files.
      parts: other units that are compiled with it and have no target of their own.
      **attributes: deps and others, passed to cc_library.
    """
    srcs = native.glob([part + ".cc" for part in [name] + parts])
    hdrs = native.glob([part + ".h" for part in [name] + parts])
    for part in [name] + parts:
        if part + ".cc" not in srcs and part + ".h" not in hdrs:
            fail("unit {}: neither {}.h nor {}.cc is there".format(name, part, part))
    native.cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        **attributes
    )
