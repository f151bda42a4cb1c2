"""Builds the kernel of guests, once for each source, recipe and compiler."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from fabriscope.lab.guest_kernel import changes, source
from fabriscope.lab.guest_kernel.kept import CONFIG, PROGRAM, RECORD, Kernel, cache_folder, recipe, recorded
from fabriscope.lab.guest_kernel.source import Source
from fabriscope.model import caches, folders
from fabriscope.model.errors import LabError, ToolMissing

Notice = Callable[[str], None]
BUILD_TIMEOUT_S = 7200.0
NEEDED_BYTES = 3 << 30
_STEPS = 1618
"""Lines that a build of 6.1 prints, for the share that is done."""
_NOTICE_PERIOD_S = 5.0
_ERROR_LINES = 3


def build(given: Path | None, jobs: int, notice: Notice) -> Kernel:
    """Return the kernel of a source (None: Debian's package), building it if it is not in the cache.

    Safe to call from several processes at once. Raises ToolMissing with a sentence for each missing program, and
    LabError for a source that the changes do not fit or that does not compile, with the place of what make said.
    """
    lacking = source.missing_programs()
    if lacking:
        raise ToolMissing("\n".join(lacking))
    root = cache_folder()
    folders.make(str(root))
    caches.check(root, LabError)
    with (
        caches.locked(root / "lock", BUILD_TIMEOUT_S, LabError),
        tempfile.TemporaryDirectory(dir=root, prefix="build-") as scratch,
    ):
        found = source.find(given, Path(scratch), notice)
        folder = root / _key(found)
        for path in (folder, folder / RECORD, folder / PROGRAM):
            caches.check(path, LabError)
        if (folder / RECORD).is_file():
            notice("it is in the cache")
            return recorded(folder / RECORD)
        if shutil.disk_usage(root).free < NEEDED_BYTES:
            raise LabError(
                f"a build needs {NEEDED_BYTES >> 30} GiB", where=str(root), fix="make room, or move the cache"
            )
        return _built(found, Path(scratch), folder, jobs, notice)


def _built(found: Source, scratch: Path, folder: Path, jobs: int, notice: Notice) -> Kernel:
    tree, output = scratch / "source", scratch / "output"
    notice(f"unpacking {found.words}")
    source.unpack(found, tree)
    changes.apply(tree)
    folder.mkdir(exist_ok=True)
    log = folder / "build.log"
    log.unlink(missing_ok=True)
    make = ["make", "-C", str(tree), "ARCH=um", f"O={output}"]
    notice("configuring")
    _make([*make, "allnoconfig"], log, notice)
    _configure(tree, output, make, log, notice)
    _make([*make, f"-j{jobs}", "linux"], log, notice)
    subprocess.run(["strip", "-g", str(output / PROGRAM)], check=False, timeout=60)
    shutil.move(output / PROGRAM, folder / PROGRAM)
    built = Kernel(folder / PROGRAM, source.version(tree), recipe(), found.words, time.time())
    record = {key: value for key, value in asdict(built).items() if key != "path"}
    (folder / f"{RECORD}.new").write_text(json.dumps(record, indent=1) + "\n")
    (folder / f"{RECORD}.new").replace(folder / RECORD)
    return built


def _configure(tree: Path, output: Path, make: Sequence[str], log: Path, notice: Notice) -> None:
    """Add our configuration; raises LabError unless every line of it stands in the end."""
    merge = [str(tree / "scripts/kconfig/merge_config.sh"), "-m", "-O", str(output), str(output / ".config")]
    _make([*merge, str(CONFIG)], log, notice, cwd=tree)
    _make([*make, "olddefconfig"], log, notice)
    stands = set((output / ".config").read_text().splitlines())
    refused = [line for line in CONFIG.read_text().splitlines() if line.startswith("CONFIG_") and line not in stands]
    if refused:
        raise LabError(
            f"this source does not take {', '.join(refused[:4])}", where=str(log), fix=f"take Debian's {source.PACKAGE}"
        )


def _make(argv: Sequence[str], log: Path, notice: Notice, cwd: Path | None = None) -> None:
    """Run a step of the build, and tell how far it is; raises LabError with its first errors."""
    deadline, told = time.monotonic() + BUILD_TIMEOUT_S, time.monotonic()
    env = {**os.environ, "LC_ALL": "C", "KBUILD_BUILD_USER": "fabriscope", "KBUILD_BUILD_HOST": "lab"}
    with (
        log.open("a") as file,
        # ends: it has ended, or was killed
        subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=env, cwd=cwd) as process,
    ):
        try:
            while process.poll() is None:
                if time.monotonic() > deadline:
                    raise LabError(f"it did not end within {BUILD_TIMEOUT_S:.0f} s", where=str(log))
                if time.monotonic() > told + _NOTICE_PERIOD_S:
                    told = time.monotonic()
                    lines = log.read_text(errors="replace").count("\n")
                    notice(f"compiling: about {min(99, 100 * lines // _STEPS)} %")
                time.sleep(0.05)
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        errors = [line.strip() for line in log.read_text(errors="replace").splitlines() if "rror" in line]
        first = " | ".join(errors[:_ERROR_LINES]) or f"exit status {process.returncode}"
        raise LabError(f"the kernel cannot be built: {first}", fix=f"everything that make said is in {log}")


def _key(found: Source) -> str:
    compiler = subprocess.run(["gcc", "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
    digest = hashlib.sha256()
    for text in (found.identity, recipe(), compiler, platform.machine()):
        digest.update(f"{text}\0".encode())
    return f"linux-{digest.hexdigest()[:16]}"
