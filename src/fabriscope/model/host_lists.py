"""Host lists as people and schedulers write them: `node[1-4],head`."""

from __future__ import annotations

import configparser
import math
import re
from collections import Counter
from collections.abc import Iterable

from fabriscope.model.errors import HostError, shown

FORM = "write it like node[1-4],head"
MOST_WORDS = 8
"""Of a name with blanks, which a remedy writes with commas."""
MAX_LISTED = 8192
"""Hosts of one list, counted before it is unfolded."""

_RANGE = re.compile(r"\s*([0-9]{1,18})\s*-\s*([0-9]{1,18})\s*(?:/\s*([0-9]{1,18})\s*)?")
# A host is handed to ssh, mpirun and srun as a word of its own: it must not look like an option or hold two words.
_HOST = re.compile(r"[A-Za-z0-9_:][A-Za-z0-9_.:@%+-]{0,252}")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
# ClusterShell puts the name of a group into a shell's line, where the site asks a program for its groups.
_GROUP = re.compile(r"[A-Za-z0-9_.:@%+\[\]-]+|@(?:[A-Za-z0-9_.+-]+:)?\*")
_OPTION = re.compile(r"[@:]-")
_OPERATORS = re.compile(r"[,!&^]")
_OF_GROUPS = re.compile(r"(^|[,!&^\s])@|[*?]")
"""What the site's groups are asked about: for nothing else is their configuration read."""
_ENDS = re.compile(r"([0-9]{1,18})(-|\.{2,3}|:|–|—)([0-9]{1,18})")
_IN_BRACES = re.compile(r"\{([0-9]{1,18})(?:-|\.\.)([0-9]{1,18})\}")
_BARE_RANGE = re.compile(r"([A-Za-z][A-Za-z0-9.-]*?)([0-9]{1,6})-([0-9]{1,6})")
_BETWEEN = re.compile(r"[,!&^\s]+")


def unfolded(text: str, *, groups: bool = True, fix: str = FORM) -> tuple[str, ...]:
    """Return the hosts of a list, each once, in ClusterShell's order; raises HostError for one of none, too.

    `groups` says whether `@name` stands for a group of the site's; what a scheduler says knows none.
    """
    if groups:
        _refuse_odd_groups(text)
    if any(sign.isdecimal() and not sign.isascii() for sign in text):  # ClusterShell takes them for numbers
        raise HostError(f"{shown(text)} has digits of another script than ASCII's", fix=fix)
    if (count := most_hosts(text)) > MAX_LISTED:
        number = f"up to {count} hosts, and" if math.isfinite(count) else "more hosts than can be counted, and"
        raise HostError(f"{shown(text)} names {number} {MAX_LISTED} are the most", fix="name fewer hosts")
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException
    from ClusterShell.NodeUtils import GroupResolverError, GroupSourceError

    try:
        resolver = RESOLVER_NOGROUP
        if groups and _OF_GROUPS.search(text):
            from fabriscope.model import host_groups

            resolver = host_groups.resolver()
        hosts = tuple(NodeSet(text.strip(), resolver=resolver))
    except (
        NodeSetException,
        GroupResolverError,
        GroupSourceError,
        configparser.Error,
        ValueError,
        AssertionError,
    ) as error:
        why = str(error)[:200] or "its numbers are not understood"  # ClusterShell asserts what it takes for granted
        raise HostError(f"{shown(text)} is no host list: {why}", fix=_of_ranges(text) or fix) from error
    if not hosts:
        what = f"{shown(text)} stands for no hosts" if text.strip() else "the host list is empty"
        raise HostError(what, fix=fix)
    for host in hosts:
        check_name(host, fix)
    return hosts


