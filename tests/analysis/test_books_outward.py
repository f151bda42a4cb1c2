"""What a program tells processes that are not its own, and how far its own host counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from tests.analysis.book_cases import MB, MEMORY, SECOND, TCP, scene, sends, tcp
from tests.analysis.hand_watches import Scene

from fabriscope.analysis.proof.books import balance
from fabriscope.model.counters import (
    BESIDE,
    CONFIDANT,
    JOB,
    OTHER,
    PROVED,
    RANK,
    REFUTED,
    UNDECIDED,
    UNHELD,
    UNSEEN,
    Expectation,
    Process,
    Watch,
)

ANY = Expectation("", "")
LOOPBACK = Expectation("tcp", "lo", {"a": "lo", "b": "lo"})


def program(*done: Callable[[Scene], None]) -> Scene:
    """Return a scene of one program on host a; nothing on host b is its."""
    made = scene(*done)
    made["a"].processes = [Process(100, RANK, None, "app")]
    made["b"].processes = []
    return made


def to_server(size: int, over: str = "eth0") -> Callable[[Scene], None]:
    """Let the program send to a server that ran before."""
    return lambda made: made.tcp("a", "b", size, size // 50, over, there=OTHER)


def of_a(made: Scene) -> Mapping[str, Watch]:
    """Return what is known where host b was not watched."""
    return {"a": made.watches()["a"]}


@pytest.mark.parametrize(("asked", "verdict"), [(TCP, PROVED), (SECOND, REFUTED), (ANY, PROVED)])
def test_what_a_program_tells_a_server_that_ran_before_counts(asked: Expectation, verdict: str) -> None:
    books = balance(program(to_server(40 * MB)).watches(), asked)
    assert books.verdict == verdict
    assert "other processes on b" in books.because


def test_a_decoy_between_its_own_processes_hides_nothing_that_a_server_got() -> None:
    made = program(to_server(40 * MB), tcp(MB, over="eth1"))
    made["b"].processes = [Process(200, RANK, None, "app")]
    books = balance(made.watches(), SECOND)
    assert books.verdict == REFUTED
    assert "other processes on b" in books.because
    assert "4.7 % went over tcp over eth1" in books.because


@pytest.mark.parametrize(("asked", "verdict"), [(TCP, PROVED), (SECOND, REFUTED)])
def test_a_host_that_was_not_watched_is_named_by_its_address(asked: Expectation, verdict: str) -> None:
    mine = {"a": asked.interfaces["a"]}
    books = balance(of_a(program(to_server(40 * MB))), replace(asked, interfaces=mine))
    assert books.verdict == verdict
    assert "10.0.0.2 (not watched)" in books.because


def test_what_ranks_tell_others_past_what_was_asked_for_refutes_it() -> None:
    made = scene(tcp(MB, over="eth1"), to_server(40 * MB))
    books = balance(made.watches(), SECOND)
    assert (books.verdict, books.carried_by) == (REFUTED, "tcp over eth1 and tcp over eth0")
    assert "by tcp over eth0, though not from rank to rank" in books.because


def test_a_copy_in_small_parts_whose_programs_nobody_saw_refutes() -> None:
    made = scene(tcp(10 * MB, over="eth1"))
    for _ in range(20):
        made.tcp("b", "a", 50_000, over="eth0", role=OTHER, there=UNSEEN)
    books = balance(made.watches(), SECOND)
    assert (books.verdict, books.carried_by) == (REFUTED, "tcp over eth1 and tcp over eth0")


def test_what_nobody_saw_between_ranks_is_theirs() -> None:
    made = scene(tcp(10 * MB, over="eth1"))
    made.tcp("a", "b", MB, over="eth0", there=UNSEEN)
    books = balance(made.watches(), SECOND)
    assert books.verdict == REFUTED
    assert books.found_share == pytest.approx(20 / 21, rel=0.01)


@pytest.mark.parametrize(("role", "there"), [(JOB, UNHELD), (JOB, UNSEEN), (UNHELD, UNSEEN), (UNSEEN, UNSEEN)])
def test_what_launchers_told_each_other_is_no_ranks_where_one_of_them_was_not_seen(role: str, there: str) -> None:
    made = program(lambda one: one.tcp("a", "b", 2_700, 100, "eth0", role=role, there=there))
    assert balance(made.watches(), SECOND).verdict == UNDECIDED


def test_what_programs_told_each_other_that_nobody_saw_is_theirs() -> None:
    made = program(lambda one: one.tcp("a", "b", 90_000, 100, "eth0", role=UNHELD, there=UNHELD))
    assert balance(made.watches(), SECOND).verdict == REFUTED


@pytest.mark.parametrize(("asked", "verdict"), [(TCP, PROVED), (SECOND, REFUTED), (ANY, PROVED)])
def test_of_ranks_that_told_others_alone_that_counts(asked: Expectation, verdict: str) -> None:
    books = balance(scene(to_server(40 * MB)).watches(), asked)
    assert books.verdict == verdict
    assert "40.8 MB between the job and other processes on b" in books.because


def test_of_ranks_that_share_memory_what_they_told_others_is_beside() -> None:
    made = scene(to_server(40 * MB))
    made["a"].processes = [Process(pid, RANK, pid - 100, "app", {"0:1 /dev/shm/x": MB}) for pid in (100, 101)]
    books = balance(made.watches(), SECOND)
    assert books.verdict == UNDECIDED
    assert "the job moved 40.8 MB by tcp over eth0" in books.because


@pytest.mark.parametrize("role", [BESIDE, RANK])
def test_what_a_program_or_a_shell_of_the_jobs_sends_out_past_the_memory_refutes_it(role: str) -> None:
    made = program(lambda one: one.tcp("a", "b", MB, 0, "eth0", role=role, there=OTHER))
    made["a"].processes = [Process(pid, RANK, None, "app", {"0:1 /dev/shm/x": MB}) for pid in (100, 101)]
    books = balance(made.watches(), MEMORY)
    assert books.verdict == REFUTED
    assert "the job also moved 1.00 MB by tcp over eth0, to other hosts" in books.because


@pytest.mark.parametrize(("asked", "verdict"), [(TCP, PROVED), (SECOND, REFUTED)])
def test_a_shell_that_opens_the_connection_itself_is_the_program(asked: Expectation, verdict: str) -> None:
    made = program(lambda one: one.tcp("a", "b", 40 * MB, 0, "eth0", role=BESIDE, there=OTHER), tcp(MB, over="eth1"))
    assert balance(made.watches(), asked).verdict == (verdict if asked is SECOND else REFUTED)
    made = program(lambda one: one.tcp("a", "b", 40 * MB, 0, "eth0", role=BESIDE, there=OTHER))
    assert balance(made.watches(), asked).verdict == verdict


def relayed(size: int, over: str) -> Callable[[Scene], None]:
    """Let a proxy of others on host a carry on what it gets."""

    def done(made: Scene) -> None:
        made.tcp("a", "a", size, 0, "lo", there=CONFIDANT)
        made.tcp("a", "b", size, 0, over, role=CONFIDANT, there=OTHER)

    return done


def test_what_a_proxy_on_the_same_host_carries_on_may_be_the_jobs() -> None:
    books = balance(program(relayed(20 * MB, "eth0"), to_server(MB, "eth1")).watches(), SECOND)
    assert books.verdict == UNDECIDED
    assert "others that the job talks to, or may have started, moved 20.0 MB by tcp over eth0" in books.because
    assert balance(program(relayed(20 * MB, "eth1"), to_server(MB, "eth1")).watches(), SECOND).verdict == PROVED
    alone = balance(program(relayed(20 * MB, "eth1")).watches(), SECOND)
    assert (alone.verdict, "moved 20.0 MB by tcp over eth1" in alone.because) == (UNDECIDED, True)


@pytest.mark.parametrize(
    ("asked", "verdict"), [(TCP, PROVED), (SECOND, REFUTED), (LOOPBACK, REFUTED), (MEMORY, REFUTED)]
)
def test_what_leaves_the_host_is_judged_and_refutes_what_was_to_stay(asked: Expectation, verdict: str) -> None:
    made = program(to_server(40 * MB), lambda one: one.tcp("a", "a", 4 * MB, 0, "lo"))
    books = balance(made.watches(), asked)
    assert books.verdict == verdict
    assert ("inside hosts stayed 4.00 MB by connections" in books.because) == (asked is TCP)


def test_a_few_words_to_others_do_not_stand_for_what_stays_inside() -> None:
    made = program(to_server(500), lambda one: one.tcp("a", "a", 4 * MB, 0, "lo"))
    assert balance(made.watches(), TCP).verdict == REFUTED


@pytest.mark.parametrize(("asked", "without"), [(Expectation("tcp", "lo", {"a": "lo"}), PROVED), (MEMORY, REFUTED)])
def test_memory_that_processes_read_from_each_other_leaves_it_open(asked: Expectation, without: str) -> None:
    made = scene(lambda one: one.tcp("a", "a", 4 * MB, 0, "lo"))
    made["a"].processes.append(Process(101, RANK, 1, "app"))
    only = {"a": made.watches()["a"]}
    assert balance(only, asked).verdict == without
    made["a"].protocols["Memory.PinnedBytes"] = 50_000
    assert balance({"a": made.watches()["a"]}, asked).verdict == without
    made["a"].protocols["Memory.PinnedBytes"] = 400 * MB
    books = balance({"a": made.watches()["a"]}, asked)
    assert (books.verdict, "process_vm_readv" in books.because) == (UNDECIDED, True)
    still = scene()
    still["a"].protocols["Memory.PinnedBytes"] = 400 * MB  # devices of this host pin as much without the job
    assert balance({"a": made.watches()["a"]}, asked, {"a": still.watches()["a"]}).verdict == without


def test_what_ranks_of_a_host_write_and_read_beside_their_connections_leaves_it_open() -> None:
    made = scene(lambda one: one.tcp("a", "a", 4 * MB, 0, "lo"))

    def told(written: int, read: int) -> str:
        made["a"].processes = [
            Process(100, RANK, 0, "app", written_bytes=written), Process(101, RANK, 1, "app", read_bytes=read)
        ]  # fmt: skip
        return balance({"a": made.watches()["a"]}, Expectation("tcp", "lo", {"a": "lo"})).verdict

    assert told(0, 0) == PROVED
    assert told(4 * MB, 4 * MB) == PROVED  # by write(2) on the very connection
    assert told(400 * MB, 30_000) == PROVED  # an output that nobody reads
    assert told(400 * MB, 400 * MB) == UNDECIDED


def test_an_address_that_two_had_belongs_to_the_one_that_counted_its_bytes() -> None:
    made = program(to_server(40 * MB, "eth1"))

    def moved() -> Mapping[str, Watch]:
        return {
            name: replace(one, addresses={**one.addresses, "eth0": (*one.addresses["eth0"], *one.addresses["eth1"])})
            for name, one in made.watches().items()
        }

    assert balance(moved(), SECOND).verdict == PROVED
    assert balance(moved(), TCP).verdict == REFUTED
    made.noise(60 * MB, "eth0", 40_000)
    assert balance(moved(), SECOND).verdict == UNDECIDED


def test_what_an_interface_without_an_address_sent_must_have_an_owner() -> None:
    made = program(to_server(MB, "eth1"))
    for host in made.hosts.values():
        host.interfaces["eth2"] = dict.fromkeys(host.interfaces["eth0"], 0)
    made.noise(40 * MB, "eth2", 30_000)
    bare = {name: replace(one, addresses={**one.addresses, "eth2": ()}) for name, one in made.watches().items()}
    books = balance(bare, SECOND)
    assert (books.verdict, "on eth2 of a" in books.because) == (UNDECIDED, True)
    ports = {name: replace(one, lower_interfaces={"lo": ("eth2",)}) for name, one in bare.items()}
    assert balance(ports, SECOND).verdict == PROVED


def test_an_interface_that_was_lost_from_sight_leaves_it_open() -> None:
    made = program(to_server(MB, "eth1"))
    gone = {}
    for name, watch in made.watches().items():
        *before, last = watch.readings
        kept = {key: one for key, one in last.interfaces.items() if key != "eth0"}
        gone[name] = replace(watch, readings=(*before, replace(last, interfaces=kept)))
    books = balance(gone, SECOND)
    assert books.verdict == UNDECIDED
    assert "eth0 of a: it went away" in books.because


def test_an_interface_that_was_made_meanwhile_counts_from_nothing() -> None:
    made = program(to_server(40 * MB))
    late = {}
    for name, watch in made.watches().items():
        first, *after = watch.readings
        known = {key: one for key, one in first.interfaces.items() if key != "eth0"}
        begun = {
            key: {name: size - 1_000_000 for name, size in one.items()} for key, one in after[-1].interfaces.items()
        }
        last = replace(after[-1], interfaces={**after[-1].interfaces, "eth0": begun["eth0"]})
        late[name] = replace(watch, readings=(replace(first, interfaces=known), last))
    assert balance(late, TCP).verdict == PROVED


def test_the_closure_error_is_that_of_what_carried_it() -> None:
    made = program(to_server(40 * MB))
    made.noise(12_000, "eth1", 1)
    books = balance(made.watches(), TCP)
    assert books.closure_error is not None
    assert books.closure_error < 0.001


def test_the_end_of_a_connection_is_no_byte() -> None:
    made = program(lambda one: one.tcp("a", "b", 0, 0, "eth1", there=OTHER))
    for host in made.hosts.values():
        host.connections = [replace(one, received_bytes=1) for one in host.connections]
    assert balance(made.watches(), SECOND).verdict == UNDECIDED


@pytest.mark.parametrize("asked", [TCP, SECOND])
def test_of_connections_of_one_address_each_counts_where_it_truly_went(asked: Expectation) -> None:
    made = program(to_server(30 * MB))
    made.tcp("a", "b", 10 * MB, 0, "eth0", there=OTHER, counted_by="eth1")
    books = balance(made.watches(), asked)
    assert books.verdict == REFUTED
    moved = {(one.host, one.name): one.sent_bytes for one in books.carriers}
    assert (moved["a", "eth0"], moved["a", "eth1"]) == (30 * MB, 10 * MB)
    assert books.closure_error is not None
    assert books.closure_error < 0.001


def test_what_launchers_told_each_other_elsewhere_may_be_output_of_ranks() -> None:
    loud = scene(tcp(9 * MB), tcp(8 * MB, MB // 2, over="eth1", role=JOB)).watches()
    books = balance(loud, TCP)
    assert (books.verdict, "launchers told each other 8.50 MB by tcp over eth1" in books.because) == (UNDECIDED, True)
    assert balance(loud, SECOND).verdict == REFUTED
    assert balance(loud, sends(TCP, 9 * MB, messages=9)).verdict == PROVED
    same = scene(tcp(9 * MB), tcp(8 * MB, MB // 2, role=JOB)).watches()
    quiet = scene(tcp(9 * MB), tcp(50_000, over="eth1", role=JOB)).watches()
    assert [balance(watches, TCP).verdict for watches in (same, quiet)] == [PROVED, PROVED]
