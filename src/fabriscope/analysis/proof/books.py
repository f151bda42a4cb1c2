"""The books of one launch: which transport carried its bytes, from the counters of its hosts (docs/transport.md).

Two accounts. That of the wire: what an interface counted must be explained by connections, RDMA packets and headers.
That of the program: the payload that it sent must be found on the fabric asked for, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fabriscope.analysis.proof.aside import beside, carriers_beside
from fabriscope.analysis.proof.carriers import carried_text, carriers, closure_error
from fabriscope.analysis.proof.doubts import (
    datagrams_because,
    doubt_about,
    spoilt_because,
    unfit_because,
    wire_up_bytes,
)
from fabriscope.analysis.proof.evidence import (
    ELSEWHERE_SHARE,
    FOUND_SHARE,
    LEAST_PORT_BYTES,
    MEMORY,
    WIRE_UP_BYTES,
    Evidence,
)
from fabriscope.analysis.proof.found import Found
from fabriscope.analysis.proof.missing import hidden_there, left_running
from fabriscope.analysis.proof.nothing import listed, nothing_found, uncounted
from fabriscope.analysis.proof.ranks import memory_text
from fabriscope.analysis.proof.room import passed_by
from fabriscope.analysis.words import LEAST_PERCENT, bytes_text, share_text
from fabriscope.model.counters import PROVED, REFUTED, UNDECIDED, Books, Expectation, Watch
from fabriscope.model.fabric import RDMA_TRANSPORTS

HEADER_BYTES = 256
"""The most that a library adds to one message (UCX and libfabric 60 to 120, Open MPI's ob1 14 to 64)."""
EXACT_BYTES = 1
"""A program that adds no headers is found to the byte; the end of a connection may count as one more."""
LEAST_EXACT_BYTES = 64
"""Fewer may be found to the byte by chance."""
BULK_SHARE, BULK_BYTES = 0.1, 1 << 20
"""More than any library says of its own beside messages that go through memory."""
LEAVING_SHARE = 0.1
"""What ports sent and what they received may differ by this share: what is sent again is sent twice, and of Soft RoCE's
packets no counter tells how long they are (1.6 % in the job of docs/transport.md)."""


def balance(watches: Mapping[str, Watch], expected: Expectation, idle: Mapping[str, Watch] | None = None) -> Books:
    """Return the verdict on a launch from the watches of its hosts (by name), and of the same hosts when idle."""
    unfit = unfit_because(watches, expected)
    if unfit:
        return Books(UNDECIDED, unfit)
    evidence = Evidence(watches, expected, idle or {})
    if expected.transport == "":
        judged = _anything(evidence)
    elif expected.payload_bytes is not None and not _needs(evidence):
        judged = Books(UNDECIDED, "the program sent nothing from rank to rank")
    elif expected.transport == "shm":
        judged = _memory_known(evidence) if expected.payload_bytes is not None else _memory(evidence)
    elif expected.payload_bytes is not None:
        judged = _known(evidence)
    else:
        judged = _shares(evidence)
    may_leave = judged.verdict == PROVED or (judged.verdict == UNDECIDED and evidence.asks_for_what_stays)
    if may_leave and (aside := beside(evidence)):
        carried = filter(None, (judged.carried_by, *carriers_beside(evidence)))
        judged = Books(REFUTED, f"{judged.because}; but {aside}", " and ".join(carried))
    spoilt = spoilt_because(evidence)
    doubt = "" if spoilt else doubt_about(judged, evidence)
    if spoilt or doubt:
        judged = Books(UNDECIDED, spoilt or doubt, "" if spoilt or expected.transport else judged.carried_by)
    elif again := _sent_again(evidence):
        judged = replace(judged, because=f"{judged.because}; {again}")
    if judged.verdict == UNDECIDED and not (spoilt or doubt) and (datagrams := datagrams_because(judged, evidence)):
        judged = replace(judged, because=f"{judged.because}; {datagrams}")
    judged = replace(judged, because=judged.because + left_running(evidence))
    error = closure_error(evidence, is_refuted=judged.verdict == REFUTED)
    return Books(
        judged.verdict, judged.because, judged.carried_by, carriers(evidence), error,
        judged.payload_share, evidence.found_share, evidence.ownerless_lines(),
    )  # fmt: skip


def _needs(evidence: Evidence) -> dict[tuple[str, str], int]:
    """Return what must be found, from host to host: between hosts, or inside one if there is nothing else."""
    payload = evidence.expected.payload_bytes or {}
    return {pair: size for pair, size in payload.items() if size and (pair[0] != pair[1]) == evidence.is_between_hosts}


def _asked(evidence: Evidence, needs: Mapping[tuple[str, str], int]) -> tuple[int, float, float]:
    """Return how much of the payload is on the fabric, and the least share and surplus of any pair or end."""
    found = evidence.found
    if found.asked_out or evidence.expected.transport in ("roce", "ib"):
        ends = []
        for place, moved in enumerate((found.asked_out, found.asked_in)):
            needed: dict[str, int] = {}
            for pair, size in needs.items():
                needed[pair[place]] = needed.get(pair[place], 0) + size
            ends.append([(size, moved.get(host, 0)) for host, size in needed.items()])
        sums = [sum(min(size, moved) for size, moved in end) for end in ends]
        every = [one for end in ends for one in end]
        return min(sums), *_least(every)
    every = [(size, found.asked.get(pair, 0)) for pair, size in needs.items()]
    return sum(min(size, moved) for size, moved in every), *_least(every)


def _least(every: list[tuple[int, int]]) -> tuple[float, float]:
    share = min(moved / size for size, moved in every)
    return share, max(abs(moved - size) for size, moved in every)


def _known(evidence: Evidence) -> Books:
    """Judge a program whose payload is known, over a fabric."""
    expected, found, needs = evidence.expected, evidence.found, _needs(evidence)
    total = sum(needs.values())
    asked, least_share, largest_gap = _asked(evidence, needs)
    name = evidence.asked_name
    elsewhere = {**found.elsewhere}
    for carrier, size in found.unclear.items():
        elsewhere[carrier] = elsewhere.get(carrier, 0) + size
    other = sum(elsewhere.values())
    share = asked / total
    if least_share >= FOUND_SHARE:
        is_exact = largest_gap <= EXACT_BYTES and total >= LEAST_EXACT_BYTES
        if evidence.may_share and total < WIRE_UP_BYTES and not is_exact:
            why = f"{bytes_text(total)} of payload are too few to tell them from what a library says of its own"
            return Books(UNDECIDED, why, payload_share=share)
        overhead = HEADER_BYTES * (expected.message_count or 0) + WIRE_UP_BYTES
        # A port counts for its whole host: its bytes are no alibi for what the job's own connections carried.
        is_alibi = not found.asked_out or found.elsewhere_bytes < ELSEWHERE_SHARE * total
        is_enough = found.asked_bytes - overhead >= FOUND_SHARE * total
        is_payload = expected.message_count is not None and is_enough and is_alibi
        if other < ELSEWHERE_SHARE * total or is_exact or is_payload:
            text = f"{share_text(share)} of {bytes_text(total)} found on {name}, at both ends"
            return Books(PROVED, text, name, payload_share=share)
        text = f"{name} carried enough to be the payload, and {listed(elsewhere)} carried {bytes_text(other)} as well"
        return Books(UNDECIDED, text, payload_share=share)
    return _not_found(evidence, name, total, asked, elsewhere)


def _not_found(evidence: Evidence, name: str, total: int, asked: int, elsewhere: dict[str, int]) -> Books:
    """Judge a program whose payload is not all on the fabric asked for."""
    missing, other, share = total - asked, sum(elsewhere.values()), asked / total
    hidden = evidence.unexplained_bytes()
    if evidence.found.asked_out and evidence.found.asked_bytes and total < WIRE_UP_BYTES:
        moved = bytes_text(evidence.found.asked_bytes)
        text = f"{name} moved {moved}, which may be the payload of {bytes_text(total)} in part"
        return Books(UNDECIDED, text, payload_share=share)
    if missing >= ELSEWHERE_SHARE * total and other >= FOUND_SHARE * missing:
        carried = listed(elsewhere)
        if share < ELSEWHERE_SHARE:
            text = f"{carried} carried it; {name} carried {_share_words(share)} of {bytes_text(total)}"
            return Books(REFUTED, text, carried, payload_share=share)
        text = f"only {share_text(share)} of {bytes_text(total)} went over {name}, the rest over {carried}"
        return Books(REFUTED, text, f"{name} and {carried}", payload_share=share)
    if missing >= ELSEWHERE_SHARE * total and evidence.could_share and hidden + other < ELSEWHERE_SHARE * total:
        text = _at_most(asked + other + hidden, total)
        if share >= ELSEWHERE_SHARE:
            text = (
                f"only {share_text(share)} of {bytes_text(total)} went over {name}, and no other interface has the rest"
            )
        shared = f"; {evidence.ranks.whole} share {memory_text(evidence.shared[0])}" if evidence.shared else ""
        # Between hosts memory is named where it was seen: what else no interface counts (AF_XDP) is nobody's to guess.
        memory = [MEMORY] if evidence.may_share else []
        carried = " and ".join([*([name] if share >= ELSEWHERE_SHARE else []), *memory])
        return Books(REFUTED, text + shared, carried, payload_share=share)
    if counted := passed_by(evidence):
        mine, others = map(bytes_text, counted)
        text = f"what was asked for counted {mine} in all, others {others}, and the program sent {bytes_text(total)}"
        return Books(REFUTED, text, name if share >= ELSEWHERE_SHARE else "", payload_share=share)
    text = f"{share_text(share)} of {bytes_text(total)} found on {name}"
    if other or hidden:
        parts = [f"{listed(elsewhere)} carried {bytes_text(other)}"] if other else []
        parts += [f"{bytes_text(hidden)} have no known owner"] if hidden else []
        return Books(UNDECIDED, f"{text}; {' and '.join(parts)}", payload_share=share)
    return Books(UNDECIDED, f"{text}, and the rest was found nowhere", payload_share=share)


def _memory_known(evidence: Evidence) -> Books:
    """Judge a program of known payload that was asked to use memory: what no counter sees went there."""
    found, total = evidence.found, sum(_needs(evidence).values())
    elsewhere = {**found.elsewhere}
    for carrier, size in found.unclear.items():
        elsewhere[carrier] = elsewhere.get(carrier, 0) + size
    other, hidden = sum(elsewhere.values()), evidence.unexplained_bytes()
    if other + hidden < ELSEWHERE_SHARE * total:
        unseen = evidence.ranks.graphics or ("" if evidence.shared else evidence.ranks.opened)
        if unseen:
            text = f"{_at_most(other + hidden, total)}, but {unseen}, and what stays inside it has no counter"
            return Books(UNDECIDED, text)
        shared = f"; {evidence.ranks.whole} share {memory_text(evidence.shared[0])}" if evidence.shared else ""
        text = f"{_at_most(other + hidden, total)}{shared}"
        return Books(PROVED, text, MEMORY)
    message_count = evidence.expected.message_count
    overhead = WIRE_UP_BYTES + HEADER_BYTES * (message_count or 0)
    if other >= FOUND_SHARE * total and (total >= WIRE_UP_BYTES or 0 <= other - total <= EXACT_BYTES):
        return Books(
            REFUTED, f"{listed(elsewhere)} carried {bytes_text(other)} of {bytes_text(total)}", listed(elsewhere)
        )
    if message_count is not None and other - overhead >= ELSEWHERE_SHARE * total:
        text = f"{listed(elsewhere)} carried {share_text((other - overhead) / total)} of {bytes_text(total)} at least"
        return Books(REFUTED, text, f"{MEMORY} and {listed(elsewhere)}")
    if other >= max(BULK_SHARE * total, BULK_BYTES):
        text = f"{listed(elsewhere)} carried {bytes_text(other)}, and the program sent {bytes_text(total)}"
        return Books(REFUTED, text, f"{MEMORY} and {listed(elsewhere)}")
    text = f"{bytes_text(other + hidden)} went elsewhere, which may be the payload of {bytes_text(total)} or not"
    return Books(UNDECIDED, text)


def _shares(evidence: Evidence) -> Books:
    """Judge a program of which nobody knows how much it sent, by what carried bytes between its ranks."""
    found, expected = evidence.found, evidence.expected
    name = evidence.asked_name
    asked, other, unclear = found.asked_bytes, found.elsewhere_bytes, sum(found.unclear.values())
    slack = evidence.datagram_slack_bytes
    shared = f"{evidence.ranks.whole} share {memory_text(evidence.shared[0])}" if evidence.shared else ""
    if asked + other == 0:
        return nothing_found(evidence, shared)
    sent, came = sum(found.asked_out.values()), sum(found.asked_in.values())
    if asked >= ELSEWHERE_SHARE * (asked + other) and _differ(sent, came):
        why = f"{name} moved {bytes_text(sent)} out and {bytes_text(came)} in: not all of it stayed between these hosts"
        return Books(UNDECIDED, why)
    if other < ELSEWHERE_SHARE * (asked + other):
        if shared:
            return Books(UNDECIDED, f"{name} carried {bytes_text(asked)}, but {shared}, and that has no counter")
        if unclear >= ELSEWHERE_SHARE * asked and not _is_on(found.unclear, name):
            return Books(UNDECIDED, f"{listed(found.unclear)} carried {bytes_text(unclear)}, it is not known for whom")
        # What was sent again is no payload, and makes what went elsewhere look less than it is.
        if other and other + slack >= ELSEWHERE_SHARE * (max(0, asked - evidence.doubled_bytes - slack) + other):
            text = f"{name} carried {bytes_text(asked)} and {listed(found.elsewhere)} {bytes_text(other)}"
            return Books(UNDECIDED, text)
        carried = f"all {bytes_text(asked)}"
        if asked < asked + other:
            carried = f"{share_text(asked / (asked + other))} of {bytes_text(asked + other)}"
        text = f"{carried} between {evidence.parties} were carried by {name}{evidence.inside}"
        return Books(PROVED, text + hidden_there(evidence) + _unseen(found), name)
    carried = listed(found.elsewhere)
    both = f"{carried} carried {bytes_text(other)}, {name} {bytes_text(asked)}"
    loose = slack if any(way.startswith("udp") for way in found.elsewhere) else 0
    if loose and other - loose < ELSEWHERE_SHARE * (asked + other + slack):
        why = f"up to {bytes_text(loose)} of the datagrams may be somebody else's, or options"
        return Books(UNDECIDED, f"{both}; {why}")
    if unclear and other < ELSEWHERE_SHARE * (asked + other + found.unclear_asked_bytes):
        return Books(UNDECIDED, f"{both}{_unseen(found)}")
    if other < wire_up_bytes(evidence) and (asked > 0 or expected.transport in RDMA_TRANSPORTS):
        return Books(UNDECIDED, f"{both}: too few bytes to tell")
    share = asked / (asked + other)
    if share < ELSEWHERE_SHARE:
        mine = carried_text(name, asked) + (" at both ends" if name in found.elsewhere else "")
        mine = f", {mine}" if asked or not found.unclear_asked_bytes else ""
        text = f"{carried} carried {bytes_text(other)} between {evidence.parties}{mine}{_unseen(found)}"
        return Books(REFUTED, text, carried)
    total = bytes_text(asked + other)
    text = f"of {total} between {evidence.parties}, {share_text(share)} went over {name}, the rest over {carried}"
    return Books(REFUTED, text, f"{name} and {carried}")


def _unseen(found: Found) -> str:
    """Return what connections moved of which no holder was seen, as the end of a sentence."""
    size = sum(found.unclear.values())
    return (
        f"; nobody was seen to hold the connections that carried {bytes_text(size)} more ({listed(found.unclear)})"
        if size
        else ""
    )


def _memory(evidence: Evidence) -> Books:
    """Judge a program of unknown payload that was asked to use memory."""
    found = evidence.found
    other = found.elsewhere_bytes + sum(found.unclear.values())
    carried = listed({**found.unclear, **found.elsewhere})
    if other >= WIRE_UP_BYTES and not evidence.shared:
        text = f"{carried} carried {bytes_text(other)} between {evidence.ranks.nouns}, which share no memory"
        return Books(REFUTED, text, carried)
    if evidence.shared and other < WIRE_UP_BYTES:
        text = f"{evidence.ranks.whole} share {memory_text(evidence.shared[0])}"
        if evidence.ranks.graphics:
            return Books(UNDECIDED, f"{text}, but {evidence.ranks.graphics}, with links of its own")
        others = f"no interface carried {f'more than {bytes_text(other)}' if other else 'a byte'}"
        return Books(PROVED, f"{text}, and {others} between them", MEMORY)
    text = (
        f"{carried} carried {bytes_text(other)}"
        if other
        else f"no connection carried a byte between {evidence.ranks.nouns}"
    )
    return Books(UNDECIDED, f"{text}; what went through memory has no counter")


def _anything(evidence: Evidence) -> Books:
    """Say what carried the bytes where nothing was asked for; proved means that the books close."""
    found, error = evidence.found, closure_error(evidence)
    every = {**found.unclear, **found.elsewhere}
    if not every:
        text = (
            f"{evidence.ranks.whole} share {memory_text(evidence.shared[0])}"
            if evidence.shared
            else f"no byte was found between {evidence.ranks.nouns}: {uncounted(evidence) or 'nothing was counted'}"
        )
        return Books(UNDECIDED, text, MEMORY if evidence.shared else "")
    text = f"{listed(every)} carried {bytes_text(sum(every.values()))} between {evidence.parties}"
    if evidence.shared:
        return Books(UNDECIDED, f"{text}; what the memory carried that they share has no counter", listed(every))
    if error is not None and error > ELSEWHERE_SHARE:
        return Books(
            UNDECIDED, f"{text}, but {share_text(error)} of an interface's bytes have no known owner", listed(every)
        )
    return Books(PROVED, text, listed(every))


def _sent_again(evidence: Evidence) -> str:
    """Return how much of what was asked for may have been sent twice or more, in words; empty for next to nothing."""
    again, asked = evidence.again_bytes, evidence.found.asked_bytes
    if again < max(LEAST_PORT_BYTES, ELSEWHERE_SHARE * asked):
        return ""
    return f"up to {bytes_text(min(again, asked))} of what {evidence.asked_name} carried may have been sent again"


def _differ(sent: int, came: int) -> bool:
    return abs(sent - came) > max(LEAVING_SHARE * max(sent, came), LEAST_PORT_BYTES)


def _is_on(unclear: Mapping[str, int], name: str) -> bool:
    return set(unclear) <= {name}


def _at_most(size: int, total: int) -> str:
    """Return what interfaces carried at most of a payload."""
    if not size:
        most = "any"
    elif 100 * size < LEAST_PERCENT * total:
        most = f"as much as {LEAST_PERCENT} %"
    else:
        most = f"more than {share_text(size / total)}"
    return f"no interface carried {most} of {bytes_text(total)}"


def _share_words(share: float) -> str:
    return "nothing" if share == 0 else share_text(share)
