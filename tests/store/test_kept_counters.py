"""Watches that are written and read back."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabriscope import store
from fabriscope.model.counters import RANK, Connection, Process, Reading, Watch
from fabriscope.model.errors import StoreError
from fabriscope.model.proof import Observed
from fabriscope.model.switch_series import Counted, PortSeries, SwitchSeries
from fabriscope.store import counters, proofs
from fabriscope.store.checks import check_folder
from fabriscope.store.files import pack

CONNECTION = Connection("10.0.0.1", 5000, "10.0.0.2", 40000, 17, 4, 3, None, 0, RANK, 42, True, 2**63 + 5)
CHANNELS = ("pipe 7 read", "unix 8 to 9")
PROCESS = Process(42, RANK, 0, "app", {"00:19:7 /dev/shm/x": 4096}, ("/dev/infiniband/uverbs0",), ("udp",), CHANNELS)
FIRST = Reading(1, 2, 3, {"eth0": {"rx_bytes": 1, "driver.x": 9}, "eth1": {"rx_bytes": 2**60}}, {"rxe0/1": {"hw.a": 1}})
LAST = Reading(5, 6, 7, {"eth0": {"rx_bytes": 1, "tx_bytes": 8}, "lo": {}}, {}, {"Tcp.X": 1}, (CONNECTION,), (PROCESS,))
WATCH = Watch("a", "boot", {"eth0": ("10.0.0.1",)}, {"eth0": 1500}, (FIRST, LAST), {"rxe0/1": "eth0"}, {"x": "why"})
HEAD = b'{"format":"fabriscope-counters","version":1,"connection_fields":["local_address"]}\n'
DAMAGED = pack(HEAD + b'{"host":"a","addresses":[],"readings":[]}')
WATCHES = {"a": WATCH, "b": replace(WATCH, host="b", readings=())}


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(pack(counters.encode(WATCHES)))
    assert counters.load(path) == Counted(WATCHES)
    assert pack(counters.encode(WATCHES)) == path.read_bytes()


def test_only_what_changed_is_written_again() -> None:
    last = json.loads(counters.encode(WATCHES).split(b"\n")[1])["readings"][1]
    assert last["interfaces"] == {"eth0": {"driver.x": None, "tx_bytes": 8}, "eth1": None, "lo": {}}


def test_fields_of_later_versions_are_left_out() -> None:
    head, line, *_ = counters.encode({"a": WATCH}).split(b"\n")
    later = json.loads(head)
    later["connection_fields"].append("colour")
    told = json.loads(line)
    told["readings"][1]["connections"][0].append("red")
    told["mood"] = "good"
    assert counters.decode(b"\n".join(json.dumps(one).encode() for one in (later, told))) == Counted({"a": WATCH})


@pytest.mark.parametrize("content", [b"", b"no gzip", pack(b"{}"), pack(b'{"format":"x","version":1}'), DAMAGED])
def test_what_is_damaged_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="the counters cannot be read"):
        counters.load(path)


@pytest.mark.parametrize("channel", ["pipe", "pipe x read", "unix 8", "", "pipe 7 read\n", 7])
def test_ends_of_pipes_are_looked_at_before_they_are_believed(channel: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    last = replace(LAST, processes=(replace(PROCESS, channels=(channel,)),))
    path.write_bytes(pack(counters.encode({"a": replace(WATCH, readings=(FIRST, last))})))
    with pytest.raises(
        StoreError, match=r"cannot be read: .*(is no end of a pipe|channels\[0\] is 7, and must be text)"
    ):
        counters.load(path)


def test_counters_from_before_pipes_were_looked_at_are_read() -> None:
    head, line, *_ = counters.encode({"a": WATCH}).split(b"\n")
    told = json.loads(line)
    del told["readings"][1]["processes"][0]["channels"]
    (read,) = counters.decode(b"\n".join((head, json.dumps(told).encode()))).watches.values()
    assert read.readings[1].processes[0].channels == ()


def test_a_launch_keeps_the_counters_of_its_hosts(tmp_path: Path) -> None:
    folder = store.create(tmp_path / "run", {}, "name: x\n")
    assert not folder.has_idle()
    folder.note_idle({"b": WATCHES["b"]})
    folder.append({"launch_id": 1, "block": 1}, counted=Counted(WATCHES))
    folder.append({"launch_id": 2, "block": 1})
    assert folder.has_idle()
    run = folder.read()
    assert [run.watches(record) for record in run.journal] == [WATCHES, {}]
    assert run.idle_watches() == {"b": WATCHES["b"]}
    assert check_folder(folder.path).findings == ()
    (folder.path / "counters" / "launch-0007.json.gz").write_bytes(b"")
    path = folder.path / str(run.journal[0].counters)
    text = gzip.decompress(path.read_bytes())
    path.write_bytes(pack(text.replace(b'"boot"', b'"boots"', 1)))
    folder.end()
    found = {one.file: one.place for one in check_folder(folder.path).findings}
    assert found == {"counters/launch-0001.json.gz": "line 2", "counters/launch-0007.json.gz": ""}
    assert store.open_run(folder.path).read().watches(run.journal[0]) != WATCHES


def test_a_proof_keeps_only_what_changed_and_is_read_back(tmp_path: Path) -> None:
    seen = Observed(("app",), "", ("a", "b"), 1, 2, 0, False, {"b": WATCHES["b"]}, WATCHES)
    proofs.write(tmp_path, seen)
    assert proofs.read(tmp_path) == seen
    assert counters.load(tmp_path / "counters.json.gz") == Counted(WATCHES)
    about = tmp_path / "observed.json"
    about.write_text(about.read_text().replace('"version": 2', '"version": 1'))
    with pytest.raises(StoreError, match="an older fabriscope wrote it"):
        proofs.read(tmp_path)


def test_a_switch_over_time_is_kept_beside_the_hosts_and_an_older_fabriscope_refuses_it_by_its_version(
    tmp_path: Path,
) -> None:
    port = PortSeries("eth", "a", (5, 7), (1, 0), (2, 0), (0, 3), (0, 0), (1, 1), (9, 9), (3, 2), (1, 1))
    switch = SwitchSeries(10, 4, (port,))
    folder = store.create(tmp_path / "run", {}, "name: x\n")
    folder.append({"launch_id": 1, "block": 1}, counted=Counted(WATCHES, switch))
    folder.append({"launch_id": 2, "block": 1}, counted=Counted({}, switch))
    folder.append({"launch_id": 3, "block": 1}, counted=Counted(WATCHES))
    run = folder.read()
    assert [run.watches(record) for record in run.journal] == [WATCHES, {}, WATCHES]
    assert [run.switch_series(record) for record in run.journal] == [switch, switch, None]
    texts = [gzip.decompress((folder.path / str(record.counters)).read_bytes()) for record in run.journal]
    assert [json.loads(text.split(b"\n")[0])["version"] for text in texts] == [3, 3, 1]
    assert check_folder(folder.path).findings == ()
    torn = texts[0].replace(b'"pauses":[1,1]', b'"pauses":[1]')
    with pytest.raises(ValueError, match="pauses of a has 1 of 2 values"):
        counters.decode(torn)
