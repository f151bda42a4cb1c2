"""How a plan names a service that runs already."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from fabriscope.model.errors import shown

NAMENODE_TCP_PORT = 8020
"""Hadoop's own default (dfs.namenode.rpc-address)."""
ZOOKEEPER_TCP_PORT = 2181
"""HBase's own default (hbase.zookeeper.property.clientPort)."""
MAX_TCP_PORT = 65_535
_HDFS = re.compile(r"hdfs://([A-Za-z0-9](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9])?)(?::(\d{1,5}))?/?", re.ASCII)
_HDFS_EXAMPLE = "hdfs://namenode:9000"
_SERVER = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9])?(?::\d{1,5})?"
_QUORUM = re.compile(rf"({_SERVER}(?:,{_SERVER}){{0,30}})(?::((?:/[A-Za-z0-9._-]+)+))?", re.ASCII)
_QUORUM_EXAMPLE = "zk1,zk2,zk3:2181"
_FOLDER = re.compile(r"(/[^/\x00-\x20:\x7f]+)*/?")
MAX_FOLDER = 1000


def _hdfs(value: Any) -> str:
    """Return an address with its port; raises ValueError for what is none."""
    found = _HDFS.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{shown(value)} is no address of a NameNode; write it like {_HDFS_EXAMPLE}")
    tcp_port = int(found[2] or NAMENODE_TCP_PORT)
    if not 0 < tcp_port <= MAX_TCP_PORT:
        raise ValueError(f"{shown(value)} has no TCP port between 1 and {MAX_TCP_PORT}")
    return f"hdfs://{found[1]}:{tcp_port}"


def _zookeeper(value: Any) -> str:
    """Return the servers, each with its port, and the node of an HBase; raises ValueError for what is none.

    One port behind the last server is that of all, as in the key of a cluster by which HBase names others.
    """
    found = _QUORUM.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{shown(value)} names no ZooKeeper; write it like {_QUORUM_EXAMPLE}, with :/NODE if need be")
    servers = [one.partition(":")[::2] for one in found[1].split(",")]
    usual = (
        next((port for _, port in reversed(servers) if port), "") if not any(port for _, port in servers[:-1]) else ""
    )
    ports = [int(port or usual or ZOOKEEPER_TCP_PORT) for _, port in servers]
    if not all(0 < port <= MAX_TCP_PORT for port in ports):
        raise ValueError(f"{shown(value)} has no TCP port between 1 and {MAX_TCP_PORT}")
    named = ",".join(f"{host}:{port}" for (host, _), port in zip(servers, ports, strict=True))
    return f"{named}:{found[2] or '/hbase'}"


def _by_fabric(read: Callable[[Any], str]) -> BeforeValidator:
    """Return the check of one address, or of those by fabric."""

    def parse(value: Any) -> Any:
        if not isinstance(value, dict):
            return value if value is None else read(value)
        if not value:
            raise ValueError("the mapping is empty; name fabrics and their addresses")
        return {str(name): read(one) for name, one in value.items()}

    return BeforeValidator(parse)


def _hdfs_folder(value: str) -> str:
    """Return a folder of HDFS without a slash at its end; raises ValueError for what is no whole path."""
    is_whole = value.startswith("/") and _FOLDER.fullmatch(value) and len(value) <= MAX_FOLDER
    if not is_whole or {".", ".."} & set(value.split("/")):
        raise ValueError(f"{shown(value)} is no whole path of a folder in HDFS; write it like /benchmarks")
    return value.rstrip("/") or "/"


def _home(example: str) -> AfterValidator:
    """Return the check of a folder of the hosts: a whole path, and one that Java's search path can have."""

    def parse(value: str) -> str:
        if not value.startswith("/") or set(value) & set(":*\0"):
            raise ValueError(f"{shown(value)} is no whole path of a folder; write it like {example}")
        return value.rstrip("/") or "/"

    return AfterValidator(parse)


def _schema(example: str) -> WithJsonSchema:
    address = {"type": "string", "examples": [example]}
    by_fabric = {"type": "object", "additionalProperties": address, "minProperties": 1}
    return WithJsonSchema({"anyOf": [address, by_fabric, {"type": "null"}]})


Addresses = str | dict[str, str] | None
"""One address, or one for each of several fabrics by its name."""
HdfsAddress = Annotated[Addresses, _by_fabric(_hdfs), _schema(_HDFS_EXAMPLE)]
HbaseAddress = Annotated[Addresses, _by_fabric(_zookeeper), _schema(_QUORUM_EXAMPLE)]
HdfsFolder = Annotated[str, AfterValidator(_hdfs_folder)]

HadoopHome = Annotated[str, _home("/opt/hadoop-3.4.1")]
HbaseHome = Annotated[str, _home("/opt/hbase-2.5.13-hadoop3")]
"""Where a site has a program of its own."""


def of_fabric(at: str | dict[str, str], fabric: str | None) -> str:
    """Return the address of a service over a fabric; empty where it has none there."""
    return at if isinstance(at, str) else at.get(fabric or "", "")
