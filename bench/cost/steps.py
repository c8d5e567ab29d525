"""Runs inside gdb, attached to a JVM: steps through one function of the agent, call by call, and prints a JSON list of
how many instructions each call took, by library. HEAPREC_ADDRESS: the function's; HEAPREC_CALLS: how many to step through."""
import json
import os

import gdb

BETWEEN, MOST = 300, 20_000  # calls that run freely before each; instructions after which a call is given up


def register(name):
    return int(gdb.parse_and_eval(name))


def step_through():
    """Up to the return to the caller: the instructions by the file that they lie in; outside of all files are thunks."""
    stack, counts = register("$rsp"), {}
    back = int(gdb.parse_and_eval("*(long*)$rsp"))
    for _ in range(MOST):
        at = register("$pc")
        if at == back and register("$rsp") == stack + 8:
            return counts
        library = os.path.basename(gdb.solib_name(at) or "thunk")
        counts[library] = counts.get(library, 0) + 1
        gdb.execute("stepi", to_string=True)
    raise RuntimeError("the call does not return")


for setup in ("set pagination off", "set confirm off", "handle SIGSEGV nostop noprint pass", f"break *{os.environ['HEAPREC_ADDRESS']}"):
    gdb.execute(setup, to_string=True)
found = []
for _ in range(int(os.environ["HEAPREC_CALLS"])):
    gdb.execute(f"ignore 1 {BETWEEN}", to_string=True)
    gdb.execute("continue", to_string=True)
    gdb.execute("set scheduler-locking on")
    found.append(step_through())
    gdb.execute("set scheduler-locking off")
print("\n" + json.dumps(found))
