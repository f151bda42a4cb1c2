"""A site's own Hadoop, by the folder that HADOOP_HOME names there: its jars instead of those in our cache."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model import folders
from fabriscope.model.errors import LaunchError, ToolMissing

_SHARE = Path("share") / "hadoop"
_PARTS = ("common", "hdfs", "mapreduce", "yarn")
"""As `hadoop classpath` names them, each with its `lib`; the site's settings (`etc/hadoop`) are left out."""
_TESTS = "hadoop-mapreduce-client-jobclient-*-tests.jar"
"""What has TestDFSIO."""


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
    try:
        why = folders.problem(str(share)) or folders.open_below(str(share))
    except OSError as error:
        why = f"it cannot be looked at: {error.strerror}"
    if why is not None:
        raise LaunchError(f"its programs are not executed: {why}", where=home)
    parts = [share / name for part in _PARTS for name in (f"{part}/lib", part)]
    jars = tuple(jar for part in parts for jar in sorted(part.glob("*.jar")))
    return Installed(Path(home), jars)
