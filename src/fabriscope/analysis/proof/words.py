"""A proof in words and rows, the same for the terminal, the page and other programs."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from fabriscope.analysis.words import UNKNOWN, bytes_text, share_text, time_text
from fabriscope.model.counters import UNDECIDED, Carrier, Watch
from fabriscope.model.proof import Observed, Proof

SHM = "shm"
_OF_OWNERS = ("seen to hold", "owner", "sockets", "may be the job's")
"""What a reason says that is about who has a connection or a socket."""


@dataclass(frozen=True)
class Row:
    """One line of the table: what one way out of one host carried."""

    host: str
    carrier: str
    sent: str
    received: str
    share: str
    """Of what the host moved."""


def carrier_text(kind: str, name: str) -> str:
    """Return `tcp over eth0`; of shared memory the first that is shared: `shared memory (mpich_shm_0 and 2 others)`."""
    if kind != SHM:
        return f"{kind} over {name or 'an unknown interface'}"
    names = [PurePath(one.rpartition(" ")[2]).name for one in name.split(", ") if one]
    others = len(names) - 1
    more = f" and {others} other{'s' * (others > 1)}" if others > 0 else ""
    return f"shared memory ({names[0]}{more})" if names else "shared memory"


def rows(carriers: tuple[Carrier, ...]) -> list[Row]:
    """Return the table of the books, what carried most of a host first."""
    totals: dict[str, int] = {}
    for one in carriers:
        totals[one.host] = totals.get(one.host, 0) + _moved(one)
    ordered = sorted(carriers, key=lambda one: (list(totals).index(one.host), -_moved(one)))
    return [
        Row(
            one.host,
            carrier_text(one.kind, one.name),
            "cannot be counted" if one.sent_bytes is None else bytes_text(one.sent_bytes),
            "cannot be counted" if one.received_bytes is None else bytes_text(one.received_bytes),
            UNKNOWN if one.sent_bytes is None or not totals[one.host] else share_text(_moved(one) / totals[one.host]),
        )
        for one in ordered
        if one.sent_bytes is None or _moved(one) or not totals[one.host]
    ]


def _moved(one: Carrier) -> int:
    return (one.sent_bytes or 0) + (one.received_bytes or 0)


def verdict_sentence(proof: Proof) -> str:
    """Return the verdict and what it rests on, in one sentence."""
    asked = f" ({proof.expected})" if proof.expected else ""
    return f"{proof.books.verdict}{asked}: {proof.books.because}"


def too_little(proof: Proof, least_share: float) -> str:
    """Return why what was expected carried less than a share of what was found; empty where it carried enough."""
    share = proof.books.found_share
    if share is None:
        return f"of {proof.expected} no share can be counted"
    if share >= least_share:
        return ""
    return f"{100 * share:.6g} % was on {proof.expected}, less than {100 * least_share:.6g} %"


def closure_sentence(proof: Proof) -> str:
    """Return how well what the interfaces counted is accounted for; empty where nothing was counted."""
    error = proof.books.closure_error
    return "" if error is None else f"Of what the interfaces counted, {share_text(error)} is not accounted for."


def library_sentences(observed: Observed, proof: Proof) -> list[str]:
    """Return what the library said of itself, and whether the counters agree; nothing where it was not asked."""
    if not observed.was_asked:
        return []
    if not proof.library:
        return ["the library says nothing of its transport"]
    said = [f"the library says: {'; '.join(proof.library)}"]
    if proof.contradiction is not None:
        return [*said, f"contradiction: {proof.contradiction}"]
    return [*said, "the counters do not contradict it"] if proof.books.carriers else said


def ending_sentence(observed: Observed) -> str:
    """Return how the program ended; empty where it ended well."""
    status = observed.exit_status
    if status == 0:
        return ""
    how = f"ended with status {status}" if status > 0 else f"was ended by {_signal_name(-status)}"
    if observed.was_signalled:
        how = "was interrupted"
    return f"the program {how} after {time_text(observed.elapsed_ns)}: the verdict is on what it moved until then"


def problems(watches: Mapping[str, Watch]) -> list[str]:
    """Return what could not be read on the hosts, a line each."""
    return [f"{host}: {name}: {why}" for host, watch in watches.items() for name, why in watch.problems.items()]


def grade_sentence(observed: Observed, proof: Proof) -> str:
    """Return what root would add to a verdict that could not be reached; empty where it was, or would not help."""
    weak = [host for host, watch in observed.watches.items() if watch.ownership == "marks"]
    is_about_owners = any(word in proof.books.because for word in _OF_OWNERS)
    if proof.books.verdict != UNDECIDED or not weak or not is_about_owners:
        return ""
    where = f"looks at {', '.join(weak)} do not always see which process has a connection or socket"
    return f"{where}; as root, where a control group can be made (here, or in a lab without guests), the kernel tells"


def command_text(observed: Observed) -> str:
    """Return the command as it would be typed."""
    return shlex.join(observed.argv)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
