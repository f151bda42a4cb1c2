"""The JSON Lines of our own NAS kernels (docs/npb.md), as rows of the same table as the reference's results."""

from __future__ import annotations

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import Foreign
from fabriscope.readers.base import Draft, Value

VERIFIED, WRONG = "SUCCESSFUL", "UNSUCCESSFUL"
"""As the reference prints them."""
_TOLERANCE = 1e-3


class Repeats:
    """Which repeat of a program comes next: they are counted from 0, and each has one result."""

    def __init__(self) -> None:
        self._next = 0
        self._begun = 0
        """The line in which a program began that has said nothing more."""

    def start(self, draft: Draft) -> None:
        """Begin a program."""
        self.end(draft)
        self._next, self._begun = 0, draft.line

    def end(self, draft: Draft) -> None:
        """Note that a program has begun, and neither a result nor an error of it stands there."""
        if self._begun:
            draft.problem(f"the run of line {self._begun} has no result", "cut", self._begun)
        self._begun = 0

    def failed(self) -> None:
        """Take a program's error, which stands for its results."""
        self._begun = 0

    def take(self, draft: Draft, number: int) -> None:
        """Note the repeats that are missing before this one; raises ParseError for one that was there."""
        if number < self._next:
            raise ParseError(f"repeat {number} stands here, and repeat {self._next - 1} before it")
        if number > self._next:
            draft.problem(f"repeat {self._next} is missing before repeat {number}", "cut")
        self._next, self._begun = number + 1, 0


def take(draft: Draft, line: str, repeats: Repeats) -> tuple[str, dict[str, Value]] | None:
    """Return the kernel of a line, and what it says by the columns' heads in printed units; None without a result.

    Raises ParseError where it is no line of the kernels, or contradicts itself.
    """
    told = Foreign.json(line, where="")
    kind = told.at("type").text()
    if kind == "start":
        draft.version = draft.version or told.at("program_version").text()
        repeats.start(draft)
    elif kind == "error":
        draft.problem(told.at("reason").text(), "said")
        repeats.failed()
    elif kind == "result" and (repeat := told.get("repeat")) is not None:
        repeats.take(draft, repeat.whole())
    return (told.at("kernel").text().upper(), _result(told, draft)) if kind == "result" else None


def _result(told: Foreign, draft: Draft) -> dict[str, Value]:
    time_ns, mops = told.at("time_ns").whole(least=1), told.at("mops").number(least=0)
    operations = told.at("operation_count").number(least=0)
    if abs(mops * time_ns - operations * 1e3) > _TOLERANCE * operations * 1e3:
        raise ParseError(f"{operations:g} operations in {time_ns} ns are not {mops:g} Mop/s")
    failed = [check for check in told.at("checks").items() if not check.at("passed").flag()]
    is_verified = told.at("verified").flag()
    if is_verified is bool(failed):
        raise ParseError(f"verified is {str(is_verified).lower()}, and {len(failed)} checks have not passed")
    ranks = told.at("rank_count").whole(least=1)
    row: dict[str, Value] = {
        "Class": told.at("class").text(),
        "Size": "x".join(str(one.whole()) for one in told.at("size").items()),
        "Iterations": told.at("iteration_count").whole(),
        "Time in seconds": time_ns / 1e9,
        "Total processes": ranks,
        "Mop/s total": mops,
        "Operation type": told.at("operation").text(),
        "Verification": VERIFIED if is_verified else WRONG,
    }
    share = _communication_percent(told.at("phases"), ranks)
    if share is not None:
        row["communication"] = share
    if failed:
        row["failed check"] = _words(failed[0])
        name = told.at("kernel").text().upper()
        draft.problem(f"the verification of {name} was {WRONG}: {row['failed check']}", "said")
    return row


def _words(check: Foreign) -> str:
    computed = check.at("computed")
    value = "no number" if computed.value is None else f"{computed.number():.13g}"
    return f"{check.at('name').text()} is {value} and should be {check.at('expected').number():.13g}"


def _communication_percent(phases: Foreign, ranks: int) -> float | None:
    """Return the mean over the ranks of the share of their time that is communication; None where no time is told."""
    whole, shared = [0] * ranks, [0] * ranks
    for phase in phases.items():
        times = [one.whole() for one in phase.at("ns").items()]
        if len(times) != ranks:
            raise ParseError(f"a phase has the times of {len(times)} ranks, and {ranks} took part")
        is_shared = phase.at("kind").text() == "communication"
        whole = [a + b for a, b in zip(whole, times, strict=True)]
        shared = [a + b * is_shared for a, b in zip(shared, times, strict=True)]
    shares = [100 * part / all_ns for part, all_ns in zip(shared, whole, strict=True) if all_ns]
    return sum(shares) / len(shares) if shares else None
