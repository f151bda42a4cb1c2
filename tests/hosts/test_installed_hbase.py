"""An HBase of the site's own: what is one, which versions are used, and what is not executed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.hosts import java_apps
from fabriscope.hosts.java_apps import installed
from fabriscope.model.errors import LaunchError, ToolMissing

SERVER = "hbase-server-2.5.13-hadoop3.jar"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a folder with the names of a distribution."""
    lib = tmp_path / "hbase-2.5.13-hadoop3" / "lib"
    for name in (
        SERVER,
        "hbase-server-2.5.13-hadoop3-tests.jar",
        "hadoop-hdfs-3.4.2.jar",
        "client-facing-thirdparty/slf4j-api-1.7.33.jar",
        "jdk11/jaxws-ri-2.3.2.pom",
        "ruby/jruby.jar",
    ):
        (lib / name).parent.mkdir(parents=True, exist_ok=True)
        (lib / name).write_bytes(b"")
    return lib.parent


def test_its_jars_are_those_of_its_scripts(home: Path) -> None:
    found = installed.find_hbase(str(home))
    assert found.classpath == f"{home / 'lib'}/*:{home / 'lib' / 'client-facing-thirdparty'}/*"
    digest = found.digest
    (home / "lib" / SERVER).write_bytes(b"another")
    assert installed.find_hbase(str(home)).digest != digest


def test_what_is_none_is_named(home: Path, tmp_path: Path) -> None:
    said = r"is no installation of HBase: there is no .*/lib/hbase-server-\*\.jar -- name the folder that HBASE_HOME"
    for other in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(ToolMissing, match=said):
            installed.find_hbase(str(other))
    (home / "lib" / "hadoop-hdfs-3.4.2.jar").unlink()
    with pytest.raises(ToolMissing, match=r"this HBase has no HDFS below it: there is no .*/lib/hadoop-hdfs-"):
        installed.find_hbase(str(home))


@pytest.mark.parametrize("version", ["1.4.14", "2.4.18", "3.0.0-beta-1"])
def test_another_version_is_refused_by_its_number(home: Path, version: str) -> None:
    (home / "lib" / SERVER).rename(home / "lib" / f"hbase-server-{version}.jar")
    said = f"{home}: this is HBase {version}, and fabriscope starts HBase 2.5 and later ones before 3 -- name another"
    with pytest.raises(ToolMissing) as told:
        installed.find_hbase(str(home))
    assert told.value.sentence().startswith(said)


def test_what_others_could_have_written_is_not_executed(home: Path) -> None:
    (home / "lib" / SERVER).chmod(0o666)
    with pytest.raises(LaunchError, match=r"its programs are not executed: .*\.jar can be written by other users"):
        installed.find_hbase(str(home))


def test_ycsb_is_ours_and_told_when_it_is_not_there(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(ToolMissing, match="YCSB, which no HBase has, is not on this machine -- `fabriscope apps add"):
        java_apps.classpath_of("hbase", str(home))
