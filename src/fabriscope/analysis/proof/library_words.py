"""What communication libraries say of their own transport when they are asked, and whether the books agree.

How each is asked (`ASKED_BY`): Open MPI 5 prints a table of connections, Open MPI 4 names its btl for every peer; UCX
names the lanes of every kind of endpoint, Intel MPI and libfabric their provider, NCCL each channel. What they say is
a claim: it is set against what the counters saw, and never counts as evidence itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fabriscope.analysis.proof import _library_lines as lines
from fabriscope.analysis.proof._library_lines import BETWEEN, INSIDE, Claim
from fabriscope.analysis.proof.evidence import MEMORY
from fabriscope.model.counters import Books, Carrier
from fabriscope.model.fabric import RDMA_TRANSPORTS

__all__ = ["ASKED_BY", "BETWEEN", "INSIDE", "Claim", "Words", "contradiction", "read_words"]

ASKED_BY = {
    "OMPI_MCA_ompi_display_comm": "mpi_init",
    "OMPI_MCA_btl_base_verbose": "1",
    "UCX_LOG_LEVEL": "info",
    "I_MPI_DEBUG": "5",
    "FI_LOG_LEVEL": "info",
    "NCCL_DEBUG": "INFO",
}
"""Variables that make the libraries say it; each is ignored by the others."""

_COMPARED = ("tcp", "shm", "rdma", *RDMA_TRANSPORTS)
"""What the books know of; a claim of anything else (NCCL's P2P between graphics cards) they cannot gainsay."""
_SPOKEN_SHARE = 0.05
"""What carried less than this share of a job's bytes need not be in anybody's words: connections are made, and now and
then used, beside the one that counts."""
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_PREFIX = re.compile(r"^(?:\[\d+,\d+\]<std(?:out|err)>: ?|\s*\d+: )", re.M)
"""Which rank said it, by Open MPI's `--tag-output` and srun's `--label`."""


@dataclass(frozen=True)
class Words:
    """What the libraries of one job claim, in the order in which they said it, each claim once."""

    claims: tuple[Claim, ...] = ()

    def of(self, scope: str) -> tuple[Claim, ...]:
        """Return the claims on what carries bytes between hosts or inside one, those without a scope if there are none.

        A process's talk to itself is left out.
        """
        others = [one for one in self.claims if one.transport != "self"]
        told = tuple(one for one in others if one.scope == scope)
        return told or tuple(one for one in others if not one.scope)

    def sentences(self) -> tuple[str, ...]:
        """Return the claims for people: `UCX: tcp over eth0 between hosts`."""
        return tuple(dict.fromkeys(str(one) for one in self.claims if one.transport != "self"))


LONGEST_LINE = 4000
"""No library's line of its own transport is longer; a program's may have no end."""


def read_words(text: str) -> Words:
    """Return what libraries say of their transport in a job's output; text of other origin is passed over."""
    text = "\n".join(line for line in text.replace("\r\n", "\n").split("\n") if len(line) <= LONGEST_LINE)
    text = _PREFIX.sub("", _COLOUR.sub("", text))
    found = [claim for reader in lines.READERS for claim in reader(text)]
    unique = {(one.library, one.scope, one.transport, one.name): one for one in reversed(found)}
    return Words(tuple(one for one in found if unique[one.library, one.scope, one.transport, one.name] is one))


def contradiction(words: Words, books: Books) -> str | None:
    """Return in which way the libraries' claims are at odds with the books, or None where they are not.

    Only what carried a share of the bytes worth speaking of is held against them, and each library alone: one that
    says less than the books is not wrong. Shared memory has no counter: it stands in the books where nothing else can
    have carried the bytes.
    """
    carriers = _spoken(books.carriers)
    scope = BETWEEN if len({one.host for one in carriers}) > 1 else INSIDE
    if books.carried_by == MEMORY:  # by elimination, whatever was said over connections besides
        carriers = [Carrier("", "shm", "", None, None)]
    if not carriers:
        return None
    if scope == BETWEEN:  # what ranks of one host say to each other is another matter
        carriers = [one for one in carriers if one.kind != "shm" and one.name != "lo"] or carriers
    claims = [one for one in words.of(scope) if one.transport in _COMPARED]
    for library in dict.fromkeys(one.library for one in claims):
        said = [one for one in claims if one.library == library]
        odd = [one for one in carriers if not any(_fits(claim, one) for claim in said)]
        if odd:
            theirs = " and ".join(dict.fromkeys(one.carrier() for one in said))
            ours = " and ".join(dict.fromkeys(lines.carrier_words(one.kind, _name(one)) for one in odd))
            return f"{library} says {theirs} {scope} (“{said[0].line}”), the counters say {ours}"
    return None


def _spoken(carriers: Sequence[Carrier]) -> list[Carrier]:
    """Return those that carried a share of the bytes worth speaking of; shared memory where nothing else did."""
    moved = {id(one): (one.sent_bytes or 0) + (one.received_bytes or 0) for one in carriers}
    total = sum(moved.values())
    if not total:
        return [one for one in carriers if one.sent_bytes is None]
    # A carrier's share is taken over all hosts: each of them may be a small part of a large job.
    shares = {
        (one.kind, one.name): sum(moved[id(other)] for other in carriers if _key(other) == _key(one)) / total
        for one in carriers
    }
    return [one for one in carriers if shares[_key(one)] >= _SPOKEN_SHARE]


def _key(carrier: Carrier) -> tuple[str, str]:
    return carrier.kind, carrier.name


def _name(carrier: Carrier) -> str:
    return "" if carrier.kind == "shm" else carrier.name


def _fits(claim: Claim, carrier: Carrier) -> bool:
    """Return whether a claim can be said of a carrier; `rdma` stands for whichever of its kinds it was."""
    is_rdma = claim.transport == "rdma" and carrier.kind in RDMA_TRANSPORTS
    if not is_rdma and claim.transport != carrier.kind:
        return False
    return not claim.name or carrier.kind == "shm" or _is_named(claim.name, carrier.name)


def _is_named(claimed: str, name: str) -> bool:
    """Return whether a device of UCX (`mlx5_0:1`) or NCCL is the port or interface of the books (`mlx5_0/1`)."""
    return claimed.replace(":", "/") == name or claimed.partition(":")[0] == name.partition("/")[0]
