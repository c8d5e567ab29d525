"""The workloads: name -> (class, arguments, options of the JVM)."""

FIXED_TLAB = ["-XX:TLABSize=32k", "-XX:-ResizeTLAB"]

WORKLOADS = {
    "steady": ("Steady", [], []),
    "loop": ("Loop", [], []),
    "sizes": ("Sizes", [], []),
    "periodic_tlab": ("Periodic", ["tlab=32768"], FIXED_TLAB),
    "periodic_large": ("Periodic", [], []),
    "bursts_1s": ("Bursts", [], []),
    "bursts_200ms": ("Bursts", ["period=200", "burst=40"], []),
    "bursts_730ms": ("Bursts", ["period=730", "burst=90"], []),
    "bursts_irregular": ("Bursts", ["irregular=1", "period=400", "burst=50"], []),
    "large_arrays": ("LargeArrays", [], []),
    "churn": ("Churn", [], []),
    "churn_tiny": ("Churn", ["least=2048", "most=65536", "threads=1500"], []),
    "steps": ("Steps", [], []),
    "skew": ("Skew", [], []),
    "rare": ("Rare", [], []),
    "tail_300": ("Tail", ["sites=300"], []),
    "tail_2000": ("Tail", ["sites=2000"], []),
}
