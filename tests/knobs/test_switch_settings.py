"""Settings of the lab's switch: which values they take, that it says them back, and that all is as before then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fabriscope import lab
from fabriscope.hosts import access
from fabriscope.hosts.access import changes, journal
from fabriscope.hosts.access.journal import Change
from fabriscope.knobs import readers, switch
from fabriscope.knobs.knob import Setting
from fabriscope.lab import switch_process
from fabriscope.lab.presets import PRESETS
from fabriscope.model import native
from fabriscope.model.errors import HostError
from fabriscope.model.host import HERE
from fabriscope.model.lab import LabSpec
from fabriscope.model.switch_queues import SwitchQueues
from fabriscope.model.switch_settings import SWITCH_SETTINGS, SwitchPlace

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.usefixtures("state")

VALUES: dict[str, tuple[Setting, str]] = {
    "switch_rate": ("20Mb/s", "20000000"),
    "switch_delay": ("50us", "50000"),
    "switch_buffer": ("64KiB", "65536"),
    "switch_on_full": ("drop", "drop"),
    "switch_loss": ("0.1%", "0.001"),
    "switch_coalesce": ("80us/15", "80000/15"),
    "switch_pfc": ("4/3/4", "3/4"),
    "switch_xoff": ("20KiB", "20480"),
    "switch_xon": (10000, "10000"),
    "switch_headroom": ("none", "none"),
    "switch_shared_buffer": ("1MiB", "1048576"),
    "switch_alpha": ("0.50", "0.5"),
    "switch_ecn": ("30KiB/90KiB", "30720/92160"),
    "switch_ecn_probability": ("10%", "0.1"),
    "switch_scheduler": ("fair", "fair"),
}


@pytest.mark.parametrize("name", SWITCH_SETTINGS)
def test_values_as_plans_have_them(name: str) -> None:
    value, text = VALUES[name]
    read = readers()[name]
    assert read(value) == text
    assert read(text) == text, "what is recommended can be written into a plan"
    assert f"| `{name}` |" in (ROOT / "docs" / "settings.md").read_text(), "docs/settings.md names every setting"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("switch_ecn", 30720, "30720/30720"),
        ("switch_ecn", "none", "none"),
        ("switch_delay", 5000, "5000"),
        ("switch_delay", "0s", "0"),
        ("switch_alpha", 2, "2"),
        ("switch_coalesce", "none", "none"),
        ("switch_coalesce", "0s/7", "none"),
        ("switch_pfc", 3, "3"),
        ("switch_pfc", "none", "none"),
        ("switch_buffer", 0, "0"),
    ],
)
def test_other_ways_to_write_them(name: str, value: Setting, text: str) -> None:
    assert readers()[name](value) == text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("switch_rate", 0), ("switch_rate", "fast"), ("switch_delay", "2days"), ("switch_delay", -1),
        ("switch_buffer", "none"), ("switch_on_full", "wait"), ("switch_pfc", "8"), ("switch_pfc", True),
        ("switch_xoff", "much"), ("switch_alpha", 0), ("switch_alpha", 1001), ("switch_alpha", "1e3"),
        ("switch_ecn", "90KiB/30KiB"), ("switch_ecn", "1/2/3"), ("switch_ecn", True),
        ("switch_ecn_probability", "101%"),
        ("switch_loss", "100%"), ("switch_loss", "often"), ("switch_coalesce", "80us"), ("switch_coalesce", "80us/0"),
        ("switch_coalesce", "2days/3"), ("switch_coalesce", 5),
        ("switch_scheduler", "round"),
    ],
)  # fmt: skip
def test_values_that_none_has(name: str, value: Setting) -> None:
    with pytest.raises(ValueError, match=r".+"):
        readers()[name](value)


def settings_in(place: SwitchPlace) -> str:
    argv = (str(native.program(switch.PROGRAM)), "--ask", place.socket, f"get fabric={place.fabric}")
    said = access.run(place.host, argv, access.READ_TIMEOUT_S)
    assert said.exit_status == 0, said.stderr
    return said.stdout


@pytest.fixture
def built(labs: None, state: Path) -> Iterator[lab.Lab]:
    """Build a lab of a plain switch, one with priorities, and a bridge."""
    queues = replace(PRESETS["gige"], queues=SwitchQueues(pfc="3", ecn_min_bytes=5000, ecn_max_bytes=6000, alpha=2.0))
    fabrics = {"plain": PRESETS["gige"], "queues": queues, "bridge": PRESETS["local"]}
    standing = lab.up(LabSpec(("a", "b"), fabrics))
    try:
        yield standing
    finally:
        standing.down()


def place_of(built: lab.Lab, fabric: str) -> SwitchPlace:
    attachment = built.state.details["fabrics"][fabric]["attachment"]
    place = switch_process.place(built.state.folder, built.keeper_words, fabric, attachment)
    assert place is not None
    return place


def change_of(place: SwitchPlace, name: str, value: str) -> Change:
    return switch.change(SWITCH_SETTINGS[name], place.fabric, place.socket, value)


@pytest.mark.parametrize("fabric", ["plain", "queues"])
def test_in_a_lab_everything_is_set_and_put_back(fabric: str, built: lab.Lab) -> None:
    place = place_of(built, fabric)
    before = settings_in(place)
    for name, setting in SWITCH_SETTINGS.items():
        if setting.needs_queues and fabric == "plain":
            continue
        read = readers()[name]
        change = change_of(place, name, read(VALUES[name][0]))
        with changes.changed(place.host, change) as standing:
            assert read(switch.told(setting, standing.old)) == switch.told(setting, standing.old)
            assert f'"{setting.word}":"{change.new}"' in settings_in(place), name
        assert settings_in(place) == before, name
    assert journal.entries() == []


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("switch_xoff", "20480", "tells no value of it that could be changed"),
        ("switch_buffer", "0", "on_full=pause needs a buffer"),
    ],
)
def test_what_the_switch_refuses_is_not_set(name: str, value: str, why: str, built: lab.Lab) -> None:
    place = place_of(built, "plain")
    with (
        changes.changed(place.host, change_of(place, "switch_on_full", "pause")),
        pytest.raises(HostError, match=why),
        changes.changed(place.host, change_of(place, name, value)),
    ):
        pass
    assert '"on_full":"drop"' in settings_in(place)
    assert journal.entries() == []


def test_links_that_lose_differently_are_put_back_one_by_one(built: lab.Lab) -> None:
    place, setting = place_of(built, "plain"), SWITCH_SETTINGS["switch_loss"]
    built.change("plain", {"loss_share": 0.25}, ["b"])
    with changes.changed(place.host, change_of(place, setting.name, "0")) as standing:
        assert switch.told(setting, standing.old) == "0/0.25"
        assert '"loss_ppb":"0"' in settings_in(place)
    assert '"loss_ppb":"0/250000000"' in settings_in(place)


def test_a_lab_that_is_gone_leaves_nothing_to_put_back(built: lab.Lab) -> None:
    place = place_of(built, "plain")
    with changes.changed(place.host, change_of(place, "switch_buffer", "4096")) as standing:
        standing.keep()
    assert '"buffer":"4096"' in settings_in(place)
    built.down()
    (result,) = changes.restored(journal.entries())
    assert result.text.endswith("undone, its host in a lab is no more")
    assert (result.is_problem, journal.entries()) == (False, [])


def test_what_a_crash_left_is_restored(built: lab.Lab) -> None:
    place = place_of(built, "plain")
    with changes.changed(place.host, change_of(place, "switch_buffer", "4096")) as standing:
        standing.keep()
    (result,) = changes.restored(journal.entries(), is_asked=True)
    assert result.outcome == "restored"
    assert f'"buffer":"{PRESETS["gige"].buffer_bytes}"' in settings_in(place)


def test_a_bridge_has_no_switch(built: lab.Lab) -> None:
    assert switch_process.place(built.state.folder, built.keeper_words, "bridge", "bridge") is None


def test_a_switch_that_was_killed_takes_its_settings_with_it(tmp_path: Path) -> None:
    """Nothing is left to put back, and nothing to see to: the one that is started again has what the lab says."""
    socket = str(tmp_path / "_switch.sock")
    real = switch.change(SWITCH_SETTINGS["switch_buffer"], "wire", socket, "65536")
    told = tmp_path / "told"
    told.write_text('{"buffer":"524288"}')
    ask = f'test ! -e "$1" || exec cat "$1"; exec {native.program(switch.PROGRAM)} --ask {socket} "get fabric=wire"'
    words = ("sh", "-c", ask, "sh", str(told))
    sets = ("sh", "-c", f'echo \'{{"buffer":"65536"}}\' > {told}')
    change = replace(real, read_argv=words, set_argv=sets, restore_argv=words)
    with changes.changed(HERE, change):
        assert len(journal.entries()) == 1
        told.unlink()  # from now on the real program is asked, which finds no switch
    assert journal.entries() == []
