"""Which RDMA device, port and GID stand for an interface: on recorded readings, of guests and of made-up hardware."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fabriscope.hosts import rdma
from fabriscope.hosts.access import Output, Reading
from fabriscope.hosts.facts.rdma import FACTS
from fabriscope.model.errors import HostError
from fabriscope.model.fabric import RdmaPort

RECORDED = Path(__file__).parent / "data" / "rxe_and_siw.json"
LINK_LOCAL = "fe80:0000:0000:0000:00fa:b5ff:fe0a:0000"
GLOBAL = "2001:0db8:0000:0000:0000:0000:0000:0001"
IPV4 = "0000:0000:0000:0000:0000:ffff:0a0a:0001"


def recorded() -> Reading:
    """Return what a guest with rxe0 on eth0 and siw1 on eth1 said."""
    raw = json.loads(RECORDED.read_text())
    return Reading(**{**raw, "outputs": {key: Output(**one) for key, one in raw["outputs"].items()}})


def hardware(*table: tuple[str, str, str], link_layer: str = "Ethernet", state: str = "4: ACTIVE") -> Reading:
    """Return a card of one port with a table of GID, type and interface."""
    folder = f"{rdma.DEVICES}/mlx5_0/ports/1"
    files = {f"{folder}/state": f"{state}\n", f"{folder}/link_layer": f"{link_layer}\n"}
    for index, (gid, kind, interface) in enumerate(table):
        files[f"{folder}/gids/{index}"] = f"{gid}\n"
        files[f"{folder}/gid_attrs/types/{index}"] = f"{kind}\n"
        files[f"{folder}/gid_attrs/ndevs/{index}"] = f"{interface}\n"
    return Reading(files=files)


def test_soft_roce_takes_the_ipv4_address() -> None:
    chosen = rdma.choose(recorded(), "eth0", "roce", 1500)
    assert replace(chosen, chosen_because="") == RdmaPort("rxe0", 1, 1, IPV4, "RoCE v2", 1024)
    assert chosen.chosen_because == (
        f"rxe0 port 1 is over eth0; GID 1 is RoCE v2, 10.10.0.1, preferred to 0 (RoCE v2, {LINK_LOCAL})"
    )


def test_iwarp_has_no_gid_to_choose() -> None:
    chosen = rdma.choose(recorded(), "eth1", "iwarp", 1500)
    assert (chosen.device, chosen.hca_port, chosen.gid_index, chosen.mtu_bytes) == ("siw1", 1, None, None)


@pytest.mark.parametrize(
    ("table", "index"),
    [
        ([(IPV4, "IB/RoCE v1", "eth0"), (LINK_LOCAL, "RoCE v2", "eth0")], 1),
        ([(LINK_LOCAL, "RoCE v2", "eth0"), (GLOBAL, "RoCE v2", "eth0"), (IPV4, "RoCE v2", "eth0")], 2),
        ([(LINK_LOCAL, "RoCE v2", "eth0"), (GLOBAL, "RoCE v2", "eth0")], 1),
        ([(IPV4, "IB/RoCE v1", "eth0"), (IPV4, "RoCE v2", "eth1"), (IPV4, "RoCE v2", "eth0")], 2),
        ([("0000:" * 7 + "0000", "", ""), (LINK_LOCAL, "IB/RoCE v1", "eth0")], 1),
    ],
)
def test_the_order_of_preference(table: list[tuple[str, str, str]], index: int) -> None:
    assert rdma.choose(hardware(*table), "eth0", "roce").gid_index == index


def test_an_active_port_goes_first() -> None:
    down, up = hardware((IPV4, "RoCE v2", "eth0"), state="1: DOWN"), hardware((IPV4, "RoCE v2", "eth0"))
    second = {path.replace("mlx5_0", "mlx5_1"): text for path, text in up.files.items()}
    assert rdma.choose(Reading(files={**down.files, **second}), "eth0", "roce").device == "mlx5_1"


@pytest.mark.parametrize(("mtu_bytes", "payload_bytes"), [(9000, 4096), (4200, 4096), (1500, 1024), (300, None)])
def test_the_payload_fits_the_mtu(mtu_bytes: int, payload_bytes: int | None) -> None:
    assert rdma.choose(recorded(), "eth0", "roce", mtu_bytes).mtu_bytes == payload_bytes


def test_what_cannot_be_chosen_is_refused_in_one_sentence() -> None:
    with pytest.raises(HostError, match=r"no RDMA device over eth1 speaks roce \(devices: rxe0, siw1\)"):
        rdma.choose(recorded(), "eth1", "roce")
    with pytest.raises(HostError, match=r"\(devices: none\) -- `fabriscope fabric up soft-roce --interface eth0`"):
        rdma.choose(Reading(), "eth0", "roce")


def test_facts_tell_addresses_and_counters() -> None:
    known = {fact.name: fact.value for fact in FACTS.facts(recorded())}
    assert known["rdma.hcas"] == "rxe0 siw1"
    assert known["rdma.rxe0.1.interface"] == "eth0"
    assert known["rdma.rxe0.1.gid.1"] == f"{IPV4} RoCE v2 10.10.0.1 eth0"
    assert known["rdma.rxe0.1.counter.out_of_seq_request"] == 0
    assert "rdma.siw1.1.counter.sent_pkts" not in known
    assert known["rdma.siw1.node_type"] == "4: RNIC"
