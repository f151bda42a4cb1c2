"""Hadoop, HBase and YCSB from Maven artifacts: pinned versions, every file's digest checked, in a cache of our own.

A program is two files here: `NAME.xml`, what Maven is asked for, and `NAME.sha256`, what must come of it.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.hosts.java_apps import installed
from fabriscope.model import caches, folders
from fabriscope.model.errors import FabriscopeError, LaunchError, ToolMissing
from fabriscope.model.foreign import Foreign

FETCH_TIMEOUT_S = 1800.0
COMPILE_TIMEOUT_S = 300.0
COPY_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
PACKAGES = {"java": "default-jdk-headless", "javac": "default-jdk-headless", "mvn": "maven"}
"""Program to Debian's package of it."""

_HERE = Path(__file__).parent
_RECORD = "app.json"
_JARS = "jars"
_WEB_PAGES = ("webapps/hdfs", "webapps/datanode")
"""Folders without which NameNode and DataNode do not start; not every artifact of Hadoop has them."""
_YCSB = ("core-*.jar", "HdrHistogram-*.jar", "jackson-*-asl-*.jar", "htrace-core4-*.jar")
"""Its jars, and those that it needs, in what is fetched with HBase."""
_SHARED = "shared"
"""The folder of what is ours around every one of them."""


@dataclass(frozen=True)
class JavaApp:
    """One program in the cache."""

    name: str
    version: str
    folder: Path

    @property
    def jars(self) -> Path:
        """Return the folder of its jar files."""
        return self.folder / _JARS

    @property
    def size_bytes(self) -> int:
        """Return how much its jar files take."""
        return sum(jar.stat().st_size for jar in self.jars.iterdir())


def known() -> dict[str, str]:
    """Return the version of every program that can be added, by name."""
    return {path.stem: _version(path) for path in sorted(_HERE.glob("*.xml"))}


def _version(project: Path) -> str:
    """Return the project's own version, the first that its file tells."""
    found = re.search("<version>(.+?)</version>", project.read_text())
    return found[1] if found else ""


def cache_folder() -> Path:
    """Return the folder that `fabriscope apps add` fills."""
    return caches.folder("apps")


def program(name: str) -> str:
    """Return the absolute path of java, javac or mvn; raises ToolMissing that names Debian's package."""
    path = shutil.which(name)
    if path is None:
        raise ToolMissing(f"{name} is not on this machine", fix=f"install the package {PACKAGES[name]}")
    return path


def added() -> list[JavaApp]:
    """Return the programs that were added completely; raises LaunchError where others can write there."""
    apps = []
    for record in sorted(cache_folder().glob(f"*/{_RECORD}")):
        caches.check(record, LaunchError)
        raw = Foreign.json(record.read_bytes(), str(record), error=LaunchError)
        apps.append(JavaApp(raw.at("name").text(), raw.at("version").text(), record.parent))
    return apps


def find(name: str) -> JavaApp:
    """Return a program of this version of fabriscope; raises ToolMissing, or LaunchError where others can write."""
    for app in added():
        if (app.name, app.version) == (name, known().get(name)):
            if (why := folders.open_below(str(app.folder))) is not None:
                raise LaunchError(f"what is kept there is not executed: {why}", where=str(app.folder))
            return app
    raise ToolMissing(f"{name} is not on this machine", fix=f"`fabriscope apps add {name}` fetches it")


def add(name: str) -> JavaApp:
    """Fetch a program by Maven, check every file's digest, and return it, at once if it is there.

    Raises FabriscopeError for an unknown name, ToolMissing without Java or Maven, LaunchError where something cannot
    be had or is not what it should be; what is half there is removed.
    """
    if name not in known():
        raise FabriscopeError(f"no program {name!r} can be added", fix=f"known: {', '.join(known())}")
    program("java")
    maven = program("mvn")
    root = cache_folder()
    folders.make(str(root))
    caches.check(root, LaunchError)
    with caches.locked(root / "lock", FETCH_TIMEOUT_S, LaunchError):
        for left in root.glob("fetching-*"):  # of one that was killed
            shutil.rmtree(left, ignore_errors=True)
        folder = root / f"{name}-{known()[name]}"
        if not (folder / _RECORD).is_file():
            with tempfile.TemporaryDirectory(dir=root, prefix="fetching-") as scratch:
                _fetch(maven, name, Path(scratch))
                _check(name, Path(scratch) / _JARS)
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(mode=0o700)
                (Path(scratch) / _JARS).rename(folder / _JARS)
                (folder / _RECORD).write_text(json.dumps({"name": name, "version": known()[name]}) + "\n")
        return find(name)


def classpath(name: str) -> str:
    """Return what `java -cp` is told for a program and for what is ours around it, compiled at its first use.

    Raises ToolMissing or LaunchError.
    """
    app = find(name)
    return _with_ours(name, f"{app.jars}/*", app.folder)


