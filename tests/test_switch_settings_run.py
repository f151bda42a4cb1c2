"""Settings of the lab's switch in plans: checked, shown, set for their launches alone, tuned, and put back."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.small_plans import refused, written

from fabriscope import store
from fabriscope.analysis.tuning.tuned import tuning_of
from fabriscope.cli.plan import COMMAND as PLAN
from fabriscope.cli.report import COMMAND as REPORT
from fabriscope.hosts.access import journal
from fabriscope.model.errors import PlanError
from fabriscope.model.fabric import Fabric
from fabriscope.plan import load
from fabriscope.progress import QuietProgress
from fabriscope.running import run, site
from fabriscope.running.tuning_commands import commands_of
from fabriscope.running.vocabulary import vocabulary

pytestmark = pytest.mark.usefixtures("state")

TEXT = """
name: buffers
hosts: node[1-3]
fabrics:
  large: {lab: {preset: local, rate: 20Mb/s, buffer: 64MiB}}
  small: {lab: {preset: local, rate: 20Mb/s, buffer: 64MiB}, settings: {switch_buffer: 8KiB}}
many_to_one: {to: node1, from: 'node[2-3]', streams: 2}
benchmarks: {many_to_one: {sizes: [64KiB], duration: 300ms}}
launches: 2
budget: 1s
floor: false
"""
TUNED = """
name: rates
hosts: node[1-2]
fabrics:
  large: {lab: {preset: local, rate: 20Mb/s, buffer: 64MiB}}
benchmarks: {bandwidth: {sizes: [64KiB], window: 1}}
launches: 1
budget: 200ms
floor: false
counters: false
tune:
  knobs: {switch_rate: [5Mb/s, 20Mb/s]}
  objective: {benchmark: bandwidth}
  budget: 30s
