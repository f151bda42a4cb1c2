"""What a plan says of the services that its launches start or use."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal

from pydantic import Field

from fabriscope.plan.section import Section
from fabriscope.plan.service_addresses import (
    Addresses,
    HadoopHome,
    HbaseAddress,
    HbaseHome,
    HdfsAddress,
    HdfsFolder,
    of_fabric,
)
from fabriscope.plan.values import Share, SizeBytes, Whole

Parameters = tuple[tuple[str, str], ...]
MIB = 1 << 20
Heap = Annotated[SizeBytes, Field(ge=32 * MIB, le=1 << 40)]
OF_DAEMONS = {
    "hdfs": ("heap", "handlers", "data"),
    "hbase": ("replication", "heap", "master_heap", "hdfs_heap", "handlers", "data"),
}
"""Keys of a service that say how its daemons are started: of no use where it runs already."""
OF_RUNNING = ("at", "path")
"""Keys that say which service is used that runs already."""


def _told(section: Section, at: Addresses, fabric: str | None, of_daemons: Collection[str]) -> Parameters:
    """Return what cases over a fabric are told, by name; `at` is empty where the service that runs is not over it."""
    left_out = OF_RUNNING if at is None else of_daemons
    told = {name: str(value) for name, value in section if name not in left_out and value is not None}
    if at is not None:
        told["at"] = of_fabric(at, fabric)
    return tuple(told.items())


class HdfsSection(Section):
    """HDFS: the first host has the NameNode and the client, every other one a DataNode; or one that runs already."""

    at: HdfsAddress = Field(
        None, description="NameNode of an HDFS that runs already (hdfs://HOST:PORT), or one for each fabric by name"
    )
    path: HdfsFolder = Field(
        "/benchmarks", description="folder of that HDFS in which a launch makes one of its own, and removes it"
    )
    home: HadoopHome | None = Field(
        None, description="Hadoop of the hosts' own, as HADOOP_HOME names it, instead of what `apps add hadoop` fetched"
    )
    replication: Annotated[Whole, Field(ge=1, le=512)] = Field(3, description="copies of each block, at most DataNodes")
    block_size: Annotated[SizeBytes, Field(ge=MIB, le=1 << 40)] = Field(128 * MIB, description="dfs.blocksize")
    files: Annotated[Whole, Field(ge=1, le=1024)] = Field(
        2, description="files of a run, each by a map task of its own"
    )
    runs: Annotated[Whole, Field(ge=1, le=1000)] = Field(
        3, description="runs of each case in one start of the service, after one that warms up"
    )
    heap: Heap = Field(128 * MIB, description="of the NameNode and of each DataNode")
    client_heap: Heap = Field(256 * MIB, description="of the client, in which all map tasks run")
    handlers: Annotated[Whole, Field(ge=1, le=4096)] = Field(
        10, description="threads of the NameNode that serve clients"
    )
    data: Literal["memory", "disk"] = Field(
        "memory", description="blocks lie in /dev/shm, or in the launch's temporary folder (TMPDIR)"
    )

    def parameters(self, fabric: str | None = None) -> Parameters:
        """Return what cases over a fabric are told, by name; `at` is empty where the HDFS that runs is not over it."""
        return _told(self, self.at, fabric, OF_DAEMONS["hdfs"])


class HbaseSection(Section):
    """HBase on an HDFS of its own: NameNode, ZooKeeper, master and client on the first host, the others the rest.

    Or one that runs already.
    """

    at: HbaseAddress = Field(
        None,
        description="ZooKeeper of an HBase that runs already (HOST,HOST:PORT:/NODE), or one for each fabric by name",
    )
    home: HbaseHome | None = Field(
        None, description="HBase of the hosts' own, as HBASE_HOME names it, instead of what `apps add hbase` fetched"
    )
    replication: Annotated[Whole, Field(ge=1, le=512)] = Field(3, description="copies of each block, at most DataNodes")
    records: Annotated[Whole, Field(ge=1, le=10**9)] = Field(10_000, description="that each launch loads")
    fields: Annotated[Whole, Field(ge=1, le=1000)] = Field(10, description="of a record, all of one size")
    operations: Annotated[Whole, Field(ge=1, le=10**9)] = Field(10_000, description="of each run, by all threads")
    threads: Annotated[Whole, Field(ge=1, le=10_000)] = Field(8, description="of the client")
    distribution: Literal["standard", "uniform", "zipfian", "latest"] = Field(
        "standard", description="of the keys that are asked for; standard: that of the workload"
    )
    target: Annotated[Whole, Field(ge=0, le=10**9)] = Field(
        0, description="operations per second of all threads; 0: as fast as they can"
    )
    error_share: Share = Field(0.0, description="of a run's operations that may return anything but OK")
    runs: Annotated[Whole, Field(ge=1, le=1000)] = Field(
        2, description="runs of each case in one start of the service, after one that warms up"
    )
    regions: Annotated[Whole, Field(ge=1, le=1000)] = Field(
        1, description="of the table for each region server, of about equal shares of the keys"
    )
    heap: Heap = Field(256 * MIB, description="of each region server")
    master_heap: Heap = Field(192 * MIB, description="of the master")
    hdfs_heap: Heap = Field(96 * MIB, description="of the NameNode and of each DataNode")
    client_heap: Heap = Field(256 * MIB, description="of the client")
    handlers: Annotated[Whole, Field(ge=1, le=4096)] = Field(
        30, description="threads of each region server that serve clients"
    )
    data: Literal["memory", "disk"] = Field(
        "memory", description="blocks lie in /dev/shm, or in the launch's temporary folder (TMPDIR)"
    )

    def parameters(self, fabric: str | None = None) -> Parameters:
        """Return what cases over a fabric are told, by name; `at` is empty where the HBase that runs is not over it."""
        return _told(self, self.at, fabric, OF_DAEMONS["hbase"])


class ServicesSection(Section):
    """The services by name."""

    hdfs: HdfsSection = Field(HdfsSection(), description="of the layer hdfs")
    hbase: HbaseSection = Field(HbaseSection(), description="of the layer hbase")

    @property
    def homes(self) -> dict[str, str]:
        """Return where the site's own Hadoop and HBase are, by the name of the application, of those that are used."""
        of_app = {"hadoop": self.hdfs.home, "hbase": self.hbase.home}
        return {name: home for name, home in of_app.items() if home is not None}

    def runs_already(self, layer: str) -> bool:
        """Return whether the service of a layer is one that is used as it runs."""
        of_layer = {"hdfs": self.hdfs.at, "hbase": self.hbase.at}
        return of_layer.get(layer) is not None

    def least_hosts(self, layers: Collection[str]) -> int:
        """Return how many hosts these layers need: one is enough for the client of a service that runs elsewhere."""
        return 1 if all(map(self.runs_already, layers)) else 2


def parameters_of(services: ServicesSection, layer: str, fabric: str | None) -> Parameters | None:
    """Return what the cases of a layer are told of its service; nothing for a layer without one.

    None where the service is not to be had over this fabric.
    """
    own = services.hdfs if layer == "hdfs" else services.hbase if layer == "hbase" else None
    told = own.parameters(fabric) if own is not None else ()
    return None if ("at", "") in told else told
