"""Measures rate, delay and buffer of emulated fabrics back, without asking the switch, and compares with the model.

All hosts of a lab share one clock and the kernel stamps what leaves and what arrives, so one-way times are measured
directly. From ping-pongs, what the hosts themselves take is taken off: the same ping-pong of one byte, in turn, over a
switch without rate and delay. UDP alone is used, each datagram one frame: TCP's acknowledgements would share the wire
with the data, which is physics, but no test of the switch.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from fabriscope.lab import wire_model
from fabriscope.lab._disturbances import Others, lateness
from fabriscope.lab.lab import Lab, up
from fabriscope.model.errors import LabError
from fabriscope.model.foreign import decode_json
from fabriscope.model.host import Host
from fabriscope.model.lab import LabSpec, SwitchSpec

MESSAGE_SIZES_BYTES = (1, 64, 256, 1024, 1472, 4096, 16384, 65536, 262144, 1048576)
LONE_PAYLOADS_BYTES = (18, 470, 982, 1472)
TOLERANCE = 0.02
TOLERANCE_NS = 5_000
BUFFER_TOLERANCE = 0.05
BUFFER_TOLERANCE_FRAMES = 2

_HOSTS = ("a", "b", "c")
_OPEN = "open"
_FULL_PAYLOAD_BYTES = wire_model.MAX_PAYLOAD_BYTES
_LONE_COUNT = 80
_LONE_GAP_S = 0.001
_TRAIN_FRAMES = 100
_TRAIN_SKIPPED = 40
_TRAIN_COUNT = 15
_BURST_COUNT = 12
_OVERFILL = 1.2
_FRAMES_PER_PART = 40
_OWN_COUNT = 20
_PASSES = 4
_PASS_S = 0.1
_PROBE_TIMEOUT_S = 60.0
_END_PATIENCE_S = 5.0
_PROBE = Path(__file__).with_name("_probe.py")


@dataclass(frozen=True)
class Check:
    """One quantity, as it was asked for and as it was measured."""

    fabric: str
    quantity: str
    unit: str
    """`ns`, `bits_per_s` or `bytes`."""
    asked: float
    got: float | None
    """None when nothing could be measured."""
    tolerance: float
    """Largest difference that passes."""
    sample_count: int
    shortest_ns: float | None = None
    """The shortest time of any sample, from the kernel's time stamps; None where nothing was timed directly."""
    least_possible_ns: float | None = None
    """What wires and delay alone take of that time: a busy machine makes it longer, and nothing makes it shorter."""

    @property
    def is_good(self) -> bool:
        """Return whether what was measured is what was asked for."""
        return self.got is not None and abs(self.got - self.asked) <= self.tolerance

    @property
    def is_impossible(self) -> bool:
        """Return whether a sample took less time than the wires asked for allow, which no busy machine explains."""
        if self.shortest_ns is None or self.least_possible_ns is None:
            return False
        return self.shortest_ns < self.least_possible_ns - max(TOLERANCE_NS, TOLERANCE * self.least_possible_ns)


@dataclass(frozen=True)
class SelfTest:
    """What came of the self-test."""

    checks: tuple[Check, ...]
    own_time_ns: float | None
    """Half a round trip of one byte over a switch without rate and delay: what the hosts take themselves."""
    switch_time_ns: float | None
    """What a lone frame takes through that switch: system calls and waking up, without any wire."""
    disturbances: tuple[str, ...]
    """Why numbers of this run may be wrong though the lab is right."""
    load: tuple[float, float]
    """Mean load of the last minute, before and after."""
    elapsed_s: float

    @property
    def verdict(self) -> str:
        """Return `passed`, `failed`, or `undecided` when checks failed on a machine that was busy."""
        if any(check.is_impossible for check in self.checks):
            return "failed"
        if all(check.is_good for check in self.checks):
            return "passed"
        return "undecided" if self.disturbances else "failed"


@dataclass
class _Bench:
    """The lab under test."""

    lab: Lab
    interfaces: Mapping[str, str]
    own_ns: list[float] = field(default_factory=list)
    """Half of each round trip of one byte over the open switch."""
    switch_ns: list[float] = field(default_factory=list)
    """Time from host to host of lone frames over the open switch."""

    def address(self, host: str, fabric: str) -> str:
        return self.lab.host(host).addresses[self.interfaces[fabric]]


