"""The campaign that plants a difference: how much, when a run would have ended, and what many runs come to."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from campaigns.statistics.power import blocks_for_power
from campaigns.turns import power
from campaigns.turns.power_numbers import (
    Calibrated,
    Outcome,
    Quartiles,
    Summary,
    added_delay_ns,
    latencies_ns,
    outcome_of,
    table,
)
from scipy.stats import t
from tests import needs
from tests.analysis.small_run import HOSTS, run_of

from fabriscope import plan as plans
from fabriscope.model.case import Case, Entry
from fabriscope.model.fabric import Fabric
from fabriscope.model.run_data import RunData
from fabriscope.running.vocabulary import vocabulary

FABRICS = tuple(Fabric(name, {"a": f"{name}0", "b": f"{name}0"}, "tcp", 10**9, 1500) for name in ("near", "far"))
CASES = {one.name: Case(Entry("tcp", one.name, "inter", HOSTS), "ping_pong", 64) for one in FABRICS}
NOISE = (0.001, -0.002, 0.0005, 0.0015, -0.001, 0.002, -0.0015, 0.0)


def run_with(near: list[float], far: list[float]) -> RunData:
    """Return a run of a launch a second, with these latencies in ns, near's and then far's in each block."""
    found = run_of(
        {CASES["near"]: [[[2 * one]] for one in near], CASES["far"]: [[[2 * one]] for one in far]}, fabrics=FABRICS
    )
    timed = [replace(one, started_unix_ns=one.launch_id * 10**9, elapsed_ns=10**9) for one in found.journal]
    return replace(found, journal=tuple(timed))


def both(ratio: float, noise: tuple[float, ...] = NOISE) -> RunData:
    return run_with([20_000.0] * len(noise), [20_000 * ratio * math.exp(one) for one in noise])


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(1.05, "right"), (1 / 1.05, "wrong"), (1.0, "wrong")], ids=["farther", "nearer", "equal"]
)
def test_a_run_ends_at_the_first_look_that_decides(ratio: float, verdict: str) -> None:
    found = outcome_of(both(ratio))
    assert found.verdict == verdict  # that both are equivalent is wrong, too
    assert 3 <= found.verdict_blocks < found.blocks == len(NOISE)
    assert found.verdict_s == 2 * found.verdict_blocks  # two launches of a second each
    assert found.seconds == 2 * len(NOISE)
    assert math.exp(found.centre) == pytest.approx(ratio, rel=1e-3)
    assert found.spread == pytest.approx(np.std(NOISE, ddof=1))


def test_noise_leaves_a_run_undecided_at_its_end() -> None:
    found = outcome_of(both(1.05, tuple(200 * one for one in NOISE)))
    assert (found.verdict, found.verdict_blocks, found.verdict_s) == ("undecided", len(NOISE), 2 * len(NOISE))


def test_latencies_are_those_of_all_launches() -> None:
    found = latencies_ns(run_with([20_000.0, 30_000.0], [40_000.0, 50_000.0]))
    assert sorted(found) == pytest.approx([20_000, 30_000, 40_000, 50_000])


@pytest.mark.parametrize("base", [[20_000.0], [18_000.0, 54_000.0], [9_000.0, 9_100.0, 40_000.0]])
def test_what_is_added_is_the_share_of_the_geometric_mean(base: list[float]) -> None:
    added = added_delay_ns(base, 0.05)
    grown = np.log((np.array(base) + added) / np.array(base)).mean()
    assert math.exp(grown) == pytest.approx(1.05, abs=1e-4)


def outcome(verdict: str, blocks: int, spread: float = 0.1) -> Outcome:
    return Outcome(verdict, blocks, 2.0 * blocks, 10, 20.0, 0.05, spread)


def summary(way: str, *outcomes: Outcome) -> Summary:
    return Summary(way, "64", 0.05, Calibrated((20_000.0,), 1000), outcomes)


def test_a_run_that_is_not_right_has_no_time_until_right() -> None:
    one = summary("both", outcome("right", 3), outcome("right", 5), outcome("wrong", 4), outcome("undecided", 10))
    assert one.blocks == Quartiles(3, 5, math.inf)
    assert one.seconds.document() == [6.0, 10.0, None]
    assert [one.count(name) for name in ("right", "wrong", "undecided")] == [2, 1, 1]
    assert one.count("right", 4) == 1


def test_what_is_reckoned_follows_from_spread_and_time() -> None:
    off, both_ways = summary("off", outcome("undecided", 10, 0.8)), summary("both", outcome("right", 4, 0.05))
    for one in (off, both_ways):
        assert one.reckoned_s == one.reckoned_blocks * 2.0
    # Of many blocks as good as normal: (1.960 + 1.282)^2 = 10.51 times (spread / log 1.05)^2.
    assert off.reckoned_blocks == pytest.approx(10.51 * (0.8 / math.log(1.05)) ** 2, rel=0.002)
    lines = table([off, both_ways], 10)
    assert "never (never to never)" in lines
    assert f"{both_ways.reckoned_blocks / off.reckoned_blocks:.3f} |" in lines


@pytest.mark.parametrize("effect", [0.3, 1.0, 2.0])
def test_so_many_blocks_have_the_power(effect: float) -> None:
    blocks, trials = blocks_for_power(effect), 40_000
    logs = np.random.default_rng(5).normal(effect, 1, (trials, blocks))
    seen = logs.mean(axis=1) / logs.std(axis=1, ddof=1) * math.sqrt(blocks) > t.ppf(0.975, blocks - 1)
    assert seen.mean() >= 0.9 - 4 * math.sqrt(0.09 / trials)
    with pytest.raises(ValueError, match="no number of blocks"):
        blocks_for_power(0.0)


@pytest.mark.parametrize("way", power.WAYS)
def test_what_each_way_runs_is_a_plan(way: str, tmp_path: Path) -> None:
    campaign = power.Campaign(power.parsed(["--off-launches", "100"]), tmp_path)
    path = tmp_path / "plan.yaml"
    path.write_text(
        yaml.safe_dump({"name": way, **campaign.plan((way, "1KiB"), 27_300, 100 if way == "off" else 10, 1)})
    )
    section = plans.load(path, vocabulary()).section
    assert section.budget == (60 if way == "off" else 6) * 10**9  # 0.3 s a launch
    assert set(section.fabrics) == {"near", "far"}


def test_a_way_is_calibrated_run_and_written(tmp_path: Path) -> None:
    needs.lab()
    words = ["--runs", "1", "--ways", "both", "--launches", "3", "--budget", "0.1"]
    campaign = power.Campaign(power.parsed(words), tmp_path)
    campaign.go()
    written = json.loads((tmp_path / "power.json").read_text())
    (made,) = written["outcomes"]["both 64"]
    calibrated = written["calibrated"]["both 64"]
    assert not campaign.found.failed
    assert (made["blocks"], len(calibrated["latencies_ns"])) == (3, 6)
    assert calibrated["added_ns"] == added_delay_ns(calibrated["latencies_ns"], 0.05) > 0
    planned = yaml.safe_load((tmp_path / "round-1-both-64.yaml").read_text())
    assert planned["fabrics"]["far"]["lab"]["delay"] == f"{power.BASE_DELAY_NS + calibrated['added_ns']}ns"
    assert "| both | 64 | 1 | 0 |" in campaign.text()


def test_when_the_minutes_are_spent_what_is_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    campaign = power.Campaign(power.parsed(["--minutes", "0"]), tmp_path)
    campaign.go()
    assert "the minutes are spent" in capsys.readouterr().err
    assert "Measured: right and wrong within 10 blocks" in campaign.text()
