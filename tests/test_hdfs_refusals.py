"""What a client says of a NameNode that refuses it, by a stand-in that answers as Hadoop does (RpcHeader.proto)."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests import needs

from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.testdfsio import ADAPTER
from fabriscope.hosts import java_apps
from fabriscope.launch import processes
from fabriscope.model.case import Case, Entry
from fabriscope.model.host import HERE
from fabriscope.model.measurement import Launch
from fabriscope.plan.service_schema import HdfsSection

FATAL = 2
LIMIT_S = 120.0
MIB = 1 << 20


def _number(field: int, value: int) -> bytes:
    return bytes([field << 3, value])


def _text(field: int, value: str) -> bytes:
    return bytes([field << 3 | 2]) + _varint(len(value)) + value.encode()


def _varint(value: int) -> bytes:
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + _varint(value >> 7)


def answer(status: int, exception: str, message: str) -> bytes:
    """Return a response to the first call of a connection."""
    header = _number(1, 0) + _number(2, status) + _number(3, 9) + _text(4, exception) + _text(5, message)
    whole = _varint(len(header)) + header
    return struct.pack(">I", len(whole)) + whole


@contextmanager
def standing(said: bytes) -> Iterator[str]:
    """Answer every connection alike; yield the address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:  # it is closed: the test is over
                    return
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(said)
                    connection.shutdown(socket.SHUT_WR)
                    connection.settimeout(LIMIT_S)
                    while connection.recv(1 << 16):
                        pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"hdfs://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    thread.join(LIMIT_S)


def refusal(address: str) -> str | None:
    """Return why the HDFS at an address cannot be used, as a client on this machine is told."""
    needs.java_app("hadoop")
    programs = {"java": java_apps.program("java"), "hadoop classes": java_apps.classpath("hadoop")}
    entry = Entry("hdfs", "gige", "inter", (HERE.name,), instrument="testdfsio")
    told = HdfsSection.model_validate({"at": address}).parameters("gige")
    launch = Launch(1, 1, entry, (Case(entry, "hdfs_write", MIB, parameters=told),), seed=1, budget_ns=0)
    command = ADAPTER.look(launch, AdapterContext({HERE.name: HERE}, programs=programs))
    assert command is not None
    (outcome,) = processes.run_commands([command], {HERE.name: HERE}, timeout_s=LIMIT_S)
    return ADAPTER.refused(outcome)


KERBEROS = "SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]"
"""As Hadoop's Server says it."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            answer(FATAL, "org.apache.hadoop.security.AccessControlException", KERBEROS),
            f"this HDFS wants Kerberos, which fabriscope does not speak: {KERBEROS}",
        ),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "what listens there is no NameNode ("),
        (b"", "what listens there is no NameNode ("),
    ],
    ids=["kerberos", "http", "silence"],
)
def test_a_server_that_is_no_namenode_for_us(said: bytes, expected: str) -> None:
    with standing(said) as address:
        assert (refusal(address) or "").startswith(expected)


@pytest.mark.timeout(300)
def test_nobody_who_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        tcp_port = taken.getsockname()[1]
    assert (refusal(f"hdfs://127.0.0.1:{tcp_port}") or "").startswith("nothing listens there (")