def selftest(fabrics: Mapping[str, SwitchSpec], notice: Callable[[str], None] = lambda _: None) -> SelfTest:
    """Build a lab with these fabrics, measure them, and take it down; `notice` is told what is being measured.

    Raises LabError if a lab cannot be built, or a fabric is not one that can be measured.
    """
    for name, switch in fabrics.items():
        if not switch.is_shaped or switch.rate_bits_per_s == 0:
            raise LabError("it has no rate, so there is nothing to measure back", where=f"fabric {name}")
        if switch.mtu_bytes < wire_model.MAX_PAYLOAD_BYTES + 28 or name == _OPEN:
            raise LabError(
                f"the self-test needs an MTU of 1500, and a name other than {_OPEN!r}", where=f"fabric {name}"
            )
    started, load, others = time.monotonic(), os.getloadavg()[0], Others()
    lab = up(LabSpec(_HOSTS, {_OPEN: SwitchSpec(), **fabrics}))
    try:
        others.watch(lab)
        bench = _Bench(lab, {name: one["interface"] for name, one in lab.state.details["fabrics"].items()})
        checks = [check for name, switch in fabrics.items() for check in _measure(bench, name, switch, notice)]
        disturbances = (*others.disturbances(), *lateness(lab))
    finally:
        lab.down()
    loads = (load, os.getloadavg()[0])
    return SelfTest(
        tuple(checks), _median(bench.own_ns), _median(bench.switch_ns), disturbances, loads, time.monotonic() - started
    )


def _measure(bench: _Bench, fabric: str, switch: SwitchSpec, notice: Callable[[str], None]) -> Iterator[Check]:
    notice(f"{fabric}: messages of all sizes")
    plan = [(size_bytes, _repetitions(switch, size_bytes)) for size_bytes in MESSAGE_SIZES_BYTES]
    half_rounds = _half_rounds(bench, fabric, plan)
    notice(f"{fabric}: lone frames")
    yield from _delay(bench, fabric, switch)
    notice(f"{fabric}: trains")
    yield _rate(bench, fabric, switch)
    if switch.buffer_bytes:
        notice(f"{fabric}: bursts")
        yield _buffer(bench, fabric, switch)
    for size_bytes, (own_ns, seen_ns) in half_rounds.items():
        bench.own_ns += own_ns
        got_ns = _less(_median(seen_ns), _median(own_ns))
        asked_ns = wire_model.message_ns(switch, size_bytes)
        yield _time_check(fabric, f"message of {_size(size_bytes)}", asked_ns, got_ns, len(seen_ns))


def _delay(bench: _Bench, fabric: str, switch: SwitchSpec) -> Iterator[Check]:
    """Yield what lone frames took: two wire times (they are stored and forwarded), the delay, and waiting."""
    delays_ns = []
    own, seen = _lone(bench, fabric)
    bench.switch_ns += own
    for size_bytes, took_ns in seen.items():
        asked_ns = wire_model.message_ns(switch, size_bytes)
        got_ns = _median(took_ns)
        quantity = f"lone frame of {wire_model.frame_bytes(size_bytes)} B"
        (least_ns,) = wire_model.arrivals_ns(switch, [size_bytes])
        check = _time_check(fabric, quantity, asked_ns, got_ns, len(took_ns))
        yield replace(check, shortest_ns=min(took_ns, default=None), least_possible_ns=least_ns)
        if got_ns is not None:
            delays_ns.append(got_ns - asked_ns + switch.delay_ns)
    yield _time_check(fabric, "delay", switch.delay_ns, _median(delays_ns), sum(map(len, seen.values())))


