"""Which hosts a batch scheduler gave to the job that we run in, told by the job's environment.

Slurm    SLURM_JOB_NODELIST      node[1-3]
PBS Pro  PBS_NODEFILE            a file: one line for each process slot
LSF      LSB_DJOB_HOSTFILE       likewise; else LSB_HOSTS, one word for each slot
Flux     FLUX_URI                `flux getattr hostlist` prints node[1-3]
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model import plain_files
from fabriscope.model.errors import HostError
from fabriscope.model.host_lists import check_name, unfolded

_ASK_TIMEOUT_S = 20.0
MOST_BYTES = 16 << 20
"""Of a file of hosts."""


@dataclass(frozen=True)
class Allocation:
    """The hosts of one job, each once, in the scheduler's order."""

    scheduler: str
    """`slurm`, `pbs`, `lsf` or `flux`."""
    job_id: str
    hosts: tuple[str, ...]


def _read(path: str) -> str:
    return plain_files.read(Path(path), MOST_BYTES).decode("utf-8")


def _ask(argv: Sequence[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, timeout=_ASK_TIMEOUT_S, check=True).stdout


def find(
    environment: Mapping[str, str] = os.environ,
    *,
    read: Callable[[str], str] = _read,
    ask: Callable[[Sequence[str]], str] = _ask,
) -> Allocation | None:
    """Return the allocation that we are in, None outside of any job.

    `read` returns a file's text and `ask` what a command prints. Raises HostError if the list of hosts cannot be read.
    """
    said = environment.get
    try:
        if text := said("SLURM_JOB_NODELIST"):
            return _allocation("slurm", said("SLURM_JOB_ID"), unfolded(text, groups=False))
        if path := said("PBS_NODEFILE"):
            return _allocation("pbs", said("PBS_JOBID"), read(path).split())
        if path := said("LSB_DJOB_HOSTFILE"):
            return _allocation("lsf", said("LSB_JOBID"), read(path).split())
        if text := said("LSB_HOSTS"):
            return _allocation("lsf", said("LSB_JOBID"), text.split())
        if said("FLUX_URI"):
            listed = unfolded(ask(["flux", "getattr", "hostlist"]), groups=False)
            return _allocation("flux", said("FLUX_JOB_ID"), listed)
    except (OSError, ValueError, HostError, subprocess.SubprocessError) as error:
        why = error.what if isinstance(error, HostError) else error
        raise HostError(
            f"the hosts of this batch job cannot be told: {why}", fix="name them in the plan: `hosts: node[1-4]`"
        ) from error
    return None


def _allocation(scheduler: str, job_id: str | None, hosts: Iterable[str]) -> Allocation:
    names = tuple(dict.fromkeys(hosts))
    if not names:
        raise ValueError(f"{scheduler} names none")
    for name in names:
        check_name(name)
    return Allocation(scheduler, job_id or "", names)
