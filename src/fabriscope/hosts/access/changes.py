"""Changes of a host that are undone whatever ends us, and what puts back what a crash left.

The old value is in the journal before anything is set. A process at the host's end sets it, and puts it back as soon as
its input ends: when we are done, killed, or cut off. Should that one be killed too, `fabriscope restore` reads the
journal and does it, after a reboot of ours as well.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from fabriscope.hosts import access
from fabriscope.hosts.access import journal, sent
from fabriscope.hosts.access.conversation import Conversation
from fabriscope.hosts.access.journal import Change, Entry, Place
from fabriscope.hosts.access.journal_files import brief
from fabriscope.hosts.access.orders import PATIENCE_S
from fabriscope.model.errors import HostError, ToolMissing
from fabriscope.model.foreign import Foreign
from fabriscope.model.host import Host

__all__ = ["Change", "Changed", "Result", "changed", "restored"]

_ANSWER_TIMEOUT_S = 150.0
"""More than the four programs take that an answer may wait for, with 30 s each."""
_KINDS_OF_LABS = ("namespace", "guest")
_SET, _RESTORE, _LEAVE = b"S", b"R", b"L"


class Changed:
    """A change that stands."""

    def __init__(self, old: str, entry: Entry | None) -> None:
        self.old = old
        self.is_new = entry is not None
        """Whether it was made here; not where the setting had that value already."""
        self.is_kept = False
        self._entry = entry

    def keep(self) -> None:
        """Let it stay when the block ends, as the journal says; `fabriscope restore` does not touch it unasked."""
        if self._entry is not None:
            self._entry.keep()
        self.is_kept = True


@contextlib.contextmanager
def changed(host: Host, change: Change, *, is_to_last: bool = False) -> Iterator[Changed]:
    """Change a setting of a host for the block, and put the old value back at its end.

    Where it has that value already nothing is done, unless it `is_to_last` and another process holds it. Raises
    HostError then, HostError or ToolMissing where it cannot be set, and HostError where it cannot be put back: its
    entry stays in the journal then.
    """
    order = {"setting": asdict(change), "patience_s": PATIENCE_S}
    with _talking(host, "hold()", order) as far:
        first = _answer(far, host, change)
        old = first.at("old").text()
        place = Place(first.at("place", "boot_id").text(), first.at("place", "network").text())
        if old == change.new:
            if is_to_last:
                journal.refuse_held(host, change, place)
            yield Changed(old, None)
            return
        entry, held_by = journal.record(host, change, old, place)
        try:
            _set(far, entry)
            standing = Changed(old, entry)
            try:
                yield standing
            finally:
                if standing.is_kept:
                    _leave(far, entry)
                else:
                    _put_back(far, entry)
        finally:
            os.close(held_by)


def _set(far: Conversation, entry: Entry) -> None:
    far.say(_SET)
    done = _answer(far, entry.host, entry.change, may_fail=True)
    problem = done.get("problem")
    if problem is None and done.get("outcome") is None:
        return
    if done.get("outcome") is not None or done.at("is_back").flag():
        entry.drop()
    raise HostError(
        problem.text() if problem else "it was ended before anything was set", where=f"host {entry.host.name}"
    )


def _put_back(far: Conversation, entry: Entry) -> None:
    far.say(_RESTORE)
    result = Result.of(entry, _answer(far, entry.host, entry.change))
    if result.is_over:
        entry.drop()
    if result.is_problem:
        raise HostError(result.text)


def _leave(far: Conversation, entry: Entry) -> None:
    far.say(_LEAVE)
    outcome = _answer(far, entry.host, entry.change).at("outcome").text()
    if outcome != "left":  # we were stopped, and taken for gone
        raise HostError(f"{entry.where} does not stay: its end there has put it back ({outcome})")


@contextlib.contextmanager
def _talking(host: Host, start: str, order: Mapping[str, object]) -> Iterator[Conversation]:
    """Yield the program at the host's end that sets and puts back; raises ToolMissing or HostError."""
    text = Path(__file__).with_name("_setting.py").read_text()
    parts = (sent.program((access.collector(), text), start), sent.order(order))
    argv = access.words(host, access.python_words(host, *sent.PYTHON_WORDS[3:]))
    try:
        far = Conversation(argv, parts)
    except FileNotFoundError:
        raise ToolMissing(f"{argv[0]} is not on this machine", where=f"host {host.name}") from None
    except OSError as error:
        raise HostError(f"{argv[0]} cannot be started: {error.strerror}", where=f"host {host.name}") from error
    try:
        yield far
    finally:
        far.close()


def _answer(far: Conversation, host: Host, change: Change, *, may_fail: bool = False) -> Foreign:
    """Return what the host's end says next; raises HostError."""
    try:
        line = far.lines.get(timeout=_ANSWER_TIMEOUT_S)
    except queue.Empty:
        raise HostError(f"it does not answer within {_ANSWER_TIMEOUT_S:.0f} s", where=f"host {host.name}") from None
    if line is None:
        what = f"{change.what} is out of reach: {far.last_words or 'the connection ended'}"
        raise HostError(what, where=f"host {host.name}", fix="`fabriscope restore` puts back what was set")
    answer = Foreign.json(line, f"host {host.name}", error=HostError)
    if not may_fail and (problem := answer.get("problem")) is not None:
        raise HostError(problem.text(), where=f"host {host.name}")
    return answer


