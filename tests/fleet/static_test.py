"""heaprec-static, which has no libc's help with names and certificates, ships and asks over TLS.

Usage: static_test.py HEAPREC_STATIC GENERATE
"""

import json
import sys

from support import QUESTIONS, ask, generate, heaprec, local_shards, run, same

HOSTS, SECONDS = 3, 60


def test(root):
    folder = root / "recordings"
    generate(sys.argv[2], folder, HOSTS, SECONDS, 1)
    with local_shards.Cluster(root / "tls", password="word", tls=True) as tls:
        to = (tls.shards[0].url(True), "--ca", tls.shards[0].folder / "server.crt")
        heaprec("fleet", "init", "--server", *to, "--slice", "1m", HEAPREC_FLEET_PASSWORD="word")
        assert f"{HOSTS} slices" in heaprec("ship", folder, "--server", *to, HEAPREC_FLEET_PASSWORD="word")
        for question in QUESTIONS[:3]:
            by_server = heaprec("fleet", *question, "--server", *to, "--json", HEAPREC_FLEET_PASSWORD="word")
            same(json.loads(by_server), ask(*question, "--from-dir", folder, "--slice", "1m"), str(question))
        assert "certificate verify failed" in heaprec("fleet", "services", "--server", to[0], code=3)
    assert "not found" in heaprec("fleet", "services", "--server", "http://no-such-host.invalid:1", code=3)


run(test)
