"""Whole tunings of made-up launches: what is tried, what is found, how it is told, and how a run goes on."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.analysis.small_run import GIGE
from tests.made_up_tunings import (
    NOW,
    SPEEDS,
    TEXT,
    Place,
    Speeds,
    begun,
    measure,
    planned,
    result,
    rounds,
    take,
    tuned,
    words,
)
from tests.test_sharpen import Told

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.analysis.results import results_of
from fabriscope.analysis.tuning.tuned import BETTER, ENDED, KEPT, UNDECIDED, UNDER_WAY, WORSE, tuning_of
from fabriscope.cli.show import COMMAND as SHOW
from fabriscope.model.case import Entry
from fabriscope.plan import Plan
from fabriscope.reports.csv_tables import table_texts
from fabriscope.reports.sections import sections_of
from fabriscope.running.binding import Binding
from fabriscope.store.checks import check_folder

Whole = tuple[store.RunFolder, Told]


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return planned(TEXT, tmp_path)


@pytest.fixture(autouse=True)
def hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    take(monkeypatch, NOW)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """The tuning of the plan at the speeds of every test, from its first launch to its last: to be read."""
    path = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patched:
        take(patched, NOW)
        return tuned(planned(TEXT, path), path / "run")


def test_the_best_is_found_and_told_with_its_costs(whole: Whole) -> None:
    folder, told = whole
    found = result(folder)
    assert found.state == ENDED
    assert found.recommended == {"mtu": "1000", "tcp_timestamps": "0"}
    assert found.gain is not None
    assert found.gain.verdict == BETTER
    assert found.gain.result.low < math.log(1.25 * 1.05) < found.gain.result.high
    mtu, *others = (one for one in found.effects if one.is_main)
    assert mtu.is_decided
    assert mtu.effect.low < math.log(1.2) < mtu.effect.high
    assert [(one.effect.knobs[0], one.is_decided) for one in others] == [
        ("tcp_sack", False), ("tcp_timestamps", True), ("tx_queue", False),
    ]  # fmt: skip
    (elsewhere,) = (one for one in found.elsewhere if one.effect.knobs == ("mtu",))
    assert elsewhere.effect.low < math.log(0.8) < elsewhere.effect.high
    (cost,) = found.costs
    assert cost.verdict == WORSE
    assert cost.result.low < math.log(0.9) < cost.result.high
    stages = [one.stage for one in found.rounds]
    assert stages[0] == "screening" and stages[-1] == "confirmation" and set(stages[1:-1]) == {"halving"}
    assert check_folder(folder.path).findings == ()
    assert told.more_launches == len(folder.manifest.schedule) - 2
    text = "\n".join(words(folder))
    assert "mtu 1500 against 600: 20." in text or "mtu 1500 against 600: 19." in text
    assert "What is to become faster: bandwidth" in text and "at 1 MiB." in text
    assert "Of tcp_sack, tx_queue none had an effect above" in text
    assert "Recommended: settings: {mtu: 1000, tcp_timestamps: 0}, with 31." in text
    assert "It costs: 11." in text and "longer latency" in text


def test_what_was_tried_stands_in_no_other_table(whole: Whole) -> None:
    folder, _ = whole
    results = results_of(folder.read())
    assert set(results.estimates["fabric"].drop_nulls()) == {"gige"}
    assert results.compared == []
    assert set(results.launch_values["block"]) == {1, 2}
    assert {case.fabric for case in results.looks()} == {"gige"}
    tables = table_texts(results)
    assert "gige-try" not in "".join(text for name, text in tables.items() if name not in ("transport", "made-of"))
    assert tables["tuning"].startswith("kind,settings,against")
    document = json.loads(CliRunner().invoke(SHOW, [str(folder.path), "--json"]).output)
    (gain,) = (row for row in document["tuning"] if row["kind"] == "gain")
    assert (gain["settings"], gain["recommended"]) == ("mtu=1000, tcp_timestamps=0", True)


def test_commands_and_fabrics_of_a_configuration(whole: Whole) -> None:
    folder, _ = whole
    found = result(folder)
    assert found.rounds[-1].commands == (
        "a,b: echo 1000 > /sys/class/net/eth0/mtu",
        "a,b: echo 0 > /proc/sys/net/ipv4/tcp_timestamps",
    )
    for name, settings in found.screening.configurations.items():
        fabric = folder.manifest.fabrics[name]
        assert (fabric.tries, fabric.knobs, fabric.mtu_bytes) == ("gige", settings, int(settings["mtu"]))


def test_a_run_goes_on_with_the_same_rounds_wherever_it_was_interrupted(
    whole: Whole, plan: Plan, tmp_path: Path
) -> None:
    uninterrupted, _ = whole
    tuned(plan, tmp_path / "run", most=1)
    for until in (20, 60, None):  # one run, which was interrupted three times
        folder, told = store.open_run(tmp_path / "run"), Told()
        done = set(folder.done())
        left = [one for one in folder.manifest.launches if one.block <= 2 and one.launch_id not in done]
        launches = chain(left, chain.from_iterable(rounds(plan, folder, told).launches(done)))
        for launch in islice(launches, until and until - len(done)):
            measure(folder, launch, SPEEDS, NOW, 0.003)
        assert len(folder.done()) == (until or len(uninterrupted.manifest.schedule))
    assert folder.manifest.trials == uninterrupted.manifest.trials
    assert store.scheduled(folder.manifest.launches) == store.scheduled(uninterrupted.manifest.launches)
    assert result(folder).recommended == result(uninterrupted).recommended


def test_under_way_nothing_is_claimed(plan: Plan, tmp_path: Path) -> None:
    folder, _ = tuned(plan, tmp_path / "run", most=20)
    found = result(folder)
    assert (found.state, found.effects, found.gain) == (UNDER_WAY, (), None)
    assert "under way: its screening has not ended" in words(folder)[-1]


def test_where_nothing_has_an_effect_it_says_so(plan: Plan, tmp_path: Path) -> None:
    folder, _ = tuned(plan, tmp_path / "run", speeds={}, spread=0.01)
    found = result(folder)
    assert not any(one.is_decided for one in found.effects)
    assert found.gain is None or found.gain.verdict == UNDECIDED
    assert all(one.verdict == UNDECIDED for one in found.costs)
    text = "\n".join(words(folder))
    assert "No setting had an effect above" in text
    assert "no set is recommended" in text


def test_what_is_set_now_may_be_the_best(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = {**NOW, "mtu": "1500"}
    take(monkeypatch, now)
    text = TEXT.replace("[600, 1000, 1500]", "[600, 1500]").replace("[100, 500, 1000]", "[100, 1000]")
    speeds: Speeds = {"bandwidth": {"mtu": {"1500": 1.2}}}
    folder, _ = tuned(planned(text, tmp_path), tmp_path / "run", speeds, now)
    found = result(folder)
    assert found.state == KEPT
    assert len(found.rounds) == 1
    assert "Nothing that was tried was seen to be better than what is set" in words(folder)[-1]


def test_hosts_that_differ_are_brought_together(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take(monkeypatch, NOW, {**NOW, "tcp_timestamps": "0"})
    text = TEXT.replace("tcp_timestamps: [0, 1]", "tcp_timestamps: [0]")
    folder, _ = tuned(planned(text, tmp_path), tmp_path / "run")
    found = result(folder)
    (factor,) = (one for one in found.screening.factors if one.knob == "tcp_timestamps")
    assert (factor.low, factor.high) == ("", "0")
    assert found.recommended == {"mtu": "1000", "tcp_timestamps": "0"}
    assert "tcp_timestamps 0 against as it is: " in "\n".join(words(folder))


def test_what_is_set_now_is_one_of_the_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take(monkeypatch, {**NOW, "mtu": "1200", "congestion_control": "cubic"})
    text = TEXT.replace("tcp_sack: [0, 1]", "congestion_control: [reno, vegas]")
    folder, _ = tuned(planned(text, tmp_path), tmp_path / "run")
    found = result(folder)
    assert found.screening.levels["mtu"] == ("600", "1000", "1200", "1500")
    assert found.screening.levels["congestion_control"] == ("reno", "cubic")
    assert words(folder)[0] == "congestion_control vegas is left out: no."


def test_twelve_settings_take_32_configurations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_tcp = ("tcp_sack", "tcp_slow_start_after_idle", "tcp_timestamps", "tcp_window_scaling")
    of_card = ("tso", "gso", "gro", "lro", "tx_checksum", "rx_checksum", "rx_coalesce_adaptive")
    flags = dict.fromkeys(of_tcp, "1") | dict.fromkeys(of_card, "on")
    take(monkeypatch, {**NOW, **flags})
    values = "".join(f", {name}: [{'0, 1' if now == '1' else 'on, off'}]" for name, now in flags.items())
    text = (
        TEXT[: TEXT.index("  knobs:")] + f"  knobs: {{mtu: [600, 1500]{values}}}\n" + TEXT[TEXT.index("  objective") :]
    )
    folder, _ = tuned(planned(text.replace("5min", "12min"), tmp_path), tmp_path / "run")
    found = result(folder)
    assert len(found.screening.factors) == 12
    assert (len(found.screening.configurations), found.screening.resolution) == (32, "IV")
    assert {one.effect.knobs[0] for one in found.effects if one.is_decided and one.is_main} == {"mtu", "tcp_timestamps"}
    assert "effect,mtu x tcp_sack or " in table_texts(results_of(folder.read()))["tuning"]
    assert found.recommended == {"mtu": "1500", "tcp_timestamps": "0"}


def test_configurations_that_fail_are_left_out(plan: Plan, tmp_path: Path) -> None:
    folder, launches = begun(plan, tmp_path / "run")
    for launch in chain(launches, chain.from_iterable(rounds(plan, folder, Told()).launches(()))):
        knobs_set = folder.manifest.fabrics[launch.entry.fabric or ""].knobs
        if knobs_set.get("mtu") == "1500" and knobs_set.get("tcp_sack") == "0":
            results = {case.case_id: {"status": "failed", "reason": "it reads off"} for case in launch.cases}
            head = {"launch_id": launch.launch_id, "block": launch.block, "entry_id": launch.entry.entry_id}
            folder.append({**head, "status": "failed", "reason": "it reads off", "results": results, "elapsed_ns": 1})
        else:
            measure(folder, launch, SPEEDS, NOW, 0.003)
    found = result(folder)
    assert [one.effect.knobs for one in found.effects] == [("mtu",), ("tcp_sack",), ("tcp_timestamps",), ("tx_queue",)]
    assert found.effects[0].effect.low < math.log(1.2) < found.effects[0].effect.high
    assert found.recommended == {"mtu": "1000", "tcp_timestamps": "0"}


def test_a_folder_without_a_tuning_has_no_section(tmp_path: Path) -> None:
    text = TEXT[: TEXT.index("tune:")]
    plan_of = planned(text, tmp_path)
    schedule = plans.expand(plan_of, {"gige": GIGE})
    folder = store.create(tmp_path / "run", store.describe((), schedule.launches, [GIGE]), plan_of.text)
    assert tuning_of(folder.read()) is None
    assert not [one for one in sections_of(results_of(folder.read())) if one.anchor == "tuning"]


def test_ranks_are_bound_alike_whatever_is_tried(tmp_path: Path) -> None:
    bound = planned(TEXT.replace("{lab: gige}", "{lab: gige, bind: none}"), tmp_path)
    entry = Entry("tcp", "gige-try-1", "inter", ("a", "b"))
    binding = Binding(bound, Place.hosts, {})
    assert binding.of(entry).processors, "a fabric of which the plan says nothing"
    binding.know({"gige": GIGE, "gige-try-1": replace(GIGE, name="gige-try-1", tries="gige")})
    assert not binding.of(entry).processors
    assert binding.of(entry) == binding.of(replace(entry, fabric="gige"))
