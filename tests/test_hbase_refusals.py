"""What is said of an HBase that wants Kerberos, by a ZooKeeper and a master of its own that want it of every client."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests import needs

from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.ycsb import ADAPTER, JAVA_OPTIONS
from fabriscope.hosts import java_apps
from fabriscope.launch import processes
from fabriscope.model.case import Case, Entry
from fabriscope.model.host import HERE
from fabriscope.model.measurement import Launch
from fabriscope.plan.service_schema import HbaseSection

LIMIT_S = 180.0
HOST = "127.0.0.1"


def free_tcp_port() -> int:
    with socket.create_server((HOST, 0)) as taken:
        return int(taken.getsockname()[1])


@contextmanager
def daemon(folder: Path, role: str, settings: Mapping[str, str]) -> Iterator[None]:
    """Have one daemon of HBase on this machine for the block."""
    own, output = folder / role, folder / f"{role}.txt"
    own.mkdir()
    options = ("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", *JAVA_OPTIONS)
    told = [f"{name}={value}" for name, value in settings.items()]
    argv = [java_apps.program("java"), *options, f"-Djava.io.tmpdir={own}", "-cp", java_apps.classpath("hbase")]
    env = {**os.environ, "FABRISCOPE_FOLDER": str(own)}
    with output.open("wb") as file:
        process = subprocess.Popen(
            [*argv, "HBaseNode", role, *told], stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, env=env
        )
    try:
        until_s = time.monotonic() + LIMIT_S
        while f"fabriscope: {role} ready" not in output.read_text():
            assert process.poll() is None, output.read_text()
            assert time.monotonic() < until_s, output.read_text()
            time.sleep(0.1)
        yield
    finally:
        process.kill()
        process.wait(LIMIT_S)


def refusal(address: str) -> str:
    """Return why the HBase at an address cannot be used, as a client on this machine is told."""
    programs = {"java": java_apps.program("java"), "hbase classes": java_apps.classpath("hbase")}
    entry = Entry("hbase", "gige", "inter", (HERE.name,), instrument="ycsb")
    told = HbaseSection.model_validate({"at": address}).parameters("gige")
    launch = Launch(1, 1, entry, (Case(entry, "hbase_get", 1000, parameters=told),), seed=1, budget_ns=0)
    command = ADAPTER.look(launch, AdapterContext({HERE.name: HERE}, programs=programs))
    assert command is not None
    until_s = time.monotonic() + LIMIT_S
    while True:
        (outcome,) = processes.run_commands([command], {HERE.name: HERE}, timeout_s=LIMIT_S)
        said = ADAPTER.refused(outcome) or ""
        if "knows no active master" not in said or time.monotonic() > until_s:  # it is still becoming the active one
            return said


@pytest.mark.timeout(600)
def test_one_that_wants_kerberos_is_told_as_that(tmp_path: Path) -> None:
    needs.java_app("hbase")
    at = f"{HOST}:{free_tcp_port()}"
    master = {
        "hbase.rootdir": f"file://{tmp_path}/root",
        "hbase.unsafe.stream.capability.enforce": "false",
        "hbase.cluster.distributed": "true",
        "hbase.wal.provider": "filesystem",
        "hbase.zookeeper.quorum": at,
        "hbase.security.authentication": "kerberos",
        "hbase.unsafe.regionserver.hostname": HOST,
        "hbase.master.hostname": HOST,
        "hbase.master.ipc.address": HOST,
        "hbase.master.port": str(free_tcp_port()),
        "hbase.master.info.port": "-1",
    }
    with daemon(tmp_path, "zookeeper", {"fabriscope.zookeeper": at}), daemon(tmp_path, "master", master):
        said = refusal(at)
    assert said == "this HBase wants Kerberos, which fabriscope does not speak: Authentication is required"
