"""Each kind of claim, judged on made-up launch values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from fabriscope.analysis.papers.claims import KINDS, SAME, judge
from fabriscope.analysis.papers.selections import Pool, attributes
from fabriscope.analysis.papers.statements import FAILS, HOLDS, OPEN
from fabriscope.analysis.values.launch_values import VALUE_SCHEMA
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.fabric import Fabric
from fabriscope.model.paper import Claim, Meant
from fabriscope.plan.paper import parse_expectation
from fabriscope.store import shapes

NOISE = (1.0, 1.01, 0.99, 1.005, 0.995)
Curves = Mapping[str, Mapping[int, float]]


def pool_of(curves: Curves, along: str = "message_size_bytes", blocks: Sequence[float] = NOISE) -> Pool:
    """Return a pool of fabrics' curves: axis value to value, with the same noise in every block."""
    cases, rows = {}, []
    for fabric, points in curves.items():
        for place, value in points.items():
            case_id = f"{fabric}-{place}"
            case = Case(Entry("tcp", fabric, "inter", ("a", "b")), "ping_pong", 64)
            if along == "message_size_bytes":
                cases[case_id] = replace(case, message_size_bytes=place)
            else:
                cases[case_id] = replace(case, socket=SocketOptions(send_buffer_bytes=place))
            for block, factor in enumerate(blocks, start=1):
                # Other noise on each curve and point, so that ratios vary as well.
                wobble = 1 + (factor - 1) * (1 + (len(fabric) + place) % 3) / 3
                rows.append({"case_id": case_id, "metric_id": "latency_ns", "block": block, "value": value * wobble})
    frame = pl.DataFrame(rows, schema={name: VALUE_SCHEMA[name] for name in ("case_id", "metric_id", "block", "value")})
    frame = frame.with_columns(pl.lit(False).alias("impossible"))
    fabrics = {name: Fabric(name, {}, "tcp", 10**9) for name in curves}
    return Pool(frame, cases, fabrics)


def claim(expect: Any, of: str = "a", than: str | None = None, **more: Any) -> Claim:
    sides = {"of": [{"label": of, "select": {"fabric": of}}], "than": []}
    if than:
        sides["than"] = [{"label": than, "select": {"fabric": than}}]
    about = {"say": "so", "metric_id": "latency_ns", **sides, "expect": parse_expectation(expect), **more}
    return shapes.decode(about, Claim)


def verdict(pool: Pool, *words: Any, **more: Any) -> str:
    return judge(claim(*words, **more), pool).verdict


FLAT = {1: 1000.0, 64: 1000.0, 1024: 1000.0}
TWICE = {size: 2 * value for size, value in FLAT.items()}
RISING = {16: 1000.0, 32: 1500.0, 64: 2500.0}
PAIR = pool_of({"a": FLAT, "b": TWICE})


@pytest.mark.parametrize(
    ("expect", "of", "than", "answer"),
    [
        ("lower", "a", "b", HOLDS),
        ("lower", "b", "a", FAILS),
        ("higher", "b", "a", HOLDS),
        ("equal", "a", "b", FAILS),
        ({"ratio": "0.4..0.6"}, "a", "b", HOLDS),
        ({"ratio": "2..3"}, "a", "b", FAILS),
        ({"ratio": "..1"}, "a", "b", HOLDS),
        ({"lower_by": "500ns"}, "a", "b", HOLDS),
        ({"lower_by": "10us"}, "a", "b", FAILS),
        ({"lower_by": "40 %"}, "a", "b", HOLDS),
        ({"higher_by": "90 %"}, "b", "a", HOLDS),
        ({"higher_by": "800ns"}, "b", "a", HOLDS),
        ({"value": "900ns..1100ns"}, "a", None, HOLDS),
        ({"value": "..900ns"}, "a", None, FAILS),
        ({"share": "0.9.."}, "a", None, FAILS),
        ("steady", "a", None, HOLDS),
        ("grows", "a", None, FAILS),
        ({"dip": "64"}, "a", None, FAILS),
        ({"dip": "anywhere"}, "a", None, FAILS),
    ],
)
def test_each_kind_on_flat_curves(expect: Any, of: str, than: str | None, answer: str) -> None:
    found = judge(claim(expect, of, than), PAIR)
    assert found.verdict == answer, found.evidence
    assert found.evidence


