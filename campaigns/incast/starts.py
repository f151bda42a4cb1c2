"""How far apart the senders of many to one begin: senders and a receiver inside one machine, or a run's.

    python -m campaigns.incast.starts -o out     # from the checkout's root; half a minute
    python -m campaigns.incast.starts --run FOLDER     of a run: what its windows had, beside the error of its clock

Each start is a window of its own: all ranks have its instant, and what counts is from the first sender's first
instruction to the last one's. As many at once as there are processors begin together; any more of them have to wait
until one of those sleeps or gives its processor away. So it is measured for a few numbers of senders. The promise is of
--senders: at most 10 us in the median inside one machine, and in a run of several clocks at most what their error is
told to be. The exit status is 0 if it is kept, else 1.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import statistics
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks._peers_report import cpu, load

from fabriscope import engine_binary, store
from fabriscope.adapters.base import LOOPBACK_ADDRESS, AdapterContext
from fabriscope.adapters.engine import ADAPTER
from fabriscope.analysis.frames import group_accounts
from fabriscope.analysis.values.streams import windows_by_launch
from fabriscope.launch import processes
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import FabriscopeError, LaunchError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.measurement import RANK_START, Launch

HOST = "here"
ACCESS = ("/bin/sh", "-c", 'eval "$0"; exit "$?"')
MOST_SKEW_NS = 10_000
MOST_LAUNCHES = 20
DURATION_MS = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--senders", type=int, default=8)
    parser.add_argument("--starts", type=int, default=50)
    parser.add_argument("--size", type=int, default=1024, help="bytes of a message")
    parser.add_argument("--run", type=Path, help="look at this run instead")
    parser.add_argument("-o", "--output", help="write OUTPUT.json")
    wanted = parser.parse_args(argv)
    load_before = load()
    try:
        if wanted.run is not None:
            kept, found = _of_run(wanted.run)
        else:
            kept, found = _of_machine(wanted.senders, wanted.starts, wanted.size)
    except FabriscopeError as error:
        print(f"starts: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{cpu()}, {os.cpu_count()} processors; load before {load_before:.2f}, after {load():.2f}")
    print("kept" if kept else "BROKEN")
    if wanted.output:
        known = {"cpu": cpu(), "processors": os.cpu_count(), "load_before": load_before, "skews_ns": found}
        Path(wanted.output + ".json").write_text(json.dumps(known, indent=1) + "\n")
    return 0 if kept else 1


def _of_machine(senders: int, starts: int, size: int) -> tuple[bool, Mapping[str, Sequence[int]]]:
    """Return whether the promise is kept over each transport, and all skews."""
    found: dict[str, Sequence[int]] = {}
    kept = True
    for layer, fabric in (("shm", None), ("tcp", "loopback")):
        for count in sorted({2, 4, senders}):
            if count > senders:
                continue
            skews = _skews(Entry(layer, fabric, "intra", (HOST,) * (count + 1)), starts, size)
            found[f"{layer}, {count} senders"] = skews
            print(_line(f"{layer}, {count} senders", skews), flush=True)
            kept = kept and (count < senders or statistics.median(skews) <= MOST_SKEW_NS)
    return kept, found


def _skews(entry: Entry, starts: int, size: int) -> list[int]:
    """Return as many skews, of as many launches as it takes."""
    skews: list[int] = []
    for number in range(1, MOST_LAUNCHES + 1):
        skews += _launched(entry, number, size)
        if len(skews) >= starts:
            return skews[:starts]
    raise LaunchError(f"{MOST_LAUNCHES} launches had {len(skews)} starts and not {starts}")


def _launched(entry: Entry, number: int, size: int) -> list[int]:
    """Return the skew of each measured window of one launch."""
    parameters = (("duration_ms", str(DURATION_MS)),)
    case = Case(entry, "many_to_one", size, 4, parameters=parameters)
    context = AdapterContext(
        {HOST: Host(HOST, ACCESS, {"lo": LOOPBACK_ADDRESS})},
        Fabric("loopback", {HOST: "lo"}) if entry.fabric else None,
        engine=str(engine_binary.find_engine()),
        token=secrets.token_hex(16),
        verify=False,
    )
    launch = Launch(number, number, entry, (case,), number, 10**9)
    outcomes = processes.run_commands(ADAPTER.commands(launch, context), context.hosts, timeout_s=60)
    parsed = ADAPTER.parse(launch, outcomes)
    problem = next((one.reason for one in parsed.results if one.status != "ok"), None)
    if problem is not None:
        raise LaunchError(problem, where=entry.entry_id)
    starts: dict[int, list[float]] = defaultdict(list)
    for block in parsed.blocks:
        if block.quantity == RANK_START and block.rank and block.phase == "measure":
            starts[block.burst] += block.values
    return [round(max(values) - min(values)) for values in starts.values()]


def _of_run(folder: Path) -> tuple[bool, Mapping[str, Sequence[int]]]:
    """Return whether the median skew of each of a run's cases is within the error of its clock, and the skews."""
    run = store.open_run(folder).read()
    accounts = group_accounts(run)
    found: dict[str, list[int]] = defaultdict(list)
    errors: dict[str, list[int]] = defaultdict(list)
    for key, windows in windows_by_launch(run).items():
        case = run.manifest.cases[key[1]]
        name = f"{case.entry.entry_id} {case.message_size_bytes} B {case.series}".strip()
        found[name] += [window.skew_ns for window in windows]
        errors[name].append(int(accounts[key].clock_error_ns or 0))
    kept = bool(found)
    for name, skews in found.items():
        allowed = max(MOST_SKEW_NS, statistics.median(errors[name]))
        print(f"{_line(name, skews)}; the clock is right to {statistics.median(errors[name]) / 1e3:.1f} us")
        kept = kept and statistics.median(skews) <= allowed
    return kept, found


def _line(title: str, skews: Sequence[int]) -> str:
    low, middle, high = (value / 1e3 for value in statistics.quantiles([*skews, *skews][: max(2, len(skews))], n=4))
    ends = f"{min(skews) / 1e3:.1f} to {max(skews) / 1e3:.1f}"
    return f"{title:28} {len(skews)} starts: {middle:8.1f} us (half of them {low:.1f} to {high:.1f}, all {ends})"


if __name__ == "__main__":
    sys.exit(main())
