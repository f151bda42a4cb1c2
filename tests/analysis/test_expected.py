"""What `--expect` means on hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from fabriscope.analysis.proof.expected import meant
from fabriscope.model.counters import Reading, Watch
from fabriscope.model.errors import HostError


def watch(host: str, addresses: Mapping[str, str], rdma: Mapping[str, str] | None = None) -> Watch:
    """Return a host with interfaces and their addresses; `rdma` is port to interface, empty for InfiniBand."""
    ports = rdma or {}
    reading = Reading(0, 0, 0, {name: {} for name in addresses}, {port: {} for port in ports})
    over = {port: name for port, name in ports.items() if name}
    return Watch(host, "boot", {name: (one,) for name, one in addresses.items()}, {}, (reading,), over)


ETH = {"lo": "127.0.0.1", "eth0": "10.0.0.{}", "eth1": "10.1.0.{}"}
PORTS = {"rxe0/1": "eth1", "mlx5_0/1": "", "siw0/1": "eth0"}


@pytest.fixture
def hosts() -> dict[str, Watch]:
    return {
        name: watch(name, {one: text.format(number) for one, text in ETH.items()}, PORTS)
        for number, name in enumerate(("a", "b"), 1)
    }


def said(text: str, hosts: Mapping[str, Watch], fabrics: Mapping[str, str] | None = None) -> Sequence[str]:
    found = meant(text, hosts, fabrics)
    for one in found:
        assert all(set(places) <= set(hosts) for places in (one.interfaces, one.rdma_ports))
    return [" ".join([one.transport, *one.interfaces.values(), *one.rdma_ports.values()]) for one in found]


@pytest.mark.parametrize(
    ("text", "expectations"),
    [
        ("eth0", ["tcp eth0 eth0", "iwarp eth0 eth0 siw0/1 siw0/1"]),
        ("tcp:eth0", ["tcp eth0 eth0"]),
        ("slow", ["tcp eth1 eth1", "roce eth1 eth1 rxe0/1 rxe0/1"]),
        ("10.1.0.0/24", ["tcp eth1 eth1", "roce eth1 eth1 rxe0/1 rxe0/1"]),
        ("tcp:10.1.0.0/16", ["tcp eth1 eth1"]),
        ("rxe0", ["roce eth1 eth1 rxe0/1 rxe0/1"]),
        ("rxe0/1", ["roce eth1 eth1 rxe0/1 rxe0/1"]),
        ("mlx5_0", ["ib mlx5_0/1 mlx5_0/1"]),
        ("ib:mlx5_0", ["ib mlx5_0/1 mlx5_0/1"]),
        ("ib", ["ib"]),
        ("roce", ["roce"]),
        ("tcp", ["tcp"]),
        ("shm", ["shm"]),
        ("", [""]),
    ],
)
def test_names_networks_and_transports(hosts: dict[str, Watch], text: str, expectations: Sequence[str]) -> None:
    assert said(text, hosts, {"slow": "eth1"}) == expectations


def test_interfaces_may_differ_from_host_to_host(hosts: dict[str, Watch]) -> None:
    hosts["b"] = watch("b", {"ens3": "10.0.0.2"})
    (one,) = meant("10.0.0.0/24", hosts)
    assert one.interfaces == {"a": "eth0", "b": "ens3"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("eth7", "there is no interface, RDMA device, network or transport 'eth7' -- known: lo, eth0, eth1"),
        ("192.168.0.0/24", "host a: it has no address in 192.168.0.0/24"),
        ("ib:eth0", "nothing on a, b is what --expect ib:eth0 says"),
        ("10.1.0.0/99", "there is no interface, RDMA device, network or transport '10.1.0.0/99'"),
    ],
)
def test_what_the_hosts_lack_is_refused_in_one_sentence(hosts: dict[str, Watch], text: str, message: str) -> None:
    with pytest.raises(HostError) as error:
        meant(text, hosts)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_host_that_lacks_it_is_named(hosts: dict[str, Watch]) -> None:
    hosts["b"] = watch("b", {"eth0": "10.0.0.2"})
    with pytest.raises(HostError, match="host b: it has no 'eth1', which others have"):
        meant("eth1", hosts)
    with pytest.raises(HostError, match="no RDMA device of a, b speaks roce"):
        meant("roce", {"a": watch("a", ETH), "b": watch("b", ETH)})


def test_an_interface_without_an_address_is_not_what_connections_go_by(hosts: dict[str, Watch]) -> None:
    bare = {
        name: replace(one, addresses={**one.addresses, "eth0": (), "br0": ("10.9.0.1",)}) for name, one in hosts.items()
    }
    with pytest.raises(HostError, match=r"host a: its eth0 has no address; .* -- name one of eth1, br0"):
        meant("eth0", bare)
    assert said("eth1", bare)
