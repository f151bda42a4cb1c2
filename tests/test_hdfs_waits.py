"""What a client says of an HDFS of ours that does not become ready, by a NameNode of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest
from tests import needs
from tests.test_hbase_refusals import HOST, LIMIT_S, free_tcp_port

from fabriscope.hosts import java_apps

OPTIONS = ("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")


def argv(*words: str) -> list[str]:
    return [java_apps.program("java"), *OPTIONS, "-cp", java_apps.classpath("hadoop"), *words]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("settings", "wanted", "said"),
    [
        (
            {"dfs.namenode.resource.du.reserved": str(1 << 60)},
            "0",
            "the NameNode has not left safe mode after 1 s (Resources are low on NN); "
            "has the disk of its folder less than 100 MiB of room?",
        ),
        ({}, "1", "0 of 1 DataNodes are live after 1 s"),
    ],
    ids=["safe mode", "no DataNode"],
)
def test_why_it_is_not_ready(tmp_path: Path, settings: dict[str, str], wanted: str, said: str) -> None:
    needs.java_app("hadoop")
    at = f"{HOST}:{free_tcp_port()}"
    told = {"dfs.namenode.rpc-address": at, "dfs.namenode.http-address": f"{HOST}:0", **settings}
    env = {**os.environ, "FABRISCOPE_FOLDER": str(tmp_path)}
    output = tmp_path / "namenode.txt"
    words = ("HdfsNode", "namenode", f"fs.defaultFS=hdfs://{at}", *(f"{name}={value}" for name, value in told.items()))
    with output.open("wb") as file:
        namenode = subprocess.Popen(
            argv(*words), stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, env=env
        )
    try:
        until_s = time.monotonic() + LIMIT_S
        while "fabriscope: namenode ready" not in output.read_text():
            assert namenode.poll() is None, output.read_text()
            assert time.monotonic() < until_s, output.read_text()
            time.sleep(0.1)
        client = argv("DfsioRuns", wanted, "1", f"fs.defaultFS=hdfs://{at}", "fabriscope.patience=1")
        done = subprocess.run(client, capture_output=True, text=True, timeout=LIMIT_S, check=False, env=env)
    finally:
        namenode.kill()
        namenode.wait(LIMIT_S)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, f"fabriscope: {said}"), done.stderr


@pytest.mark.timeout(300)
def test_a_port_that_is_in_use_is_told_with_its_number_and_without_a_link(tmp_path: Path) -> None:
    needs.java_app("hadoop")
    with socket.create_server((HOST, 0)) as taken:
        tcp_port = taken.getsockname()[1]
        words = (f"fs.defaultFS=hdfs://{HOST}:{tcp_port}", f"dfs.namenode.http-address={HOST}:0")
        env = {**os.environ, "FABRISCOPE_FOLDER": str(tmp_path)}
        done = subprocess.run(
            argv("HdfsNode", "namenode", *words), capture_output=True, text=True, timeout=LIMIT_S, check=False, env=env
        )
    said = done.stderr.splitlines()[-1]
    assert said.startswith("fabriscope: the namenode cannot start: a port is in use (Problem binding to ["), said
    assert said.endswith("Address already in use)"), said
    assert str(tcp_port) in said