def folded(hosts: Iterable[str]) -> str:
    """Return hosts as a list that `unfolded` understands: `node[1-4],head`; what is no host's name stands as it is."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    plain: list[str] = []
    odd: list[str] = []
    for host in hosts:
        (plain if _HOST.fullmatch(host) and "@" not in host else odd).append(host)
    return ",".join(filter(None, (str(NodeSet.fromlist(plain, resolver=RESOLVER_NOGROUP)), *odd)))


def _refuse_odd_groups(text: str) -> None:
    """Raise HostError where a word with `@` has what no group's name has, before anybody looks the group up."""
    for word in map(str.strip, _OPERATORS.split(_BRACKETS.sub("[]", text))):
        if "@" in word and (not _GROUP.fullmatch(word) or _OPTION.search(word)):
            raise HostError(f"{shown(word)} is no group of hosts", fix="write it like @group or @source:group")
    for inside in _BRACKETS.findall(text):
        if "@" in text and not re.fullmatch(r"[0-9,/ -]*", inside):
            raise HostError(f"{shown(inside)} are no numbers of hosts", fix=FORM)


def check_name(host: str, fix: str = FORM) -> None:
    """Raise HostError for what must not become a word of ssh, mpirun or srun: an option, two words, a shell's signs."""
    if not _HOST.fullmatch(host):
        raise HostError(f"{shown(host)} is no host's name", fix=_of_name(host) or fix)


def _of_name(host: str) -> str:
    """Return the remedy for what is no host's name; nothing where none is known."""
    words = host.replace(";", " ").split()
    if len(words) == 2 and words[1].isdigit() and ";" not in host:
        return f"a host's name has no blank: write {words[0]}{words[1]}"
    if 1 < len(words) <= MOST_WORDS and all(map(_HOST.fullmatch, words)):
        return f"put commas between hosts: {','.join(words)}"
    if any(quote in host for quote in "“”‘’„"):
        return "write plain quotes, or none"
    if match := _IN_BRACES.search(host):
        return f"write a range in brackets: [{match[1]}-{match[2]}]"
    return ""


def _of_ranges(text: str) -> str:
    """Return the remedy for a range that runs backwards, or is written in another way; nothing where none does."""
    for first, between, last in _ENDS.findall(" ".join(_BRACKETS.findall(text))):
        if int(first) > int(last):
            return f"a range begins with its smaller number: write [{last}-{first}]"
        if between != "-":
            return f"write [{first}-{last}]"
    return ""


def one_host_meant(text: str) -> str:
    """Return the remedy for what reads as one host's name and is a range, or a number of hosts; nothing otherwise."""
    match = _BARE_RANGE.fullmatch(text.strip())
    if match and int(match[2]) < int(match[3]):
        return f"write several hosts as {match[1]}[{match[2]}-{match[3]}]"
    return "name the hosts, as node[1-2]" if re.fullmatch(r"\s*[0-9]{1,4}\s*", text) else ""


def twice(items: Iterable[str]) -> tuple[str, ...]:
    """Return the names that stand in a list more than once as they are written; ranges are not unfolded."""
    texts = (_BRACKETS.sub(lambda match: match[0].replace(",", ";"), item) for item in items)
    words = Counter(word.strip().replace(";", ",") for text in texts for word in text.split(","))
    return tuple(word for word, count in words.items() if word and count > 1)


def most_hosts(text: str) -> float:
    """Return how many hosts a list names at most, without unfolding it; inf where its numbers are beyond counting."""
    total: float = 0
    for name in _BETWEEN.split(_BRACKETS.sub(lambda match: f"[{_values(match[1])}]", text)):
        total += math.prod(map(float, _BRACKETS.findall(name)))
    return total if total > 2**53 else int(total)


def _values(ranges: str) -> float:
    """Return how many numbers stand in brackets: 5 for `1-4,7`."""
    total: float = 0
    for item in ranges.split(","):
        match = _RANGE.fullmatch(item)
        if match:
            first, last, step = int(match[1]), int(match[2]), int(match[3] or 1)
            total += max(0, last - first) // max(1, step) + 1
        elif "-" in item and re.search(r"[0-9]{19}", item):
            total += math.inf
        else:  # ClusterShell takes 1-9-5 for a range, too
            total += max(1, sum(map(int, re.findall("[0-9]+", item)))) if item.count("-") > 1 else 1
    return total
