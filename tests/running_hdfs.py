"""An HDFS that somebody started by hand on hosts of a lab, for tests that use it by its address."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.kept_java import FRUGAL, KeptJava, compile_into

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
_POLL_S = 0.2
_SITE = """<configuration>
<property><name>fs.defaultFS</name><value>{}</value></property>
</configuration>
"""
"""core-site.xml, which Hadoop's own tools want to find."""

# Hadoop's own tools, asked by lines: `dfs WORDS` and `dfsadmin WORDS`.
_TOOLS = """
import java.io.*;
import java.util.Arrays;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.tools.DFSAdmin;
import org.apache.hadoop.util.ToolRunner;

public class Tools {
  public static void main(String[] none) throws Exception {
    BufferedReader questions = new BufferedReader(new InputStreamReader(System.in));
    for (String line = questions.readLine(); line != null; line = questions.readLine()) {
      String[] words = line.split("\\t");
      int status =
          ToolRunner.run(
              new HdfsConfiguration(),
              words[0].equals("dfs") ? new FsShell() : new DFSAdmin(),
              Arrays.copyOfRange(words, 1, words.length));
      System.out.println("ended with " + status);
      System.out.flush();
    }
    Runtime.getRuntime().halt(0);
  }
}
"""


@dataclass(frozen=True)
class ByHand:
    """What stands."""

    place: Lab
    address: str
    asked: KeptJava

    @property
    def remote_shell(self) -> str:
        """Return what stands in for ssh."""
        return str(self.place.remote_shell)

    def shell(self, *words: str) -> str:
        """Return what `hdfs dfs WORDS` prints."""
        return "\n".join(self.asked.ask("dfs", *words))

    def admin(self, *words: str) -> None:
        """Do what `hdfs dfsadmin WORDS` does."""
        self.asked.ask("dfsadmin", *words)

    def listing(self) -> list[str]:
        """Return everything that it holds, with rights, copies, owners, sizes and times.

        Without the time of PATH itself, which tells when something was made or removed in it.
        """
        lines = [line.split(maxsplit=7) for line in self.shell("-ls", "-R", "/").splitlines()]
        return [" ".join([*line[:5], *(line[5:7] if line[-1] != PATH else []), line[-1]]) for line in lines]


def _java(place: Lab, host: str, folder: Path, *words: str) -> list[str]:
    environment = (f"FABRISCOPE_FOLDER={folder}", f"HADOOP_USER_NAME={SUPERUSER}")
    options = ("-Xmx96m", *FRUGAL, f"-Djava.io.tmpdir={folder}")
    classes = ("-cp", f"{folder}:{folder / 'conf'}:{java_apps.classpath('hadoop')}")
    return [*place.host(host).access, "env", *environment, java_apps.program("java"), *options, *classes, *words]


@contextlib.contextmanager
def standing(folder: Path) -> Iterator[ByHand]:
    """Start it on a lab with one Gigabit Ethernet, with something in it; it goes with the lab."""
    place = lab.up(LabSpec(HOSTS, {"gige": PRESETS["gige"]}))
    daemons: list[subprocess.Popen[bytes]] = []
    addresses = {host: place.host(host).addresses["eth0"] for host in HOSTS}
    address = f"hdfs://{addresses['node2']}:9000"
    (folder / "conf").mkdir()
    (folder / "conf" / "core-site.xml").write_text(_SITE.format(address))
    common = {"fs.defaultFS": address, "dfs.replication": "2", "fs.permissions.umask-mode": "022"}
    try:
        namenode = {
            "dfs.namenode.rpc-address": address.removeprefix("hdfs://"),
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
        compile_into(folder, "Tools", _TOOLS, "hadoop")
        asked = KeptJava.started(_java(place, "node2", folder, "Tools"), folder / "tools.txt")
        by_hand = ByHand(place, address, asked)
        by_hand.admin("-safemode", "wait")
        _fill(by_hand, folder / "of-others")
        yield by_hand
        asked.end()
    finally:
        place.down()
        for daemon in daemons:
            daemon.wait(30)


def _daemon(place: Lab, host: str, folder: Path, role: str, settings: Mapping[str, str]) -> subprocess.Popen[bytes]:
    folder.mkdir()
    told = [f"{name}={value}" for name, value in settings.items()]
    output = folder.with_suffix(".txt")
    with output.open("wb") as file:
        argv = _java(place, host, folder, "HdfsNode", role, *told)
        daemon = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
    until_s = time.monotonic() + START_LIMIT_S
    while f"fabriscope: {role} ready" not in output.read_text():
        assert daemon.poll() is None, output.read_text()
        assert time.monotonic() < until_s, output.read_text()
        time.sleep(_POLL_S)
    return daemon


def _fill(by_hand: ByHand, mine: Path) -> None:
    """Put in what was there before: files of others, above, beside and below PATH."""
    mine.write_bytes(os.urandom(3 << 20))
    by_hand.shell("-mkdir", "-p", f"{PATH}/fabriscope-of-somebody", "/user/bob")
    for target in ("/user/bob/x", "/benchmarks/y", f"{PATH}/z", f"{PATH}/fabriscope-of-somebody/io_data"):
        by_hand.shell("-put", str(mine), target)
    by_hand.shell("-chown", USER, PATH)
