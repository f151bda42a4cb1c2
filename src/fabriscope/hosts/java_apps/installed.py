"""A site's own Hadoop or HBase, by what HADOOP_HOME or HBASE_HOME names there: its jars instead of those we fetch."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model import folders
from fabriscope.model.errors import LaunchError, ToolMissing

_SHARE = Path("share") / "hadoop"
_PARTS = tuple(_SHARE / part / lib for part in ("common", "hdfs", "mapreduce", "yarn") for lib in ("lib", ""))
"""As `hadoop classpath` names them; the site's settings (`etc/hadoop`) are left out."""
_TESTS = "hadoop-mapreduce-client-jobclient-*-tests.jar"
"""What has TestDFSIO."""
_HBASE_PARTS = (Path("lib"), Path("lib/client-facing-thirdparty"), Path("lib/jdk11"))
"""As `hbase classpath` names them; the site's settings (`conf`) are left out."""
_HBASE_SERVER = re.compile(r"hbase-server-((\d+)\.(\d+)\..*?)\.jar", re.ASCII)
_LEAST_HBASE, _ANOTHER_HBASE = (2, 5), (3, 0)
"""From the first on, and before the second, which has another client."""
_HDFS_SERVER = "hadoop-hdfs-[0-9]*.jar"


@dataclass(frozen=True)
class Installed:
    """One installation that can be used."""

    home: Path
    jars: tuple[Path, ...]

    @property
    def classpath(self) -> str:
        """Return what `java -cp` is told for its jars."""
        return ":".join(f"{folder}/*" for folder in dict.fromkeys(jar.parent for jar in self.jars))

    @property
    def digest(self) -> str:
        """Return what changes with its jars: of their names, sizes and times."""
        about = [(str(jar), jar.stat().st_size, jar.stat().st_mtime_ns) for jar in self.jars]
        return hashlib.sha256(repr(about).encode()).hexdigest()


def find(home: str) -> Installed:
    """Return the Hadoop of a folder; raises ToolMissing, or LaunchError where others could have written its jars."""
    share = Path(home) / _SHARE
    fix = "name the folder that HADOOP_HOME names: it has bin, lib and share"
    if not (share / "common").is_dir():
        raise ToolMissing(f"{home} is no installation of Hadoop: there is no {share / 'common'}", fix=fix)
    if not list((share / "mapreduce").glob(_TESTS)):
        raise ToolMissing(f"this Hadoop has no TestDFSIO: there is no {share / 'mapreduce' / _TESTS}", where=home)
    return _trusted(home, share, _PARTS)


def find_hbase(home: str) -> Installed:
    """Return the HBase of a folder; raises ToolMissing, or LaunchError where others could have written its jars."""
    lib = Path(home) / "lib"
    fix = "name the folder that HBASE_HOME names: it has bin, conf and lib"
    names = [jar.name for jar in sorted(lib.glob("hbase-server-*.jar")) if not jar.name.endswith("-tests.jar")]
    servers = [found for name in names if (found := _HBASE_SERVER.fullmatch(name))]
    if not servers:
        raise ToolMissing(f"{home} is no installation of HBase: there is no {lib / 'hbase-server-*.jar'}", fix=fix)
    version = servers[0]
    if not _LEAST_HBASE <= (int(version[2]), int(version[3])) < _ANOTHER_HBASE:
        what = f"this is HBase {version[1]}, and fabriscope starts HBase 2.5 and later ones before 3"
        raise ToolMissing(what, where=home, fix="name another one, or leave `home` out for that of `apps add hbase`")
    if not list(lib.glob(_HDFS_SERVER)):
        raise ToolMissing(f"this HBase has no HDFS below it: there is no {lib / _HDFS_SERVER}", where=home)
    return _trusted(home, lib, _HBASE_PARTS)


def _trusted(home: str, top: Path, parts: tuple[Path, ...]) -> Installed:
    """Return what is in these parts of a home; raises LaunchError where others could have written below `top`."""
    try:
        why = folders.problem(str(top)) or folders.open_below(str(top))
    except OSError as error:
        why = f"it cannot be looked at: {error.strerror}"
    if why is not None:
        raise LaunchError(f"its programs are not executed: {why}", where=home)
    return Installed(Path(home), tuple(jar for part in parts for jar in sorted((Path(home) / part).glob("*.jar"))))
