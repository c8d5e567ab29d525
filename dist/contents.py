"""What an installation of heaprec consists of: the one list that packages are made from and tested against."""

import collections

# source: a name on package.py's command line, or one that package.py generates itself; path: below the prefix.
File = collections.namedtuple("File", "source path mode")

# elf: e_machine of its programs; compiler_suffix: of the packages of the compiler that builds for it here.
Machine = collections.namedtuple("Machine", "debian elf compiler_suffix")
MACHINES = {
    "x86_64": Machine("amd64", 62, ""),
    "aarch64": Machine("arm64", 183, "-arm64-cross"),
}

PROGRAM = 0o755
DATA = 0o644

FILES = [
    File("heaprec", "bin/heaprec", PROGRAM),
    File("libheaprec.so", "lib/heaprec/libheaprec.so", DATA),
    File("libheaprec-native.so", "lib/heaprec/libheaprec-native.so", DATA),
    File("heaprec.jar", "lib/heaprec/heaprec.jar", DATA),
    File("heaprec.h", "include/heaprec.h", DATA),
    File("heaprec_sampling.h", "include/heaprec_sampling.h", DATA),
    File("bash", "share/bash-completion/completions/heaprec", DATA),
    File("zsh", "share/zsh/vendor-completions/_heaprec", DATA),
    File("fish", "share/fish/vendor_completions.d/heaprec.fish", DATA),
    File("LICENSE", "share/doc/heaprec/LICENSE", DATA),
    File("CHANGELOG.md", "share/doc/heaprec/CHANGELOG.md", DATA),
    File("sbom", "share/doc/heaprec/heaprec.spdx.json", DATA),
]
MAN_PAGES = "share/man/man1"  # heaprec.1 and one for each command, compressed

# Debian's policy has these too.
DEB_FILES = [File("copyright", "share/doc/heaprec/copyright", DATA)]

# Debian packages of which the products contain code: static archives, headers and scripts. third_party/NAME.BUILD: package.
THIRD_PARTY = {
    "capstone": "libcapstone-dev",
    "cli11": "libcli11-dev",
    "crypto": "libssl-dev",
    "dygraphs": "libjs-dygraphs",
    "fmt": "libfmt-dev",
    "json": "nlohmann-json3-dev",
    "ncurses": "libncurses-dev",
    "protozero": "libprotozero-dev",
    "re2": "libre2-dev",
    "sqlite": "libsqlite3-dev",
    "ssl": "libssl-dev",
    "xxhash": "libxxhash-dev",
    "zlib": "zlib1g-dev",
    "zstd": "libzstd-dev",
}
HEADERS = ["libboost1.74-dev"]  # in the compiler's own path, without an overlay
COMPILERS = ["libstdc++-12-dev", "libgcc-12-dev", "libc6-dev"]  # static parts of GCC; of libc only the start of a program
INDEPENDENT = {"libboost1.74-dev", "libcli11-dev", "libfmt-dev", "libjs-dygraphs", "libprotozero-dev", "nlohmann-json3-dev"}  # source code: the machine's own
ONLY_X86_64 = {"libcapstone-dev"}
NOT_CONTAINED = {"catch2", "jvmti"}  # tests; the JDK's headers only declare


def libraries(machine):
    """Debian packages of libraries of which a machine's products contain code."""
    return {*THIRD_PARTY.values(), *HEADERS} - (set() if machine == "x86_64" else ONLY_X86_64)


def files(commands):
    """All files of an archive, for the names of heaprec's commands."""
    pages = ["heaprec"] + [f"heaprec-{command}" for command in commands]
    return FILES + [File(f"man:{page}", f"{MAN_PAGES}/{page}.1.gz", DATA) for page in pages]
