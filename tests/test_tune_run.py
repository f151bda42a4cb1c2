"""Tunings of a lab: checked, shown, interrupted and gone on with, and everything as before afterwards."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.needs import ROOT
from tests.small_plans import Interrupting, written

from fabriscope import store
from fabriscope.analysis.tuning.tuned import BETTER, ENDED, KEPT, NOTHING_TO_TRY, UNDECIDED, UNDER_WAY, tuning_of
from fabriscope.cli.plan import COMMAND as PLAN
from fabriscope.cli.report import COMMAND as REPORT
from fabriscope.cli.show import COMMAND as SHOW
from fabriscope.hosts.access import journal
from fabriscope.model.errors import PlanError
from fabriscope.plan import load
from fabriscope.progress import QuietProgress
from fabriscope.running import run
from fabriscope.running.vocabulary import vocabulary

TEXT = """
name: tuned
hosts: node[1-2]
fabrics:
  slow: {lab: {preset: local, rate: 5Mb/s}}
benchmarks: {bandwidth: {sizes: [64KiB], window: 1}, ping_pong: {sizes: [8]}}
launches: 1
budget: 200ms
floor: false
tune:
  knobs: {mtu: [300, 1500], tcp_sack: [0, 1]}
  objective: {benchmark: bandwidth}
  budget: 35s
