#!/usr/bin/env python3
"""Starts ClickHouse servers from Debian's packages on loopback ports, as shards of the cluster `fleet`.

    deploy/local_shards.py start DIR [--shards 2] [--password WORD] [--tls]    prints one address a line; DIR/url has
                                                                               the first one
    deploy/local_shards.py stop DIR

DIR holds their data, logs and process ids; nothing outside of it is written, and root is not needed. The ports are
free ones. For trying things out and for tests: a real cluster has its own configuration.
Needs the package clickhouse-server (Debian 12: 18.16).
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

START_SECONDS = 120


def free_ports(count):
    """Ports that nobody listens at now, below those that the kernel gives to clients while a server restarts."""
    ports = []
    while len(ports) < count:
        port = random.randrange(10000, 32000)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in ports:
            ports.append(port)
    return ports


def server_program():
    """The command that runs a server, or None."""
    for directory in os.environ.get("PATH", "").split(":") + ["/usr/sbin", "/usr/bin"]:
        path = pathlib.Path(directory, "clickhouse-server")
        if path.is_file():
            return [str(path)]
    found = shutil.which("clickhouse")
    return [found, "server"] if found else None


class Shard:
    """A server: its folder, ports and process."""

    def __init__(self, folder, ports, number=1, replica=1):
        self.folder, self.number, self.replica = pathlib.Path(folder), number, replica
        self.http, self.tcp, self.internal, self.https = ports
        self.process = None
        self.before = []  # a command that starts the server, for tests

    def configure(self, shards, password, tls, zookeeper):
        """Writes the configuration. `shards`: all servers of the cluster; `zookeeper`: its port, or None."""
        folder = self.folder
        for name in ("data", "tmp", "files", "schemas"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        if tls:
            subprocess.run(["openssl", "req", "-subj", "/CN=localhost", "-addext",
                            "subjectAltName=DNS:localhost,IP:127.0.0.1", "-new", "-newkey", "rsa:2048", "-days", "3650",
                            "-nodes", "-x509", "-keyout", folder / "server.key", "-out", folder / "server.crt"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cluster = ""
        for number in sorted({shard.number for shard in shards}):
            replicas = "".join(f"<replica><host>127.0.0.1</host><port>{shard.tcp}</port><user>default</user>"
                               f"<password>{password}</password></replica>" for shard in shards if shard.number == number)
            cluster += f"<shard><internal_replication>true</internal_replication>{replicas}</shard>"
        keeper = (f"""<zookeeper><node><host>127.0.0.1</host><port>{zookeeper}</port></node></zookeeper>
          <macros><shard>{self.number}</shard><replica>{self.replica}</replica></macros>
          <interserver_http_host>127.0.0.1</interserver_http_host>""" if zookeeper else "")
        secure = (f"""<https_port>{self.https}</https_port>
          <openSSL><server><certificateFile>{folder}/server.crt</certificateFile>
          <privateKeyFile>{folder}/server.key</privateKeyFile><verificationMode>none</verificationMode>
          <cacheSessions>true</cacheSessions></server></openSSL>""" if tls else "")
        (folder / "config.xml").write_text(f"""<yandex>
          <logger><level>warning</level><log>{folder}/server.log</log><errorlog>{folder}/server.err.log</errorlog>
          <size>10M</size><count>2</count></logger>
          <http_port>{self.http}</http_port><tcp_port>{self.tcp}</tcp_port>
          <interserver_http_port>{self.internal}</interserver_http_port>{secure}{keeper}
          <listen_host>127.0.0.1</listen_host><max_connections>200</max_connections>
          <max_concurrent_queries>200</max_concurrent_queries><mark_cache_size>268435456</mark_cache_size>
          <path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>
          <user_files_path>{folder}/files/</user_files_path>
          <format_schema_path>{folder}/schemas/</format_schema_path>
          <users_config>users.xml</users_config><default_profile>default</default_profile>
          <default_database>default</default_database><timezone>UTC</timezone>
          <remote_servers><fleet>{cluster}</fleet></remote_servers>
        </yandex>""")
        (folder / "users.xml").write_text(f"""<yandex>
          <profiles><default><max_memory_usage>8000000000</max_memory_usage></default></profiles>
          <users><default><password>{password}</password><networks><ip>127.0.0.1</ip></networks>
          <profile>default</profile><quota>default</quota></default></users>
          <quotas><default><interval><duration>3600</duration></interval></default></quotas>
        </yandex>""")

    def start(self):
        """Starts the server and waits until it answers."""
        log = open(self.folder / "output.log", "ab")
        self.process = subprocess.Popen(self.before + server_program() + [f"--config-file={self.folder}/config.xml"], stdout=log,
                                        stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder, start_new_session=True)
        (self.folder / "pid").write_text(str(self.process.pid))
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.folder}: the server ended: {(self.folder / 'output.log').read_text()[-1000:]}")
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.http}/ping", timeout=5).read()
                return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        raise RuntimeError(f"{self.folder}: no answer within {START_SECONDS} s")

    def kill(self):
        """kill -9."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Asks the server to end, and makes sure that it has."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()

    def url(self, tls=False):
        """The address for `heaprec --to`."""
        return f"https://localhost:{self.https}" if tls else f"http://127.0.0.1:{self.http}"


class Cluster:
    """Servers below one folder. A context manager, which stops them. Replicas need a ZooKeeper: its port."""

    def __init__(self, folder, shards=1, password="", tls=False, replicas=1, zookeeper=None):
        ports = free_ports(4 * shards * replicas)
        self.shards = [Shard(pathlib.Path(folder, f"shard{i + 1}"), ports[4 * i:4 * i + 4], i // replicas + 1,
                             i % replicas + 1) for i in range(shards * replicas)]
        for shard in self.shards:
            shard.configure(self.shards, password, tls, zookeeper)

    def __enter__(self):
        try:
            for shard in self.shards:
                shard.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Stops all that were started."""
        for shard in self.shards:
            shard.stop()


def stop_folder(folder):
    """Stops the servers that `start` left running."""
    for pid_file in sorted(pathlib.Path(folder).glob("shard*/pid")):
        pid = int(pid_file.read_text())
        try:
            # The id may have been given to another process since.
            if b"clickhouse" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGTERM)
                while pathlib.Path(f"/proc/{pid}").exists() and b"Z" not in pathlib.Path(
                        f"/proc/{pid}/stat").read_bytes().rsplit(b")", 1)[1][:3]:
                    time.sleep(0.1)
        except (FileNotFoundError, ProcessLookupError):
            pass
        pid_file.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["start", "stop"])
    parser.add_argument("folder")
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--password", default="")
    parser.add_argument("--tls", action="store_true", help="with https, by a certificate of its own: shard1/server.crt")
    options = parser.parse_args()
    if options.verb == "stop":
        stop_folder(options.folder)
        return
    if server_program() is None:
        sys.exit("local_shards.py: no clickhouse-server; apt-get install clickhouse-server")
    cluster = Cluster(pathlib.Path(options.folder).absolute(), options.shards, options.password, options.tls)
    cluster.__enter__()
    for shard in cluster.shards:
        print(shard.url(options.tls))
    pathlib.Path(options.folder, "url").write_text(cluster.shards[0].url(options.tls) + "\n")


if __name__ == "__main__":
    main()
