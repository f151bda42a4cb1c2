"""What a plan tells OSU's programs beside its benchmarks: iterations, validation, percentiles."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.adapters import test_osu as osu

from fabriscope.adapters.osu import ADAPTER
from fabriscope.model.command import Command, Outcome
from fabriscope.model.measurement import CaseResult, Launch
from fabriscope.model.osu import OsuOptions

NON_BLOCKING = """
# OSU MPI Non-blocking Allreduce Latency Test v7.4
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Datatype: MPI_FLOAT.
# Size           Overall(us)       Compute(us)    Coll. Init(us)      MPI_Test(us)      MPI_Wait(us)    Pure Comm.(us)\
     Min Comm.(us)     Max Comm.(us)        Overlap(%)  P50 Tail Lat(us)  P90 Tail Lat(us)
8                       9.50              4.00              1.00              0.50              4.00              6.00\
              5.00              7.00              8.33              9.00             11.00
"""
TAILS = """
# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)  P50 Tail Lat(us)  P90 Tail Lat(us)  P99 Tail Lat(us)
8                       2.00              1.50              3.00              9.00
"""
VALIDATED = """
# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)        Validation
8                     100.00              Pass
16                    100.00              {word}
"""
TIMED = """
# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
8                       1.00
16                      2.00
"""
ACCUMULATES = """
# OSU MPI_Accumulate latency Test v7.4
# Window creation: MPI_Win_allocate
# Synchronization: MPI_Win_flush
# Datatype: MPI_FLOAT.
# Size          Latency (us)        Validation
8                       0.60            {word}
-------------------------------------------
Atomic Data Validation results for Rank=0:
-------------------------------------------
"""
CHARACTERS = """
# OSU MPI_Get_accumulate latency Test v7.4
# Window creation: MPI_Win_allocate
# Synchronization: MPI_Win_flush
# Size          Latency (us)
8                       0.50
"""


def argv(asked: Launch, options: OsuOptions) -> list[list[str]]:
    context = replace(osu.CONTEXT, osu=replace(osu.BUILD, options=options))
    return [list(one.argv) for one in ADAPTER.commands(asked, context)]


def results(asked: Launch, check: str, timed: str) -> list[CaseResult]:
    said = [
        Outcome(Command(("osu", *words), "a"), 0, text.encode(), b"", 0, 0)
        for words, text in ((("-c",), check), ((), timed))
    ]
    return list(ADAPTER.parse(asked, said).results)


def test_a_plan_says_how_many_iterations_are_made() -> None:
    (words,) = argv(osu.launch(osu.of("ping_pong", 8)), OsuOptions(2000))
    assert words[-4:] == ["-i", "2000", "-x", "200"]


def test_percentiles_are_asked_for_where_enough_iterations_are_beyond_them() -> None:
    asked = osu.launch(osu.of("ping_pong", 8), osu.of("bandwidth", 8, window=4))
    for count, word in ((1000, "-z50,90,99"), (999, "-z50,90"), (20, "-z50")):
        latency, bandwidth = argv(asked, OsuOptions(count, percentiles=(50, 90, 99)))
        assert latency[-1] == word
        assert not any(one.startswith("-z") for one in bandwidth)  # a high percentile of a rate is near its best
    assert not any(one.startswith("-z") for words in argv(asked, OsuOptions(10, percentiles=(50,))) for one in words)


def test_the_middle_percentile_is_our_median_and_others_have_ids_of_their_own() -> None:
    assert osu.values(osu.launch(osu.of("ping_pong", 8)), TAILS) == {
        ("latency_ns_separate_mean", 8): 2000, ("latency_ns_separate", 8): 1500,
        ("latency_ns_separate_p90", 8): 3000, ("latency_ns_separate_p99", 8): 9000,
    }  # fmt: skip


def test_each_program_is_started_once_more_to_look_at_the_data() -> None:
    asked = osu.launch(osu.of("ping_pong", 8), osu.of("barrier"), osu.of("put_latency", 8, far_check="0"))
    started = [(words[0], "-c" in words) for words in argv(asked, OsuOptions(is_validated=True))]
    assert started == [
        ("/osu/osu_latency", True), ("/osu/osu_latency", False),
        ("/osu/osu_barrier", False), ("/osu/osu_put_latency", False),  # they cannot look
    ]  # fmt: skip


def test_data_that_did_not_arrive_whole_are_a_failed_case() -> None:
    asked = osu.launch(osu.of("ping_pong", 8), osu.of("ping_pong", 16))
    good = results(asked, VALIDATED.format(word="Pass"), TIMED)
    assert [one.status for one in good] == ["ok", "ok"]
    fine, wrong = results(asked, VALIDATED.format(word="Fail"), TIMED)
    assert (fine.status, wrong.status) == ("ok", "failed")
    assert wrong.reason == "osu_latency -c says Fail of the data of 16 B"
    _, missing = results(asked, VALIDATED.format(word="Pass").replace("\n16 ", "\n#16 "), TIMED)
    assert (missing.status, "16 B were not validated" in (missing.reason or "")) == ("failed", True)


@pytest.mark.parametrize(("word", "status"), [("passed", "ok"), ("failed", "failed"), ("skipped", "failed")])
def test_one_sided_programs_have_words_of_their_own(word: str, status: str) -> None:
    asked = osu.launch(osu.of("accumulate_latency", 8, far_check="0"))
    timed = ACCUMULATES.replace("        Validation", "").replace("            {word}", "")
    (result,) = results(asked, ACCUMULATES.format(word=word), timed)
    assert result.status == status


def test_a_non_blocking_collective_is_timed_alone_and_beside_a_computation_by_one_start() -> None:
    asked = osu.launch(
        osu.of("iallreduce", 8, timing="barrier"), osu.of("iallreduce", 8, timing="barrier", compute="1")
    )
    assert osu.words(asked) == [["/osu/osu_iallreduce", "-f", "-m", "8:8", "-T", "MPI_FLOAT"]]
    assert osu.values(asked, NON_BLOCKING) == {
        ("collective_latency_ns_barrier_mean", 8): 6000,
        ("collective_latency_ns_barrier_least_rank_mean", 8): 5000,
        ("collective_latency_ns_barrier_most_rank_mean", 8): 7000,
        ("overlap_percent_barrier_of_means", 8): 8.33,
        ("overlapped_operation_ns_barrier_mean", 8): 9500,
        ("overlapped_operation_ns_barrier", 8): 9000,
        ("overlapped_operation_ns_barrier_p90", 8): 11000,
    }


def test_accumulates_add_what_ours_add() -> None:
    asked = osu.launch(osu.of("accumulate_latency", 8, far_check="0"))
    assert osu.words(asked) == [
        ["/osu/osu_acc_latency", "-w", "allocate", "-s", "flush", "-m", "8:8", "-T", "MPI_FLOAT"]
    ]
    ((status, reason),) = osu.reasons(osu.launch(osu.of("accumulate_latency", 8)))  # whether they have arrived
    assert (status, reason) == ("skipped", "osu_acc_latency has the far_check 0, not 1")


def test_a_get_accumulate_of_characters_has_an_id_of_its_own() -> None:
    asked = osu.launch(osu.of("get_accumulate_latency", 8))
    assert osu.words(asked) == [["/osu/osu_get_acc_latency", "-w", "allocate", "-s", "flush", "-m", "8:8"]]
    assert osu.values(asked, CHARACTERS) == {("get_accumulate_of_characters_ns_mean", 8): 500}
    ((status, reason),) = osu.reasons(osu.launch(osu.of("get_accumulate_latency", 8, datatype="float")))
    assert status == "skipped"
    assert "moves MPI_CHAR alone" in (reason or "")
