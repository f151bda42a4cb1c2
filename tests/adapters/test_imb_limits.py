"""IMB's jobs: one that takes too long is ended, and the others are made all the same."""

from __future__ import annotations

from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.imb import ADAPTER, JOB_PATIENCE
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.measurement import Launch

PROGRAMS = {"IMB-MPI1": "/imb/IMB-MPI1"}


def test_a_slow_job_keeps_no_other_one_from_its_start() -> None:
    entry = Entry("mpi", None, "intra", ("a", "a"), mpi="m", instrument="imb")
    sizes = {"ping_pong": (1, 64), "reduce": (8,)}
    cases = tuple(Case(entry, name, size, 1, "", SocketOptions()) for name, some in sizes.items() for size in some)
    launch = Launch(1, 1, entry, cases, seed=1, budget_ns=6 * 10**9)
    commands = ADAPTER.commands(launch, AdapterContext({}, programs=PROGRAMS, case_timeout_ns=10**10))
    assert all(one.is_alone and one.last_line and one.ready_pattern is None for one in commands)
    assert [one.limit_s for one in commands] == [JOB_PATIENCE * 4 + 10, JOB_PATIENCE * 2 + 10]
