"""What the books do not see, or cannot place, decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.analysis.book_cases import (
    HARD_ROCE,
    INFINIBAND,
    MB,
    MEMORY,
    SECOND,
    TCP,
    hard,
    inside,
    on_one,
    scene,
    sends,
    tcp,
)
from tests.analysis.hand_watches import HARD, Scene

from fabriscope.analysis.proof.books import balance
from fabriscope.analysis.proof.transport import BADGES
from fabriscope.model.counters import OTHER, PROVED, REFUTED, UNDECIDED, Books, Expectation, Watch

EFA = "efa_0/1"


def uncounted(made: Scene, port: str = EFA, device: str = "/dev/infiniband/uverbs0") -> Scene:
    """Give every host a device whose driver counts no data, and let the ranks have it open."""
    for host in made.hosts.values():
        host.rdma[port] = {"hw.lifespan": 12}
    made.opens(device)
    return made


def judged(made: Scene, *asked: object) -> Books:
    books = balance(made.watches(), *asked)  # type: ignore[arg-type]
    assert books.verdict in BADGES
    return books


def test_a_port_that_counts_no_data_is_not_one_that_moved_none() -> None:
    words = "efa_0/1 of a has no counters of data, and a rank has /dev/infiniband/uverbs0 open"
    for asked in (TCP, sends(TCP, 100 * MB), sends(HARD_ROCE, 100 * MB)):
        size = 2_000 if asked.payload_bytes is None else 90 * MB
        made = uncounted(scene(tcp(size, size), hard(0)))
        books = judged(made, asked)
        assert (books.verdict, books.because) == (UNDECIDED, words) or asked.payload_bytes is not None
        assert books.verdict == UNDECIDED
    memory = uncounted(on_one(lambda one: one.shares()))
    assert judged(memory, inside(MEMORY, 100 * MB)).because == words


def test_what_is_found_to_the_byte_over_tcp_needs_no_counter_of_rdma() -> None:
    assert judged(uncounted(scene(tcp(100 * MB))), sends(TCP, 100 * MB)).verdict == PROVED


def test_a_device_without_any_port_counts_nothing_either() -> None:
    made = scene(tcp(2_000))
    made.opens("/dev/cxi0")
    assert "/dev/cxi0 of a has no counters of data" in judged(made, TCP).because


def test_what_no_rank_has_open_hides_nothing_and_siw_is_the_kernels() -> None:
    made = scene(tcp(100 * MB))
    for host in made.hosts.values():
        host.rdma[EFA] = {}
    assert judged(made, TCP).verdict == PROVED
    siw = uncounted(scene(tcp(100 * MB)), "siw0/1")
    assert judged(siw, TCP).verdict == PROVED


BY_DRIVER = {  # names from the drivers' source (tests/hosts/data/infiniband/README.md); no such device was at hand
    "bnxt_re": ("bnxt_re0/1", "roce", ("hw.tx_bytes", "hw.rx_bytes")),
    "bnxt_re, newer chips": ("bnxt_re0/1", "roce", ("hw.tx_roce_only_bytes", "hw.rx_roce_only_bytes")),
    "irdma": ("rocep65s0f0/1", "roce", ("hw.ip4OutOctets", "hw.ip4InOctets")),
    "irdma, IPv6": ("rocep65s0f0/1", "roce", ("hw.ip6OutOctets", "hw.ip6InOctets")),
    "i40iw": ("i40iw0/1", "iwarp", ("hw.ip4OutOctets", "hw.ip4InOctets")),
}


@pytest.mark.parametrize("driver", BY_DRIVER)
def test_what_a_driver_counts_under_its_own_names_is_what_its_port_moved(driver: str) -> None:
    port, transport, names = BY_DRIVER[driver]
    first = BY_DRIVER["bnxt_re" if driver.startswith("bnxt_re") else "irdma"][2]  # the device has these in any case
    asked = Expectation(transport, "rocky", TCP.interfaces, {"a": port, "b": port})

    def moved(size: int) -> Scene:
        made = scene()
        made.driver_counted("a", "b", 0, port, first)
        made.driver_counted("b", "a", 0, port, first)
        made.driver_counted("a", "b", size, port, names)
        made.driver_counted("b", "a", size, port, names)
        made.opens()
        return made

    for payload in (asked, sends(asked, 100 * MB)):
        books = judged(moved(100 * MB), payload)
        assert (books.verdict, books.carried_by) == (PROVED, f"{transport} over {port}")
    assert judged(moved(100 * MB), TCP).carried_by == f"RDMA over {port}"
    still = moved(0)
    still.tcp("a", "b", 100 * MB, 100 * MB)
    books = judged(still, asked)
    assert (books.verdict, books.carried_by) == (REFUTED, "tcp over eth0")


def test_a_drivers_counter_that_went_back_decides_nothing() -> None:
    port, transport, names = BY_DRIVER["bnxt_re"]
    made = scene()
    made.driver_counted("a", "b", 100 * MB, port, names)
    made.opens()
    made["b"].rdma[port][names[0]] = -1
    books = judged(made, Expectation(transport, "rocky", TCP.interfaces, {"a": port, "b": port}))
    assert books.verdict == UNDECIDED
    assert "bnxt_re0/1 of b: its counters went back" in books.because


def test_a_port_that_went_away_leaves_it_open() -> None:
    made = scene(tcp(100 * MB), hard(0))
    made.idle_port(HARD)
    made.opens()
    watches = dict(made.watches())
    last = watches["b"].readings[-1]
    watches["b"] = replace(watches["b"], readings=(watches["b"].readings[0], replace(last, rdma={})))
    books = balance(watches, TCP)
    assert books.verdict == UNDECIDED
    assert "/dev/infiniband/uverbs0" in books.because


def test_others_use_of_a_port_is_no_alibi_for_the_jobs_own_connections() -> None:
    made = scene(tcp(100 * MB), hard(400 * MB))
    made.opens()
    books = judged(made, sends(HARD_ROCE, 100 * MB, messages=1_000))
    assert books.verdict == UNDECIDED
    assert "as well" in books.because


def test_what_a_port_sent_must_have_come_in_at_the_job() -> None:
    made = scene(hard(10 * MB))
    made.opens()
    assert judged(made, HARD_ROCE).verdict == PROVED
    made["a"].rdma[HARD]["port_xmit_data"] += 100 * MB // 4
    books = judged(made, HARD_ROCE)
    assert books.verdict == UNDECIDED
    assert "not all of it stayed between these hosts" in books.because


def test_ip_over_infiniband_is_no_rdma() -> None:
    made = scene()
    for host in made.hosts.values():
        host.interfaces["ib7"] = dict.fromkeys(host.interfaces["eth0"], 0)
        host.rdma["mlx5_9/1"] = dict.fromkeys(("port_xmit_data", "port_rcv_data"), 0)
    made.opens()
    made.tcp("a", "b", 100 * MB, 100 * MB, over="ib7")
    for host in made.hosts.values():
        for name, way in (("port_xmit_data", "tx"), ("port_rcv_data", "rx")):
            host.rdma["mlx5_9/1"][name] = host.interfaces["ib7"][f"{way}_bytes"] // 4
    asked = replace(INFINIBAND, rdma_ports={"a": "mlx5_9/1", "b": "mlx5_9/1"})
    books = judged(made, asked)
    assert (books.verdict, books.carried_by) == (REFUTED, "tcp over ib7")


def test_tcp_that_its_interface_did_not_count_is_not_proved() -> None:
    made = scene(tcp(100 * MB))
    assert judged(made, sends(TCP, 100 * MB)).verdict == PROVED
    for name in ("a", "b"):
        made[name].interfaces["eth0"] = dict.fromkeys(made[name].interfaces["eth0"], 60 * MB)
    books = judged(made, sends(TCP, 100 * MB))
    assert books.verdict == UNDECIDED
    assert "less than its connections carried (100 MB)" in books.because


def test_what_was_sent_again_may_have_been_dropped_before_it_was_counted() -> None:
    made = scene(lambda one: one.tcp("a", "b", 10 * MB, 10 * MB, again=3 * MB))
    made["a"].count("eth0", "tx", -3 * MB, 0)
    assert judged(made, sends(TCP, 10 * MB)).verdict == PROVED


@pytest.mark.parametrize("device", ["/dev/nvidia0", "/dev/kfd", "/dev/dri/renderD128"])
def test_links_between_graphics_cards_are_not_memory(device: str) -> None:
    made = on_one(lambda one: one.shares())
    assert {judged(made, asked).verdict for asked in (MEMORY, inside(MEMORY, 100 * MB))} == {PROVED}
    made.opens(device)
    for asked in (MEMORY, inside(MEMORY, 100 * MB)):
        books = judged(made, asked)
        assert books.verdict == UNDECIDED
        assert f"a rank on a has {device} open" in books.because


def test_an_rdma_device_may_carry_what_stays_on_a_host_unless_ranks_share_memory() -> None:
    made = on_one()
    made.idle_port(HARD)
    made.opens()
    assert judged(made, inside(MEMORY, 100 * MB)).verdict == UNDECIDED
    made.shares()
    assert judged(made, inside(MEMORY, 100 * MB)).verdict == PROVED


def moved_address(made: Scene) -> Mapping[str, Watch]:
    """Return the watches of hosts whose addresses of eth1 stand on loopback."""
    found = {}
    for name, watch in made.watches().items():
        addresses = {**watch.addresses, "lo": ("127.0.0.1", *watch.addresses["eth1"]), "eth1": ()}
        found[name] = replace(watch, addresses=addresses)
    return found


@pytest.mark.parametrize("asked", [TCP, sends(TCP, 100 * MB)])
def test_an_address_on_loopback_belongs_to_the_one_interface_that_counted_its_bytes(asked: object) -> None:
    made = scene(lambda one: one.tcp("a", "b", 100 * MB, 100 * MB, over="eth1", counted_by="eth0"))
    books = balance(moved_address(made), asked)  # type: ignore[arg-type]
    assert (books.verdict, books.carried_by) == (PROVED, "tcp over eth0")
    made.noise(300 * MB, "eth1", 200_000)  # then it may have been either
    books = balance(moved_address(made), asked)  # type: ignore[arg-type]
    assert books.verdict == UNDECIDED
    assert "over lo" not in books.because


@pytest.mark.parametrize("asked", [TCP, sends(TCP, 100 * MB)])
def test_a_vlan_over_the_interface_does_not_refute_it(asked: object) -> None:
    made = scene()
    for host in made.hosts.values():
        host.interfaces["eth0.7"] = dict.fromkeys(host.interfaces["eth0"], 0)
    made.tcp("a", "b", 100 * MB, 100 * MB, over="eth0.7")
    for host in made.hosts.values():
        host.interfaces["eth0"] = dict(host.interfaces["eth0.7"])
    books = judged(made, asked)
    assert books.verdict == UNDECIDED, books
    assert "eth0.7" in books.because


def test_others_connections_do_not_hide_what_the_interface_lacks() -> None:
    made = scene(tcp(10 * MB), lambda one: one.tcp("a", "b", 100 * MB, 100 * MB, role=OTHER))
    assert judged(made, sends(TCP, 10 * MB)).verdict == PROVED
    for name in ("a", "b"):
        for way in ("tx", "rx"):
            made[name].count("eth0", way, -17 * MB, 0)
    assert judged(made, sends(TCP, 10 * MB)).verdict == UNDECIDED


def with_udp(made: Scene, size: int = 50 * MB, over: str = "eth0", each: int = 1400) -> Scene:
    """Let ranks have UDP sockets, and so much go by datagrams."""
    made.udp("a", "b", size, over, each)
    made.has_udp()
    return made


@pytest.mark.parametrize("over", ["eth0", "eth1"])
@pytest.mark.parametrize("each", [10, 1400, 60_000])
def test_datagrams_of_a_rank_are_no_bytes_of_its_connections(over: str, each: int) -> None:
    made = with_udp(scene(tcp(100 * MB)), over=over, each=each)
    books = judged(made, TCP)
    assert books.verdict == UNDECIDED
    assert "a rank on a had a UDP socket (it was not looked at who else had such sockets), and up to " in books.because


@pytest.mark.parametrize("over", ["eth0", "eth1"])
def test_bytes_without_an_owner_leave_it_open_and_are_named(over: str) -> None:
    made = scene(tcp(100 * MB))
    made.udp("a", "b", 50 * MB, over)
    books = judged(made, TCP)
    assert books.verdict == UNDECIDED
    assert f"MB on {over} of a" in books.because
    assert "have no known owner" in books.because


def test_few_bytes_without_an_owner_leave_the_jobs_verdict() -> None:
    made = scene(tcp(100 * MB))
    made.udp("a", "b", MB, "eth1")
    assert judged(made, TCP).verdict == PROVED


def test_a_decoy_does_not_prove_what_went_elsewhere_unseen() -> None:
    made = scene(tcp(MB, over="eth1"))
    made.noise(40 * MB, "eth0", 30_000)
    assert judged(made, SECOND).verdict == UNDECIDED


def test_what_an_interface_above_counted_has_an_owner() -> None:
    made = scene(tcp(100 * MB))
    made.noise(100 * MB, "eth1", 70_000)
    assert judged(made, TCP).verdict == UNDECIDED
    nested = {name: replace(watch, lower_interfaces={"eth0": ("eth1",)}) for name, watch in made.watches().items()}
    assert balance(nested, TCP).verdict == PROVED


@pytest.mark.parametrize(("lacks", "verdict"), [(20, PROVED), (0, UNDECIDED)])
def test_what_came_past_an_upper_interface_is_its_connections(lacks: int, verdict: str) -> None:
    """A host answered for a macvlan's address by its parent's hardware address: the parent alone counted that."""
    made = scene(tcp(100 * MB, 0))
    for name, way in (("a", "tx"), ("b", "rx")):
        size = made[name].interfaces["eth0"][f"{way}_bytes"]
        made[name].count("eth1", way, size + (20 - lacks) * MB, 70_000)
    made["b"].count("eth0", "rx", -lacks * MB, -lacks * MB // 1448)
    nested = {name: replace(watch, lower_interfaces={"eth0": ("eth1",)}) for name, watch in made.watches().items()}
    books = balance(nested, TCP)
    assert books.verdict == verdict, books.because
    assert books.closure_error is not None
    assert books.closure_error < 0.02


def test_two_names_of_one_file_are_one_memory() -> None:
    made = on_one(lambda one: one.tcp("a", "a", 4 * MB, 0, "eth0"))
    host = made["a"]
    host.processes = [
        replace(one, shared_mappings={f"fe:01:77 /tmp/name{number}": 1 << 22})
        for number, one in enumerate(host.processes)
    ]
    books = judged(made, Expectation("tcp", "", {"a": "lo"}))
    assert books.verdict == UNDECIDED
    assert "the ranks share memory (" in books.because
    assert judged(made, MEMORY).verdict != REFUTED


@pytest.mark.parametrize("name", ["/srv/gds", "/home/pmix/seg", "/srv/psm2_shm.dstore-host", "/srv/pmix_dstor"])
def test_a_name_does_not_hide_memory(name: str) -> None:
    made = on_one(lambda one: one.shares(f"0:25:77 {name}"))
    assert judged(made, MEMORY).verdict == PROVED


def test_what_stayed_inside_hosts_is_said() -> None:
    made = scene(tcp(40 * MB))
    for host in made.hosts.values():
        made.second_rank(host.name)
        host.processes = [replace(one, shared_mappings={f"0:{host.number}:7 /dev/shm/x": MB}) for one in host.processes]
    books = judged(made, TCP)
    assert books.verdict == PROVED
    assert "inside hosts stayed an unknown amount" in books.because


def test_every_interface_that_carried_is_named() -> None:
    made = scene(tcp(50 * MB), tcp(50 * MB, over="eth1"))
    assert judged(made, Expectation("tcp", "")).carried_by == "tcp over eth0 and eth1"


def test_nearly_all_is_not_all() -> None:
    books = judged(scene(tcp(985 * MB // 10), tcp(15 * MB // 10, over="eth1")), TCP)
    assert books.verdict == PROVED
    assert "98.5 %" in books.because


def test_a_rank_that_has_a_udp_socket_and_sends_nothing_by_it_is_judged() -> None:
    made = scene(tcp(100 * MB))
    made.has_udp()
    assert judged(made, TCP).verdict == PROVED


def test_a_known_payload_that_tcp_carried_needs_no_counter_of_datagrams() -> None:
    assert judged(with_udp(scene(tcp(100 * MB))), sends(TCP, 100 * MB)).verdict == PROVED


def test_what_tcp_carried_elsewhere_refutes_whatever_went_by_datagrams() -> None:
    books = judged(with_udp(scene(tcp(100 * MB, over="eth1"))), TCP)
    assert (books.verdict, books.carried_by) == (REFUTED, "tcp over eth1")


def test_memory_is_not_all_where_datagrams_went_too() -> None:
    shared = with_udp(scene(lambda one: one.shares(), one_kernel=True))
    books = judged(shared, TCP)
    assert books.verdict == UNDECIDED
    assert "UDP socket" in books.because
    one_host = on_one(lambda one: one.shares())
    one_host.udp("a", "a", 50 * MB, "lo")
    one_host.has_udp()
    for asked in (MEMORY, inside(MEMORY, 100 * MB)):
        assert judged(one_host, asked).verdict == UNDECIDED


def test_a_job_of_datagrams_alone_is_undecided_and_says_so() -> None:
    books = judged(with_udp(scene()), TCP)
    assert books.verdict == UNDECIDED
    assert "a rank on a had a UDP socket" in books.because
    other = judged(with_udp(scene(), over="eth1"), TCP)
    assert other.verdict == UNDECIDED
    assert "a rank on a had a UDP socket" in other.because


def test_memory_is_proved_beside_little_that_has_no_owner() -> None:
    made = on_one(lambda one: one.shares())
    made.noise(50_000, "eth0")
    assert judged(made, MEMORY).verdict == PROVED
    made.noise(MB, "eth0")
    assert judged(made, MEMORY).verdict == UNDECIDED
