"""A Hadoop of the site's own: what is one, and what is not executed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.hosts.java_apps import installed
from fabriscope.model.errors import LaunchError, ToolMissing


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a folder with the names of a distribution."""
    share = tmp_path / "hadoop-3.4.1" / "share" / "hadoop"
    for name in (
        "common/hadoop-common-3.4.1.jar",
        "common/hadoop-common-3.4.1-tests.jar",
        "common/lib/guava.jar",
        "hdfs/hadoop-hdfs-3.4.1.jar",
        "mapreduce/hadoop-mapreduce-client-jobclient-3.4.1-tests.jar",
        "tools/lib/other.jar",
    ):
        (share / name).parent.mkdir(parents=True, exist_ok=True)
        (share / name).write_bytes(b"")
    return share.parents[1]


def test_its_jars_are_those_of_a_client_and_of_daemons(home: Path) -> None:
    found = installed.find(str(home))
    share = home / "share" / "hadoop"
    assert found.classpath == ":".join(f"{share / part}/*" for part in ("common/lib", "common", "hdfs", "mapreduce"))
    digest = found.digest
    (share / "common" / "lib" / "guava.jar").write_bytes(b"another")
    assert installed.find(str(home)).digest != digest


def test_what_is_none_is_named(home: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolMissing, match=r"is no installation of Hadoop: there is no .*share/hadoop/common"):
        installed.find(str(tmp_path))
    next((home / "share" / "hadoop" / "mapreduce").iterdir()).unlink()
    with pytest.raises(ToolMissing, match="this Hadoop has no TestDFSIO"):
        installed.find(str(home))


def test_what_others_could_have_written_is_not_executed(home: Path) -> None:
    (home / "share" / "hadoop" / "hdfs").chmod(0o777)
    with pytest.raises(LaunchError, match=r"its programs are not executed: .*hdfs can be written by other users"):
        installed.find(str(home))
