"""Labelled jobs of which is known what carried them: what the books say of each, and what the library's log would.

    python -m campaigns.corpus -o corpus.json       # from the checkout's root; all that it does not hold yet
    python -m campaigns.corpus --list
    python -m campaigns.corpus -o corpus.json --only 'MPICH 5' --again
    python -m campaigns.corpus -o corpus.json --document       # also writes docs/transport-corpus.md
    python -m campaigns.corpus --guests -o guests.json         # those over software RDMA, in two guests
    for i in {1..10}; do python -m campaigns.corpus -o busy$i.json --share $i/10 & done; wait     # a busy machine
    python -m campaigns.corpus -o busy.json --add busy?*.json      # all together
    python -m campaigns.corpus --user nobody -o user.json --only 'ordinary programs'       # without root

Every case has a lab of its own; its label follows from how it was made (`mpi_cases.py` and its neighbours). The
MPI libraries are those of `fabriscope mpi list`; FABRISCOPE_MPI_PATH names others. Needs root, iperf3, NPtcp, curl,
wget, OpenSSH, ethtool, nft, slirp4netns, and 30 minutes; between guests a kernel (docs/guests.md), perftest and 10.
Ends with 1 where a verdict is false, less than 95 % were decided, books do not close within 2 %, or a case did not run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from campaigns.corpus import place, rdma_cases, rdma_place, table
from campaigns.corpus.cases import cases
from campaigns.corpus.nouns import Case

from fabriscope.analysis.proof.books import balance
from fabriscope.analysis.proof.library_words import BETWEEN, INSIDE, Claim, Words, contradiction, read_words
from fabriscope.lab import Lab
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.fabric import RDMA_TRANSPORTS
from fabriscope.store import counters as store_counters
from fabriscope.store.files import pack, write_whole


def main() -> int:
    arguments = _arguments()
    known_cases = rdma_cases.cases() if arguments.guests else cases()
    share, shares = map(int, arguments.share.split("/"))
    wanted = [case for case in known_cases if _is_wanted(case, arguments.only)][share - 1 :: shares]
    if not wanted:
        raise SystemExit(
            f"no case has {' or '.join(map(repr, arguments.only))} in its family or name; --list names them"
        )
    if arguments.list:
        for case in wanted:
            print(
                f"{case.family:16} {case.name:60} asked {case.asked:9} truth {', '.join(case.truth)}: {case.expected}"
            )
        print(f"{len(wanted)} cases")
        return 0
    order = {case.name: number for number, case in enumerate(known_cases)}
    results = {name: one for path in (arguments.output, *arguments.add) for name, one in _read(path).items()}
    results = {name: one for name, one in results.items() if name in order}
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(place.scratch())
        libraries: Mapping[str, place.Library] | None = None
        standing: Lab | None = None
        for number, case in enumerate(wanted, 1):
            if case.name in results and not arguments.again and not results[case.name].get("error"):
                continue
            libraries = libraries if libraries is not None else place.libraries(folder)
            if arguments.guests and standing is None:
                standing = stack.enter_context(rdma_place.standing())
            results[case.name] = record = measured(case, libraries, arguments.keep, standing, arguments.user)
            _write(arguments.output, sorted(results.values(), key=lambda one: order[one["name"]]))
            print(f"{number:3}/{len(wanted)} {_line(record)}", flush=True)
    if arguments.add:
        _write(arguments.output, sorted(results.values(), key=lambda one: order[one["name"]]))
    current = [results[case.name] for case in known_cases if case.name in results]
    print("\n".join(table.summary(current)))
    if arguments.document:
        marks = table.GUESTS_MARKS if arguments.guests else (table.BEGIN, table.END)
        table.write(json.loads(arguments.output.read_text()), marks=marks)
    return 0 if table.is_kept(current) else 1


def measured(
    case: Case,
    libraries: Mapping[str, place.Library],
    keep: Path | None = None,
    standing: Lab | None = None,
    user: str = "",
) -> dict[str, Any]:
    """Return what came of a case, ready for JSON."""
    started_s = time.monotonic()
    record: dict[str, Any] = {
        "name": case.name,
        "family": case.family,
        "library": case.job.library,
        "asked": case.asked,
        "truth": list(case.truth),
        "because": case.because,
        "expected": case.expected,
        "knows_payload": case.knows_payload,
    }
    try:
        seen, hung_count = place.run(case, libraries, standing, user)
    except FabriscopeError as error:
        return {**record, "error": error.sentence(), "elapsed_s": round(time.monotonic() - started_s, 1)}
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        stem = case.name.replace("/", "_")
        (keep / f"{stem}.said").write_text(seen.said)
        (keep / f"{stem}.json.gz").write_bytes(pack(store_counters.encode(seen.watches)))
        (keep / f"{stem}.idle.json.gz").write_bytes(pack(store_counters.encode(seen.idle)))
    books = balance(seen.watches, seen.expectation, seen.idle)
    words = read_words(seen.said)
    return {
        **record,
        "verdict": books.verdict,
        "carried_by": books.carried_by,
        "why": books.because,
        "closure_error": books.closure_error,
        "payload_share": books.payload_share,
        "log": log_alone(case, words),
        "log_says": list(words.sentences()),
        "contradiction": contradiction(words, books),
        "least_us": seen.least_us,
        "hung_before": hung_count,
        "problems": {host: dict(watch.problems) for host, watch in seen.watches.items() if watch.problems},
        "elapsed_s": round(time.monotonic() - started_s, 1),
    }


def log_alone(case: Case, words: Words) -> str:
    """Return what one would know from the library's log: `right`, `in part` (no interface), `silent`, or `wrong`."""
    scope = BETWEEN if len(set(case.job.rank_hosts)) > 1 else INSIDE
    claims = words.of(scope) or words.of(INSIDE)  # hosts that look like one
    if not claims or not case.truth:
        return "silent"
    truths = [tuple(one.partition(" ")[::2]) for one in case.truth]
    fitting = [any(_fits(claim, kind, name) for kind, name in truths) for claim in claims]
    if not all(fitting) or not all(any(_fits(claim, kind, name) for claim in claims) for kind, name in truths):
        return "wrong"
    is_told = all(not name or any(claim.name == name for claim in claims) for _, name in truths)
    has_choice = len(case.fabrics) > 1 or any(name in ("mgmt0", "lo") for _, name in truths)
    return "right" if is_told or not has_choice else "in part"


