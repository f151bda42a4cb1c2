"""The inventory: what differs between hosts that should be alike, what changed, and what it prints."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabriscope.audit import inventory
from fabriscope.audit.inventory import Change, Inventory
from fabriscope.cli import _inventory_text
from fabriscope.cli import inventory as command
from fabriscope.model.errors import StoreError
from fabriscope.model.host import Fact, HostFacts


def host(mtu: int | None = 9000, model: str = "EPYC", **more: str | int | bool) -> HostFacts:
    known = {"cpu_model": model, "interface_eth0_driver": "mlx5_core", "interface_eth0_mac": "02:00", **more}
    facts = [Fact(name.replace("_", ".", 1).replace("eth0_", "eth0."), value) for name, value in known.items()]
    return HostFacts((*facts, Fact("interface.eth0.mtu_bytes", mtu, None if mtu else "not there")))


def test_one_host_that_differs_is_odd() -> None:
    hosts = {f"node{at}": host(1500 if at == 15 else 9000) for at in range(1, 17)}
    (spread,) = Inventory(hosts).differing
    assert (spread.fact, spread.usual.value, [one.value for one in spread.odd]) == (
        "interface.eth0.mtu_bytes",
        9000,
        [1500],
    )
    assert list(spread.odd[0].hosts) == ["node15"]


def test_hosts_of_another_kind_are_not_compared() -> None:
    known = Inventory({"a": host(), "b": host(), "head": host(1500, model="Xeon")})
    assert known.kinds == [["a", "b"], ["head"]]
    assert known.differing == []


def test_what_is_each_host_s_own_does_not_differ() -> None:
    assert not Inventory({"a": host(interface_eth0_mac="02:01"), "b": host(interface_eth0_mac="02:02")}).differing


def test_yes_and_1_are_two_values_and_unknown_is_one() -> None:
    hosts = {"a": host(None, x_y=True), "b": host(None, x_y=1), "c": host(9000, x_y=1)}
    by_name = {one.fact: one for one in Inventory(hosts).differing}
    assert [(one.value, list(one.hosts)) for one in by_name["x.y"].values] == [(1, ["b", "c"]), (True, ["a"])]
    assert [one.value for one in by_name["interface.eth0.mtu_bytes"].values] == [9000, None]


def test_text_names_the_odd_hosts_as_a_list() -> None:
    text = _inventory_text.as_text(
        Inventory({f"n{at}": host(1500 if at == 2 else 9000) for at in (1, 2, 3)}), None, is_whole=False
    )
    lines = [line.split() for line in text.splitlines()]
    assert ["eth0.mtu_bytes", "9000", "(n[1,3])"] in [line[-3:] for line in lines]
    assert ["!", "1500", "(n2)"] in lines
    assert "1 fact differs" in text


def test_csv_and_markdown_have_a_column_for_each_host() -> None:
    known = Inventory({"a": host(), "b": host(1500), "c": host(text_cell="=1+1|x")})
    rows = list(csv.reader(io.StringIO(_inventory_text.as_csv(known))))
    assert rows[0] == ["fact", "a", "b", "c", "differing"]
    assert ["interface.eth0.mtu_bytes", "9000", "1500", "9000", "b"] in rows
    assert ["text.cell", "", "", "'=1+1|x", "a,b"] in rows
    markdown = _inventory_text.as_markdown(known, [Change("a", "x", 1, None)])
    assert "| interface.eth0.mtu\\_bytes | 9000 | **1500** | 9000 |" in markdown
    assert "=1+1\\|x" in markdown
    assert "| a | x | 1 | unknown |" in markdown


def test_changes_against_a_file_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "inventory.json"
    path.write_text(_inventory_text.as_json(Inventory({"a": host(9000, load_mean=1), "gone": host()}), None, {}))
    found = inventory.changes(_inventory_text.earlier(path), {"a": host(1500, load_mean=2), "new": host()})
    assert found == [Change("a", "interface.eth0.mtu_bytes", 9000, 1500)]


@pytest.mark.parametrize("text", ["", "[]", '{"hosts": {"a": {"x": {"value": []}}}}', '{"hosts": {"a": 1}}', "\x00"])
def test_a_file_that_is_no_inventory_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "inventory.json"
    path.write_text(text)
    with pytest.raises(StoreError):
        _inventory_text.earlier(path)


def test_what_tells_of_no_host_is_nothing_to_compare_with(tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text('{"hosts": {}}')
    with pytest.raises(StoreError, match="it tells of no host"):
        _inventory_text.earlier(tmp_path / "none.json")


def test_this_machine_as_json() -> None:
    done = CliRunner().invoke(command.COMMAND, ["--format", "json"])
    assert done.exit_code == 0, done.output
    (known,) = json.loads(done.stdout)["hosts"].values()
    assert known["kernel.release"]["value"]
    assert all((one["value"] is None) == (one["unknown_because"] is not None) for one in known.values())


def test_contradicting_options_are_refused() -> None:
    done = CliRunner().invoke(command.COMMAND, ["plan.yaml", "--hosts", "a"])
    assert done.exit_code == 2
