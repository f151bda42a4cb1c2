"""Papers as data: the vocabulary, the names, and the mistakes in both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabriscope.model.errors import PlanError
from fabriscope.plan import Vocabulary, load, unmeasured
from fabriscope.plan.paper import parse_amount, parse_expectation

ROOT = Path(__file__).parents[2]
WORDS = Vocabulary(frozenset({"ping_pong"}), frozenset({"engine"}), frozenset({"tcp"}), frozenset({"gige"}))
PLAN = """
name: again
hosts: a,b
fabrics: {g: {lab: gige}, h: {lab: gige}}
benchmarks: {ping_pong: {sizes: [1]}}
paper:
  file: paper.yaml
  here:
    plain: {says: an emulated wire, select: {fabric: g}}
    best plain: {select: {fabric: h}}
"""
PAPER = """
title: A paper
names:
  plain: {means: the card as it came}
  rdma: {means: the card with RDMA}
  best: {means: with its best settings, select: {send_buffer_bytes: 64KiB}}
figures:
  - id: fig1
    caption: latency
    draw: {benchmark: ping_pong, sizes: 1..1KiB, curves: [plain, rdma]}
    claims:
      - {say: rdma is lower, of: rdma, than: plain, expect: lower}
      - say: its best is better
        of: best plain
        metric: ping_pong_bandwidth_bytes_per_s
        sizes: 64..
        expect: {value: 8Mb/s..}
tables:
  - id: table1
    caption: numbers
    keys: [card]
    columns: {latency: {title: latency, unit: us, benchmark: ping_pong, take: mean}}
    rows: [[plain, 14.5], [rdma, 9.5]]
