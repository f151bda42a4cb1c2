"""What a plan says of the services that its launches start."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabriscope.plan.section import Section
from fabriscope.plan.values import Share, SizeBytes, Whole

Parameters = tuple[tuple[str, str], ...]
MIB = 1 << 20
Heap = Annotated[SizeBytes, Field(ge=32 * MIB, le=1 << 40)]


class HdfsSection(Section):
    """HDFS: the first host has the NameNode and the client, every other one a DataNode."""

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

    def parameters(self) -> Parameters:
        """Return what cases are told, by name."""
        return tuple((name, str(value)) for name, value in self)


class HbaseSection(Section):
    """HBase on an HDFS of its own: NameNode, ZooKeeper, master and client on the first host, the others the rest."""

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

    def parameters(self) -> Parameters:
        """Return what cases are told, by name."""
        return tuple((name, str(value)) for name, value in self)


class ServicesSection(Section):
    """The services by name."""

    hdfs: HdfsSection = Field(HdfsSection(), description="of the layer hdfs")
    hbase: HbaseSection = Field(HbaseSection(), description="of the layer hbase")


def parameters_of(services: ServicesSection, layer: str) -> Parameters:
    """Return what the cases of a layer are told of its service; nothing for a layer without one."""
    if layer == "hdfs":
        return services.hdfs.parameters()
    return services.hbase.parameters() if layer == "hbase" else ()
