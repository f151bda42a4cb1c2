"""Answers to mistakes in plans that were misleading, silent or without a remedy: what they say now."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.plan.test_fresh_eyes import END, MPI, PING_PONG, PLAN, REAL, Row, changed, checked

from fabriscope.model.errors import PlanError

REFUSED: list[Row] = [
    ("[8]", "[1,048,576]", 7, "leave it out, and commas within a number too (1048576)"),
    (PING_PONG, "sizes: [64KiB]", 7, "it stands inside a benchmark, as `ping_pong: {sizes: ...}`"),
    (END, "submit: {attributes: [--constraint=ib]}\n", 8, 'write {constraint: "ib"}'),
    (END, "layers: [mpi]\nmpi: openmpi/5.0\n", 9, "write [module:openmpi/5.0]"),
    (PING_PONG, "ping_pong\uff1a {sizes: [8]}", 7, "a full-width colon stands for `:` (U+FF1A) -- type it anew"),
    ("hosts: node[1-2]", "hosts:\u00a0node[1-2]", 2, "a no-break space stands for a blank (U+00A0) -- type it anew"),
]


@pytest.mark.parametrize(("old", "new", "line", "said"), REFUSED, ids=[row[1].strip() for row in REFUSED])
def test_a_mistake_has_its_line_and_its_remedy(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    told = checked(tmp_path, changed(PLAN, old, new))
    assert isinstance(told.exception, PlanError), told.output
    sentences = str(told.exception).splitlines()
    assert any(f"plan.yaml:{line}: " in one and said in one for one in sentences), sentences


def test_a_dscp_of_an_interface_is_a_traffic_class(tmp_path: Path) -> None:
    told = checked(tmp_path, PLAN.replace(*REAL).replace("interface: eth1", "interface: eth1, dscp: 26"))
    assert "plan.yaml:5: there is no key 'dscp' here -- write `traffic_class: 104`" in str(told.exception)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (
            PLAN.replace("lab: gige", "lab: {preset: gige, rx_coalesce_time: 80us}"),
            4,
            "near: rx_coalesce_time does nothing: the first frame is handed over at once",
        ),
        (
            f"{PLAN}  hdfs_write: {{sizes: [1MiB]}}\nlayers: [hdfs]\n".replace("[1-2]", "[1-4]"),
            7,
            "ping_pong: nothing of this plan measures it",
        ),
        (f"{PLAN}{MPI}instruments: [engine, imb]\n".replace("[m]", "[mpich]"), 10, "imb: IMB-MPI1"),
    ],
)
def test_what_does_nothing_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: int, said: str
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    told = checked(tmp_path, text)
    asked = [one for one in told.output.splitlines() if one.startswith("look again: ")]
    assert any(said in one and one.endswith(f"(line {line})") for one in asked), (told.output, told.exception)


@pytest.mark.parametrize("frames", ["rx_coalesce_frames: 15", "rx_coalesce_frames: 2"])
def test_frames_that_wait_for_company_are_not_asked_about(tmp_path: Path, frames: str) -> None:
    lab = f"lab: {{preset: gige, rx_coalesce_time: 80us, {frames}}}"
    assert "does nothing" not in checked(tmp_path, PLAN.replace("lab: gige", lab)).output


PAPER = """title: A paper
names: {plain: {means: the card}}
figures:
  - id: fig1
    caption: latency
    draw: {benchmark: ping_pong, curves: [plain]}
claims:
  - {say: it is so, of: plain, expect: steady}
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("caption:", "title:", 4, "the key 'caption' is missing -- add it; see docs/papers.md"),
        (
            "caption: latency",
            "caption: latency\n    units: us",
            6,
            "'units' here -- known: caption, claims, draw, id, ",
        ),
        ("say: it", "says: it", 8, "there is no key 'says' here -- did you mean 'say'?"),
        ("curves: [plain]", "curve: [plain]", 6, "there is no key 'curve' here -- did you mean 'curves'?"),
        ("expect: steady", "expect: {ratio: 0.9-1.1}", 8, "'0.9-1.1' is no range: write 0.9..1.1"),
        ("expect: steady", "expect: {ratio: 2x}", 8, "'2x' has no unit that is known: write 2 for a ratio"),
    ],
)
def test_a_paper_has_its_own_keys(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    (tmp_path / "x.paper.yaml").write_text(PAPER.replace(old, new))
    paper = "paper: {file: x.paper.yaml, here: {plain: {select: {fabric: near}}}}\n"
    told = str(checked(tmp_path, PLAN + paper).exception)
    assert any(f"x.paper.yaml:{line}: " in one and said in one for one in told.splitlines()), told
