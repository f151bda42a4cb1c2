"""The verdict on a program between whose processes no byte was found, and by what they may have told each other all the
same."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.analysis.proof.aside import beside, carriers_beside
from fabriscope.analysis.proof.evidence import ELSEWHERE_SHARE, MEMORY, Evidence
from fabriscope.analysis.words import bytes_text
from fabriscope.model.counters import REFUTED, UNDECIDED, Books


def nothing_found(evidence: Evidence, shared: str) -> Books:
    """Judge a program between whose processes no byte was found; `shared` is what memory was seen, in words."""
    found, unclear = evidence.found, sum(evidence.found.unclear.values())
    if shared and not unclear:
        return Books(REFUTED, f"{shared}, and no connection or port carried a byte between them", MEMORY)
    unseen = f"connections that nobody was seen to hold ({listed(found.unclear)})"
    over = listed(found.unplaced) if found.unplaced else unseen
    text = f"no byte was found between the {evidence.ranks.nouns} of the job that were seen"
    if not unclear and evidence.asks_for_what_stays and beside(evidence):  # which refutes it
        return Books(UNDECIDED, text)
    why = f"{bytes_text(unclear)} went over {over}" if unclear else _between(evidence)
    return Books(UNDECIDED, f"{text}; {why}")


def _between(evidence: Evidence) -> str:
    """Say that ranks sent each other nothing, or what moved that is of no known use to them."""
    names = [f"{bytes_text(size)} on {name} of {host}" for (host, name), size in evidence.ownerless.items()]
    if names:
        return f"{', '.join(names)} have no known owner"
    if any((moved := carriers_beside(evidence, even_asked=True)).values()):
        size = bytes_text(sum(moved.values()))
        return f"the job moved {size} by {' and '.join(moved)}, though not from rank to rank"
    stayed = sum(one.size_bytes for one in evidence.transfers if one.source == one.target)
    return f"{bytes_text(stayed)} stayed inside hosts" if stayed else uncounted(evidence) or "nothing was counted"


def uncounted(evidence: Evidence) -> str:
    """Return by what processes of one host may have told each other something that nobody counts."""
    if evidence.ranks.channel:
        return f"{evidence.ranks.channel}, and that has no counter"
    return f"{evidence.by_files}, which no interface counts" if evidence.by_files else ""


def listed(carriers: Mapping[str, int]) -> str:
    """Return carriers in words, the largest first; those below 2 % of all are not named."""
    total = sum(carriers.values())
    large = sorted(carriers.items(), key=lambda one: -one[1])
    return " and ".join(name for name, size in large if size >= ELSEWHERE_SHARE * total and size)