def test_beside_a_ratio_stand_the_medians_of_its_two_sides() -> None:
    pool = pool_of({"a": {64: 1000.0}, "b": {64: 2000.0}}, blocks=(1.0, 1.0, 1.0, 1.0, 10.0))
    evidence = judge(claim("lower", "a", "b"), pool).evidence
    assert " against 2.00 µs, ratio 0.50" in evidence, "the median, as the other tables have it"


def test_there_is_a_test_for_every_kind() -> None:
    words = ["lower", "equal", {"ratio": "1..2"}, {"lower_by": "1us"}, {"value": "1.."}, {"share": "1.."}, "grows",
             "steady", {"dip": 64}, {"best": 64}, "widens", {"state": "holds"}]  # fmt: skip
    assert {parse_expectation(word)["kind"] for word in words} == set(KINDS)


def test_equal_within_the_margin() -> None:
    pool = pool_of({"a": FLAT, "b": {size: value * 1.05 for size, value in FLAT.items()}})
    assert verdict(pool, "equal", "a", "b") == FAILS
    assert verdict(pool, "equal", "a", "b", margin=0.1) == HOLDS
    assert verdict(pool, "lower", "a", "b", margin=0.1) == FAILS


def test_a_difference_is_that_of_the_numbers_beside_it() -> None:
    found = judge(
        claim({"lower_by": "500ns"}, "a", "b"), pool_of({"a": {64: 1000.0}, "b": {64: 2000.0}}, blocks=(1.0, 3.0))
    )
    assert found.evidence.startswith("2.00 µs against 4.00 µs, difference −2.00 µs")


def test_shapes() -> None:
    pool = pool_of({"a": RISING, "b": {16: 900.0, 32: 500.0, 64: 1000.0, 128: 1100.0}})
    assert verdict(pool, "grows") == HOLDS
    assert verdict(pool, "falls") == FAILS
    assert verdict(pool, "steady") == FAILS
    assert verdict(pool, {"dip": "32"}, "b") == HOLDS
    assert verdict(pool, {"dip": "64"}, "b") == FAILS
    assert verdict(pool, {"dip": "anywhere"}, "b") == HOLDS
    assert verdict(pool, {"dip": "anywhere"}, "a") == FAILS
    assert verdict(pool, {"best": "32"}, "b") == HOLDS, "the least latency"
    assert verdict(pool, {"best": "64"}, "b") == FAILS


def test_a_gap_widens() -> None:
    pool = pool_of({"a": {1: 100.0, 64: 100.0}, "b": {1: 120.0, 64: 300.0}, "c": {1: 400.0, 64: 130.0}})
    assert verdict(pool, "widens", "a", "b") == HOLDS
    assert verdict(pool, "widens", "a", "c") == FAILS
    assert verdict(pool, "widens", "b", "a") == HOLDS, "a gap has no direction"


def test_part_of_the_sizes() -> None:
    pool = pool_of({"a": {1: 1.0, 8: 1.0, 64: 9.0}, "b": {1: 2.0, 8: 2.0, 64: 3.0}})
    assert verdict(pool, "lower", "a", "b") == FAILS
    assert verdict(pool, "lower", "a", "b", sizes=[1, 8]) == HOLDS
    assert verdict(pool, "lower", "a", "b", sizes=[64, None]) == FAILS


def test_missing_sizes() -> None:
    found = judge(claim("lower", "a", "b", sizes=[1, 2048]), PAIR)
    assert found.verdict == OPEN
    assert "not measured at 2 KiB" in found.evidence
    assert judge(claim("equal", "a", "b", sizes=[1, 2048]), PAIR).verdict == FAILS
    nowhere = judge(claim("lower", "a", "b", sizes=[4096, 8192]), PAIR)
    assert nowhere.verdict == OPEN
    assert "not measured here" in nowhere.evidence
    apart = judge(claim("lower", "a", "b"), pool_of({"a": {1: 1.0}, "b": {64: 1.0}}))
    assert apart.verdict == OPEN
    assert apart.evidence


def test_what_was_planned_and_failed_keeps_a_claim_open() -> None:
    pool = pool_of({"a": FLAT, "b": TWICE})
    del pool._values["a-64", "latency_ns"]
    found = judge(claim("lower", "a", "b"), pool)
    assert found.verdict == OPEN
    assert "no result at 64 B" in found.evidence


