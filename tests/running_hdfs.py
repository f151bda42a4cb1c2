"""An HDFS that somebody started by hand on hosts of a lab, for tests that use it by its address."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fabriscope import lab
from fabriscope.hosts import java_apps
from fabriscope.lab import Lab
from fabriscope.lab.presets import PRESETS
from fabriscope.model.lab import LabSpec

HOSTS = ("node1", "node2", "node3")
"""The first has none of it: it is the client's. The second has the NameNode, and both others a DataNode."""
PATH = "/benchmarks/fabriscope"
SUPERUSER = "hdfs"
USER = "alice"
"""Who may write in PATH and nowhere else."""
START_LIMIT_S = 120.0
SHELL_LIMIT_S = 120.0
_POLL_S = 0.2
_SITE = """<configuration>
<property><name>fs.defaultFS</name><value>{}</value></property>
</configuration>
"""
"""core-site.xml, which Hadoop's own tools want to find."""


@dataclass(frozen=True)
class ByHand:
    """What stands."""

    place: Lab
    address: str
    folder: Path

    @property
    def remote_shell(self) -> str:
        """Return what stands in for ssh."""
        return str(self.place.remote_shell)

    def shell(self, *words: str, user: str = SUPERUSER, main: str = "org.apache.hadoop.fs.FsShell") -> str:
        """Return what a tool of Hadoop prints, as `hdfs dfs WORDS` does."""
        argv = _java(self.place, "node2", self.folder, user, main, *words)
        done = subprocess.run(argv, capture_output=True, text=True, timeout=SHELL_LIMIT_S, check=False)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def admin(self, *words: str) -> str:
        """Return what `hdfs dfsadmin WORDS` prints."""
        return self.shell(*words, main="org.apache.hadoop.hdfs.tools.DFSAdmin")

    def listing(self) -> list[str]:
        """Return everything that it holds, with rights, copies, owners, sizes and times.

        Without the time of PATH itself, which tells when something was made or removed in it.
        """
        lines = [line.split(maxsplit=7) for line in self.shell("-ls", "-R", "/").splitlines()]
        return [" ".join([*line[:5], *(line[5:7] if line[-1] != PATH else []), line[-1]]) for line in lines]


def _java(place: Lab, host: str, folder: Path, user: str, *words: str) -> list[str]:
    environment = (f"FABRISCOPE_FOLDER={folder}", f"HADOOP_USER_NAME={user}")
    options = (
        "-Xmx96m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:-UsePerfData",
        f"-Djava.io.tmpdir={folder}",
    )
    classes = ("-cp", f"{folder / 'conf'}:{java_apps.classpath('hadoop')}")
    return [*place.host(host).access, "env", *environment, java_apps.program("java"), *options, *classes, *words]


@contextlib.contextmanager
def standing(folder: Path) -> Iterator[ByHand]:
    """Start it on a lab with one Gigabit Ethernet, with something in it; it goes with the lab."""
    place = lab.up(LabSpec(HOSTS, {"gige": PRESETS["gige"]}))
    daemons: list[subprocess.Popen[bytes]] = []
    addresses = {host: place.host(host).addresses["eth0"] for host in HOSTS}
    by_hand = ByHand(place, f"hdfs://{addresses['node2']}:9000", folder)
    (folder / "conf").mkdir()
    (folder / "conf" / "core-site.xml").write_text(_SITE.format(by_hand.address))
    common = {"fs.defaultFS": by_hand.address, "dfs.replication": "2", "fs.permissions.umask-mode": "022"}
    try:
        namenode = {
            "dfs.namenode.rpc-address": by_hand.address.removeprefix("hdfs://"),
            "dfs.namenode.http-address": "127.0.0.1:0",
            "dfs.namenode.safemode.extension": "0",
            "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        }
        daemons.append(_daemon(place, "node2", folder / "namenode", "namenode", {**common, **namenode}))
        for host in HOSTS[1:]:
            datanode = {
                "dfs.datanode.address": f"{addresses[host]}:9866",
                "dfs.datanode.ipc.address": f"{addresses[host]}:9867",
                "dfs.datanode.http.address": "127.0.0.1:0",
                "dfs.datanode.hostname": addresses[host],
            }
            daemons.append(_daemon(place, host, folder / f"data-{host}", "datanode", {**common, **datanode}))
        by_hand.admin("-safemode", "wait")
        _fill(by_hand)
        yield by_hand
    finally:
        place.down()
        for daemon in daemons:
            daemon.wait(30)


def _daemon(place: Lab, host: str, folder: Path, role: str, settings: Mapping[str, str]) -> subprocess.Popen[bytes]:
    folder.mkdir()
    told = [f"{name}={value}" for name, value in settings.items()]
    output = folder.with_suffix(".txt")
    with output.open("wb") as file:
        argv = _java(place, host, folder, SUPERUSER, "HdfsNode", role, *told)
        daemon = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
    until_s = time.monotonic() + START_LIMIT_S
    while f"fabriscope: {role} ready" not in output.read_text():
        assert daemon.poll() is None, output.read_text()
        assert time.monotonic() < until_s, output.read_text()
        time.sleep(_POLL_S)
    return daemon


def _fill(by_hand: ByHand) -> None:
    """Put in what was there before: files of others, above, beside and below PATH."""
    mine = by_hand.folder / "of-others"
    mine.write_bytes(os.urandom(3 << 20))
    by_hand.shell("-mkdir", "-p", f"{PATH}/fabriscope-of-somebody", "/user/bob")
    for target in ("/user/bob/x", "/benchmarks/y", f"{PATH}/z", f"{PATH}/fabriscope-of-somebody/io_data"):
        by_hand.shell("-put", str(mine), target)
    by_hand.shell("-chown", USER, PATH)