def classpath_of(name: str, home: str) -> str:
    """Return the same for the Hadoop or the HBase that a site has in a folder of its own; YCSB is from our cache.

    Raises ToolMissing, or LaunchError where others could have written what is there.
    """
    found = installed.find(home) if name == "hadoop" else installed.find_hbase(home)
    jars = [found.classpath, *(map(str, _ycsb()) if name == "hbase" else ())]
    root = cache_folder()
    folders.make(str(root))
    caches.check(root, LaunchError)
    return _with_ours(name, ":".join(jars), root / "installed", found.digest)


def _ycsb() -> list[Path]:
    """Return the jars of YCSB, which no HBase has, and of what it needs beside HBase's; raises ToolMissing."""
    try:
        folder = find("hbase").jars
    except ToolMissing as error:
        what = "YCSB, which no HBase has, is not on this machine"
        raise ToolMissing(what, fix="`fabriscope apps add hbase` fetches it") from error
    return [jar for pattern in _YCSB for jar in sorted(folder.glob(pattern))]


def _with_ours(name: str, jars: str, folder: Path, digest_of_jars: str = "") -> str:
    sources = sorted(path for part in (_SHARED, name) for path in (_HERE / part).iterdir())
    told = [path.name.encode() + b"\0" + path.read_bytes() for path in sources]
    about = [*told, *map(str.encode, _WEB_PAGES), digest_of_jars.encode()]
    classes = folder / f"classes-{hashlib.sha256(b''.join(about)).hexdigest()[:16]}"
    with caches.locked(cache_folder() / "lock", FETCH_TIMEOUT_S, LaunchError):
        if not classes.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)
            _compile(sources, name, jars, classes)
    return f"{classes}:{jars}"


def _compile(sources: Sequence[Path], name: str, jars: str, classes: Path) -> None:
    with tempfile.TemporaryDirectory(dir=cache_folder(), prefix="fetching-") as scratch:
        argv = [program("javac"), "-nowarn", "-d", scratch, "-cp", jars]
        argv += [str(path) for path in sources if path.suffix == ".java"]
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=COMPILE_TIMEOUT_S, check=False
        )
        if done.returncode != 0:
            errors = [line for line in done.stderr.splitlines() if "error:" in line]
            raise LaunchError(f"javac cannot compile what fabriscope adds to it: {(errors or [''])[0]}", where=name)
        for path in sources:
            if path.suffix != ".java":
                shutil.copyfile(path, Path(scratch) / path.name)
        for page in _WEB_PAGES:
            (Path(scratch) / page).mkdir(parents=True)
        shutil.copytree(scratch, classes)
        for path in (classes, *classes.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)


def remove(name: str) -> list[Path]:
    """Remove every version of a program that `add` fetched; raises FabriscopeError if there is none."""
    mine = [app for app in added() if app.name == name]
    if not mine:
        names = ", ".join(sorted({app.name for app in added()})) or "none"
        raise FabriscopeError(f"{name!r} was not added by fabriscope", fix=f"added: {names}")
    for app in mine:
        shutil.rmtree(app.folder)
    return [app.folder for app in mine]


def _fetch(maven: str, name: str, scratch: Path) -> None:
    """Let Maven, with the mirrors and proxies of the user's settings, put the artifacts into a folder of ours."""
    shutil.copyfile(_HERE / f"{name}.xml", scratch / "pom.xml")
    argv = [
        *(maven, "--quiet", "--batch-mode", "--strict-checksums", f"-Dmaven.repo.local={scratch / 'repository'}"),
        *(COPY_GOAL, f"-DoutputDirectory={scratch / _JARS}", "-DincludeScope=runtime"),
    ]
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=FETCH_TIMEOUT_S,
            check=False,
            cwd=scratch,
            umask=0o022,
        )
    except subprocess.TimeoutExpired as error:
        raise LaunchError(f"Maven did not fetch it within {FETCH_TIMEOUT_S:.0f} s", where=name) from error
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).decode("utf-8", "replace").splitlines()
        errors = [line.partition("[ERROR]")[2].strip() for line in lines if "[ERROR]" in line] or lines[-1:]
        said = errors[0][:300] if errors else "nothing"
        raise LaunchError(
            f"Maven cannot fetch it: {said}",
            where=name,
            fix="is Maven's repository, or a mirror that ~/.m2/settings.xml names, reachable from here?",
        )


def _check(name: str, jars: Path) -> None:
    """Raise LaunchError unless a folder holds exactly the files that a program should have, to the bit."""
    lines = (_HERE / f"{name}.sha256").read_text().splitlines()
    wanted = {jar: digest for digest, _, jar in (line.partition("  ") for line in lines)}
    found = {path.name: _digest(path) for path in jars.iterdir()} if jars.is_dir() else {}
    for jar in sorted({*wanted, *found}):
        if found.get(jar) != wanted.get(jar):
            what = (
                "was not fetched" if jar not in found else "is not expected" if jar not in wanted
                else f"has the SHA-256 digest {found[jar]}, and {wanted[jar]} is expected"
            )  # fmt: skip
            raise LaunchError(f"{jar} {what}", where=name, fix="nothing of it was kept; does a mirror change files?")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