@dataclass(frozen=True)
class Result:
    """What came of one entry of the journal."""

    entry: Entry
    outcome: str
    """As the host's end says it (`_setting.py`), or `left`: nothing was to be done."""
    text: str
    """One line for people."""

    @property
    def is_over(self) -> bool:
        """Return whether nothing of it is left to put back."""
        return self.outcome == "restored" or self.is_void

    @property
    def is_void(self) -> bool:
        """Return whether something else had undone it before."""
        return self.outcome in ("already", "rebooted", "gone", "ended")

    @property
    def is_problem(self) -> bool:
        """Return whether it should have been put back, and was not."""
        return not self.is_over and self.outcome != "left"

    @classmethod
    def of(cls, entry: Entry, answer: Foreign, *, is_dry: bool = False) -> Result:
        """Return what the host's end says of it."""
        outcome, old, new = answer.at("outcome").text(), brief(entry.old), brief(entry.change.new)
        told = answer.get("now") or answer.get("why")
        why = told.text() if told else ""
        more = brief(why)
        if outcome == "failed" and entry.change.ended_pattern and re.search(entry.change.ended_pattern, why):
            outcome = "ended"
        text = {
            "restored": f"{'would be' if is_dry else 'is'} {old} again, was {new}",
            "already": f"is {old} already",
            "gone": "undone, its host in a lab is no more",
            "ended": "undone, the process that had it has ended",
            "rebooted": "undone by a reboot of the host since",
            "changed": f"left alone, somebody else has set it to {more} since it was changed from {old} to {new}",
            "elsewhere": "left alone, this is another network namespace than the one it was changed in",
        }.get(outcome, f"not put back to {old}: {more}")
        result = cls(entry, outcome, f"{entry.where}: {text}")
        fix = f" -- see to it, then `fabriscope restore --forget {entry.name}`"
        return replace(result, text=result.text + fix) if result.is_problem else result


def restored(entries: Iterable[Entry], *, is_asked: bool = False, is_dry: bool = False) -> Iterator[Result]:
    """Put back what nobody holds of the journal's entries, in their order, and yield what came of each.

    Those that are meant to stay do, unless `is_asked` for these very entries.
    """
    for entry in entries:
        with entry.held() as is_ours:
            if entry.machine != os.uname().nodename:
                why = f"it was changed from {entry.machine}, where this command puts it back"
            elif not is_ours:
                why = f"a fabriscope that runs holds it at {brief(entry.change.new)}"
            else:
                is_to_stay = entry.is_kept and not is_asked
                result = _restored(entry, is_dry=is_dry or is_to_stay)
                if is_to_stay and not result.is_void:
                    why = f"it is meant to stay -- `fabriscope restore {entry.name}` puts it back"
                else:
                    if result.is_over and not is_dry:
                        entry.drop()
                    yield result
                    continue
        yield Result(entry, "left", f"{entry.where}: left, {why}")


def _is_gone(entry: Entry) -> bool:
    """Return whether an entry is of a lab's host whose network, with all that is set of it, the kernel has removed.

    A guest's kernel ends with its lab. A process of ours that we cannot look at counts as one of that network, but for
    process 1, which no lab made; those of other users do not, since a lab is one user's.
    """
    if entry.host.kind not in _KINDS_OF_LABS:
        return False
    if is_of_ended_process(entry.host):  # the kernel gives the network's number to the next one
        return True
    if entry.host.kind == "guest":  # its network has a number of its own kernel's
        return False
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str((process / "ns" / "net").readlink()) == entry.place.network:
                return False
        except PermissionError:
            if process.name != "1" and _owner(process) in (os.getuid(), None):
                return False
        except OSError:
            continue  # it has ended
    return True


def is_of_ended_process(host: Host) -> bool:
    """Return whether a host is a lab's, and the process is no more by which that is entered: its process 1."""
    access = host.access
    if host.kind not in _KINDS_OF_LABS or "-t" not in access[:-1]:
        return False
    names = Path("/proc", access[access.index("-t") + 1], "ns")
    try:
        return (names / "pid").readlink() == Path("/proc/self/ns/pid").readlink()  # its number is somebody else's now
    except PermissionError:
        return False
    except OSError:
        return True


def _owner(process: Path) -> int | None:
    try:
        return process.stat().st_uid
    except OSError:
        return None


def _restored(entry: Entry, *, is_dry: bool) -> Result:
    if _is_gone(entry):
        return Result.of(entry, Foreign({"outcome": "gone"}, entry.where))
    order = {
        "setting": asdict(entry.change),
        "old": entry.old,
        "place": asdict(entry.place),
        "survives_reboot": entry.change.survives_reboot,
        "is_dry": is_dry,
    }
    try:
        with _talking(entry.host, "put_back_later()", order) as far:
            return Result.of(entry, _answer(far, entry.host, entry.change), is_dry=is_dry)
    except (HostError, ToolMissing) as error:
        return Result(entry, "failed", f"{entry.where}: not put back to {brief(entry.old)}: {brief(error.what)}")
