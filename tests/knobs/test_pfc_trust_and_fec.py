"""PFC, trust and FEC of a card, by stand-ins that print and take what dcb, mlnx_qos and ethtool do."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.hosts.access import changes, journal
from fabriscope.knobs import knobs
from fabriscope.model.errors import HostError
from fabriscope.model.host import HERE

pytestmark = pytest.mark.usefixtures("state")

DCB = """#!/bin/sh
case "$1 $2" in
"-j pfc")
  printf '{"ifname":"%s","pfc_cap":8,"prio_pfc":[' "$5"; sep=
  for at in 0 1 2 3 4 5 6 7; do
    case " $(cat HERE/pfc) " in *" $at "*) printf '%strue' "$sep";; *) printf '%sfalse' "$sep";; esac
    sep=,
  done
  printf ']}\\n';;
"pfc set")
  shift 5; : > HERE/pfc
  for word in "$@"; do [ "$word" = all:off ] || printf '%s ' "${word%:on}" >> HERE/pfc; done;;
esac
"""
QOS = """#!/bin/sh
if [ "$3" = --trust ]; then [ -e HERE/refuses ] || echo "$4" > HERE/trust; exit 0; fi
echo "DCBX mode: OS controlled"
[ -s HERE/trust ] && echo "Priority trust state: $(cat HERE/trust)"
echo "PFC configuration:"
"""
ETHTOOL = """#!/bin/sh
if [ "$1" = --show-fec ]; then
  echo "FEC parameters for $2:"
  echo "Supported/Configured FEC encodings: $(cat HERE/fec)"
  echo "Active FEC encoding: RS"
else
  case "$4" in rs) echo RS;; baser) echo BaseR;; off) echo Off;; auto) echo Auto;; esac > HERE/fec
fi
"""


@pytest.fixture(autouse=True)
def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder with what the stand-ins know."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("dcb", DCB), ("mlnx_qos", QOS), ("ethtool", ETHTOOL)):
        (programs / name).write_text(text.replace("HERE", str(tmp_path)))
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/sbin:/usr/bin:/sbin:/bin")
    for name, text in (("pfc", ""), ("trust", "pcp\n"), ("fec", "BaseR\n")):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "value", "file", "before", "during"),
    [
        ("pfc_priorities", 3, "pfc", "", "3 "),
        ("pfc_priorities", "4/3", "pfc", "0 5 ", "3 4 "),
        ("pfc_priorities", "none", "pfc", "3 ", ""),
        ("trust", "dscp", "trust", "pcp\n", "dscp\n"),
        ("fec", "rs", "fec", "BaseR\n", "RS\n"),
        ("fec", "off", "fec", "Auto\n", "Off\n"),
    ],
)
def test_it_is_set_and_put_back(name: str, value: str | int, file: str, before: str, during: str, card: Path) -> None:
    (card / file).write_text(before)
    knob = knobs()[name]
    with changes.changed(HERE, knob.change("eth0", knob.value(value))):
        assert (card / file).read_text() == during
        assert len(journal.entries()) == 1
    assert (card / file).read_text() == before
    assert journal.entries() == []


def test_what_cannot_be_read_is_not_set(card: Path) -> None:
    (card / "trust").write_text("")
    with (
        pytest.raises(HostError, match="tells no trust of eth0"),
        changes.changed(HERE, knobs()["trust"].change("eth0", "dscp")),
    ):
        pass
    assert ((card / "trust").read_text(), journal.entries()) == ("", [])


def test_what_does_not_take_is_told_and_nothing_stays(card: Path) -> None:
    (card / "refuses").touch()
    with (
        pytest.raises(HostError, match=r"reads 'pcp' after 'dscp' was set"),
        changes.changed(HERE, knobs()["trust"].change("eth0", "dscp")),
    ):
        pass
    assert ((card / "trust").read_text(), journal.entries()) == ("pcp\n", [])


@pytest.mark.parametrize(
    ("name", "value"),
    [("pfc_priorities", 8), ("pfc_priorities", True), ("pfc_priorities", "3,4"), ("trust", "cos"), ("fec", "ll")],
)
def test_values_that_no_card_takes(name: str, value: str | int) -> None:
    with pytest.raises(ValueError, match=r".+"):
        knobs()[name].value(value)
