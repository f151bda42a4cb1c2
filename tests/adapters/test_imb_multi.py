"""IMB's PingPong of all pairs at once (`-multi`): how it is asked for, and that no other pairs are taken for ours."""

from __future__ import annotations

import pytest
from tests.needs import ROOT

from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.imb import ADAPTER
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import Launch

MULTI = (ROOT / "tests/readers/data/imb/multi_0.txt").read_text()
CONTEXT = AdapterContext({}, programs={"IMB-MPI1": "/imb/IMB-MPI1"})


def launch(ranks: str, *sizes: int) -> Launch:
    entry = Entry("mpi", "gige", "inter", tuple(ranks), mpi="m", instrument="imb")
    cases = tuple(Case(entry, "multi_pair_latency", size, parameters=(("pairing", "half"),)) for size in sizes)
    return Launch(1, 1, entry, cases, seed=1, budget_ns=10**9)


def test_pairs_are_groups_of_rank_i_and_i_plus_half() -> None:
    (command,) = ADAPTER.commands(launch("aabb", 64, 65536), CONTEXT)
    assert command.argv[:4] == ("/imb/IMB-MPI1", "PingPong", "-msgsize", "64,65536")
    assert command.argv[-4:] == ("-multi", "0", "-map", "2x2")


def test_the_mean_over_all_ranks_is_taken() -> None:
    asked = launch("aabb", 64, 65536)
    parsed = ADAPTER.parse(asked, [Outcome(Command(("imb",), "a"), 0, MULTI.encode(), b"", 0, 0)])
    assert {(block.quantity, block.values) for block in parsed.blocks} == {
        ("multi_pair_latency_ns_separate_mean", (4425830.0,)),
        ("multi_pair_latency_ns_separate_mean", (12136850.0,)),
    }


def test_other_pairs_are_refused_and_too_few_ranks_are_skipped() -> None:
    other = MULTI.replace("0    2", "0    1").replace("1    3", "2    3")
    with pytest.raises(ParseError, match="Multi-PingPong had the groups 0 1; 2 3"):
        ADAPTER.parse(launch("aabb", 64), [Outcome(Command(("imb",), "a"), 0, other.encode(), b"", 0, 0)])
    (result,) = ADAPTER.parse(launch("ab", 64), []).results
    assert (result.status, result.reason) == (
        "skipped", "PingPong of several pairs (-multi) takes 4 ranks or more, an even number",
    )  # fmt: skip
