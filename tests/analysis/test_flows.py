"""What a host's connections moved, when addresses and ports serve several of them at once."""

from __future__ import annotations

from dataclasses import replace

from fabriscope.analysis.proof.flows import flows_of
from fabriscope.model.counters import RANK, Connection, Reading, Watch

ONE = Connection("10.0.0.1", 5000, "10.0.0.2", 6000, 0, 0, role=RANK, cookie=1)


def watch(*readings: tuple[Connection, ...]) -> Watch:
    told = tuple(Reading(at, at, 0, {}, connections=those) for at, those in enumerate(readings))
    return Watch("a", "boot", {"eth0": ("10.0.0.1",)}, {}, told)


def test_one_that_is_kept_closed_beside_its_successor_is_counted_once() -> None:
    old, new = replace(ONE, sent_bytes=900), replace(ONE, cookie=2, sent_bytes=100)
    seen = watch((), (old,), (old, new), (old, replace(new, sent_bytes=300)), (replace(old, is_closed=True), new))
    (flow,) = flows_of(watch((), (old,), (old, new), (old, new), (replace(old, is_closed=True), new)))
    assert (flow.sent_bytes, flow.role, flow.open_count) == (1000, RANK, 1)
    (flow,) = flows_of(replace(seen, readings=seen.readings[:4]))
    assert flow.sent_bytes == 1200


def test_without_the_kernels_name_a_count_that_falls_is_another_connection() -> None:
    one = replace(ONE, cookie=0, sent_bytes=500)
    (flow,) = flows_of(watch((one,), (replace(one, sent_bytes=700),), (replace(one, sent_bytes=40),)))
    assert flow.sent_bytes == 240


def test_what_a_rule_sends_to_a_proxy_of_the_same_host_stays_on_it() -> None:
    """The program's socket names the host that it asked for, the proxy's the program's."""
    program = replace(ONE, sent_bytes=900)
    proxy = replace(ONE, local_address="127.0.0.1", local_port=15001, remote_address="10.0.0.1", remote_port=5000)
    proxy = replace(proxy, received_bytes=895, cookie=2)
    asked, taken = flows_of(watch((), (program, proxy)))
    assert (asked.is_loopback, asked.out_interface, asked.remote) == (True, "lo", ("127.0.0.1", 15001))
    assert taken.is_loopback
    other = replace(proxy, received_bytes=100)
    asked, _ = flows_of(watch((), (program, other)))
    assert (asked.is_loopback, asked.out_interface) == (False, "eth0")


def test_an_address_that_a_route_makes_local_stays_on_the_host() -> None:
    """`ip route add local 10.0.0.9 dev lo`: no interface has it, and its connections have both ends here."""
    client = replace(ONE, remote_address="10.0.0.9", sent_bytes=900)
    server = replace(ONE, local_address="10.0.0.9", local_port=6000, remote_address="10.0.0.1", remote_port=5000)
    flows = flows_of(watch((), (client, replace(server, received_bytes=900, cookie=2))))
    assert [(flow.is_loopback, flow.out_interface) for flow in flows] == [(True, "lo")] * 2


def test_a_port_that_serves_both_hosts_alike_turns_nothing_back() -> None:
    """As ranks of Open MPI in an alltoall: one that listens, another of its host, and one elsewhere, of one volume."""
    afar = Connection("10.0.0.1", 1028, "10.0.0.2", 6000, 900, 900, role=RANK, cookie=1)
    near = replace(ONE, remote_address="10.0.0.1", remote_port=1028, sent_bytes=900, received_bytes=900, cookie=2)
    other = replace(near, local_port=1028, remote_port=5000, cookie=3)
    flows = flows_of(watch((), (afar, near, other)))
    assert [(flow.out_interface, flow.remote) for flow in flows] == [
        ("eth0", ("10.0.0.2", 6000)), ("lo", ("10.0.0.1", 1028)), ("lo", ("10.0.0.1", 5000)),
    ]  # fmt: skip
