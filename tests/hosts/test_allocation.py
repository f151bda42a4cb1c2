"""The hosts of a batch job, from the environments that schedulers make."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fabriscope.hosts import allocation
from fabriscope.hosts.allocation import Allocation
from fabriscope.model.errors import HostError

FILES = {
    "/var/spool/pbs/aux/12.server": "c1\nc1\nc0.site\nc0.site\n",
    "/home/u/.lsbatch/7.hostfile": "batch5\nh36\nh36\n",
    "/empty": "\n",
}
ENVIRONMENTS: list[tuple[Mapping[str, str], Allocation | None]] = [
    ({"SLURM_JOB_NODELIST": "n[1-3]", "SLURM_JOB_ID": "17"}, Allocation("slurm", "17", ("n1", "n2", "n3"))),
    ({"SLURM_JOB_NODELIST": "r[1-2]n[08-09],x"}, Allocation("slurm", "", ("r1n08", "r1n09", "r2n08", "r2n09", "x"))),
    (
        {"PBS_NODEFILE": "/var/spool/pbs/aux/12.server", "PBS_JOBID": "12.server"},
        Allocation("pbs", "12.server", ("c1", "c0.site")),
    ),
    ({"LSB_DJOB_HOSTFILE": "/home/u/.lsbatch/7.hostfile", "LSB_HOSTS": "no"}, Allocation("lsf", "", ("batch5", "h36"))),
    ({"LSB_HOSTS": "h36 h36 h41", "LSB_JOBID": "7"}, Allocation("lsf", "7", ("h36", "h41"))),
    ({"FLUX_URI": "local:///run/flux/local"}, Allocation("flux", "", ("f1", "f2"))),
    ({"HOME": "/root", "SLURM_CONF": "/etc/slurm.conf"}, None),
]


def ask(argv: object) -> str:
    assert argv == ["flux", "getattr", "hostlist"]
    return "f[1-2]\n"


@pytest.mark.parametrize(("environment", "expected"), ENVIRONMENTS)
def test_every_scheduler_tells_its_hosts(environment: Mapping[str, str], expected: Allocation | None) -> None:
    assert allocation.find(environment, read=FILES.__getitem__, ask=ask) == expected


@pytest.mark.parametrize(
    "environment",
    [{"SLURM_JOB_NODELIST": "n[1-"}, {"PBS_NODEFILE": "/no/such/file"}, {"LSB_DJOB_HOSTFILE": "/empty"}],
)
def test_a_list_that_cannot_be_read_is_one_sentence(environment: Mapping[str, str]) -> None:
    def read(path: str) -> str:
        if path not in FILES:
            raise FileNotFoundError(2, "No such file or directory", path)
        return FILES[path]

    with pytest.raises(HostError, match="hosts of this batch job cannot be told"):
        allocation.find(environment, read=read, ask=ask)