"""
"""The least budget, about: what the MTU changes is a fourth, and launches differed by a tenth at a load of 19."""


pytestmark = pytest.mark.usefixtures("state")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("mtu: [300", "mtuu: [300", "there is no setting 'mtuu'"),
        ("[300, 1500]", "[60]", "mtu: 60 B, which is not from 68 to 65535 B"),
        ("[300, 1500]", "[]", "mtu: nothing stands in it"),
        ("[300, 1500]", str(list(range(300, 310))), "mtu: 10 values of one setting are more than the 9"),
        ("[300, 1500]", "[1.5]", "a setting has one value: a number, a word, or true or false"),
        ("[300, 1500]", "[300, 9000]", "an MTU of 9000 on a switch of the lab that carries 1500"),
        ("[300, 1500]", "1500..300", "mtu: 1500..300 is no range of numbers"),
        ("[300, 1500]", "68..60000", "mtu: 11 values are more than 9"),
        ("tcp_sack: [0, 1]", "tso: on..off", "tso: on..off is no range of numbers"),
        ("benchmark: bandwidth}", "benchmark: bandwith}", "no measurement over slow is that objective"),
        ("benchmark: bandwidth}", "benchmark: bandwidth, size: 8}", "no measurement over slow is that objective"),
        ("benchmark: bandwidth}", "benchmark: bandwidth, layer: mpi}", "the layer 'mpi' is not measured by this plan"),
        ("sizes: [64KiB]", "sizes: [64KiB, 1KiB]", "2 measurements over slow are that objective"),
        ("budget: 35s", "budget: 5s", "and what follows), and its budget is 5s -- write budget: "),
        ("budget: 35s", "budget: 35s\n  fabric: fast", "there is no fabric 'fast' to tune"),
        ("  slow:", "  other: {lab: gige}\n  slow:", "it does not say which fabric is tuned"),
        ("floor: false", "sharpen: 1", "a run adds sizes (sharpen) or tries settings (tune), not both"),
        ("floor: false", "placements: [intra]", "settings are tried on a fabric between hosts"),
        ("  knobs: {mtu: [300, 1500], tcp_sack: [0, 1]}", "  knobs: {}", "knobs: nothing stands in it"),
        (
            "{mtu: [300",
            f"{{{', '.join(f'k{number}: [1]' for number in range(15))}, mtu: [300",
            "knobs: at most 16 may stand",
        ),
        ("  knobs:", "  knbs:", "no key 'knbs' here -- did you mean 'knobs'? known: budget, fabric, knobs, objective"),
        (
            "{benchmark:",
            "{bench:",
            "no key 'bench' here -- did you mean 'benchmark'? known: benchmark, layer, mpi, size",
        ),
    ],
)
def test_what_cannot_be_tuned_is_answered_with_its_line(old: str, new: str, why: str, tmp_path: Path) -> None:
    assert TEXT.count(old) == 1
    result = CliRunner().invoke(PLAN, ["check", str(written(TEXT.replace(old, new), tmp_path))])
    assert isinstance(result.exception, PlanError), result.output
    assert why in str(result.exception)
    assert re.search(r"plan\.yaml:\d+", str(result.exception))


def test_what_a_library_sets_is_not_tried_over_its_fabrics(tmp_path: Path) -> None:
    library = "floor: false\nmpi: [{name: mpich, fabrics: [FABRIC], settings: {tcp_sack: 0}}]"
    text = TEXT.replace("  slow:", "  other: {lab: gige}\n  slow:").replace("tune:\n", "tune:\n  fabric: slow\n")
    text = text.replace("floor: false", f"{library}\nlayers: [tcp, mpi]")
    with pytest.raises(PlanError, match=r"plan\.yaml:\d+: tcp_sack is set for every launch of mpich, whatever"):
        load(written(text.replace("FABRIC", "slow"), tmp_path), vocabulary())
    load(written(text.replace("FABRIC", "other"), tmp_path), vocabulary())


@pytest.mark.parametrize("more", ["", ", tx_queue: [100, 1000]", ", tx_queue: [100, 200, 500, 1000]"])
def test_what_would_be_enough_is_enough(more: str, tmp_path: Path) -> None:
    small = TEXT.replace("budget: 35s", "budget: 5s").replace("tcp_sack: [0, 1]", f"tcp_sack: [0, 1]{more}")
    result = CliRunner().invoke(PLAN, ["check", str(written(small, tmp_path))])
    enough = re.search(r"write budget: ([0-9.]+min)", str(result.exception))
    assert enough
    again = CliRunner().invoke(PLAN, ["check", str(written(small.replace("5s", enough[1]), tmp_path))])
    assert again.exit_code == 0, again.exception


def test_plan_check_lists_what_would_be_set_how_often_and_how_long(tmp_path: Path) -> None:
    result = CliRunner().invoke(PLAN, ["check", str(written(TEXT, tmp_path))])
    assert (
        "sets mtu of eth0 to 300 or 1500 on node1, node2 for launches that tune slow, and puts it back" in result.output
    )
    assert "sets tcp_sack to 0 or 1 on node1, node2" in result.output
    assert re.search(
        r"tunes slow: 4 configurations of two values each \(full\), \d times; .* minutes more", result.output
    )
    as_json = CliRunner().invoke(PLAN, ["check", "--json", str(written(TEXT, tmp_path))])
    assert json.loads(as_json.output)["most_added_s"] > 10


def test_a_tuning_is_interrupted_goes_on_and_finds_the_larger_mtu(labs: None, tmp_path: Path) -> None:
    cancel, path = threading.Event(), tmp_path / "run"
    text = TEXT.replace("{mtu: [300", "{congestion_control: [vegas9], mtu: [300").replace("budget: 35s", "budget: 45s")
    plan = load(written(text, tmp_path), vocabulary())
    run.start(plan, path, Interrupting(9, cancel), cancel)
    assert journal.entries() == []
    data = store.open_run(path).read()
    assert len(data.journal) == 9
    begun = tuning_of(data)
    assert begun is not None
    assert begun.state == UNDER_WAY
    summary = run.resume(path, QuietProgress(), threading.Event())
    assert (summary.failed_cases, summary.is_complete) == (0, True)
    assert journal.entries() == []
    data = store.open_run(path).read()
    tuning = tuning_of(data)
    assert tuning is not None
    assert tuning.state in (ENDED, KEPT)
    (left_out,) = tuning.screening.left_out
    assert left_out.startswith("congestion_control is left out:")
    mtu = next(one for one in tuning.effects if one.effect.knobs == ("mtu",))
    assert mtu.effect.log > 0.1  # (1448 / 1538) / (248 / 338) = 1.283 of the wire; a busy machine may not decide it
    shown = CliRunner().invoke(SHOW, [str(path)])
    assert "mtu 1500 against 300:" in shown.output
    document = json.loads(CliRunner().invoke(SHOW, [str(path), "--json"]).output)
    assert {row["kind"] for row in document["tuning"]} >= {"effect"}
    assert not [row for row in document["summary"] if "try" in row["fabric"]]
    reported = CliRunner().invoke(REPORT, [str(path), "--format", "csv"])
    assert reported.exit_code == 0, reported.output


def test_a_setting_that_is_slow_now_is_replaced(labs: None, tmp_path: Path) -> None:
    text = TEXT.replace("rate: 5Mb/s}", "rate: 5Mb/s}, settings: {mtu: 300}")
    text = text.replace("floor: false", "floor: false\ncounters: false")  # which the other tuning asks about
    path = tmp_path / "run"
    run.start(load(written(text, tmp_path), vocabulary()), path, QuietProgress(), threading.Event())
    tuning = tuning_of(store.open_run(path).read())
    assert tuning is not None
    assert (tuning.state, tuning.gain is None) in ((ENDED, False), (KEPT, True))  # a busy machine may hide all of it
    assert tuning.recommended is None or tuning.recommended["mtu"] == "1500"
    if tuning.gain is not None:
        assert tuning.gain.verdict in (BETTER, UNDECIDED), tuning.gain  # or a part of it
        assert tuning.gain.result.centre > 0, tuning.gain
        assert tuning.rounds[-1].commands[0] == "node[1-2]: echo 1500 > /sys/class/net/eth0/mtu"
    assert journal.entries() == []


def test_nothing_to_try_is_said(labs: None, tmp_path: Path) -> None:
    text = TEXT.replace("{mtu: [300, 1500], tcp_sack: [0, 1]}", "{mtu: [1500], congestion_control: [vegas9]}")
    path = tmp_path / "run"
    summary = run.start(load(written(text, tmp_path), vocabulary()), path, QuietProgress(), threading.Event())
    assert summary.is_complete
    tuning = tuning_of(store.open_run(path).read())
    assert tuning is not None
    assert tuning.state == NOTHING_TO_TRY
    assert "mtu is left out: 1500 is what is set already, and nothing else is to be tried" in tuning.screening.left_out
    assert "Nothing is left to be tried" in CliRunner().invoke(SHOW, [str(path)]).output


def test_the_example_is_a_good_plan_of_at_most_four_minutes() -> None:
    result = CliRunner().invoke(PLAN, ["check", str(ROOT / "examples" / "tune.yaml"), "--json"])
    document = json.loads(result.output)
    assert document["expected_s"] + document["most_added_s"] <= 240
