"""A fuzz target as an ordinary test: NAME_fuzzer.cc on the files of corpus/NAME, and on mutations of them."""

def fuzz_test(name, deps, mutations = 4000):
    corpus = native.glob(["corpus/%s/*" % name])
    native.cc_test(
        name = name + "_fuzz_test",
        size = "small",
        srcs = [name + "_fuzzer.cc"],
        args = [str(mutations), "1"] + ["$(location %s)" % file for file in corpus],
        data = corpus,
        deps = [":mutation_driver"] + deps,
    )