def _fits(claim: Claim, kind: str, name: str) -> bool:
    is_kind = claim.transport == kind or (claim.transport == "rdma" and kind in RDMA_TRANSPORTS)
    return is_kind and (not claim.name or not name or claim.name.partition(":")[0] == name)


def _is_wanted(case: Case, only: Sequence[str]) -> bool:
    return not only or any(word.lower() in f"{case.family}: {case.name}".lower() for word in only)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    if not path.exists():
        return {}
    try:
        return {one["name"]: one for one in json.loads(path.read_text())["cases"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path} holds no results of this corpus; name another file by --output") from error


def _write(path: Path, found: Sequence[Mapping[str, Any]]) -> None:
    date = time.strftime("%Y-%m-%d")
    cores = len(os.sched_getaffinity(0))
    made = f"{date}, {cores} cores, Linux {platform.release()}, load at the end {os.getloadavg()[0]:.1f}"
    write_whole(path, (json.dumps({"made": made, "cases": list(found)}, indent=1) + "\n").encode())


def _line(record: Mapping[str, Any]) -> str:
    if record.get("error"):
        return f"{'NOT RUN':9} {record['name']}: {record['error']}"
    is_right = record["verdict"] == record["expected"]
    mark = "" if is_right else f" !! {record['expected']} is right"
    error = record["closure_error"]
    closure = "-" if error is None else f"{100 * error:.2f} %"
    return (
        f"{record['verdict']:9}{mark} {record['name']} [{record['carried_by']}] closure {closure},"
        f" log {record['log']}, {record['elapsed_s']} s{'' if is_right else ': ' + record['why']}"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("-o", "--output", type=Path, default=Path("corpus.json"))
    parser.add_argument("--only", nargs="+", default=[], metavar="WORDS", help="cases whose family or name holds these")
    parser.add_argument("--guests", action="store_true", help="the cases over software RDMA, between two guests")
    parser.add_argument("--user", default="", metavar="NAME", help="programs and watchers are this user's, not root's")
    parser.add_argument(
        "--share", default="1/1", help="of several processes with outputs of their own: which, of how many"
    )
    parser.add_argument(
        "--add", type=Path, nargs="+", default=[], metavar="FILE", help="take results from these outputs"
    )
    parser.add_argument("--again", action="store_true", help="run cases that the output already has")
    parser.add_argument("--list", action="store_true", help="name the cases, run none")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what jobs and counters said")
    parser.add_argument("--document", action="store_true", help="write the tables of docs/transport-corpus.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