@pytest.mark.parametrize(
    "expect", ["lower", "equal", "widens", {"ratio": "0.4..0.6"}, {"lower_by": "1us"}], ids=lambda one: str(one)
)
def test_one_block_decides_nothing(expect: Any) -> None:
    assert verdict(pool_of({"a": FLAT, "b": TWICE}, blocks=(1.0,)), expect, "a", "b") == OPEN


@pytest.mark.parametrize(
    "expect", ["grows", "steady", {"value": "1.."}, {"dip": "64"}, {"best": "64"}, {"share": "1.."}]
)
def test_one_block_decides_nothing_of_one_curve(expect: Any) -> None:
    assert verdict(pool_of({"a": FLAT}, blocks=(1.0,)), expect) == OPEN


def test_blocks_that_are_all_equal_decide() -> None:
    pool = pool_of({"a": FLAT, "b": TWICE}, blocks=(1.0, 1.0, 1.0))
    assert verdict(pool, "lower", "a", "b") == HOLDS
    assert verdict(pool, {"ratio": "0.4..0.6"}, "a", "b") == HOLDS
    assert verdict(pool, "steady") == HOLDS


def test_one_point_has_no_shape() -> None:
    pool = pool_of({"a": {64: 1.0}, "b": {64: 2.0}})
    for expect in ("grows", "steady", {"dip": "anywhere"}):
        found = judge(claim(expect), pool)
        assert (found.verdict, found.evidence) == (OPEN, "too few points were measured here")
    assert verdict(pool, "widens", "a", "b") == OPEN


def test_nothing_stands_for_a_name() -> None:
    one = replace(claim("lower", "a", "b"), of=(Meant("soft-roce", None, "soft-roce"),))
    found = judge(one, PAIR)
    assert (found.verdict, found.evidence) == (OPEN, "nothing here stands for soft-roce")


def test_a_thing_is_not_compared_with_itself() -> None:
    found = judge(claim("equal", "a", "a"), PAIR)
    assert (found.verdict, found.evidence) == (OPEN, SAME)


def test_a_vague_selection_is_refused() -> None:
    one = replace(claim({"value": "1.."}), of=(Meant("all", {"layer": "tcp"}),))
    found = judge(one, PAIR)
    assert found.verdict == OPEN
    assert "several measurements fit: fabric a, b" in found.evidence


def test_an_unknown_line_rate() -> None:
    pool = pool_of({"a": FLAT})
    pool._line_rates = {}
    assert judge(claim({"share": "0.5.."}), pool).evidence == "the line rate is not known"


def test_a_claim_about_several_pairs_needs_all() -> None:
    pool = pool_of({"a": {1: 1.0}, "b": {1: 2.0}, "c": {1: 0.5}})
    one = claim("lower", "a", "b")
    assert judge(one, pool).verdict == HOLDS
    both = replace(one, than=(*one.than, Meant("c", {"fabric": "c"})))
    found = judge(both, pool)
    assert found.verdict == FAILS
    assert found.evidence.startswith("a against c: ")


def test_largest_and_mean_over_sizes() -> None:
    pool = pool_of({"a": {1: 100.0, 64: 400.0}, "b": {1: 100.0, 64: 100.0}})
    assert verdict(pool, {"ratio": "3.8..4.2"}, "a", "b", take="largest") == HOLDS
    assert verdict(pool, {"ratio": "1.9..2.1"}, "a", "b", take="mean") == HOLDS
    assert verdict(pool, "equal", "a", "b", take="least", margin=0.05) == HOLDS


def test_along_a_setting() -> None:
    pool = pool_of({"a": {16384: 900.0, 65536: 500.0, 131072: 505.0}}, along="send_buffer_bytes")
    along = {"along": "send_buffer_bytes"}
    assert verdict(pool, {"best": "64KiB"}, **along) == HOLDS
    assert verdict(pool, "falls", **along, at=[16384, 65536]) == HOLDS
    assert "send buffer" in judge(claim("falls", **along, at=[16384, 262144]), pool).evidence
    assert judge(claim({"value": "1.."}), pool).evidence == "a: not measured here", "a default buffer was not measured"


def test_attributes_of_a_case() -> None:
    case = Case(Entry("mpi", "g", "inter", ("a", "a", "b", "b"), "m"), "bcast", 8, parameters=(("root", "0"),))
    flat = attributes(case).named
    assert (flat["rank_count"], flat["host_count"], flat["pair_count"]) == (4, 2, 2)
    assert (flat["root"], flat["mpi"], flat["instrument"], flat["benchmark"]) == ("0", "m", "engine", "bcast")