def _rate(bench: _Bench, fabric: str, switch: SwitchSpec) -> Check:
    """Return the rate over the later part of trains.

    The first frames can be late: where a kernel is not preempted inside a system call, the switch gets a processor
    only when the sender has queued its frames. Then it catches up, and what follows is on time.
    """
    frames = [_FULL_PAYLOAD_BYTES] * _TRAIN_FRAMES
    model_ns = wire_model.hand_overs_ns(switch, frames)
    trains, begun = _trains(bench, fabric, {"a": "b"}, _TRAIN_FRAMES, _TRAIN_COUNT, model_ns[-1])
    whole = {turn: seen["a"] for turn, seen in trains.items() if len(seen["a"]) == _TRAIN_FRAMES}
    # Without coalescing this is bits over time; with it, hand-overs stand for arrivals in the model too.
    model_part_ns = model_ns[-1] - model_ns[_TRAIN_SKIPPED]
    rates = [
        switch.rate_bits_per_s * model_part_ns / (times_ns[-1] - times_ns[_TRAIN_SKIPPED])
        for times_ns in whole.values()
    ]
    took_ns = [times_ns[-1] - begun["a"][turn][0] for turn, times_ns in whole.items()]
    asked = float(switch.rate_bits_per_s)
    return Check(
        fabric, "rate", "bits_per_s", asked, _median(rates), TOLERANCE * asked, len(rates),
        min(took_ns, default=None), wire_model.arrivals_ns(switch, frames)[-1],
    )  # fmt: skip


def _buffer(bench: _Bench, fabric: str, switch: SwitchSpec) -> Check:
    """Return the buffer of an output that two hosts overfill.

    While both send, the output's queue grows at line rate, until it is full; from then on it stays full until the
    later of them has sent all of its n frames. So d frames arrive, one a frame time from the first arrival to the
    last one and those that were in the buffer then: d = n - 1 + offset / frame time + buffer, where the offset is
    the time between the first arrivals from the two, of which neither waits.
    """
    one_ns = wire_model.wire_ns(switch, wire_model.frame_bytes(_FULL_PAYLOAD_BYTES))
    held = wire_model.buffered_frames(switch, _FULL_PAYLOAD_BYTES)
    count = 2 * held + 50
    trains, begun = _trains(bench, fabric, {"b": "a", "c": "a"}, count, _BURST_COUNT, (2 * count + held) * one_ns)
    frame_bytes = wire_model.frame_bytes(_FULL_PAYLOAD_BYTES)
    seen_bytes = []
    for turn, seen in trains.items():
        if len(seen) < 2 or not all(_kept_wire_busy(times_ns[turn], one_ns) for times_ns in begun.values()):
            continue
        alone = abs(seen["b"][0] - seen["c"][0]) / one_ns
        if count - alone > _OVERFILL * held:  # else they overlapped too little to fill it
            arrived = sum(len(times_ns) for times_ns in seen.values())
            seen_bytes.append((arrived - count + 1 - alone) * frame_bytes)
    tolerance = max(BUFFER_TOLERANCE * switch.buffer_bytes, BUFFER_TOLERANCE_FRAMES * frame_bytes)
    return Check(fabric, "buffer", "bytes", switch.buffer_bytes, _median(seen_bytes), tolerance, len(seen_bytes))


def _kept_wire_busy(begun_ns: Sequence[int], frame_ns: float) -> bool:
    """Return whether a sender handed every part over before the wire had carried the ones before it."""
    return all(later - begun_ns[0] <= index * _FRAMES_PER_PART * frame_ns for index, later in enumerate(begun_ns))


def _time_check(fabric: str, quantity: str, asked_ns: float, got_ns: float | None, sample_count: int) -> Check:
    tolerance_ns = max(TOLERANCE_NS, TOLERANCE * asked_ns)
    return Check(fabric, quantity, "ns", asked_ns, got_ns, tolerance_ns, sample_count)


def _repetitions(switch: SwitchSpec, size_bytes: int) -> int:
    round_s = 2 * (wire_model.message_ns(switch, size_bytes) + 50_000) / 1e9
    return min(max(round(_PASS_S / round_s), 2), 40)


def _half_rounds(
    bench: _Bench, fabric: str, plan: Sequence[tuple[int, int]]
) -> dict[int, tuple[list[float], list[float]]]:
    """Return half the round trips of messages by their sizes: of one byte over the open switch, and over the fabric."""
    lines = [line for size_bytes, count in plan for line in ((0, 1, _OWN_COUNT), (1, size_bytes, count))]
    addresses = [bench.address("b", name) for name in (_OPEN, fabric)]
    with _Probe(bench.lab.host("b"), "echo") as echo:
        with _Probe(bench.lab.host("a"), "ping", addresses=addresses, plan=lines, passes=_PASSES) as ping:
            halves = [[round_ns / 2 for round_ns in rounds] for rounds in ping.result()]
        echo.result()
    sizes = [size_bytes for size_bytes, _ in plan]
    return dict(zip(sizes, zip(halves[::2], halves[1::2], strict=True), strict=True))


