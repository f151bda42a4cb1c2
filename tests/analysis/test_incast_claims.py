"""Claims about many to one: aggregate and fairness over the number of streams, and the state of a fabric."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from fabriscope.analysis.papers.claims import judge
from fabriscope.analysis.papers.selections import Pool, State, attributes
from fabriscope.analysis.papers.statements import FAILS, HOLDS, OPEN
from fabriscope.analysis.values.launch_values import VALUE_SCHEMA
from fabriscope.model.case import Case, Entry
from fabriscope.model.fabric import Fabric
from fabriscope.model.paper import Claim
from fabriscope.plan.paper import parse_expectation
from fabriscope.store import shapes

LINE_RATE = 8_000_000
"""Bits per second: 1 MB/s."""
AGGREGATES = {
    "pausing": {1: 0.95e6, 3: 0.94e6, 10: 0.96e6},
    "dropping": {1: 0.95e6, 3: 0.3e6, 10: 0.1e6},
}
STATES = {
    "pausing": State("paused", "holds, paused: 0 frames dropped"),
    "dropping": State("collapses", "collapses from 3 senders on: 9 frames dropped"),
}


def case(fabric: str, streams: int, size: int) -> Case:
    return Case(Entry("verbs", fabric, "inter", ("to", *("from",) * streams)), "many_to_one", size)


def pool_of(states: dict[str, State]) -> Pool:
    cases, told, rows = {}, {}, []
    for fabric, points in AGGREGATES.items():
        for streams, value in points.items():
            case_id = f"{fabric}-{streams}"
            cases[case_id] = case(fabric, streams, 1000)
            if fabric in states:
                told[case_id] = states[fabric]
            for block, noise in enumerate((1.0, 1.01, 0.99, 1.005), 1):
                rows.append((case_id, "aggregate_bytes_per_s", block, value * noise))
                rows.append((case_id, "fairness_ratio", block, 0.97 * noise))
    schema = {name: VALUE_SCHEMA[name] for name in ("case_id", "metric_id", "block", "value")}
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.lit(False).alias("impossible"))
    fabrics = {name: Fabric(name, {}, "roce", LINE_RATE) for name in AGGREGATES}
    return Pool(frame, cases, fabrics, states=told)


def verdict(of: str, expect: Any, than: str = "", states: dict[str, State] = STATES, **more: Any) -> tuple[str, str]:
    def side(name: str) -> dict[str, Any]:
        return {"label": name, "select": {"benchmark": "many_to_one", "fabric": name}}

    about = {
        "say": "so", "of": [side(of)], "than": [side(than)] if than else [], "expect": parse_expectation(expect),
        "metric_id": "aggregate_bytes_per_s", "along": "stream_count", "at": [1.0, 10.0], **more,
    }  # fmt: skip
    found = judge(shapes.decode(about, Claim), pool_of(states))
    return found.verdict, found.evidence


@pytest.mark.parametrize(
    ("of", "expect", "than", "answer"),
    [
        ("pausing", {"share": "0.9.."}, "", HOLDS),
        ("dropping", {"share": "0.9.."}, "", FAILS),
        ("pausing", "steady", "", HOLDS),
        ("dropping", "falls", "", HOLDS),
        ("pausing", "falls", "", FAILS),
        ("dropping", {"state": "collapses"}, "", HOLDS),
        ("dropping", {"state": "holds"}, "", FAILS),
        ("pausing", {"state": "holds"}, "", HOLDS),
        ("pausing", {"state": "paused"}, "", HOLDS),
        ("pausing", {"state": "dropped"}, "", FAILS),
    ],
)
def test_what_a_paper_says_of_an_incast_is_judged(of: str, expect: Any, than: str, answer: str) -> None:
    found, evidence = verdict(of, expect, than)
    assert found == answer, evidence
    assert isinstance(expect, str) or "state" not in expect or evidence == STATES[of].sentence


def test_what_may_have_collapsed_is_no_proof_that_it_did_not() -> None:
    states = {"dropping": State("unfair", "unfair; it falls, and the launches do not tell whether it did", True)}
    answers = {"collapses": OPEN, "holds": FAILS, "unfair": HOLDS}
    for expected, answer in answers.items():
        assert verdict("dropping", {"state": expected}, states=states)[0] == answer
    states = {"dropping": State("unfair", "unfair")}
    assert verdict("dropping", {"state": "collapses"}, states=states)[0] == FAILS


def test_one_number_of_streams_and_fairness() -> None:
    assert verdict("dropping", "lower", "pausing", at=[10.0, 10.0])[0] == HOLDS
    found, evidence = verdict("pausing", {"value": "0.9..1"}, metric_id="fairness_ratio")
    assert found == HOLDS
    assert "0.97" in evidence


def test_a_state_that_is_undecided_or_not_told_decides_nothing() -> None:
    undecided = {"pausing": State("undecided", "undecided: the machine is the limit")}
    assert verdict("pausing", {"state": "holds"}, states=undecided) == (OPEN, "undecided: the machine is the limit")
    found, evidence = verdict("dropping", {"state": "holds"}, states=undecided)
    assert found == OPEN
    assert "no state of many to one is told of it" in evidence


def test_streams_are_counted_of_many_to_one_alone() -> None:
    assert attributes(case("pausing", 10, 8)).named["stream_count"] == 10
    other = Case(Entry("tcp", "pausing", "inter", ("a", "b")), "ping_pong", 8)
    assert "stream_count" not in attributes(other).named


@pytest.mark.parametrize("word", ["holds", "paused", "dropped", "collapses", "unfair"])
def test_a_state_is_read_back_as_a_run_folder_has_it(word: str) -> None:
    stored = parse_expectation({"state": word})
    assert parse_expectation(stored) == stored == {"kind": "state", "state": word}


@pytest.mark.parametrize("expect", [{"state": "well"}, {"state": 3}, {"kind": "state", "state": "well"}])
def test_a_state_that_there_is_not_is_refused(expect: Any) -> None:
    with pytest.raises(ValueError, match="choose holds, paused, dropped, collapses, unfair"):
        parse_expectation(expect)
