"""Jobs whose calls of MPI are counted while they run (docs/profile.md): rank 0 tells at the end what all have counted.

Each rank runs in front of a folder of its own. The library that counts brings all ranks' files to rank 0 in
MPI_Finalize, since hosts need not share files; what rank 0's shell prints of them is text, as all that programs say.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Sequence
from dataclasses import asdict

from fabriscope.adapters.base import AdapterContext
from fabriscope.model import profile_file
from fabriscope.model.case import Case
from fabriscope.model.command import Outcome
from fabriscope.model.errors import ParseError, ToolMissing
from fabriscope.model.measurement import Launch
from fabriscope.model.profile import Profile

PARAMETER = "profile"
_MARK = b"fabriscope-profile "
_MOST_BYTES = 1 << 30
# One line, as it passes through mpirun and ssh. A path with a space or a colon cannot be preloaded, one of /tmp can.
_COUNTED = "; ".join(
    (
        "library=$1",
        "shift",
        "folder=$(mktemp -d /tmp/fabriscope-XXXXXXXX) || exit 1",
        'ln -s "$library" "$folder/profile.so"',
        "trap : TERM",
        'FABRISCOPE_PROFILE="$folder" FABRISCOPE_PROFILE_GATHER=1'
        ' LD_PRELOAD="$folder/profile.so${LD_PRELOAD:+:$LD_PRELOAD}" "$@"',
        "status=$?",
        f'test ! -s "$folder/all" || gzip -c "$folder/all" | base64 | sed "s/^/{_MARK.decode()}/"',
        'rm -rf -- "$folder"',
        'exit "$status"',
    )
)


def counted(case: Case, context: AdapterContext, argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return a rank's words, behind what counts its calls where the case asks for that. Raises ToolMissing."""
    if PARAMETER not in case.parameter_map:
        return argv
    if context.profiler is None:
        raise ToolMissing("what counts calls of MPI was not compiled", fix="`fabriscope doctor` tells what is missing")
    return ("/bin/sh", "-c", _COUNTED, "sh", context.profiler, *argv)


def program_output(outcome: Outcome) -> bytes:
    """Return what the program itself wrote to standard output."""
    lines = outcome.stdout.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(_MARK))


def details(launch: Launch, outcomes: Sequence[Outcome]) -> dict[str, object]:
    """Return the profiles by case, as a run keeps them, and of those that cannot be read why; nothing without any."""
    found: dict[str, object] = {}
    problems: dict[str, str] = {}
    for case, outcome in zip(launch.cases, outcomes, strict=False):
        if PARAMETER in case.parameter_map:
            try:
                found[case.case_id] = asdict(_read(outcome))
            except ParseError as error:
                problems[case.case_id] = str(error)
    told = {"profiles": found, "profile_problems": problems}
    return {name: value for name, value in told.items() if value}


def _read(outcome: Outcome) -> Profile:
    where = "the profile"
    lines = [line.removeprefix(_MARK) for line in outcome.stdout.splitlines() if line.startswith(_MARK)]
    if not lines:
        what = "rank 0 told none: the program did not come to MPI_Finalize, or holds its MPI library in itself"
        raise ParseError(what, where=where)
    try:
        packed = base64.b64decode(b"".join(lines), validate=True)
        unpacked = zlib.decompressobj(wbits=31).decompress(packed, _MOST_BYTES)
    except (binascii.Error, zlib.error) as error:
        raise ParseError(f"what rank 0 told is not whole: {error}", where=where) from error
    jobs = profile_file.jobs(profile_file.read(unpacked, where))
    if len(jobs) != 1:
        raise ParseError(f"it is of {len(jobs)} jobs", where=where)
    return jobs[0].condensed()