def _lone(bench: _Bench, fabric: str) -> tuple[list[float], dict[int, list[float]]]:
    """Return the times from interface to interface of lone datagrams.

    Those over the open switch all together, and those over the fabric by their payloads.
    """
    addresses = [bench.address("b", name) for name in (_OPEN, fabric)]
    plan: dict[str, Any] = {"sizes": LONE_PAYLOADS_BYTES, "count": _LONE_COUNT, "gap_s": _LONE_GAP_S}
    with _Probe(bench.lab.host("b"), "sink") as sink:
        with _Probe(bench.lab.host("a"), "singles", addresses=addresses, **plan) as singles:
            left_ns = {(turn, to, size): at_ns for turn, to, size, at_ns in singles.result() if at_ns is not None}
        rows = sink.result()
    own: list[float] = []
    seen: dict[int, list[float]] = {size_bytes: [] for size_bytes in LONE_PAYLOADS_BYTES}
    for turn, to, size, arrived_ns in rows:
        if (turn, to, size) in left_ns:
            (seen[size] if to else own).append(arrived_ns - left_ns[turn, to, size])
    return own, seen


def _trains(
    bench: _Bench, fabric: str, routes: Mapping[str, str], frame_count: int, train_count: int, train_ns: float
) -> tuple[dict[int, dict[str, list[int]]], dict[str, list[list[int]]]]:
    """Return of each train the times of arrival from every sender, and when each sender began each part of it."""
    (receiver,) = set(routes.values())
    address = bench.address(receiver, fabric)
    first_ns = time.time_ns() + 500_000_000
    starts_ns = [first_ns + round(turn * (1.5 * train_ns + 20e6)) for turn in range(train_count)]
    plan: dict[str, Any] = {"size_bytes": _FULL_PAYLOAD_BYTES, "frame_count": frame_count, "starts_ns": starts_ns}
    names = list(routes)
    with _Probe(bench.lab.host(receiver), "sink") as sink:
        senders = [
            _Probe(
                bench.lab.host(name),
                "trains",
                address=address,
                first_number=index * frame_count,
                is_last=name == names[-1],
                **plan,
            )
            for index, name in enumerate(names)
        ]
        try:
            begun = {name: sender.result() for name, sender in zip(names, senders, strict=True)}
        finally:
            for sender in senders:
                sender.end()
        rows = sink.result()
    trains: dict[int, dict[str, list[int]]] = {}
    for turn, number, _, arrived_ns in rows:
        trains.setdefault(turn, {}).setdefault(names[number // frame_count], []).append(arrived_ns)
    return trains, begun


class _Probe:
    """A probe that runs on a host."""

    def __init__(self, host: Host, role: str, **settings: Any) -> None:
        self._name = f"{role} on {host.name}"
        argv = [*host.access, sys.executable, "-I", "-S", str(_PROBE), role, json.dumps(settings)]
        self._process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        ready, _, _ = select.select([self._process.stdout], [], [], _PROBE_TIMEOUT_S)
        # ends: the probe writes the line in one piece
        if not ready or self._process.stdout.readline() != "ready\n":
            self._fail()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def result(self) -> Any:
        """Return what the probe found; raises LabError if it found nothing."""
        try:
            out, _ = self._process.communicate(timeout=_PROBE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise LabError(f"the self-test's {self._name} did not end in {_PROBE_TIMEOUT_S:.0f} s") from None
        if self._process.returncode != 0:
            self._fail()
        return decode_json(out, f"the self-test's {self._name}", error=LabError)

    def _fail(self) -> None:
        try:
            _, said = self._process.communicate(timeout=_PROBE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            said = "it did not end"
            self.end()
        raise LabError(f"the self-test's {self._name} failed: {(said.strip().splitlines() or ['it says nothing'])[-1]}")

    def end(self) -> None:
        """End the probe if it still runs (what it left on its host goes with the lab)."""
        if self._process.poll() is None:
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # what it started keeps its output open
                self._process.communicate(timeout=_END_PATIENCE_S)


def _size(size_bytes: int) -> str:
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size_bytes % factor == 0:
            return f"{size_bytes // factor} {unit}"
    return f"{size_bytes} B"


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _less(value: float | None, less: float | None) -> float | None:
    return None if value is None or less is None else value - less