"""


def _load(tmp_path: Path, paper: str = PAPER, plan: str = PLAN) -> Any:
    (tmp_path / "plan.yaml").write_text(plan)
    (tmp_path / "paper.yaml").write_text(paper)
    return load(tmp_path / "plan.yaml", WORDS)


def test_names_become_cases(tmp_path: Path) -> None:
    plan = _load(tmp_path)
    assert plan.companions == {"paper.yaml": PAPER}
    (figure,) = plan.paper["figures"]
    plain, rdma = figure["draw"]["curves"]
    assert plain == {"label": "plain", "select": {"benchmark": "ping_pong", "fabric": "g"}, "missing": None}
    assert (rdma["select"], rdma["missing"]) == (None, "rdma")
    lower, best = figure["claims"]
    assert (lower["metric_id"], lower["sizes"]) == ("latency_ns_separate", [1, 1024]), (
        "what a claim leaves out is its figure's"
    )
    assert best["of"][0]["select"] == {"benchmark": "ping_pong", "fabric": "h", "send_buffer_bytes": 65536}
    assert (best["sizes"], best["expect"]) == ([64, None], {"kind": "value", "low": 1e6, "high": None})
    (table,) = plan.paper["tables"]
    assert [row["cells"][0]["paper"] for row in table["rows"]] == [14.5, 9.5]
    said = {one["name"]: (one["here"], one["stands"]) for one in plan.paper["names"]}
    assert said["plain"] == ("an emulated wire", True)
    assert said["rdma"] == ("", False)


def test_a_claim_is_judged_by_the_buffers_of_the_plan(tmp_path: Path) -> None:
    for buffers, ends in (("", "_separate"), ("buffers: same, ", ""), ("buffers: [rotating, same], ", "_rotating")):
        plan = _load(tmp_path, plan=PLAN.replace("ping_pong: {", f"ping_pong: {{{buffers}"))
        (figure,) = plan.paper["figures"]
        said = [claim["metric_id"] for claim in figure["claims"]]
        assert said == [f"latency_ns{ends}", f"ping_pong_bandwidth_bytes_per_s{ends}"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10us", 10_000),
        ("40Gb/s", 5e9),
        ("64KiB", 65536),
        ("512 B", 512),
        ("9 %", 0.09),
        (3, 3),
        ("0.9", 0.9),
        ("2ms", 2e6),
    ],
)
def test_amounts(text: Any, value: float) -> None:
    assert parse_amount(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("lower", {"kind": "direction", "sign": -1}),
        ({"ratio": "9..11"}, {"kind": "ratio", "low": 9, "high": 11}),
        ({"ratio": "..0.8"}, {"kind": "ratio", "low": None, "high": 0.8}),
        ({"lower_by": "10us"}, {"kind": "difference", "low": None, "high": -10_000}),
        ({"lower_by": "20 %"}, {"kind": "ratio", "low": None, "high": 0.8}),
        ({"higher_by": "25 %"}, {"kind": "ratio", "low": 1.25, "high": None}),
        ({"value": "12us..14us"}, {"kind": "value", "low": 12_000, "high": 14_000}),
        ({"dip": 512}, {"kind": "dip", "at": 512}),
        ({"dip": "anywhere"}, {"kind": "dip", "at": None}),
        ({"best": "64KiB"}, {"kind": "best", "at": 65536}),
    ],
)
def test_expectations(text: Any, parsed: dict[str, Any]) -> None:
    assert parse_expectation(text) == parsed


@pytest.mark.parametrize("text", ["faster", {"lower": 3}, {"ratio": "1..2", "value": "1"}, {}, 7, {"ratio": "x..y"}])
def test_what_is_no_expectation(text: Any) -> None:
    with pytest.raises(ValueError, match=r"expectation|not a duration"):
        parse_expectation(text)


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("of: rdma, than", "of: rdna, than", 12, "the paper has no name 'rdna'; it has plain, rdma, best"),
        (", than: plain,", ",", 12, "the claim 'rdma is lower' needs the key `than`"),
        ("expect: lower", "expect: slower", 12, "'slower' is no expectation; write lower, higher"),
        ("metric: ping_pong_bandwidth_bytes_per_s", "metric: speed", 15, "names the unknown metric 'speed'"),
        ("expect: lower", "expect: equal, margin: -5%", 12, "is no margin such as 5% or 0.05"),
        ("expect: {value: 8Mb/s..}", "expect: {value: 9..8}", 17, "the range runs backwards: '9..8'"),
        ("expect: {value: 8Mb/s..}", "expect: {value: ..}", 17, "value needs a range such as 9..11"),
        ("sizes: 1..1KiB", "sizes: 1KiB..1", 10, "the range runs backwards"),
        ("take: mean", "take: median", 22, "'median' is not possible"),
        ("keys: [card]", "keis: [card]", 21, "there is no key 'keis' here"),
        ("    caption: latency\n", "", 8, "'caption' is missing"),
    ],
)
def test_mistakes_in_a_paper(tmp_path: Path, old: str, new: str, line: int | None, says: str) -> None:
    assert old in PAPER
    with pytest.raises(PlanError) as caught:
        _load(tmp_path, PAPER.replace(old, new))
    assert says in str(caught.value)
    if line:
        assert f"paper.yaml:{line}: " in str(caught.value)


def test_mistakes_in_a_plan_of_a_paper(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"plan.yaml:9: the paper has no name 'fast' -- known: "):
        _load(tmp_path, plan=PLAN.replace("plain: {says", "fast: {says"))
    with pytest.raises(PlanError, match=r"there is no absent\.yaml beside the plan"):
        _load(tmp_path, plan=PLAN.replace("file: paper.yaml", "file: absent.yaml"))
    with pytest.raises(PlanError, match="file"):
        _load(tmp_path, plan=PLAN.replace("file: paper.yaml", "file: ../paper.yaml"))
    with pytest.raises(PlanError, match=r"plan.yaml:7: a paper cannot be called plan.yaml"):
        _load(tmp_path, plan=PLAN.replace("file: paper.yaml", "file: plan.yaml"))
    with pytest.raises(PlanError, match=r"plan.yaml:9: cases have no 'fabirc' .* did you mean 'fabric'"):
        _load(tmp_path, plan=PLAN.replace("fabric: g}", "fabirc: g}"))


def test_what_stands_for_nothing_is_told(tmp_path: Path) -> None:
    """A smaller plan may leave out what its `here` names: no mistake, and yet something to know."""
    assert not list(unmeasured(_load(tmp_path).section))
    plan = _load(tmp_path, plan=PLAN.replace("fabric: g}", "fabric: [x, y]}"))
    assert list(unmeasured(plan.section)) == [
        "nothing stands for the paper's 'plain': the plan measures no fabric ['x', 'y']"
    ]


def test_a_name_may_have_another_choice(tmp_path: Path) -> None:
    other = PLAN.replace("select: {fabric: g}}", "select: {fabric: x}, otherwise: {says: b, select: {fabric: g}}}")
    plan = _load(tmp_path, plan=other)
    assert not list(unmeasured(plan.section)), "the other choice is measured"
    lower, best = plan.paper["figures"][0]["claims"]
    assert lower["than"][0]["select"]["fabric"] == "x"
    assert lower["than"][0]["parts"] == [
        {"select": {"benchmark": "ping_pong"}}, {"select": {"fabric": "x"}, "name": "plain"},
    ]  # fmt: skip
    assert "parts" not in lower["of"][0]
    assert best["of"][0]["parts"][-1] == {"select": {"fabric": "h"}}, "what names together stand for comes last"
    (said,) = [one["choices"] for one in plan.paper["names"] if "choices" in one]
    assert [(one["says"], one["select"]) for one in said] == [
        ("an emulated wire", {"fabric": "x"}), ("b", {"fabric": "g"}),
    ]  # fmt: skip
    with pytest.raises(PlanError, match=r"plan.yaml:9: cases have no 'fabirc' .* did you mean 'fabric'"):
        _load(tmp_path, plan=other.replace("fabric: g}", "fabirc: g}"))
