"""Which hosts a command names to its launcher."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.hosts.launcher_words import hosts_of
from fabriscope.model.errors import HostError

FILES = {
    "hosts": "# ours\nnode1 slots=2\nnode2:4\n\nnode1\nnode[7-8]  # more\n",
    "empty": "",
}


@pytest.mark.parametrize(
    ("words", "hosts"),
    [
        ("mpirun -np 2 -H a,b ./app", "a b"),
        ("mpirun -n 4 --host a:2,b:2 --mca btl tcp,self ./app -H z", "a b"),
        ("/usr/bin/mpirun.openmpi --hostfile hosts sh -c true", "node1 node2 node7 node8"),
        ("mpiexec.hydra -bootstrap ssh -hosts a,b -n 2 -ppn 1 sh", "a b"),
        ("mpiexec -f hosts -n 2 sh -f other", "node1 node2 node7 node8"),
        ("mpiexec -machinefile=hosts -n 2 sh", "node1 node2 node7 node8"),
        ("mpirun --oversubscribe -H a sh -H b", "a"),
        ("mpirun --unheard-of 3 -H a sh", "a"),
        ("mpirun --launcher-exec /bin/sh --verbose -H node[1-3],head:2 sh", "node1 node2 node3 head"),
        ("mpiexec -n 1 -host a sh -c one : -n 1 -host b sh -c two", "a b"),
        ("env A=b taskset -c 0 mpirun -H a,b sh", "a b"),
        ("srun -N 2 -w node[1-2] ./app -w other", "node1 node2"),
        ("srun --nodelist=node[1-2] --mpi=pmix ./app", "node1 node2"),
        ("srun -wnode3 ./app", "node3"),
        ("mpirun -np 2 sh", ""),
        ("mpirun -f empty sh", ""),
        ("mpirun -H", ""),
        ("./app -H a,b", ""),
        ("mpirunner -H a,b", ""),
    ],
)
def test_the_launchers_own_words_are_read(words: str, hosts: str) -> None:
    assert " ".join(hosts_of(words.split(), FILES.__getitem__)) == hosts


def test_what_cannot_be_read_is_told_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(HostError, match=r"the host file cannot be read: .* -- give --hosts"):
        hosts_of(["mpirun", "-hostfile", str(tmp_path / "none"), "sh"])
    with pytest.raises(HostError, match="is no host list"):
        hosts_of(["mpirun", "-H", "a[1-", "sh"])
