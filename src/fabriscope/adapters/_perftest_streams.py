"""Streams of many to one and many to many by a bandwidth test of perftest: a server and a client for each.

With `-D` a client sends for a time, and with `-f` it leaves the first and the last seconds of that out of what it
counts. What is counted begins no sooner than that margin after the client's start, and ends no later than the margin
before the client's end. It is a number of messages that the receiver has acknowledged, and no curve.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from fabriscope.adapters import _perftest_words, _streams
from fabriscope.adapters._foreign import Readings, asked, buffers_problem, check_time, ending, first_tcp_port
from fabriscope.adapters._perftest_words import DEFAULTS, OPTIONS
from fabriscope.adapters._streams import seconds_of, stream_count
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.model.stream_programs import STREAM_PROGRAMS
from fabriscope.readers.base import Row
from fabriscope.readers.perftest import BANDWIDTH, SIZE

OF_STREAMS = ("mode", "duration_ms")
"""Parameters that are of the streams, and not of their queue pairs."""
TOLD_BY_STREAMS = ("queue_depth", "signal_every")
MOST_LATE = 0.05
"""By how much longer a client may have counted than was asked for, as a share of that."""
STEPS = (0.005 * (1 << 20), 0.5)
"""Half of the last digit that it prints: of a bandwidth in B/s, and of messages per second."""


class PerftestStreams:
    """Runs one of perftest's bandwidth tests for each stream of a case; the instrument has the program's name."""

    layers = frozenset({"verbs"})

    def __init__(self, program: str) -> None:
        """Take the name of the program: ib_write_bw or ib_send_bw."""
        self.name, self.programs = program, (program,)

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return for every case in turn a server for each stream, and then its client."""
        cases = self._possible(launch)
        _streams.check_ports(cases)
        commands: list[Command] = []
        port = first_tcp_port(launch, context)
        for case in cases:
            commands += self._of_case(case, context, port)
            port += stream_count(case)
        return tuple(commands)

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return what arrived of each stream, for every case whose clients all came to their end."""
        readings = Readings(launch)
        readings.skip_all(self._problem)
        first = 0
        for case in self._possible(launch):
            clients, _ = _streams.of_streams(outcomes, first, stream_count(case), _perftest_words.is_server)
            self._read(case, clients, outcomes, readings)
            first += stream_count(case)
        return readings.parsed(f"{self.name} said nothing of this case")

    def _possible(self, launch: Launch) -> list[Case]:
        return [case for case in launch.cases if self._problem(case) is None]

    def _problem(self, case: Case) -> str | None:
        if not _streams.is_of_streams(case):
            return f"{self.name} has no {case.benchmark}: perftest's other tests are the instrument perftest"
        problem = _streams.rounds_problem(case, self.name) or _perftest_words.size_problem(case)
        if problem is not None or (problem := buffers_problem(case, self.name)) is not None:
            return problem
        if case.parameter_map.get("completion", DEFAULTS["completion"]) != DEFAULTS["completion"]:
            return f"{self.name} waits for no event where it sends for a time: it polls"
        strange = [name for name, _ in case.parameters if name not in (*OPTIONS, *DEFAULTS, *OF_STREAMS)]
        return f"{self.name} cannot set {strange[0]}" if strange else None

    def _of_case(self, case: Case, context: AdapterContext, first_port: int) -> Iterator[Command]:
        program, ends = context.program(self.name), _streams.ends_of(case)
        both = [(program, *self._words(case), "-p", str(first_port + place)) for place in range(len(ends))]
        for words, (_, receiver) in zip(both, ends, strict=True):
            waiting = (*_perftest_words.UNBUFFERED, *words, *_perftest_words.end_words(case, context.fabric, receiver))
            yield Command(waiting, receiver, ready_pattern=_perftest_words.SERVES, is_server=True)
        for words, end in zip(both, ends, strict=True):
            sender, receiver = end
            told = _perftest_words.end_words(case, context.fabric, sender)
            is_last = words is both[-1]
            argv = (*words, *told, context.data_address(receiver))
            yield Command(argv, sender, ready_pattern=_perftest_words.HEAD if is_last else None)

    def _words(self, case: Case) -> tuple[str, ...]:
        """Return what all clients and servers of a case are told.

        Each message has its completion unless the case says otherwise: what is counted is a number of completions.
        """
        margin_s, told = STREAM_PROGRAMS[self.name].margin_s, case.parameter_map
        depth = min(case.window_size, int(told.get("queue_depth", case.window_size)))
        times = ("-D", str(seconds_of(case) + 2 * margin_s), "-f", str(margin_s))
        queue = ("-t", str(depth), "-Q", told.get("signal_every", "1"))
        of_case = _perftest_words.queue_words(case, *TOLD_BY_STREAMS)
        return ("-F", *times, "-s", str(case.message_size_bytes), *queue, *of_case)

    def _read(
        self, case: Case, clients: Sequence[Outcome | None], started: Sequence[Outcome], readings: Readings
    ) -> None:
        rows, ended = [], []
        for (host, _), client in zip(_streams.ends_of(case), clients, strict=True):
            row = self._row(case, client, started)
            if isinstance(row, str) or client is None:
                readings.fail((case,), f"the stream of {host}: {row}")
                return
            rows.append(row)
            ended.append(client)
        seconds = seconds_of(case)
        times_s = [counted_s(row, seconds) for row in rows]
        counts = [int(row.number("iteration_count")) for row in rows]
        readings.details[case.case_id] = {"message_counts": counts, "counted_s": times_s}
        counted_ns, margin_ns = seconds * 10**9, STREAM_PROGRAMS[self.name].margin_s * 10**9
        bounds = [_streams.bounds_of(client, margin_ns, counted_ns + margin_ns) for client in ended]

        def arrived(place: int, _: int) -> tuple[int, int]:
            return round(counts[place] * case.message_size_bytes * seconds / times_s[place]), 0

        counted = _streams.Counted(counted_ns, counted_ns, margin_ns)
        _streams.take(case, ended, bounds, arrived, counted, readings)

    def _row(self, case: Case, client: Outcome | None, started: Sequence[Outcome]) -> Row | str:
        """Return a client's result, or why there is none; raises ParseError for a result of something else."""
        table = _perftest_words.result_of(client)
        if client is None or table is None:
            return f"no result of this case: {ending(client, self.name, started)}"
        (row,) = table.rows
        _perftest_words.check_size(row, case)
        if math.isnan(row.number("iteration_count")) or BANDWIDTH not in row.values:
            raise ParseError(f"its result lacks a number that {self.name} states", where="perftest")
        _perftest_words.check_title(table, self.name, "BW")
        depth, wanted = _perftest_words.queue_depth_of(table), asked(client, "-t")
        if depth is not None and depth != wanted:
            raise ParseError(f"its queue depth is {depth}, and {wanted} was asked for", where="perftest")
        seconds = seconds_of(case)
        if (lasted_s := counted_s(row, seconds)) > (1 + MOST_LATE) * seconds:
            return f"{self.name} counted for {lasted_s:.3g} s, and {seconds} s were asked for"
        check_time(seconds + 2 * STREAM_PROGRAMS[self.name].margin_s, client, "perftest")
        return row


def counted_s(row: Row, seconds: int) -> float:
    """Return for how long a client counted its messages, which it was told to do for some seconds.

    Its alarm never comes before them, and may come late: then it is the least time that the printed rate, which has a
    few digits, allows. A client that found no clock to divide by, or a wrong one (beside another client on a guest's
    only processor), says nothing of that, and has counted for the seconds that it was told.
    """
    size_bytes = row.number(SIZE)
    most_bytes_per_s = row.number(BANDWIDTH) + min(STEPS[0], STEPS[1] * size_bytes)
    if not (math.isfinite(most_bytes_per_s) and row.number(BANDWIDTH) > 0):
        return float(seconds)
    return max(float(seconds), row.number("iteration_count") * size_bytes / most_bytes_per_s)