"""
"""By construction four times as fast. About the least budget; and of its launches no counter is asked about."""


def test_what_is_recommended_of_a_switch_is_said_with_its_units() -> None:
    chosen = {"switch_delay": "5000", "switch_coalesce": "80000/15", "switch_loss": "0.01"}
    assert [line.rpartition(" lab set wire ")[2] for line in commands_of(chosen, Fabric("wire", {}), {})] == [
        "--delay 5000ns", "--rx-coalesce-time 80000ns --rx-coalesce-frames 15", "--loss 0.01",
    ]  # fmt: skip
    assert list(commands_of({"switch_coalesce": "none"}, Fabric("wire", {}), {})) == [
        "the lab's switch: fabriscope lab set wire --rx-coalesce-time none --rx-coalesce-frames none"
    ]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("switch_buffer: 8KiB", "switch_bufer: 8KiB", "did you mean 'switch_buffer'?"),
        ("switch_buffer: 8KiB", "switch_buffer: much", "switch_buffer: 'much' is not a size such as"),
        ("switch_buffer: 8KiB", "switch_ecn: 30KiB", "a switch with priorities, and that of small has none"),
        (
            "local, rate: 20Mb/s, buffer: 64MiB}, settings",
            "local, mtu: 1400}, settings",
            "it is a bridge of the kernel",
        ),
        ("switch_buffer: 8KiB", "switch_on_full: wait", "switch_on_full: 'wait' is none of drop, pause"),
        (
            "floor: false",
            "layers: [tcp, mpi]\nmpi: [{name: mpich, settings: {switch_buffer: 8KiB}}]",
            "switch_buffer is set of a fabric's switch -- write it among the settings of the fabric",
        ),
    ],
)
def test_what_cannot_be_set_is_answered_with_its_line(old: str, new: str, why: str, tmp_path: Path) -> None:
    assert TEXT.count(old) == 1
    assert why in refused(TEXT.replace(old, new), tmp_path)


def test_no_switch_of_yours_is_set(tmp_path: Path) -> None:
    real = "name: real\nhosts: a,b\nfabrics: {eth: {interface: eth0, settings: {switch_buffer: 1}}}\n"
    real += "benchmarks: {ping_pong: {sizes: [8]}}\n"
    with pytest.raises(
        PlanError, match="switch_buffer is a setting of the lab's switch, and eth is no fabric of the lab"
    ):
        load(written(real, tmp_path), vocabulary())


def test_a_switch_with_priorities_has_their_settings(tmp_path: Path) -> None:
    text = TEXT.replace("buffer: 64MiB}, settings: {switch_buffer: 8KiB}", "pfc: 3}, settings: {switch_ecn: 30KiB}")
    assert load(written(text, tmp_path), vocabulary()).section.fabrics["small"].settings == {"switch_ecn": "30KiB"}


def test_plan_check_says_what_would_be_set(tmp_path: Path) -> None:
    result = CliRunner().invoke(PLAN, ["check", str(written(TEXT, tmp_path))])
    assert "sets switch_buffer to 8192 B on the lab's switch for launches over small, and puts it back" in result.output
    result = CliRunner().invoke(PLAN, ["check", str(written(TUNED, tmp_path))])
    assert (
        "sets switch_rate to 5000000 or 20000000 b/s on the lab's switch for launches that tune large, and puts it back"
        in result.output
    )


def test_the_line_rate_is_what_is_set(tmp_path: Path) -> None:
    text = TEXT.replace("switch_buffer: 8KiB", "switch_rate: 10Mb/s")
    fabrics = site.planned_fabrics(load(written(text, tmp_path), vocabulary()))
    assert {name: one.line_rate_bits_per_s for name, one in fabrics.items()} == {
        "large": 20_000_000,
        "small": 10_000_000,
    }


@pytest.mark.timeout(1200)  # beside many others
def test_a_small_buffer_drops_in_its_launches_alone(labs: None, tmp_path: Path) -> None:
    path = tmp_path / "run"
    plan = load(written(TEXT, tmp_path), vocabulary())
    summary = run.start(plan, path, QuietProgress(), threading.Event())
    assert summary.is_complete
    last = json.loads((path / "journal.jsonl").read_text().splitlines()[-1])
    ports = {(port["fabric"], port["host"]): port for port in last["fabric_counters"]["ports"]}
    assert ports["small", "node1"]["dropped_frames"] > 0
    assert ports["small", "node1"]["maximum_queue_bytes"] <= 8192
    assert ports["large", "node1"]["dropped_frames"] == 0
    assert ports["large", "node1"]["maximum_queue_bytes"] > 8192
    assert journal.entries() == []
    shown = CliRunner().invoke(REPORT, [str(path), "--format", "markdown", "--output", str(tmp_path / "report")])
    assert shown.exit_code == 0, shown.output
    written_text = "".join(one.read_text() for one in (tmp_path / "report").rglob("*.md"))
    assert "switch_buffer 8192 (set on the switch)" in written_text


@pytest.mark.timeout(1200)  # beside many others
def test_a_tuning_finds_the_faster_switch_and_puts_it_back(labs: None, tmp_path: Path) -> None:
    path = tmp_path / "run"
    plan = load(written(TUNED, tmp_path), vocabulary())
    summary = run.start(plan, path, QuietProgress(), threading.Event())
    assert (summary.failed_cases, summary.is_complete) == (0, True)
    assert journal.entries() == []
    tuning = tuning_of(store.open_run(path).read())
    assert tuning is not None
    assert tuning.screening.current == {"switch_rate": {"the lab's switch": "20000000"}}
    rate = next(one for one in tuning.effects if one.effect.knobs == ("switch_rate",))
    assert rate.effect.log > 0.3  # four times the rate


@pytest.mark.timeout(1200)  # beside many others
def test_a_slow_switch_is_replaced_by_a_command_of_the_lab(labs: None, tmp_path: Path) -> None:
    text = TUNED.replace("buffer: 64MiB}}", "buffer: 64MiB}, settings: {switch_rate: 5Mb/s}}")
    path = tmp_path / "run"
    run.start(load(written(text, tmp_path), vocabulary()), path, QuietProgress(), threading.Event())
    tuning = tuning_of(store.open_run(path).read())
    assert tuning is not None
    assert tuning.found == {"switch_rate": "20000000"}
    assert tuning.rounds[-1].commands == ("the lab's switch: fabriscope lab set large --rate 20000000",)
    assert journal.entries() == []
