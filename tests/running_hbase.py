"""An HBase that somebody started by hand on hosts of a lab, for tests that use it by its ZooKeeper."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.kept_java import FRUGAL, KeptJava, compile_into

from fabriscope import lab
from fabriscope.adapters.ycsb import JAVA_OPTIONS
from fabriscope.hosts import java_apps
from fabriscope.lab import Lab
from fabriscope.lab.presets import PRESETS
from fabriscope.model.lab import LabSpec

HOSTS = ("node1", "node2", "node3")
"""The first has none of it: it is the client's. The second has all but one region server, which the third has."""
START_LIMIT_S = 180.0
_POLL_S = 0.2

# Is asked by lines: makes a table of somebody else's if it is named one, and prints every table with its state, its
# families and its rows.
_TABLES = """
import java.io.*;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.*;
import org.apache.hadoop.hbase.client.*;
import org.apache.hadoop.hbase.util.Bytes;

public class Tables {
  public static void main(String[] words) throws Exception {
    Configuration configuration = HBaseConfiguration.create();
    configuration.set("hbase.zookeeper.quorum", words[0]);
    BufferedReader questions = new BufferedReader(new InputStreamReader(System.in));
    for (String name = questions.readLine(); name != null; name = questions.readLine()) {
      try (Connection connection = ConnectionFactory.createConnection(configuration)) { // none has kept what was
        answer(connection, name);
      }
      System.out.println("ended with 0");
      System.out.flush();
    }
    Runtime.getRuntime().halt(0);
  }

  private static void answer(Connection connection, String make) throws Exception {
    try (Admin admin = connection.getAdmin()) {
      if (!make.isEmpty()) {
        TableName name = TableName.valueOf(make);
        admin.createTable(
            TableDescriptorBuilder.newBuilder(name).setColumnFamily(ColumnFamilyDescriptorBuilder.of("g")).build());
        try (Table table = connection.getTable(name)) {
          for (int row = 0; row < 50; row++) {
            Put put = new Put(Bytes.toBytes("row" + row));
            table.put(put.addColumn(Bytes.toBytes("g"), Bytes.toBytes("x"), Bytes.toBytes(row)));
          }
        }
      }
      for (TableName name : admin.listTableNames()) {
        StringBuilder rows = new StringBuilder();
        if (admin.isTableEnabled(name)) {
          try (Table table = connection.getTable(name); ResultScanner found = table.getScanner(new Scan())) {
            found.forEach(row -> rows.append(" ").append(Arrays.toString(row.rawCells())));
          }
        }
        System.out.println("table " + name + " " + admin.isTableEnabled(name) + " " + admin.getDescriptor(name) + rows);
      }
    }
  }
}
"""


@dataclass(frozen=True)
class ByHand:
    """What stands."""

    place: Lab
    address: str
    asked: KeptJava

    def tables(self, make: str = "") -> list[str]:
        """Return what it holds, table by table; after making one of that name, where one is named."""
        return sorted(line for line in self.asked.ask(make) if line.startswith("table "))


def _java(place: Lab, host: str, folder: Path, heap_mib: int, *words: str) -> list[str]:
    options = (f"-Xmx{heap_mib}m", *FRUGAL, *JAVA_OPTIONS)
    classes = (f"-Djava.io.tmpdir={folder}", "-cp", f"{folder}:{java_apps.classpath('hbase')}")
    java = ("env", f"FABRISCOPE_FOLDER={folder}", java_apps.program("java"))
    return [*place.host(host).access, *java, *options, *classes, *words]


@contextlib.contextmanager
def standing(folder: Path) -> Iterator[ByHand]:
    """Start it on a lab with one Gigabit Ethernet, with somebody's table in it; it goes with the lab."""
    place = lab.up(LabSpec(HOSTS, {"gige": PRESETS["gige"]}))
    daemons: list[subprocess.Popen[bytes]] = []
    at = {host: place.host(host).addresses["eth0"] for host in HOSTS}
    hdfs = f"hdfs://{at['node2']}:9000"
    common = {
        "fs.defaultFS": hdfs,
        "dfs.replication": "1",
        "hbase.rootdir": f"{hdfs}/hbase",
        "hbase.cluster.distributed": "true",
        "hbase.wal.provider": "filesystem",
        "hbase.zookeeper.quorum": at["node2"],
    }
    try:
        for host, words, heap_mib, own in _roles(at):
            one = folder / f"{words[1]}-{host}"
            daemons.append(_daemon(place, host, one, heap_mib, words, {**common, **own}))
        compile_into(folder, "Tables", _TABLES, "hbase")
        address = f"{at['node2']}:2181"
        asked = KeptJava.started(_java(place, "node2", folder, 128, "Tables", address), folder / "tables.txt")
        by_hand = ByHand(place, address, asked)
        by_hand.tables(make="of-others")
        yield by_hand
        asked.end()
    finally:
        place.down()
        for daemon in daemons:
            daemon.wait(30)


def _roles(at: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, str], int, Mapping[str, str]]]:
    """Yield host, class and role, heap in MiB, and own settings of each daemon, in the order in which they start."""
    first = at["node2"]
    namenode = {
        "dfs.namenode.rpc-address": f"{first}:9000",
        "dfs.namenode.http-address": "127.0.0.1:0",
        "dfs.namenode.safemode.extension": "0",
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
    }
    datanode = {
        "dfs.datanode.address": f"{first}:9866",
        "dfs.datanode.ipc.address": f"{first}:9867",
        "dfs.datanode.http.address": "127.0.0.1:0",
        "dfs.datanode.hostname": first,
    }
    master = {
        "hbase.unsafe.regionserver.hostname": first,
        "hbase.master.hostname": first,
        "hbase.master.ipc.address": first,
        "hbase.master.info.port": "-1",
        "hbase.master.wait.on.regionservers.mintostart": "2",
    }
    yield "node2", ("HdfsNode", "namenode"), 96, namenode
    yield "node2", ("HdfsNode", "datanode"), 96, datanode
    yield "node2", ("HBaseNode", "zookeeper"), 64, {"fabriscope.zookeeper": f"{first}:2181"}
    yield "node2", ("HBaseNode", "master"), 192, master
    for host in HOSTS[1:]:
        server = {
            "hbase.unsafe.regionserver.hostname": at[host],
            "hbase.regionserver.ipc.address": at[host],
            "hbase.regionserver.info.port": "-1",
        }
        yield host, ("HBaseNode", "regionserver"), 192, server


def _daemon(
    place: Lab, host: str, folder: Path, heap_mib: int, words: tuple[str, str], settings: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    folder.mkdir()
    told = [f"{name}={value}" for name, value in settings.items()]
    output = folder.with_suffix(".txt")
    with output.open("wb") as file:
        argv = _java(place, host, folder, heap_mib, *words, *told)
        daemon = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
    until_s = time.monotonic() + START_LIMIT_S
    while f"fabriscope: {words[1]} ready" not in output.read_text():
        assert daemon.poll() is None, output.read_text()
        assert time.monotonic() < until_s, output.read_text()
        time.sleep(_POLL_S)
    return daemon
