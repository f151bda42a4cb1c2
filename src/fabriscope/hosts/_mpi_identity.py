"""Which MPI library a `mpirun` belongs to, told from what it and its neighbours say of themselves."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fabriscope.model import search_paths

QUESTION_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Identity:
    """What an MPI library is."""

    kind: str
    """The name of its launcher: `openmpi4`, `openmpi5`, `mpich`, `intelmpi`, `mvapich`, `mvapich2`."""
    version: str
    device: str | None = None


@dataclass(frozen=True)
class Answer:
    """What a program said, or why it said nothing."""

    text: str = ""
    problem: str | None = None


def ask(argv: Sequence[str], env: Mapping[str, str] | None = None) -> Answer:
    """Return what a program prints, standard error included."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=QUESTION_TIMEOUT_S,
            env={**os.environ, "LC_ALL": "C", **(env or {})},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Answer(problem=f"{argv[0]} did not answer within {QUESTION_TIMEOUT_S:.0f} s")
    except OSError as error:
        return Answer(problem=f"{argv[0]} cannot be started: {error.strerror}")
    return Answer(done.stdout.decode("utf-8", "replace"))


def identify(mpirun_version: str, mpichversion: str = "") -> Identity | None:
    """Return the library that `mpirun --version` (and `mpichversion`) speaks of; None for one we cannot drive.

    `mpirun (Open MPI) 5.0.11` / `HYDRA build details:` with `Version: 5.0.2` / `Intel(R) MPI Library for Linux*
    OS, Version 2021.18.1 Build ...`. MVAPICH's Hydra says the same as MPICH's, with the version of the MPICH that it
    was made out of: `mpichversion` (`MVAPICH2 Version: 2.3.7`) or `mpiname -a` (`MVAPICH2 2.3.7 ... ch3:mrail`) tell.
    """
    intel = re.search(r"Intel\(R\) MPI Library.*?Version (\S+)", mpirun_version)
    if intel:
        return Identity("intelmpi", intel[1])
    open_mpi = re.search(r"\((?:Open MPI|OpenRTE)\) ([0-9]{1,3})(\.\S{1,40})?(?!\S)", mpirun_version)
    if open_mpi:
        version = open_mpi[1] + (open_mpi[2] or "")
        if int(open_mpi[1]) < 4:
            return None
        return Identity("openmpi4" if open_mpi[1] == "4" else "openmpi5", version)
    hydra = re.search(r"HYDRA build details:.*?Version:\s+(\S+)", mpirun_version, re.DOTALL)
    if hydra is None:
        return None
    mvapich = re.search(
        r"^\s*MVAPICH(2?)\S*(?: Version:)?\s+([0-9]{1,3}(?:\.\S{0,40})?)(?!\S)", mpichversion, re.MULTILINE
    )
    if mvapich:
        # 3.0 is the first without the 2 in its name, and the first on ch4.
        kind = "mvapich2" if mvapich[1] or int(mvapich[2].split(".")[0]) < 3 else "mvapich"
        return Identity(kind, mvapich[2], _mpich_device(mpirun_version, mpichversion))
    return Identity("mpich", hydra[1], _mpich_device(mpirun_version, mpichversion))


def _mpich_device(mpirun_version: str, mpichversion: str) -> str | None:
    """Return `ch4:ucx,ofi` and the like from `MPICH Device: ch4:ucx ofi`, else from mpiname or configure options."""
    said = re.search(r"(?:MPICH|MVAPICH)\S* Device:\s*(.+)", mpichversion)
    if said:
        return ",".join(said[1].split())
    option = re.search(
        r"--with-device=([^\s']+)|^MVAPICH.*\s(ch[34]:\S+)", f"{mpichversion}\n{mpirun_version}", re.MULTILINE
    )
    return option[1] or option[2] if option else None


@dataclass(frozen=True)
class Installation:
    """The programs of one MPI library, found side by side in one folder."""

    mpirun: Path
    mpicxx: Path | None = None
    mpichversion: tuple[str, ...] = ()
    """The words of the program that says what `mpirun --version` does not: mpichversion, or MVAPICH's mpiname."""
    env: Mapping[str, str] = field(default_factory=dict)


def installation(mpirun: Path) -> Installation:
    """Return the programs that belong to an mpirun; Debian's carry the library's name (`mpicxx.openmpi`).

    Debian's `mpiexec.hydra` is MPICH's and carries none, while the bare `mpicxx` beside it may be Open MPI's.
    """
    folder = mpirun.parent
    suffix = next((s for s in (".openmpi", ".mpich") if mpirun.name.endswith(s)), "")
    if mpirun.name == "mpiexec.hydra" and (folder / "mpicxx.mpich").exists():
        suffix = ".mpich"
    compiler, version, name = folder / f"mpicxx{suffix}", folder / f"mpichversion{suffix}", folder / "mpiname"
    told_by = (str(version),) if version.exists() else (str(name), "-a") if name.exists() else ()
    return Installation(
        mpirun,
        compiler if compiler.exists() else None,
        told_by,
        _intel_environment(folder) if (folder / "hydra_bstrap_proxy").exists() else {},
    )


def _intel_environment(folder: Path) -> dict[str, str]:
    """Return what Intel's `vars.sh` would set: without it the library finds neither itself nor libfabric."""
    root = folder.parent
    libraries = [root / "lib", root / "lib" / "release", root / "opt/mpi/libfabric/lib", root / "libfabric/lib"]
    present = [str(path) for path in libraries if path.is_dir()]
    env = {
        "I_MPI_ROOT": str(root),
        "LD_LIBRARY_PATH": search_paths.joined(*present, os.environ.get("LD_LIBRARY_PATH")),
        "PATH": search_paths.joined(str(folder), os.environ.get("PATH", os.defpath)),
    }
    providers = root / "opt/mpi/libfabric/lib/prov"
    if providers.is_dir():
        env["FI_PROVIDER_PATH"] = str(providers)
    return env
